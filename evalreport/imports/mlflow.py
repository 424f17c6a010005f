"""Evaluation tables of MLflow (``eval_results_table.json``, or ``result_df`` of mlflow.genai saved as JSON) -> rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport.data.columns import ALIASES
from evalreport.errors import InputError, UsageError
from evalreport.imports.table import Imported, Row, as_table, number_of, parsed, text_of
from evalreport.texts import Message

TABLE = "eval_results_table.json"
_EXPECTED = "a table of MLflow as JSON: {columns: [...], data: [[...], ...]}"
TARGETS = ("target", "targets", "ground_truth", "label", "expected_response/value")
PREDICTIONS = ("prediction", "predictions", "outputs", "output", "response")
# What a run adds to its inputs: no part of the question.
OF_RUN = frozenset(
    (
        *("trace_id", "trace", "client_request_id", "state", "request_time", "execution_duration", "latency"),
        *("trace_metadata", "tags", "spans", "assessments", "token_count", "timestamp", "source_documents"),
    )
)
JUDGED = ("/score", "/value")


@dataclass(frozen=True, slots=True)
class Table:
    """One table as it was read."""

    path: Path
    model: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def column(self, name: str, option: str) -> int:
        """Return a column's place.

        Raises
        ------
        InputError
            There is none of that name.
        """
        if name not in self.columns:
            raise InputError(
                f"there is no column {name!r}",
                file=str(self.path),
                expected=f"one of {', '.join(self.columns)}",
                remedy=f"name another with {option}",
            )
        return self.columns.index(name)


def import_mlflow(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    id_column: str | None = None,
    outcome: str | None = None,
    target: str | None = None,
    prediction: str | None = None,
) -> Imported:
    """Read the evaluation tables of one or more models.

    Parameters
    ----------
    paths
        Folders that are searched for eval_results_table.json, or tables; a table's run gives its model's name.
    models
        One name for each table.
    id_column
        What rows are matched by; None: a column that is called so, else a digest of the inputs.
    outcome
        The column that judges a row; None: the only one of ``*/score`` and ``*/value``.
    target
        The column of the truth, to be compared with the answer as label or number in place of an outcome.
    prediction
        The column of the answer; None: one that is called so.

    Raises
    ------
    InputError
        No table, a column that is not there, a judgement that is no number, or models without the same examples.
    UsageError
        Several columns could be meant, or the names do not fit the tables.
    """
    if target is not None and outcome is not None:
        raise UsageError(
            "--target and --outcome contradict each other: truth and answer, or a judgement of it"
        )
    files = [file for path in paths for file in _files(path)]
    if models and len(models) != len(files):
        raise UsageError(
            f"--model is given {len(models)} times for {len(files)} tables: name each of them, in order"
        )
    tables = [_table(file, models[place] if models else _name(file)) for place, file in enumerate(files)]
    names = [table.model for table in tables]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two tables are of the model {twice!r}: name the models with --model, in order of the tables"
        )
    rows: list[Row] = []
    said: set[Message] = set()
    for table in tables:
        own, how = _rows(table, id_column, outcome, target, prediction)
        rows += own
        said |= how
    _check_shared(rows, tables)
    return as_table(rows, sorted(said, key=str))


# --- tables ---------------------------------------------------------------------------------------------------------


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(path.rglob(TABLE)) if path.is_dir() else []
    if not found:
        raise InputError(f"there is no {TABLE}", file=str(path), expected=_EXPECTED)
    return found


def _name(file: Path) -> str:
    """Return the name of the run that a table belongs to, as a file store keeps it; else that of its folder or file."""
    if file.name != TABLE:
        return file.stem
    folder = file.absolute().parent
    run = folder.parent if folder.name == "artifacts" else folder
    tag = run / "tags" / "mlflow.runName"
    if tag.is_file():
        return text_of(tag).strip() or run.name
    return run.name


def _table(file: Path, model: str) -> Table:
    content = parsed(text_of(file), file, None, _EXPECTED)
    columns = content.get("columns") if isinstance(content, dict) else None
    rows = content.get("data") if isinstance(content, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise InputError("no table", file=str(file), expected=_EXPECTED)
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InputError(f"row {place + 1} does not fit the {len(columns)} columns", file=str(file))
    if not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise InputError("its columns are no different texts", file=str(file), expected=_EXPECTED)
    return Table(file, model, tuple(columns), tuple(tuple(row) for row in rows))


# --- rows -----------------------------------------------------------------------------------------------------------


def _rows(
    table: Table, id_column: str | None, outcome: str | None, target: str | None, prediction: str | None
) -> tuple[list[Row], set[Message]]:
    """Return a table's rows, and what was found on the way."""
    answered = prediction or next((name for name in PREDICTIONS if name in table.columns), None)
    examples, how = _examples(table, id_column, answered)
    judged = None if target is not None else outcome or _only_judgement(table)
    values: list[dict[str, object]]
    if judged is not None:
        place = table.column(judged, "--outcome")
        values = [{"outcome": _judgement(table, judged, n, row[place])} for n, row in enumerate(table.rows)]
        said = Message("imported.outcome", name=judged)
    else:
        truth = target or next((name for name in TARGETS if name in table.columns), None)
        if truth is None or answered is None:
            raise InputError(
                "there is no judgement (*/score, */value), and no target beside a prediction",
                file=str(table.path),
                expected=f"one of the columns {', '.join(table.columns)}",
                remedy="name the column with --outcome, or both with --target and --prediction",
            )
        places = table.column(truth, "--target"), table.column(answered, "--prediction")
        values = [{"y_true": _cell(row[places[0]]), "y_pred": _cell(row[places[1]])} for row in table.rows]
        said = Message("imported.labels", truth=truth, prediction=answered)
    rows = [Row(table.model, example, own) for example, own in zip(examples, values, strict=True)]
    return rows, {said, how}


