"""Reading MLflow's stores: tables in files, a SQLite database, a tracking server; nothing is unpickled."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from evalreport.errors import InputError, remember, remember_address
from evalreport.files import MOST_BYTES
from evalreport.imports.table import Found, Record, digest, parsed, part_of, text_of

Cells: TypeAlias = tuple[Any, ...]
"""One row of a query."""
TABLE = "eval_results_table.json"
TRACED_ID = "mlflow.eval.requestId"
"""The tag that mlflow.genai.evaluate gives a trace: a digest of the inputs, or with ``predict_fn`` a random text."""
_EXPECTED = "a table of MLflow as JSON: {columns: [...], data: [[...], ...]}"
_SOURCE_RUN = "mlflow.sourceRun"
_PREVIEW = 1000
"""Characters after which MLflow cuts the shown inputs of a trace."""
_SECONDS = 60
_ROW = 100
_PAGE = 500
_MOST_PAGES = 2000


@dataclass(frozen=True, slots=True)
class Table:
    """Logged rows."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

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
                expected=f"one of {', '.join(self.columns)}",
                remedy=f"name another with {option}",
            )
        return self.columns.index(name)


Load: TypeAlias = Callable[[], Table | None]
"""Reads the rows of a run; None: it logged none."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One assessment of a trace: a scorer's or a person's feedback, or the expected answer."""

    name: str
    value: object
    expected: bool
    human: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """One answer of a run: its inputs as JSON, whether they are cut, its tags, and its assessments."""

    inputs: str
    cut: bool
    tags: Mapping[str, str]
    judgements: tuple[Judgement, ...]


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


def _traced(traces: Iterable[Trace], file: str) -> Table | None:
    """Return judged traces as a table: inputs and tags by their names, ``NAME/value`` and ``NAME/human``."""
    rows: list[dict[str, object]] = []
    for trace in traces:
        if not any(not judgement.expected for judgement in trace.judgements):
            continue
        row: dict[str, object] = {}
        if trace.cut and TRACED_ID not in trace.tags:
            raise InputError("the inputs of a trace are cut, and it has no digest of them", file=file)
        inputs = _inputs(trace.inputs)
        row[TRACED_ID] = trace.tags[TRACED_ID] if trace.cut else digest([inputs])
        row |= {name: value for name, value in trace.tags.items() if not name.startswith("mlflow.")}
        row |= inputs
        for judgement in trace.judgements:
            if judgement.expected:
                row.setdefault(judgement.name, judgement.value)
            else:
                row[f"{judgement.name}/{'human' if judgement.human else 'value'}"] = judgement.value
        rows.append(row)
    if not rows:
        return None
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Table(file, tuple(columns), tuple(tuple(row.get(name) for name in columns) for row in rows))


def _inputs(text: str) -> dict[str, object]:
    """Return the parts of a question by their names; a cut one is no JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"inputs": text} if text else {}
    return value if isinstance(value, dict) else {"inputs": value}


def database_runs(place: int, path: Path, experiment: str | None) -> Iterator[Found[Load]]:
    """Yield the runs of a SQLite store, the oldest first.

    Raises
    ------
    InputError
        No such file, or no database of MLflow.
    """
    sql = (
        "SELECT r.start_time, r.run_uuid, r.name, r.artifact_uri, r.experiment_id FROM runs r JOIN experiments e"
        " ON e.experiment_id = r.experiment_id WHERE r.lifecycle_stage = 'active' AND (? IS NULL OR e.name = ?)"
    )
    runs = _rows_of(path, sql, (experiment, experiment))
    if not runs:
        where = f" in the experiment {experiment!r}" if experiment is not None else ""
        raise InputError(f"there is no run{where}", file=str(path), remedy="check --experiment")
    for _, run, name, artifacts, number in runs:
        folders = _folders(path, str(artifacts), str(number), str(run))
        yield Found(
            place,
            str(name or run),
            f"{path}, run {run}",
            partial(_database_table, path, str(run), folders),
            str(run),
        )


def _folders(path: Path, artifacts: str, experiment: str, run: str) -> list[Path]:
    """Return the possible folders of a run's artifacts: the recorded one, and one beside a moved database."""
    parts = urlsplit(artifacts)
    stored = [] if parts.scheme not in ("", "file") or parts.netloc else [Path(unquote(parts.path))]
    plain = {"", ".", ".."}.isdisjoint((experiment, run)) and "/" not in f"{experiment}{run}"
    return [*stored, *([path.absolute().parent / "mlruns" / experiment / run / "artifacts"] if plain else [])]


def _database_table(path: Path, run: str, folders: list[Path]) -> Table | None:
    for folder in folders:
        if (folder / TABLE).is_file():
            return file_table(folder / TABLE)
    return _traced(_database_traces(path, run), f"{path}, run {run}")


