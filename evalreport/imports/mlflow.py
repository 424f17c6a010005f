"""Import of evaluations of MLflow: tables of rows (``eval_results_table.json``), and judged traces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from evalreport.errors import InputError, UsageError
from evalreport.imports.mlflow_stores import TABLE, TRACED_ID, Load, Table, file_table, runs_of
from evalreport.imports.table import (
    Found,
    Imported,
    Row,
    as_table,
    cell,
    cost_of,
    digest,
    judgement_of,
    named,
    once,
    read_from,
    some,
    text_of,
)
from evalreport.predictions.column_names import spellings
from evalreport.texts import Message

LOGS_A_TABLE = (
    'log one in the run: mlflow.log_table(data.assign(prediction=answers), "eval_results_table.json"),'
    " where data holds the inputs and the column target"
)
MIGRATE = (
    "mlflow migrate-filestore --source FOLDER --target sqlite:///mlflow.db, then name the database:"
    " evalreport import mlflow sqlite:///mlflow.db"
)
TARGETS = ("target", "targets", "ground_truth", "label", "expected_response/value")
PREDICTIONS = ("prediction", "predictions", "outputs", "output", "response")
# Columns that a run adds to its inputs; they are no part of the question.
OF_RUN = frozenset(
    (
        *("trace_id", "trace", "client_request_id", "state", "request_time", "execution_duration", "latency"),
        *("trace_metadata", "tags", "spans", "assessments", "token_count", "timestamp", "source_documents"),
        *("total_tokens", "total_cost", "cost", "tokens"),
    )
)
COSTS = {
    "cost": (("total_cost", 1.0), ("cost", 1.0)),
    "latency": (("latency", 1.0), ("execution_duration", 0.001)),
    "tokens": (("token_count", 1.0), ("total_tokens", 1.0), ("tokens", 1.0)),
}
"""Columns that hold a cost, the first that is there, with their factor: durations are in milliseconds."""
JUDGED = ("/score", "/value")
BY_PEOPLE = "/human"
ATTEMPTS = ("attempt", "epoch")


def import_mlflow(
    paths: Sequence[Path | str],
    *,
    models: Sequence[str] = (),
    experiment: str | None = None,
    id_column: str | None = None,
    outcome: str | None = None,
    target: str | None = None,
    prediction: str | None = None,
    gold: str | None = None,
) -> Imported:
    """Read the evaluation tables and judged traces of one or more models.

    Parameters
    ----------
    paths
        Tables, folders that are searched for eval_results_table.json, databases (``sqlite:///mlflow.db``) or servers
        (``http://...``); a run gives its model's name.
    models
        The runs to read, by name or id, also ``RUN=NAME``; or one name for each path.
    experiment
        The experiment whose runs are read, of a database or server; None: all.
    id_column
        What rows are matched by; None: a column that is called so, else a digest of the inputs.
    outcome
        The column that judges a row; None: the only one of ``*/score`` and ``*/value``, else of ``*/human``. Where no
        models are named, runs without this column are left out.
    target
        The column of the truth, to be compared with the answer as label or number in place of an outcome.
    prediction
        The column of the answer; None: one that is called so.
    gold
        The column that holds what a person judged, on some of the rows.

    Raises
    ------
    InputError
        No table, a column that is not there, a judgement that is no number, or models without the same examples.
    UsageError
        Several columns could be meant, or the names do not fit the tables.
    """
    if target is not None and (outcome is not None or gold is not None):
        raise UsageError(
            "--target contradicts --outcome and --gold: truth and answer, or a judgement of the answer"
        )
    runs_read = [one for place, path in enumerate(paths) for one in _found(place, str(path), experiment)]
    chosen = named(runs_read, paths, models)
    loaded = [(one, one.source()) for one in chosen]
    without = [one for one, table in loaded if table is None]
    read = [(one, table) for one, table in loaded if table is not None]
    if outcome is not None and not models and any(outcome in table.columns for _, table in read):
        # Of a whole store, only the runs with this judgement.
        without += [one for one, table in read if outcome not in table.columns]
        read = [(one, table) for one, table in read if outcome in table.columns]
    if not read or (models and without):
        raise InputError(
            f"no rows were logged by {', '.join(one.model for one in without[:10]) or 'any run'}",
            file=str(paths[0]),
            expected="runs with a table of rows, or with judged traces (mlflow.genai.evaluate)",
            remedy=LOGS_A_TABLE,
        )
    said = read_from(once([one for one, _ in read]))
    said += [Message("imported.file_traces", folder=str(p)) for p in paths if _has_traces(Path(p))]
    if without:
        read_too = {one.model for one, _ in read}
        runs = [f"{one.model} ({one.run})" if one.model in read_too else one.model for one in without]
        said.append(Message("imported.without_rows", runs=runs))
    rows: list[Row] = []
    how: set[Message] = set()
    for one, table in read:
        own, told = _rows(table, one.model, id_column, outcome, target, prediction, gold)
        rows += own
        how |= told
    _check_shared(rows, [one for one, _ in read])
    return as_table(rows, [*said, *sorted(how, key=str)])


def _found(place: int, path: str, experiment: str | None) -> list[Found[Load]]:
    """Return the runs of a store, or the tables of a folder, which are loaded later."""
    if path.startswith(("http://", "https://")):
        return list(runs_of(place, path, experiment))
    if path.startswith("sqlite:"):
        return list(runs_of(place, path.removeprefix("sqlite:").removeprefix("///"), experiment))
    given = Path(path.removeprefix("file://"))
    if (given / "mlflow.db").is_file():
        given /= "mlflow.db"
    if given.suffix in (".db", ".sqlite", ".sqlite3"):
        return list(runs_of(place, str(given), experiment))
    files = [given] if given.is_file() else sorted(given.rglob(TABLE)) if given.is_dir() else []
    if not files and given.is_dir() and not _has_traces(given):
        files = sorted(given.glob("*.json"))  # tables that were saved by hand, one a model
    if not files and _has_traces(given):
        raise InputError(
            f"there are traces, but no {TABLE}",
            file=path,
            expected="a database or server of MLflow",
            remedy=MIGRATE,
        )
    if not files:
        raise InputError(
            f"there is no {TABLE}",
            file=path,
            expected="evaluation tables of MLflow; or sqlite:///mlflow.db, or http://SERVER",
            remedy=f"name the store (MLflow 3 writes mlflow.db); for a run without a table, {LOGS_A_TABLE}",
        )
    return [Found(place, _name(file), str(file), partial(file_table, file)) for file in files]


def _has_traces(folder: Path) -> bool:
    """Return whether a folder is a file store with traces, which are not read there."""
    return next(folder.glob("*/traces/tr-*"), None) is not None


def _name(file: Path) -> str:
    """Return the name of a table's run from a file store, else the name of its folder or file."""
    if file.name != TABLE:
        return file.stem
    folder = file.absolute().parent
    run = folder.parent if folder.name == "artifacts" else folder
    tag = run / "tags" / "mlflow.runName"
    if tag.is_file():
        return text_of(tag).strip() or run.name
    return run.name


def _rows(
    table: Table,
    model: str,
    id_column: str | None,
    outcome: str | None,
    target: str | None,
    prediction: str | None,
    gold: str | None,
) -> tuple[list[Row], set[Message]]:
    """Return a table's rows, and sentences about how it was read."""
    answered = prediction or next((name for name in PREDICTIONS if name in table.columns), None)
    judged = None if target is not None else outcome or _only_judgement(table)
    values: list[dict[str, object]]
    if judged is not None:
        values = [{"outcome": value} for value in _judgements(table, judged, "--outcome")]
        said, used = Message("imported.outcome", name=judged), {judged, gold}
        if gold is not None:
            for own, value in zip(values, _judgements(table, gold, "--gold"), strict=True):
                own["gold"] = value
    else:
        truth = target or next((name for name in TARGETS if name in table.columns), None)
        if truth is None or answered is None:
            raise InputError(
                "there is no judgement (*/score, */value), and no target beside a prediction",
                file=table.file,
                expected=f"one of the columns {', '.join(table.named)}",
                remedy="name the column with --outcome, or both with --target and --prediction",
            )
        places = table.column(truth, "--target"), table.column(answered, "--prediction")
        values = [{"y_true": cell(row[places[0]]), "y_pred": cell(row[places[1]])} for row in table.rows]
        said, used = Message("imported.labels", truth=truth, prediction=answered), {truth}
    examples, how = _examples(table, id_column, answered)
    attempt = next((table.columns.index(name) for name in ATTEMPTS if name in table.columns), None)
    attempts = [None if attempt is None else str(row[attempt]) for row in table.rows]
    kept = [name for name in table.columns if _is_input(name, answered) and name not in {*used, id_column}]
    rows = [
        Row(model, example, own, _metadata(table, row, kept), number, _costs(table, row))
        for example, own, row, number in zip(examples, values, table.rows, attempts, strict=True)
    ]
    return rows, {said, how}


def _is_input(name: str, answered: str | None) -> bool:
    """Return whether a column is part of the question: no answer, no judgement, not added by the run."""
    return (
        name not in (answered, *PREDICTIONS, *ATTEMPTS, TRACED_ID) and name not in OF_RUN and "/" not in name
    )


def _costs(table: Table, row: Sequence[object]) -> dict[str, float | None]:
    """Return what an answer cost, by the columns that say it."""
    costs: dict[str, float | None] = {}
    for name, columns in COSTS.items():
        known = next(((column, factor) for column, factor in columns if column in table.columns), None)
        value = None if known is None else cost_of(row[table.columns.index(known[0])])
        costs[name] = None if known is None or value is None else value * known[1]
    return costs


def _metadata(table: Table, row: Sequence[object], kept: Sequence[str]) -> dict[str, object]:
    """Return the fields of a row's question, those of a structured one by their names."""
    columns: dict[str, object] = {}
    for name in kept:
        value = row[table.columns.index(name)]
        columns |= value if isinstance(value, dict) else {name: value}
    return columns


def _only_judgement(table: Table) -> str | None:
    # A scorer's values include expectations, which are no judgements.
    judged = [name for name in table.columns if name.endswith(JUDGED) and name not in TARGETS]
    judged = judged or [name for name in table.columns if name.endswith(BY_PEOPLE)]
    if len(judged) > 1:
        raise UsageError(f"{table.file}: rows are judged by {', '.join(judged)}: name one with --outcome")
    return judged[0] if judged else None


def _judgements(table: Table, name: str, option: str) -> list[float | None]:
    """Return a column of judgements; None for rows without one."""
    place, remedy = table.column(name, option), f"name another column with {option}"
    return [
        judgement_of(row[place], name, table.file, place=f" in row {number}", remedy=remedy)
        for number, row in enumerate(table.rows, start=1)
    ]


def _examples(table: Table, id_column: str | None, answered: str | None) -> tuple[list[str], Message]:
    """Return the ids of the examples: the column of ids, else a digest of the question."""
    known = (*spellings("id"), TRACED_ID)
    column = id_column or next((name for name in known if name in table.columns), None)
    if column is not None:
        place = table.column(column, "--id")
        said = Message("imported.by_column", column=column)
        if column == TRACED_ID:
            said = Message("imported.by_digest", columns=["inputs"])
        return [str(cell(row[place])) for row in table.rows], said
    inputs = [place for place, name in enumerate(table.columns) if _is_input(name, answered)]
    if not inputs:
        raise InputError(
            "there is no column of inputs", file=table.file, remedy="name the column of ids with --id"
        )
    digests = [digest([row[place] for place in inputs]) for row in table.rows]
    return digests, Message("imported.by_digest", columns=some([table.columns[p] for p in inputs], 10))


def _check_shared(rows: Sequence[Row], found: Sequence[Found[Load]]) -> None:
    """Refuse models without common examples, which a wrong column among the inputs would cause."""
    by_model: dict[str, set[str]] = {one.model: set() for one in found}
    for row in rows:
        by_model[row.model].add(row.example)
    first, known = found[0], ", ".join(one.model for one in found[:20])
    for one in found[1:]:
        missing = by_model[first.model] ^ by_model[one.model]
        if missing:
            raise InputError(
                f"{len(missing)} examples are not in both this table and that of {first.model} ({first.file})",
                file=one.file,
                expected="the same inputs for every model",
                remedy=f"name the runs to compare with --model ({known}), the column of ids with --id, or the"
                " answer's column with --prediction",
            )
