"""Answers of models in the logs of other tools: their sources, their rows, the prediction file; reading JSON."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

import evalreport.sources.formats  # isort: skip
import evalreport.sources.binary  # noqa: F401  # isort: skip - its formats are listed after those of text
from evalreport.errors import InputError, UsageError
from evalreport.files import content_of, write_whole
from evalreport.predictions.column_names import (
    COSTS,
    LONE_PROBABILITIES,
    PROBABILITY_PREFIXES,
    QUESTION,
    spellings,
)
from evalreport.predictions.spelling import is_no_number, outcome_words
from evalreport.schema.inputs import JsonObject
from evalreport.sources.reading import WRITABLE, dotted
from evalreport.texts import Message

WRITTEN = dotted(WRITABLE)
MOST_COLUMNS = 1000
LONGEST_TEXT = 500
"""Longer texts of questions are cut."""
RESERVED = frozenset((*spellings(), *LONE_PROBABILITIES, *COSTS, "example"))
"""Names with a meaning in prediction files, which metadata may not keep."""


T = TypeVar("T")
P = TypeVar("P")
Runs = Literal["only", "last", "all"]
Json: TypeAlias = Any
"""A parsed value of JSON."""
Record: TypeAlias = JsonObject
"""A parsed object of JSON."""


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One source of a model's answers: a log, a table or a run.

    Attributes
    ----------
    place
        Which of the paths that were given it comes from, from 0.
    model
        The model's name in the source.
    file
        The source's file in messages.
    source
        The source itself, for the reader.
    run
        The run's identifier, since several may have the same name.
    task
        The task, if a model has a source for each task.
    when
        When the run began, as its log says; else the file's name.
    """

    place: int
    model: str
    file: str
    source: T
    run: str = ""
    task: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One answer of one model.

    Attributes
    ----------
    example
        The question within its task: the same for all models, and for all answers to one question.
    values
        Columns with a meaning: outcome, or y_true and y_pred; task and gold.
    metadata
        Other values, by their names in the source.
    attempt
        The number of the answer to the question, if the log has one.
    costs
        What the answer cost: ``cost``, ``latency`` in seconds, ``tokens``; None where the log does not say.
    text
        The question as a person reads it.
    """

    model: str
    example: str
    values: Mapping[str, object]
    metadata: Mapping[str, object] = field(default_factory=dict)
    attempt: str | None = None
    costs: Mapping[str, float | None] = field(default_factory=dict)
    text: str | None = None

    @property
    def question(self) -> tuple[object, str]:
        """The task (None: there are no tasks) and the example."""
        return self.values.get("task"), self.example


@dataclass(frozen=True, slots=True)
class Imported:
    """A prediction file in memory: its columns in order, its rows, and sentences about the import.

    ``options``: those that a run of the file needs.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    notes: tuple[Message, ...]
    options: tuple[str, ...] = ()


def chosen(
    paths: Sequence[P],
    found_in: Callable[[int, P], Iterable[Found[T]]],
    models: Sequence[str],
    *,
    tasks: Sequence[str] = (),
    runs: Runs | None = None,
    or_else: str = "",
) -> list[Found[T]]:
    """Return the sources of all paths, of the given tasks and models, one for each model and task.

    Parameters
    ----------
    found_in
        Finds the sources in a path, given its place among the paths.
    models, runs, or_else
        As ``named`` and ``once`` take them.

    Raises
    ------
    UsageError
        As ``named`` and ``once``.
    """
    found = [one for place, path in enumerate(paths) for one in found_in(place, path)]
    return once(named([one for one in found if not tasks or one.task in tasks], paths, models), runs, or_else)


def named(found: Sequence[Found[T]], paths: Sequence[object], models: Sequence[str]) -> list[Found[T]]:
    """Select and rename the sources by the given names.

    Each name is that of a model (or run) in the sources, also ``FOUND=NAME`` to rename it; or there is one name for
    each path, in the order of the paths.

    Raises
    ------
    UsageError
        A name is unknown, a path with one name holds several models, or two runs have the same name.
    """
    if not models:
        return list(found)
    if not all(word.strip() for word in models):
        raise UsageError("--model is given an empty name")
    chosen: list[Found[T]] = []
    for word in models:
        own, new = _called(found, word)
        chosen += [replace(one, model=new) for one in own]
        if not own:
            break
    else:
        return chosen
    held = [sorted({one.model for one in found if one.place == place}) for place in range(len(paths))]
    if len(models) == len(paths) and all(len(names) == 1 for names in held):
        return [replace(one, model=models[one.place]) for one in found]
    several = next((place for place, names in enumerate(held) if len(names) > 1), 0)
    known = ", ".join(held[several][:20]) or "none"
    raise UsageError(
        f"--model is given {len(models)} times for {len(paths)} {'path' if len(paths) == 1 else 'paths'};"
        f" {paths[several]} holds {len(held[several])} models: {known}. Name those to read (--model FOUND, or"
        " --model FOUND=NAME to rename one), or one model for each path, in the order of the paths"
    )