def _database_traces(path: Path, run: str) -> Iterator[Trace]:
    """Yield the traces of a run, in a fixed order."""
    if not _rows_of(path, "SELECT 1 FROM sqlite_master WHERE name = 'assessments'", ()):
        return
    judgements: dict[str, list[Judgement]] = {}
    for _, _, trace, name, kind, value, source in _rows_of(path, _JUDGEMENTS, (run,)):
        found = Judgement(str(name), _value(value), kind == "expectation", source == "HUMAN")
        judgements.setdefault(trace, []).append(found)
    tags: dict[str, dict[str, str]] = {}
    for trace, key, value in _rows_of(path, _TAGS, (run,)):
        tags.setdefault(trace, {})[key] = value
    # Shown inputs may be cut, but the span holds all of them.
    spans = _rows_of(path, "SELECT 1 FROM sqlite_master WHERE name = 'spans'", ())
    whole = {trace: content for _, trace, content in _rows_of(path, _LONG, (run,))} if spans else {}
    for _, trace, inputs in _rows_of(path, _TRACES, (run,)):
        shown, text = str(inputs or ""), _span_inputs(whole.get(trace))
        cut = text is None and len(shown) >= _PREVIEW
        yield Trace(text or shown, cut, tags.get(trace, {}), tuple(judgements.get(trace, ())))


def _span_inputs(content: object) -> str | None:
    """Return the inputs of a trace's first span as JSON; None: it has none."""
    span = _value(content)
    attributes = span.get("attributes") if isinstance(span, dict) else None
    inputs = attributes.get("mlflow.spanInputs") if isinstance(attributes, dict) else None
    return inputs if isinstance(inputs, str) else None


_LONG = (
    "SELECT s.start_time_unix_nano, s.trace_id, s.content FROM spans s"
    " JOIN trace_info t ON t.request_id = s.trace_id"
    " JOIN trace_request_metadata m ON m.request_id = s.trace_id AND m.key = 'mlflow.sourceRun'"
    " WHERE m.value = ? AND s.parent_span_id IS NULL AND length(t.request_preview) >= 1000"
)
_JUDGEMENTS = (
    "SELECT a.created_timestamp, a.assessment_id, a.trace_id, a.name, a.assessment_type, a.value, a.source_type"
    " FROM assessments a"
    " JOIN trace_request_metadata m ON m.request_id = a.trace_id AND m.key = 'mlflow.sourceRun'"
    " WHERE m.value = ? AND a.valid = 1"
)
_TAGS = (
    "SELECT t.request_id, t.key, t.value FROM trace_tags t"
    " JOIN trace_request_metadata m ON m.request_id = t.request_id AND m.key = 'mlflow.sourceRun'"
    " WHERE m.value = ?"
)
_TRACES = (
    "SELECT t.timestamp_ms, t.request_id, t.request_preview FROM trace_info t"
    " JOIN trace_request_metadata m ON m.request_id = t.request_id AND m.key = 'mlflow.sourceRun'"
    " WHERE m.value = ?"
)


