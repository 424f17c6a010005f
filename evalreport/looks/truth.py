"""A digest of the true values by id, which no prediction is needed for."""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import repeat
from pathlib import Path

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.loading.tables import Table, table_of
from evalreport.options import AnyPath, Options
from evalreport.predictions.table import Predictions
from evalreport.sources.database import one_database
from evalreport.sources.files import copies_of_addresses, find_files
from evalreport.sources.formats import source_of

MODEL = "truth"


def truth_digest(predictions: Predictions) -> str:
    """Return the SHA-256 of the lines ``id TAB truth LF``, in a suite ``task TAB id TAB truth LF``, sorted by bytes.

    Labels are spelled as in ``classes``, numbers as the shortest text that reads back, without ``.0``.
    """
    truth, tasks = predictions.y_true, predictions.tasks
    ids = predictions.ids.to_pylist()
    names = [ids[place] for place in predictions.example]
    if truth is None:
        labels: Iterable[str] = repeat("", predictions.n)
    elif truth.dtype.kind == "f":
        labels = (_number(float(value)) for value in truth)
    else:
        classes = (*predictions.classes, "")
        labels = (classes[code] for code in truth)
    if tasks is not None and tasks.categories is not None:
        names = [f"{tasks.categories[code]}\t{name}" for code, name in zip(tasks.values, names, strict=True)]
    lines = {
        f"{name}\t{label}\n".encode("utf-8", "surrogatepass")
        for name, label in zip(names, labels, strict=True)
    }
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def truth_of_files(source: AnyPath, options: Options) -> str:
    """Return the digest of the true values in a file of them, or in prediction files, whose answers are not read.

    Raises
    ------
    InputError
        Files that cannot be read, or without ids.
    """
    with copies_of_addresses() as copies, one_database():
        found = find_files(source, None, copies)
        files = found.files if found.truth is None else (found.truth,)
        tables = [table_of(source_of(file), options, predictions=False) for file in files]
        rows = dict.fromkeys(row for table in tables for row in _rows(table))
    with tempfile.TemporaryDirectory() as folder:
        # Read as a run reads it, so that labels and ids are spelled alike.
        path = Path(folder) / f"{MODEL}.csv"
        suite = any(len(row) == 3 for row in rows)
        column = "outcome" if all(row[-1] == "" for row in rows) else "y_true"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(
                [*(["task"] if suite else []), "id", column, "y_pred"][: 4 if column == "y_true" else -1]
            )
            for *key, label in rows:
                writer.writerow([*key, *((label, label) if column == "y_true" else ("0",))])
        plain = replace(Options(), task=options.task, positive=options.positive)
        return truth_digest(load(str(path), options=plain))


def _rows(table: Table) -> Iterator[tuple[str, ...]]:
    headers = table.roles.columns
    if "id" not in headers:
        raise InputError(
            "the true values have no ids", file=table.name, expected="a column id, as in the prediction files",
            remedy="name the examples in a column id",
        )  # fmt: skip
    wanted = [*(["task"] if "task" in headers else []), "id", *(["y_true"] if "y_true" in headers else [])]
    columns = [_texts(table.read.arrays[headers[name]].to_pylist()) for name in wanted]
    if "y_true" not in headers:
        columns.append([""] * table.read.rows)
    return zip(*columns, strict=True)


def _texts(values: list[object]) -> list[str]:
    return ["" if v is None else _number(v) if isinstance(v, float) else str(v) for v in values]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
