"""Reading a results.json from a file, a folder or a PDF, checked as if it were hostile."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evalreport.errors import InputError, OutputError
from evalreport.files import content_of, recover, strict_json
from evalreport.schema.inputs import JsonObject
from evalreport.schema.results import LISTS_WITH_CODE, SCHEMA, SENTENCES, Results, to_json
from evalreport.texts import Message, english, parts, plain, sentences, speaking
from evalreport.texts.units import in_units

T = TypeVar("T")

NAME = "results.json"
PDF = "report.pdf"
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
    folder
        The output folder that it was read from; None: it was read as a file.
    """

    name: str
    content: JsonObject
    bytes_: bytes
    attached: bytes | None = None
    folder: Path | None = None


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
    attached = None
    if path.is_dir():
        pdf = path / PDF
        place = path / NAME if (path / NAME).is_file() or not pdf.is_file() else pdf
        if place != pdf and pdf.is_file():
            attached = attachment(_bytes(pdf), str(pdf))
    data = _bytes(place)
    name = str(place)
    if data.startswith(b"%PDF-"):
        data, name = attachment(data, name), f"{name} ({NAME})"
    return Recorded(name, parsed(data, name), data, attached, path if path.is_dir() else None)


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
        They are no JSON in UTF-8, hold a key twice or a number that is too large, or a part has another type.
    """
    try:
        content = strict_json(data)
    except ValueError as error:
        raise InputError(f"is not valid JSON ({str(error)[:160]})", file=name, expected=_EXPECTED) from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        schema = content.get("schema") if isinstance(content, dict) else type(content).__name__
        raise InputError(
            f"has the schema {str(schema)[:60]!r}", file=name, expected=f"{SCHEMA!r}: {_EXPECTED}"
        )
    try:
        converted(content, Results)
    except ValueError as error:
        raise InputError(str(error), file=name, expected="the types of results.json") from None
    return content


def converted(content: object, record: type[T], said: Mapping[str, Message] | None = None) -> T:
    """Return JSON as a record, every part checked; fields that this version does not know are left out.

    Parameters
    ----------
    said
        The messages of written sentences; any other text is a plain message.

    Raises
    ------
    ValueError
        A field is missing, or a part has another type; the message names the place.

    Examples
    --------
    >>> from evalreport.schema.metrics import Slice
    >>> converted({"column": "sex", "value": 3}, Slice)
    Traceback (most recent call last):
    ValueError: value must be a text, not a whole number
    """
    try:
        return msgspec.convert(content, record, dec_hook=partial(_message_of, said or {}))
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(str(error))) from None


def decoded(data: bytes, record: type[T]) -> T:
    """Return JSON as a record, checked as by ``converted``; fields that the record does not have are not read.

    Raises
    ------
    ValueError
        It is no JSON, a field is missing, or a part has another type.
    """
    try:
        return msgspec.json.decode(data, type=record)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(str(error))) from None
    except msgspec.DecodeError:  # half of a character in a name, which only Python reads
        return converted(json.loads(data), record)


_KINDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "an object",
}  # fmt: skip


def _in_words(problem: str) -> str:
    """Say a refusal of msgspec as our other messages do, the place first.

    Examples
    --------
    >>> _in_words("Expected `float | null`, got `str` - at `$.metrics[0].value`")
    'metrics[0].value must be a number or null, not a text'
    """
    problem, _, place = problem.partition(" - at `$")
    where = place.rstrip("`").removeprefix(".")
    words = re.sub(r"`([^`]*)`", lambda m: " or ".join(_KINDS.get(k, k) for k in m[1].split(" | ")), problem)
    expected, _, got = words.removeprefix("Expected ").partition(", got ")
    if got:
        return f"{where or 'it'} must be {expected}, not {got}"
    lacking = words.removeprefix("Object missing required field ")
    if lacking != words:
        return f"{where}.{lacking} is missing".removeprefix(".")
    return f"{where}: {words[0].lower()}{words[1:]}" if where else words


def _message_of(said: Mapping[str, Message], kind: type, text: object) -> Message:
    if kind is not Message or not isinstance(text, str):
        raise ValueError(f"Expected `str`, got `{type(text).__name__}`")
    return said.get(text) or plain(text)


def results_of(content: JsonObject) -> Results:
    """Return checked results as records again, as ``evaluate`` returned them.

    Sentences are messages with code and parameters again, unless they were edited or this version has none that says
    the same: then they are plain messages, in English.
    """
    written = content.get(SENTENCES, {})
    sentences_ = written.items() if isinstance(written, dict) else ()
    with speaking(in_units(content.get("unit"), english())):
        results = converted(content, Results, {text: _as_message(text, (code,)) for text, code in sentences_})
        coded: dict[str, Any] = {
            name: tuple(
                replace(record, text=_sentence(row)) if row.get("code") else record
                for record, row in zip(getattr(results, name), content.get(name, ()), strict=True)
            )
            for name in LISTS_WITH_CODE
        }
    return replace(results, **coded)


def _sentence(record: JsonObject) -> Message:
    """Return the message of a verdict or a warning; a plain one where no message says the same.

    A warning's sentence is one of the texts of its code.
    """
    code, params, notes = record["code"], record.get("params", {}), record.get("notes", ())
    codes = [code, *(key for key in english() if key.startswith(f"warning.{code}"))]
    return _as_message(str(record["text"]), [{"code": key, "params": params} for key in codes], notes)


def _as_message(text: str, choices: Sequence[Any], notes: Sequence[Any] = ()) -> Message:
    """Return the message that says a text: the first of the choices that does, with the notes; else a plain one."""
    for choice in choices:
        try:
            first, *further = map(_message, (choice, *notes))
            messages = (
                [joined_by(first, *further) for joined_by in (sentences, parts)] if further else [first]
            )
            same = next((message for message in messages if str(message) == text), None)
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