def _value(text: object) -> object:
    """Return a value of the database that is JSON."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        return text


def _rows_of(path: Path, sql: str, parameters: tuple[object, ...]) -> list[Cells]:
    """Return the rows of a query, ordered by the first two columns; the database is opened read-only."""
    if not path.is_file():
        raise InputError("there is no such database", file=str(path), remedy="check the path")
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            for (name,) in connection.execute(_ENDLESS):
                raise InputError(
                    f"{name} is not a plain table", file=str(path), expected="a database of MLflow"
                )
            rows = list(_bounded(connection.execute(sql, parameters), path))
    except sqlite3.Error as error:
        raise InputError(
            f"cannot be read ({str(error)[:120]})",
            file=str(path),
            expected="a database of MLflow",
            remedy="other databases than SQLite are read by the server: mlflow server, then http://SERVER",
        ) from None
    # Times are whole numbers with the same number of digits.
    return sorted(rows, key=lambda row: tuple(map(str, row[:2])))


_ENDLESS = (
    "SELECT name FROM sqlite_master WHERE (type = 'view' OR upper(sql) LIKE 'CREATE VIRTUAL%') AND name IN"
    " ('runs', 'experiments', 'assessments', 'trace_info', 'trace_tags', 'trace_request_metadata', 'spans')"
)
"""The greatest number of rows, since a view may have infinitely many."""


def _bounded(rows: Iterable[Cells], path: Path) -> Iterator[Cells]:
    left = MOST_BYTES
    for row in rows:
        left -= _ROW + sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if left < 0:
            raise InputError(f"it holds more than {MOST_BYTES // 10**6} MB of this", file=str(path))
        yield row


def server_runs(place: int, address: str, experiment: str | None) -> Iterator[Found[Load]]:
    """Yield the runs of a tracking server, the oldest first, with MLFLOW_TRACKING_TOKEN or _USERNAME and _PASSWORD.

    Raises
    ------
    InputError
        It does not answer, or not as a server of MLflow.
    """
    remember_address(address)
    found = list(_paged(address, "2.0/mlflow/experiments/search", {}, "experiments"))
    ids = [
        str(one.get("experiment_id")) for one in found if experiment is None or one.get("name") == experiment
    ]
    if not ids:
        known = ", ".join(str(one.get("name")) for one in found[:20]) or "none"
        raise InputError(f"there is no experiment {experiment!r}", file=address, expected=f"one of {known}")
    asked = {"experiment_ids": ids, "order_by": ["attributes.start_time ASC"]}
    runs = [
        info
        for run in _paged(address, "2.0/mlflow/runs/search", asked, "runs")
        if isinstance(info := run.get("info"), dict)
    ]
    if not runs:
        raise InputError("there is no run", file=address, remedy="check the address, and --experiment")
    for info in runs:
        run, own = str(info.get("run_id")), str(info.get("experiment_id"))
        where = f"{address}, run {run}"
        load = partial(_server_table, address, run, own, where)
        yield Found(place, str(info.get("run_name") or run), where, load, run)


def _server_table(address: str, run: str, experiment: str, where: str) -> Table | None:
    text = _answer(address, f"get-artifact?{urlencode({'path': TABLE, 'run_uuid': run})}", None)
    if text is not None:
        return _table(text, where)
    asked = {
        "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": experiment}}],
        "filter": f"request_metadata.`{_SOURCE_RUN}` = '{run}'",
        "order_by": ["timestamp_ms ASC"],
    }
    return _traced(map(_trace, _paged(address, "3.0/mlflow/traces/search", asked, "traces")), where)


def _trace(content: Record) -> Trace:
    judgements = []
    given = content.get("assessments")
    for one in given if isinstance(given, list) else []:
        if isinstance(one, dict) and one.get("valid", True):
            told = part_of(one, "feedback") or part_of(one, "expectation")
            human = part_of(one, "source").get("source_type") == "HUMAN"
            name = str(one.get("assessment_name"))
            judgements.append(Judgement(name, told.get("value"), "expectation" in one, human))
    preview = str(content.get("request_preview") or "")
    return Trace(preview, len(preview) >= _PREVIEW, part_of(content, "tags"), tuple(judgements))


def _paged(address: str, endpoint: str, asked: Record, name: str) -> Iterator[dict[str, object]]:
    """Yield the results of a search, page by page."""
    token: str | None = None
    for _ in range(_MOST_PAGES):
        page = {"max_results": _PAGE, **asked} | ({"page_token": token} if token else {})
        text = _answer(address, f"api/{endpoint}", json.dumps(page).encode())
        if text is None:
            raise InputError(f"it has no {endpoint}", file=address, expected="a server of MLflow 3")
        content = parsed(text, Path(address), None, "the answer of a server of MLflow")
        found = content.get(name, []) if isinstance(content, dict) else None
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise InputError("no answer of MLflow", file=address, expected="a server of MLflow 3")
        yield from found
        token = content.get("next_page_token")
        if not token:
            return


def _answer(address: str, endpoint: str, content: bytes | None) -> str | None:
    """Return the text of a response; None: not found."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    url = f"{urlunsplit((parts.scheme, host, parts.path.rstrip('/'), '', ''))}/{endpoint}"
    request = urllib.request.Request(url, data=content, headers={"Content-Type": "application/json"})  # noqa: S310
    credentials = _credentials(parts.username, parts.password)
    if credentials is not None:
        request.add_unredirected_header("Authorization", credentials)
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:  # noqa: S310 - http(s) only
            text = response.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 404:
            return None
        raise InputError(
            f"the server says {error.code} {error.reason}",
            file=address,
            remedy="check the address; MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and"
            " MLFLOW_TRACKING_PASSWORD, open a server that asks for them",
        ) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise InputError(
            f"the server does not answer ({str(reason)[:120]})", file=address, remedy="check the address"
        ) from None
    if len(text) > MOST_BYTES:
        raise InputError(f"an answer of more than {MOST_BYTES // 10**6} MB", file=address)
    return str(text.decode("utf-8", "replace"))


def _credentials(user: str | None, password: str | None) -> str | None:
    """Return the header of the login, from the address or else from MLflow's variables."""
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    if user is None and token:
        remember(token)
        return f"Bearer {token}"
    name = unquote(user) if user is not None else os.environ.get("MLFLOW_TRACKING_USERNAME")
    word = unquote(password or "") if user is not None else os.environ.get("MLFLOW_TRACKING_PASSWORD", "")
    if not name:
        return None
    remember(word)
    return "Basic " + base64.b64encode(f"{name}:{word}".encode()).decode()