def _only_judgement(table: Table) -> str | None:
    # Among a scorer's values there are expectations too, which judge nothing.
    found = [name for name in table.columns if name.endswith(JUDGED) and name not in TARGETS]
    if len(found) > 1:
        raise UsageError(f"{table.path}: rows are judged by {', '.join(found)}: name one with --outcome")
    return found[0] if found else None


def _judgement(table: Table, name: str, place: int, value: object) -> float:
    number = number_of(value)
    if number is None:
        raise InputError(
            f"{str(value)[:60]!r} in row {place + 1} is no number",
            file=str(table.path),
            column=name,
            expected="a finite number, true or false, yes or no",
            remedy="name another column with --outcome, or remove the rows that were not judged",
        )
    return number


def _examples(table: Table, id_column: str | None, answered: str | None) -> tuple[list[str], Message]:
    """Return what tells examples apart: the column of ids, else a digest of what was asked."""
    known = ("id", *ALIASES["id"])
    column = id_column or next((name for name in known if name in table.columns), None)
    if column is not None:
        place = table.column(column, "--id")
        return [str(_cell(row[place])) for row in table.rows], Message("imported.by_column", column=column)
    inputs = [
        place
        for place, name in enumerate(table.columns)
        if name != answered and name not in PREDICTIONS and name not in OF_RUN and "/" not in name
    ]
    if not inputs:
        raise InputError(
            "there is no column of inputs", file=str(table.path), remedy="name the column of ids with --id"
        )
    texts = (json.dumps([row[place] for place in inputs], sort_keys=True) for row in table.rows)
    digests = [hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16] for text in texts]
    return digests, Message("imported.by_digest", columns=[table.columns[place] for place in inputs])


def _check_shared(rows: Sequence[Row], tables: Sequence[Table]) -> None:
    """Refuse models whose examples are not the same: a wrong column among the inputs would look like that."""
    by_model: dict[str, set[str]] = {table.model: set() for table in tables}
    for row in rows:
        by_model[row.model].add(row.example)
    first = tables[0]
    for table in tables[1:]:
        missing = by_model[first.model] ^ by_model[table.model]
        if missing:
            raise InputError(
                f"{len(missing)} examples are not in both this table and that of {first.model} ({first.path})",
                file=str(table.path),
                expected="the same inputs for every model",
                remedy="name the column of ids with --id, or the answer's column with --prediction",
            )


def _cell(value: object) -> object:
    """Return a label or number as a prediction file holds it."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value