def once(found: Sequence[Found[T]], runs: Runs | None = None, or_else: str = "") -> list[Found[T]]:
    """Return the sources, one for each model and task.

    Parameters
    ----------
    runs
        Several of one model and task: refuse them (``only``), take the last, by their times, or take all; None: there
        is no such option.
    or_else
        What another value of the option does.

    Raises
    ------
    UsageError
        Two sources are of the same model and task.
    """
    if runs == "last":
        last = {(one.model, one.task): one for one in sorted(found, key=lambda one: (one.when, one.file))}
        return [one for one in found if last[one.model, one.task] is one]
    first: dict[tuple[str, str], Found[T]] = {}
    for one in found if runs != "all" else ():
        other = first.setdefault((one.model, one.task), one)
        if other is not one:
            what = f"the model {one.model!r}" + (f" and the task {one.task!r}" if one.task else "")
            instead = "" if runs is None else f"pass --runs last to take the later one, {or_else}or "
            raise UsageError(
                f"{other.file} and {one.file} are both of {what}: {instead}name each file and, for each in this order,"
                " --model NAME"
            )
    return list(found)


def _called(found: Sequence[Found[T]], word: str) -> tuple[list[Found[T]], str]:
    """Return the sources that a word names, and their new name."""
    for old, new in ((word, ""), *((word[:n], word[n + 1 :]) for n, mark in enumerate(word) if mark == "=")):
        own = [one for one in found if old and old in (one.model, one.run)]
        runs = sorted({one.run for one in own})
        if len(runs) > 1:
            raise UsageError(
                f"{len(runs)} runs are called {old!r}: name them by their ids, as --model {runs[0]}=NAME"
            )
        if own:
            return own, new or own[0].model
    return [], word


def read_from(found: Sequence[Found[T]]) -> list[Message]:
    """Return sentences about which file became which model."""
    files: dict[str, list[str]] = {}
    for one in found:
        files.setdefault(one.model, []).append(one.file)
    return [
        Message("imported.model", model=model, files=some(list(dict.fromkeys(own)), 3))
        for model, own in files.items()
    ]


def refuse_other_question(
    asked: dict[tuple[str, ...], tuple[str, str]],
    key: tuple[str, ...],
    question: str,
    *,
    sample: str,
    what: str,
    file: str,
    line: int | None = None,
    code: str = "other_question",
) -> None:
    """Refuse a sample whose model was asked something else than the first model.

    Parameters
    ----------
    asked
        What was asked first under each key, and where; a new key is added.
    question
        A digest of what is asked here.
    sample, what
        The sample and the part of it that differs, as the message calls them.
    code
        The kind of the error.

    Raises
    ------
    InputError
        With both places.
    """
    first, there = asked.setdefault(key, (question, file if line is None else f"{file}, line {line}"))
    if question != first:
        raise InputError.of(code, file=file, line=line, sample=sample, what=what, there=there)


