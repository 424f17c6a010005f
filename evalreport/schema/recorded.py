"""Reading a results.json from a file, a folder or a PDF, checked as if it were hostile."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, Union, get_args, get_origin, get_type_hints

from evalreport.errors import InputError, OutputError
from evalreport.files import content_of, recover, with_each_key_once
from evalreport.schema.inputs import JsonObject
from evalreport.schema.results import SCHEMA, SENTENCES, WITH_CODE, Results, to_json
from evalreport.texts import Message, english, parts, plain, sentences

EARLIER = "evalreport/results/1"
"""The schema of version 0.1: sentences without code and parameters, and warnings of the level ``warning``."""
NAME = "results.json"
PDF = "report.pdf"
PAGE = "report.html"
_TYPE_NAMES = {
    str: "a text",
    Message: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_EXPECTED = "results.json of `evalreport run`, its output folder, or its report.pdf"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A results.json that was read and checked.

    Attributes
    ----------
    name
        Its name in messages.
    content
        The parsed JSON; every part that this version knows has the right type.
    bytes_
        The file itself.
    attached
        The results.json inside the PDF of the same folder, if both exist.
    page
        The report.html of the same folder.
    """

    name: str
    content: JsonObject
    bytes_: bytes
    attached: bytes | None = None
    page: bytes | None = None


def as_recorded(run: Results | str | PathLike[str]) -> Recorded:
    """Return results as they were, or would be, recorded.

    Raises
    ------
    InputError
        Results that cannot be read.
    """
    if not isinstance(run, Results):
        return read_recorded(Path(run))
    written = to_json(run)
    return Recorded("results", parsed(written, "results"), written)


def read_recorded(path: Path) -> Recorded:
    """Read a results.json, or the one that is attached to a PDF, or the one of an output folder.

    Raises
    ------
    InputError
        There is no results.json, it is no JSON, or a part has another type, which the message names. Or a killed run
        left the folder half written, and this user may not complete it.
    """
    try:
        recover(path if path.is_dir() else path.parent)
    except OutputError as error:
        raise InputError(str(error)) from None
    place = path
    attached, shown = None, None
    if path.is_dir():
        pdf = path / PDF
        place = path / NAME if (path / NAME).is_file() or not pdf.is_file() else pdf
        if place != pdf and pdf.is_file():
            attached = attachment(_bytes(pdf), str(pdf))
        shown = _bytes(path / PAGE) if (path / PAGE).is_file() else None
    data = _bytes(place)
    name = str(place)
    if data.startswith(b"%PDF-"):
        data, name = attachment(data, name), f"{name} ({NAME})"
    return Recorded(name, parsed(data, name), data, attached, shown)


def attachment(data: bytes, name: str) -> bytes:
    """Return the results.json that is attached to a PDF.

    Raises
    ------
    InputError
        The PDF cannot be read, or does not hold exactly one.
    """
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # errors are reported below
    try:
        found = [part.content for part in PdfReader(io.BytesIO(data)).attachment_list if part.name == NAME]
    except Exception as error:  # noqa: BLE001 - a broken PDF raises whatever its bytes lead to
        raise InputError(
            f"the PDF cannot be read ({type(error).__name__}: {str(error)[:120]})",
            file=name,
            expected=_EXPECTED,
        ) from None
    if len(found) != 1:
        raise InputError(
            f"the PDF has {len(found)} attachments called {NAME}",
            file=name,
            expected="one, as `evalreport run` writes it",
        )
    return found[0]


def _bytes(path: Path) -> bytes:
    try:
        return content_of(path)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=str(path), expected=_EXPECTED, remedy="check the path"
        ) from None


