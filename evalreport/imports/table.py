"""Imported rows: examples with their repeats, put into the columns of a prediction file and written."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.data.reading import FORMATS, dotted
from evalreport.errors import InputError, UsageError
from evalreport.files import content_of, write_whole
from evalreport.texts import Message

if TYPE_CHECKING:
    import pyarrow as pa

WRITTEN = dotted(form for form in FORMATS if form not in ("arrow", "feather", "npz"))


@dataclass(frozen=True, slots=True)
class Row:
    """One answer of one model.

    Attributes
    ----------
    example
        What the answer is to: equal for the models, and for repeated samples of one question.
    sample
        Which of the repeated samples, where the log itself counts them.
    values
        The other columns: outcome, or y_true, y_pred and p_; and metadata.
    """

    model: str
    example: str
    values: Mapping[str, object]
    sample: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A prediction file in memory: its columns in order, its rows, and what was found, in sentences."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    said: tuple[Message, ...]


def as_table(rows: Sequence[Row], said: Sequence[Message]) -> Imported:
    """Give each row its id; repeated samples of an example become a column that says which one a row is.

    Where every example was sampled equally often, the samples are numbered in ``seed``: evalreport then takes the mean
    over them and resamples whole examples. Else each row has an id of its own and names its example in ``example``, for
    ``--cluster example``.

    Raises
    ------
    InputError
        Nothing was found.
    """
    if not rows:
        raise InputError("there is no row to import", expected="a log with at least one sample")
    places: Counter[tuple[str, str]] = Counter()
    numbered = []
    for row in rows:
        places[row.model, row.example] += 1
        numbered.append(row.sample or str(places[row.model, row.example]))
    repeats = set(places.values())
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    models = len({row.model for row in rows})
    examples = len({row.example for row in rows})
    told = [*said, Message("imported.rows", rows=len(rows), models=models, examples=examples)]
    keys: list[tuple[str, ...]]
    columns: tuple[str, ...]
    if repeats == {1}:
        keys, columns = [(row.example,) for row in rows], ("id",)
    elif len(repeats) == 1:
        keys = [(row.example, number) for row, number in zip(rows, numbered, strict=True)]
        columns = ("id", "seed")
        told.append(Message("imported.samples", n=repeats.pop()))
    else:
        keys = [(f"{row.example}#{number}", row.example) for row, number in zip(rows, numbered, strict=True)]
        columns = ("id", "example")
        told.append(Message("imported.unequal_samples"))
    table = [
        (row.model, *key, *(row.values.get(name) for name in names))
        for row, key in zip(rows, keys, strict=True)
    ]
    return Imported(("model", *columns, *names), tuple(table), tuple(told))


def write_table(table: Imported, path: Path) -> None:
    """Write a prediction file whole, in the format that its name says.

    Raises
    ------
    UsageError
        Another format, no such folder, or no permission or room to write.
    OutputError
        Another process does not end its writing of the same file.
    """
    name = path.name.lower()
    if not path.parent.is_dir():
        raise UsageError(f"{path}: cannot be written (there is no such folder); name another file with -o")
    if not name.endswith(WRITTEN):
        raise UsageError(f"{path}: expected a file of the format {', '.join(WRITTEN)}; name one with -o")
    content = (
        _parquet(table)
        if name.endswith(".parquet")
        else _text(table, name).encode("utf-8", "backslashreplace")
    )
    if name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        write_whole(path, content)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); name another file with -o") from None


def _text(table: Imported, name: str) -> str:
    if ".jsonl" in name:
        rows = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
        return "".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in rows)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter="\t" if ".tsv" in name else ",", lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return stream.getvalue()


def _parquet(table: Imported) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = zip(*table.rows, strict=True)
    arrays = {name: _array(list(values)) for name, values in zip(table.columns, columns, strict=True)}
    stream = io.BytesIO()
    pq.write_table(pa.table(arrays), stream)
    return stream.getvalue()


def _array(values: list[object]) -> pa.Array:
    import pyarrow as pa

    numbers = all(value is None or isinstance(value, float) for value in values)
    return pa.array(values if numbers else [None if v is None else str(v) for v in values])


# --- reading JSON of others -----------------------------------------------------------------------------------------


def text_of(path: Path) -> str:
    """Return a file's text.

    Raises
    ------
    InputError
        It cannot be read, or is not UTF-8.
    """
    try:
        return content_of(path).decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=str(path), remedy="check the path"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", file=str(path), expected="JSON") from None


def parsed(text: str, path: Path, line: int | None, expected: str) -> Any:
    """Return a JSON value.

    Raises
    ------
    InputError
        It is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"no JSON ({str(error)[:120]})", file=str(path), line=line, expected=expected
        ) from None


def number_of(value: object) -> float | None:
    """Return a judgement as a number: true, 1, "yes", "True", "0.5"; None where it is none.

    Examples
    --------
    >>> [number_of(value) for value in (True, "no", "0.5", "perhaps", float("nan"))]
    [1.0, 0.0, 0.5, None, None]
    """
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        try:
            value = float(word)
        except ValueError:
            return None
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) < float("inf") else None


_WORDS = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}