def some(names: list[str], most: int) -> str | Message:
    """Return names, or the first of them and the number of the others."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else Message("list.more", names=shown, n=len(names) - most)


def as_table(rows: Sequence[Row], notes: Sequence[Message]) -> Imported:
    """Return the table of the rows with their ids; several answers to a question are numbered in ``attempt``.

    Rows with a truth are no attempts, even if their inputs are the same: each has its own id, and ``example`` names the
    inputs, for ``--cluster example``.

    Raises
    ------
    InputError
        There are no rows, no answer was judged, or there are more columns than ``MOST_COLUMNS``.
    """
    if not rows:
        raise InputError("there is no row to import", expected="a log with at least one sample")
    judged = [_judgement(row.values) for row in rows]
    missing = sum(value is None for value in judged)
    if missing == len(rows):
        raise InputError("no answer was judged", expected="a log with judgements")
    values = list(dict.fromkeys(name for row in rows for name in row.values))
    headers = _headers(rows)
    # Where every cost is 0, the tool knew no price.
    costs = [name for name in COSTS if any(row.costs.get(name) for row in rows)]
    # Metadata of that name already say it.
    asked = any(row.text for row in rows) and not {*headers.values()} & {*QUESTION}
    if costs:
        notes = [*notes, Message("imported.costs", names=costs)]
    answers = {
        "models": len({row.model for row in rows}),
        "examples": len({row.question for row in rows}),
        "attempts": max(Counter((row.model, row.question) for row in rows).values()),
    }
    notes = [*notes, Message("imported.rows", rows=len(rows), **answers)]
    if headers:
        notes.append(Message("imported.kept", names=some(list(headers.values()), 10)))
    renamed = [f"{old} -> {new}" for old, new in headers.items() if old != new]
    if renamed:
        notes.append(Message("imported.renamed", names=renamed))
    if missing:
        notes.append(Message("imported.missing", n=missing))
    keys: list[tuple[str, ...]]
    columns: tuple[str, ...]
    if answers["attempts"] == 1:
        keys, columns = [(row.example,) for row in rows], ("id",)
    elif "y_true" in values:
        keys = [(f"{row.example}#{number}", row.example) for row, number in _numbered(rows)]
        columns = ("id", "example")
        notes.append(Message("imported.equal_inputs"))
    else:
        keys = [(row.example, row.attempt or number) for row, number in _numbered(rows)]
        columns = ("id", "attempt")
        notes.append(Message("imported.attempts", n=answers["attempts"]))
    table = [
        (
            row.model,
            *key,
            *(row.values.get(name) for name in values),
            *(row.costs.get(name) for name in costs),
            *([_short(row.text)] if asked else []),
            *(cell(row.metadata.get(name)) for name in headers),
        )
        for row, key in zip(rows, keys, strict=True)
    ]
    header = ("model", *columns, *values, *costs, *(["question"] if asked else []), *headers.values())
    return Imported(tuple(map(_plain, header)), tuple(tuple(map(_plain, row)) for row in table), tuple(notes))


def _judgement(values: Mapping[str, object]) -> object:
    """Return the outcome, the prediction, or the one value under another name."""
    names = ("outcome", "y_pred", *(name for name in values if name not in ("task", "gold", "y_true")))
    return next((values[name] for name in names if name in values), None)


def _short(text: str | None) -> str | None:
    """Return a question's text in one line, cut where nobody reads on."""
    if text is None:
        return None
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"


def asked_text(value: object) -> str | None:
    """Return the text of a question; None: it is none, or blank."""
    return value if isinstance(value, str) and value.strip() else None


def cost_of(value: object, divisor: float = 1.0) -> float | None:
    """Return a cost as a number of at least 0, divided into larger units; None: the log has none.

    Examples
    --------
    >>> cost_of(0.25), cost_of("0.5"), cost_of(500, 1000), cost_of(-1), cost_of(None)
    (0.25, 0.5, 0.5, None, None)
    """
    number = None if isinstance(value, bool) else number_of(value)
    return number / divisor if number is not None and number >= 0 else None