def parsed(data: bytes, name: str) -> JsonObject:
    """Read and check the bytes of a results.json.

    Raises
    ------
    InputError
        They are no JSON in UTF-8, hold a key twice or a number that is not JSON's, or a part has another type.
    """
    try:
        content = json.loads(
            data.decode("utf-8"), object_pairs_hook=with_each_key_once, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        # Also bytes that are not UTF-8, numbers with too many digits, nesting that is too deep.
        raise InputError(f"is not valid JSON ({str(error)[:160]})", file=name, expected=_EXPECTED) from None
    if not isinstance(content, dict) or content.get("schema") not in (SCHEMA, EARLIER):
        schema = content.get("schema") if isinstance(content, dict) else type(content).__name__
        raise InputError(
            f"has the schema {str(schema)[:60]!r}", file=name, expected=f"{SCHEMA!r}: {_EXPECTED}"
        )
    if content["schema"] == EARLIER:
        _rename_levels(content.get("warnings"))
    try:
        require_types(content, Results, "")
    except ValueError as error:
        raise InputError(str(error), file=name, expected="the types of results.json") from None
    return content


def _rename_levels(warnings: object) -> None:
    for row in warnings if isinstance(warnings, list) else ():
        if isinstance(row, dict) and row.get("level") == "warning":
            row["level"] = "caution"


TypeHint: TypeAlias = Any
"""The annotation of a record's field: a class, a union, a generic alias ..."""


def completed(value: Any, wanted: TypeHint = Results) -> Any:
    """Return checked results with the fields that their version did not write: empty lists, null.

    Examples
    --------
    >>> from evalreport.schema.warnings import WarningRecord
    >>> completed({"code": "one_example", "text": "There is one example."}, WarningRecord)["about"]
    []
    """
    if dataclasses.is_dataclass(wanted) and isinstance(value, dict):
        hints = _hints(wanted)
        known = {f.name: f for f in dataclasses.fields(wanted)}
        found = {
            name: completed(part, hints[name]) if name in known else part for name, part in value.items()
        }
        return {**{name: _default(f) for name, f in known.items() if name not in value}, **found}
    origin: TypeHint = get_origin(wanted)
    if origin is tuple and isinstance(value, list):
        return [completed(part, get_args(wanted)[0]) for part in value]
    records = [kind for kind in get_args(wanted) if dataclasses.is_dataclass(kind)]
    return completed(value, records[0]) if records else value


def results_of(content: JsonObject) -> Results:
    """Return checked results as records again, as ``evaluate`` returned them.

    Sentences are messages with code and parameters again, unless they were edited or this version has none that says
    the same: then they are the texts that were written, in English.
    """
    known = content.get(SENTENCES, {})
    said = (
        {text: _as_message(text, (code,)) for text, code in known.items()} if isinstance(known, dict) else {}
    )
    restored: Results = _restored(content, Results, said)
    return restored


def _restored(value: Any, wanted: TypeHint, said: Mapping[str, Message]) -> Any:
    origin: TypeHint = get_origin(wanted)
    if dataclasses.is_dataclass(wanted) and isinstance(value, dict):
        hints = _hints(wanted)
        known = {
            f.name: _restored(value[f.name], hints[f.name], said)
            for f in dataclasses.fields(wanted)
            if f.name in value
        }
        if wanted in WITH_CODE and value.get("code"):
            known["text"] = _sentence(value)
        return wanted(**known)  # type: ignore[operator]
    if origin is tuple and isinstance(value, list):
        parts = get_args(wanted)
        kinds = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return tuple(_restored(part, kind, said) for part, kind in zip(value, kinds, strict=True))
    if (
        origin is not None
        and isinstance(origin, type)
        and issubclass(origin, Mapping)
        and isinstance(value, dict)
    ):
        return {key: _restored(part, get_args(wanted)[1], said) for key, part in value.items()}
    if wanted is float:
        return math.nan if value is None else value
    if wanted is Message:
        return said.get(value) or plain(value)
    if origin in (Union, types.UnionType) and value is not None:
        choices = [choice for choice in get_args(wanted) if choice is not types.NoneType]
        return _restored(value, choices[0], said) if len(choices) == 1 else value
    return value


def _sentence(record: JsonObject) -> Message:
    """Return the message of a verdict or a warning; its written text where no message says the same.

    A warning's sentence is one of the texts of its code.
    """
    code, params, notes = record["code"], record.get("params", {}), record.get("notes", ())
    codes = [code, *(key for key in english() if key.startswith(f"warning.{code}"))]
    return _as_message(str(record["text"]), [{"code": key, "params": params} for key in codes], notes)


def _as_message(text: str, choices: Sequence[Any], notes: Sequence[Any] = ()) -> Message:
    """Return the message that says a text: the first of the choices that does, with the notes; else the text."""
    for choice in choices:
        try:
            first, *further = map(_message, (choice, *notes))
            found = [joined_by(first, *further) for joined_by in (sentences, parts)] if further else [first]
            same = next((message for message in found if str(message) == text), None)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
            continue  # of another version, or edited
        if same is not None:
            return same
    return plain(text)


def _message(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_message, value))
    if isinstance(value, dict) and isinstance(value.get("code"), str):
        return Message(
            value["code"], **{name: _message(part) for name, part in value.get("params", {}).items()}
        )
    return value


