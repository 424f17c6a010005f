"""Import of evaluations of MLflow: tables of rows (``eval_results_table.json``), and judged traces.

Tables are files; databases and servers are read by MLflow's own client.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from evalreport.errors import InputError, UsageError, remember, remember_address
from evalreport.files import MOST_BYTES
from evalreport.imports import answers
from evalreport.predictions.column_names import spellings
from evalreport.texts import Message

Untyped: TypeAlias = Any
"""Of MLflow, which is imported where it is needed: it takes seconds."""
TABLE = "eval_results_table.json"
TRACED_ID = "mlflow.eval.requestId"
"""The tag that mlflow.genai.evaluate gives a trace: a digest of the inputs, or with ``predict_fn`` a random text."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_EXPECTED = "a table of MLflow as JSON: {columns: [...], data: [[...], ...]}"
_JUDGED_IN = "mlflow.assessment.sourceRunId"
_PREVIEW, _METADATA = 1000, 250
"""Characters after which MLflow cuts the shown inputs of a trace, and its metadata with the inputs among them."""
_PAGE = 500
_SECONDS = 60
_SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": str(_SECONDS),
}
"""Of MLflow's client, where the user has set none: by default it reports its use, and tries for minutes."""


@dataclass(frozen=True, slots=True)
class Table:
    """Logged rows."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, object], ...]
    """By column; one that a row lacks is empty."""

    @property
    def named(self) -> list[str]:
        """The columns that a user may name."""
        return [name for name in self.columns if name != TRACED_ID]

    def column(self, name: str, option: str) -> list[object]:
        """Return the cells of a column that the option names.

        Raises
        ------
        InputError
            There is none of that name.
        """
        if name not in self.columns:
            raise InputError(
                f"there is no column {name!r}",
                file=self.file,
                expected=f"one of {', '.join(self.named)}",
                remedy=f"name another with {option}",
            )
        return [row.get(name) for row in self.rows]


Load: TypeAlias = Callable[[], Table | None]
"""Reads the rows of a run; None: it logged none."""
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
) -> answers.Imported:
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
    found_in = partial(_found, experiment=experiment)
    loaded = [(one, one.source()) for one in answers.chosen(paths, found_in, models, runs="all")]
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
    said = answers.read_from(answers.once([one for one, _ in read]))
    said += [Message("imported.file_traces", folder=str(p)) for p in paths if _has_traces(Path(p))]
    if without:
        read_too = {one.model for one, _ in read}
        runs = [f"{one.model} ({one.run})" if one.model in read_too else one.model for one in without]
        said.append(Message("imported.without_rows", runs=runs))
    rows: list[answers.Row] = []
    how: set[Message] = set()
    for one, table in read:
        own, told = _rows(table, one.model, id_column, outcome, target, prediction, gold)
        rows += own
        how |= told
    _check_shared(rows, [one for one, _ in read])
    return answers.as_table(rows, [*said, *sorted(how, key=str)])


def _found(place: int, given_path: Path | str, *, experiment: str | None) -> list[answers.Found[Load]]:
    """Return the runs of a store, or the tables of a folder, which are loaded later."""
    path = str(given_path)
    if _is_server(path):
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
    return [answers.Found(place, _name(file), str(file), partial(file_table, file)) for file in files]


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
        return answers.text_of(tag).strip() or run.name
    return run.name


def _rows(
    table: Table,
    model: str,
    id_column: str | None,
    outcome: str | None,
    target: str | None,
    prediction: str | None,
    gold: str | None,
) -> tuple[list[answers.Row], set[Message]]:
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
        pairs = zip(table.column(truth, "--target"), table.column(answered, "--prediction"), strict=True)
        values = [
            {"y_true": answers.cell(true), "y_pred": answers.cell(predicted)} for true, predicted in pairs
        ]
        said, used = Message("imported.labels", truth=truth, prediction=answered), {truth}
    examples, how = _examples(table, id_column, answered)
    attempt = next((name for name in ATTEMPTS if name in table.columns), None)
    attempts = [None if attempt is None else str(row.get(attempt)) for row in table.rows]
    kept = [name for name in table.columns if _is_input(name, answered) and name not in {*used, id_column}]
    rows = [
        answers.Row(model, example, own, _metadata(row, kept), number, _costs(table.columns, row))
        for example, own, row, number in zip(examples, values, table.rows, attempts, strict=True)
    ]
    return rows, {said, how}


def _is_input(name: str, answered: str | None) -> bool:
    """Return whether a column is part of the question: no answer, no judgement, not added by the run."""
    return (
        name not in (answered, *PREDICTIONS, *ATTEMPTS, TRACED_ID) and name not in OF_RUN and "/" not in name
    )


def _costs(columns: Sequence[str], row: Mapping[str, object]) -> dict[str, float | None]:
    """Return what an answer cost, by the columns that say it."""
    costs: dict[str, float | None] = {}
    for name, known in COSTS.items():
        column, factor = next((pair for pair in known if pair[0] in columns), ("", 1.0))
        value = answers.cost_of(row.get(column))
        costs[name] = None if value is None else value * factor
    return costs


def _metadata(row: Mapping[str, object], kept: Sequence[str]) -> dict[str, object]:
    """Return the fields of a row's question, those of a structured one by their names."""
    columns: dict[str, object] = {}
    for name in kept:
        value = row.get(name)
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
    remedy = f"name another column with {option}"
    return [
        answers.judgement_of(value, name, table.file, place=f" in row {number}", remedy=remedy)
        for number, value in enumerate(table.column(name, option), start=1)
    ]


