"""Tables of evaluations that MLflow logged, and judged traces, by MLflow's own client: a database or a server."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from evalreport.errors import InputError, UsageError, remember, remember_address
from evalreport.files import MOST_BYTES
from evalreport.imports.table import Found, digest, parsed, text_of

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
    rows: tuple[tuple[object, ...], ...]

    @property
    def named(self) -> list[str]:
        """The columns that a user may name."""
        return [name for name in self.columns if name != TRACED_ID]

    def column(self, name: str, option: str) -> int:
        """Return a column's position.

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
        return self.columns.index(name)


Load: TypeAlias = Callable[[], Table | None]
"""Reads the rows of a run; None: it logged none."""


def file_table(file: Path) -> Table:
    """Return the table in a file.

    Raises
    ------
    InputError
        It cannot be read, or is none.
    """
    return _table(text_of(file), str(file))


def _table(text: str, file: str) -> Table:
    content = parsed(text, Path(file), None, _EXPECTED)
    columns = content.get("columns") if isinstance(content, dict) else None
    rows = content.get("data") if isinstance(content, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise InputError("no table", file=file, expected=_EXPECTED)
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InputError(f"row {place + 1} does not fit the {len(columns)} columns", file=file)
    if not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise InputError("its columns are no different texts", file=file, expected=_EXPECTED)
    return Table(file, tuple(columns), tuple(tuple(row) for row in rows))


def runs_of(place: int, address: str, experiment: str | None) -> Iterator[Found[Load]]:
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
        yield Found(place, info.run_name or info.run_id, where, load, info.run_id)


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
        whole = {trace.info.trace_id: _root_inputs(trace.data.spans) for trace in spans}
        rows = [_row(trace.info, whole.get(trace.info.trace_id), info.run_id, where) for trace in traces]
    return _as_table([row for row in rows if row is not None], where)


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


def _root_inputs(spans: Sequence[Untyped]) -> object:
    return next((span.inputs for span in spans if span.parent_id is None), None)


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
    row: dict[str, object] = {TRACED_ID: known if inputs is None else digest([inputs])}
    row |= {name: value for name, value in info.tags.items() if not name.startswith("mlflow.")}
    row |= _inputs(shown) if inputs is None else inputs
    row |= {name: value for name, value in _costs(info).items() if value is not None}
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


def _costs(info: Untyped) -> dict[str, object]:
    """Return the duration, tokens and cost of a trace."""
    costs: dict[str, object] = {"execution_duration": info.execution_duration}
    for key, name in (("mlflow.trace.tokenUsage", "total_tokens"), ("mlflow.trace.cost", "total_cost")):
        with contextlib.suppress(ValueError, RecursionError):
            told = json.loads(info.trace_metadata.get(key, "null"))
            costs[name] = told.get(name) if isinstance(told, dict) else None
    return costs


def _as_table(rows: Sequence[dict[str, object]], file: str) -> Table | None:
    if not rows:
        return None
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Table(file, tuple(columns), tuple(tuple(row.get(name) for name in columns) for row in rows))