def _default(entry: dataclasses.Field[Any]) -> Any:
    made = entry.default if entry.default_factory is dataclasses.MISSING else entry.default_factory()
    return [] if made == () else None if made is dataclasses.MISSING else made


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def require_types(value: object, wanted: TypeHint, where: str) -> None:
    """Check a value against a type of the records; fields of later versions pass.

    Raises
    ------
    ValueError
        It has another type; the message names the place.
    """
    origin: TypeHint = get_origin(wanted)
    if dataclasses.is_dataclass(wanted):
        _check_record(value, wanted, where)
    elif origin in (Union, types.UnionType):
        _check_union(value, get_args(wanted), where)
    elif origin is tuple:
        _check_list(value, get_args(wanted), where)
    elif origin is Literal:
        if value not in get_args(wanted):
            _refuse(value, f"one of {', '.join(map(str, get_args(wanted)))}", where)
    elif origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            _refuse(value, "an object", where)
        for key, part in value.items():
            require_types(part, get_args(wanted)[1], f"{where}.{key}")
    elif wanted is not Any and not _is(value, wanted):
        _refuse(value, _TYPE_NAMES[wanted], where)


def _is(value: object, wanted: TypeHint) -> bool:
    if wanted is float:
        # Numbers that are not finite are written as null.
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return value is None
        return math.isfinite(value)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str if wanted is Message else wanted)


def _check_record(value: object, wanted: TypeHint, where: str) -> None:
    if not isinstance(value, dict):
        _refuse(value, "an object", where)
    hints = _hints(wanted)
    for entry in dataclasses.fields(wanted):
        inner = f"{where}.{entry.name}" if where else entry.name
        if entry.name in value:
            require_types(value[entry.name], hints[entry.name], inner)
        elif entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING:
            raise ValueError(f"{inner} is missing")


def _check_union(value: object, choices: tuple[TypeHint, ...], where: str) -> None:
    if value is None and types.NoneType in choices:
        return
    rest = [choice for choice in choices if choice is not types.NoneType]
    if len(rest) == 1:
        require_types(value, rest[0], where)
    elif not any(_is(value, choice) for choice in rest):
        _refuse(value, " or ".join(_TYPE_NAMES[choice] for choice in rest), where)


def _check_list(value: object, parts: tuple[TypeHint, ...], where: str) -> None:
    if not isinstance(value, list):
        _refuse(value, "a list", where)
    wanted = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
    if len(wanted) != len(value):
        _refuse(value, f"{len(wanted)} values", where)
    for number, (part, kind) in enumerate(zip(value, wanted, strict=True)):
        require_types(part, kind, f"{where}[{number}]")


def _hints(record: TypeHint) -> JsonObject:
    if record not in _HINTS:
        _HINTS[record] = get_type_hints(record)
    return _HINTS[record]


_HINTS: dict[type, JsonObject] = {}


def _refuse(value: object, wanted: str, where: str) -> NoReturn:
    shown = repr(value)
    raise ValueError(f"{where} must be {wanted}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")