def _examples(table: Table, id_column: str | None, answered: str | None) -> tuple[list[str], Message]:
    """Return the ids of the examples: the column of ids, else a digest of the question."""
    known = (*spellings("id"), TRACED_ID)
    column = id_column or next((name for name in known if name in table.columns), None)
    if column is not None:
        said = Message("imported.by_column", column=column)
        if column == TRACED_ID:
            said = Message("imported.by_digest", columns=["inputs"])
        return [str(answers.cell(value)) for value in table.column(column, "--id")], said
    inputs = [name for name in table.columns if _is_input(name, answered)]
    if not inputs:
        raise InputError(
            "there is no column of inputs", file=table.file, remedy="name the column of ids with --id"
        )
    digests = [answers.digest([row.get(name) for name in inputs]) for row in table.rows]
    return digests, Message("imported.by_digest", columns=answers.some(inputs, 10))


def _check_shared(rows: Sequence[answers.Row], found: Sequence[answers.Found[Load]]) -> None:
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


# --- tables and stores ----------------------------------------------------------------------------------------------


def file_table(file: Path) -> Table:
    """Return the table in a file.

    Raises
    ------
    InputError
        It cannot be read, or is none.
    """
    return _table(answers.text_of(file), str(file))


def _table(text: str, file: str) -> Table:
    content = answers.parsed(text, Path(file), None, _EXPECTED)
    columns = content.get("columns") if isinstance(content, dict) else None
    rows = content.get("data") if isinstance(content, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise InputError("no table", file=file, expected=_EXPECTED)
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InputError(f"row {place + 1} does not fit the {len(columns)} columns", file=file)
    if not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise InputError("its columns are no different texts", file=file, expected=_EXPECTED)
    return Table(file, tuple(columns), tuple(dict(zip(columns, row, strict=True)) for row in rows))


def runs_of(place: int, address: str, experiment: str | None) -> Iterator[answers.Found[Load]]:
    """Yield the runs of a SQLite database or of a tracking server, the oldest first.

    Parameters
    ----------
    address
        The path of a database, or ``http://...``; MLFLOW_TRACKING_TOKEN, or _USERNAME and _PASSWORD, open a server.

    Raises
    ------
    InputError
        No such database, no answer, or not of MLflow.
    UsageError
        MLflow is not installed.
    """
    client = _client(address)
    with _asking(address):
        experiments = list(_paged(client.search_experiments))
        ids = [one.experiment_id for one in experiments if experiment in (None, one.name)]
        search = partial(client.search_runs, ids, order_by=["attributes.start_time ASC"])
        runs = list(_paged(search)) if ids else []
    if not runs:
        where = f" in the experiment {experiment!r}" if experiment is not None else ""
        names = ", ".join(one.name for one in experiments[:20]) or "none"
        raise InputError(
            f"there is no run{where}", file=address, expected=f"one of {names}", remedy="check --experiment"
        )
    for run in runs:
        info = run.info
        where = f"{address}, run {info.run_id}"
        load = partial(_table_of, client, address, info, where)
        yield answers.Found(place, info.run_name or info.run_id, where, load, info.run_id)


def _is_server(address: str) -> bool:
    return address.startswith(("http://", "https://"))


def _client(address: str) -> Untyped:
    """Return MLflow's client of a server, or of a database that is only read."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from mlflow import MlflowClient
    except ImportError:
        raise UsageError(
            "MLflow's databases and servers are read by its client: install evalreport with its extra mlflow"
        ) from None
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if _is_server(address):
        remember_address(address)
        remember(*(os.environ.get(f"MLFLOW_TRACKING_{name}", "") for name in ("TOKEN", "PASSWORD")))
        return MlflowClient(address)
    path = Path(address)
    if not path.is_file():
        raise InputError("there is no such database", file=address, remedy="check the path")
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    with _asking(address), contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
        # A view may have rows without end.
        rows = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL%'"
        )
        for (name,) in rows:
            raise InputError(f"{name} is not a plain table", file=address, expected="a database of MLflow")
    with _asking(address):
        return MlflowClient(f"sqlite:///{uri}&uri=true")


@contextmanager
def _asking(address: str) -> Iterator[None]:
    """Turn an error of the client into one message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - the client raises errors of its own and of the libraries below
        problem = (str(error).strip().splitlines() or [type(error).__name__])[0]
        server = (
            "MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, open a server"
        )
        remedy = (
            f"check the address; {server} that asks for them"
            if _is_server(address)
            else "bring it to the version of the installed MLflow with mlflow db upgrade; other databases than"
            " SQLite are read by the server: mlflow server, then http://SERVER"
        )
        raise InputError(
            f"MLflow's client cannot read it ({problem[:200]})",
            file=address,
            expected="a server of MLflow 3" if _is_server(address) else "a database of MLflow",
            remedy=remedy,
        ) from None


def _paged(search: Callable[..., Untyped]) -> Iterator[Untyped]:
    """Yield the results of a search, page by page."""
    token: str | None = None
    while True:
        page = search(max_results=_PAGE, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _table_of(client: Untyped, address: str, info: Untyped, where: str) -> Table | None:
    """Return the table that a run logged, else its judged traces as a table; None: it has neither."""
    with _asking(address):
        text = _served_table(client, info.run_id) if _is_server(address) else None
    if text is not None:
        return _table(text, where)
    for folder in [] if _is_server(address) else _folders(Path(address), info):
        if (folder / TABLE).is_file():
            return file_table(folder / TABLE)
    with _asking(address):
        of_run = f"attribute.run_id = '{info.run_id}'"
        search = partial(client.search_traces, locations=[info.experiment_id], order_by=["timestamp_ms ASC"])
        traces = list(_paged(partial(search, filter_string=of_run, include_spans=False)))
        # Spans elsewhere than in the store would be fetched from any address that a trace names.
        stored = f"tags.`mlflow.trace.spansLocation` = 'TRACKING_STORE' AND {of_run}"
        spans = _paged(partial(search, filter_string=stored, include_spans=True)) if traces else ()
        whole = {
            trace.info.trace_id: next((s.inputs for s in trace.data.spans if s.parent_id is None), None)
            for trace in spans
        }
        rows = [_row(trace.info, whole.get(trace.info.trace_id), info.run_id, where) for trace in traces]
    judged = tuple(row for row in rows if row is not None)
    columns = dict.fromkeys(name for row in judged for name in row)
    return Table(where, tuple(columns), judged) if judged else None


def _served_table(client: Untyped, run: str) -> str | None:
    """Return the logged table as the server gives it, wherever it keeps artifacts; None: there is none."""
    from mlflow.utils.rest_utils import http_request

    credentials = client._tracking_client.store.get_host_creds()
    parameters = {"path": TABLE, "run_uuid": run}
    response = http_request(credentials, "/get-artifact", "GET", params=parameters, stream=True)
    with response:
        if response.status_code == 404:
            return None
        response.raise_for_status()
        content = response.raw.read(MOST_BYTES + 1, decode_content=True)
    if len(content) > MOST_BYTES:
        raise ValueError(f"an answer of more than {MOST_BYTES // 10**6} MB")
    return str(content.decode("utf-8", "replace"))


def _folders(path: Path, info: Untyped) -> list[Path]:
    """Return the possible folders of a run's artifacts: the recorded one, and one beside a moved database."""
    parts = urlsplit(info.artifact_uri)
    stored = [] if parts.scheme not in ("", "file") or parts.netloc else [Path(unquote(parts.path))]
    names = (info.experiment_id, info.run_id)
    plain = {"", ".", ".."}.isdisjoint(names) and "/" not in "".join(names)
    beside = path.absolute().parent.joinpath("mlruns", *names, "artifacts")
    return [*stored, *([beside] if plain else [])]


def _row(info: Untyped, whole: object, run: str, file: str) -> dict[str, object] | None:
    """Return a judged trace as a row: inputs, tags and costs by their names, ``NAME/value`` and ``NAME/human``.

    None: nothing judged it in this run.
    """
    # What another run's evaluation said of the same trace is left out; of a scorer's judgements the last counts.
    judgements = sorted(
        (one for one in info.assessments if one.valid is not False),
        key=lambda one: (one.create_time_ms or 0, one.assessment_id or ""),
    )
    judgements = [one for one in judgements if (one.metadata or {}).get(_JUDGED_IN) in (None, run)]
    if all(one.expectation is not None for one in judgements):
        return None
    shown = info.request_preview or ""
    inputs = _parsed_inputs(whole) if whole is not None else _short_inputs(shown, info.trace_metadata)
    known = info.tags.get(TRACED_ID, "")
    if inputs is None and not _DIGEST.fullmatch(known):
        raise InputError(
            "the inputs of a trace are cut, and it has no digest of them",
            file=file,
            remedy="name the database of the store, or update its server: MLflow 3.17 gives all of the inputs",
        )
    row: dict[str, object] = {TRACED_ID: known if inputs is None else answers.digest([inputs])}
    row |= {name: value for name, value in info.tags.items() if not name.startswith("mlflow.")}
    row |= _inputs(shown) if inputs is None else inputs
    row |= {name: value for name, value in _costs_of_trace(info).items() if value is not None}
    for one in judgements:
        if one.expectation is not None:
            row.setdefault(one.name, one.expectation.value)
        else:
            by = "human" if one.source.source_type == "HUMAN" else "value"
            row[f"{one.name}/{by}"] = one.feedback.value
    return row


def _parsed_inputs(whole: object) -> dict[str, object]:
    return (
        whole if isinstance(whole, dict) else _inputs(whole) if isinstance(whole, str) else {"inputs": whole}
    )


def _short_inputs(shown: str, metadata: dict[str, str]) -> dict[str, object] | None:
    """Return the inputs of a trace without spans; None: they are cut.

    Shown are the first 1,000 characters; of messages to a chat model, those of the last one alone. The metadata has the
    first 250 of all of them.
    """
    beginning = metadata.get("mlflow.traceInputs", "")
    if beginning and len(beginning) < _METADATA:
        return _inputs(beginning)
    is_whole = len(shown) < _PREVIEW and shown.startswith(beginning.removesuffix("..."))
    return _inputs(shown) if is_whole else None


def _inputs(text: str) -> dict[str, object]:
    """Return the parts of a question by their names; a cut one is no JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"inputs": text} if text else {}
    return value if isinstance(value, dict) else {"inputs": value}


def _costs_of_trace(info: Untyped) -> dict[str, object]:
    """Return the duration, tokens and cost of a trace."""
    costs: dict[str, object] = {"execution_duration": info.execution_duration}
    for key, name in (("mlflow.trace.tokenUsage", "total_tokens"), ("mlflow.trace.cost", "total_cost")):
        with contextlib.suppress(ValueError, RecursionError):
            told = json.loads(info.trace_metadata.get(key, "null"))
            costs[name] = told.get(name) if isinstance(told, dict) else None
    return costs