def _numbered(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Yield each row with its number among those of the same model and example."""
    places: Counter[tuple[str, tuple[object, str]]] = Counter()
    for row in rows:
        places[row.model, row.question] += 1
        yield row, str(places[row.model, row.question])


def _headers(rows: Sequence[Row]) -> dict[str, str]:
    """Return the header of each piece of metadata: its name, unless that has a meaning in prediction files."""
    names = dict.fromkeys(name for row in rows for name in row.metadata)
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{len(names)} different pieces of metadata", expected=f"at most {MOST_COLUMNS}")
    headers: dict[str, str] = {}
    for name in names:
        header = name if name.strip() else "metadata"
        taken = header in RESERVED or header.startswith(PROBABILITY_PREFIXES)
        while taken or header in headers.values():
            header, taken = f"metadata_{header}", False
        headers[name] = header
    return headers


def cell(value: object) -> object:
    """Return a label, number or structure as a cell of a prediction file; None: empty."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isnan(value):
        return None
    return _json(value) if isinstance(value, (dict, list)) else value


def digest(value: object) -> str:
    """Return a digest of 64 bits of a question."""
    return hashlib.sha256(_json(value).encode()).hexdigest()[:16]


def _json(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        raise InputError("a value is nested too deeply", expected="a log as its tool wrote it") from None


def _plain(value: T) -> T | str:
    """Return a text with lone surrogates escaped, which JSON may hold and UTF-8 cannot."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def write_table(table: Imported, path: Path) -> None:
    """Write a prediction file whole, in the format of its name.

    Raises
    ------
    UsageError
        The format is unknown, there is no such folder, or it cannot be written to.
    OutputError
        Another process is writing the same file.
    """
    name = path.name.lower()
    if not path.parent.is_dir():
        raise UsageError(f"{path}: cannot be written (there is no such folder); name another file with -o")
    if not name.endswith(WRITTEN):
        raise UsageError(f"{path}: expected a file of the format {', '.join(WRITTEN)}; name one with -o")
    content = _parquet(table) if name.endswith(".parquet") else _text(table, name).encode()
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
    columns = zip(*table.rows, strict=True)
    arrays = {name: _array(list(values)) for name, values in zip(table.columns, columns, strict=True)}
    stream = io.BytesIO()
    pq.write_table(pa.table(arrays), stream)
    return stream.getvalue()


def _array(values: list[object]) -> pa.Array:
    numbers = all(value is None or isinstance(value, float) for value in values)
    return pa.array(values if numbers else [None if v is None else str(v) for v in values])


def text_of(path: Path) -> str:
    """Return a file's text.

    Raises
    ------
    InputError
        The file cannot be read, or is not UTF-8.
    """
    try:
        return content_of(path).decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=str(path), remedy="check the path"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", file=str(path), expected="JSON") from None


def json_of(path: Path, expected: str) -> Json:
    """Return the JSON value in a file.

    Raises
    ------
    InputError
        The file cannot be read, or is no JSON.
    """
    return parsed(text_of(path), path, None, expected)


def parsed(text: str, path: Path, line: int | None, expected: str) -> Json:
    """Return a JSON value.

    Raises
    ------
    InputError
        The text is no JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"no JSON ({str(error)[:120]})", file=str(path), line=line, expected=expected
        ) from None


def json_lines(path: Path, expected: str) -> Iterator[tuple[int, Json]]:
    """Yield each value of a file of JSON Lines, with its line."""
    for line, text in enumerate(text_of(path).split("\n"), start=1):
        if text.strip():
            yield line, parsed(text, path, line, expected)


def files_of(given: Path, pattern: str, expected: str) -> list[Path]:
    """Return the file itself, or the files of a folder that fit a pattern.

    Raises
    ------
    InputError
        There is neither.
    """
    if not given.exists():
        raise InputError("there is no such file or folder", file=str(given), expected=expected)
    return sorted(given.rglob(pattern)) if given.is_dir() else [given]


def part_of(content: Record, name: str) -> Record:
    """Return a member that is an object; empty: there is none."""
    part = content.get(name)
    return part if isinstance(part, dict) else {}


def number_of(value: object) -> float | None:
    """Return a judgement such as true, 1, "yes" or "0.5" as a number; None: it is none.

    Examples
    --------
    >>> [number_of(value) for value in (True, "no", "0.5", "perhaps", float("nan"))]
    [1.0, 0.0, 0.5, None, None]
    """
    if isinstance(value, str):
        word = value.strip().casefold()
        words = outcome_words([value])
        if word in words:
            return words[word]
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


def judgement_of(
    value: object,
    name: str,
    file: str,
    *,
    place: str = "",
    line: int | None = None,
    remedy: str | None = None,
) -> float | None:
    """Return a judgement as a number; None: there is none (null, NaN, an empty text, a word such as N/A).

    Raises
    ------
    InputError
        The value is neither a number nor empty.

    Examples
    --------
    >>> [judgement_of(value, "right", "log.json") for value in ("yes", None, float("nan"))]
    [1.0, None, None]
    """
    number = number_of(value)
    if number is None and value is not None and not is_no_number(str(value)):
        raise InputError(
            f"{str(value)[:60]!r}{place} is no number",
            file=file,
            line=line,
            column=name,
            expected="a finite number, true or false, yes or no",
            remedy=remedy,
        )
    return number
