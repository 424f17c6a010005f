"""Reading MLflow's stores: tables in files, a SQLite database, a tracking server; nothing is unpickled."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
_SERVED = "the answer of a server of MLflow"
_SOURCE_RUN = "mlflow.sourceRun"
_SOURCE_INPUTS = "mlflow.traceInputs"
_JUDGED_IN = "mlflow.assessment.sourceRunId"
_PREVIEW = 1000
"""Characters after which MLflow cuts the shown inputs of a trace."""
_METADATA = 250
"""Characters after which MLflow cuts a trace's metadata, the inputs among them."""
_SECONDS = 60
_ROW = 100
_PAGE = 500
_MOST_PAGES = 2000
_BATCH = 20


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """One assessment of a trace: a scorer's or a person's feedback, or the expected answer; ``run``: given in it."""

    name: str
    value: object
    expected: bool
    human: bool
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One answer of a run: its inputs as JSON (None: cut), the shown part of them, its tags, assessments and costs."""

    inputs: str | None
    shown: str
    tags: Mapping[str, str]
    judgements: tuple[Judgement, ...]
    costs: Mapping[str, object] = field(default_factory=dict)


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
        known = trace.tags.get(TRACED_ID, "")
        if trace.inputs is None and not _DIGEST.fullmatch(known):
            raise InputError(
                "the inputs of a trace are cut, and it has no digest of them",
                file=file,
                remedy="name the database of the store, or update its server: MLflow 3.17 gives all of the inputs",
            )
        inputs = _inputs(trace.shown if trace.inputs is None else trace.inputs)
        row[TRACED_ID] = known if trace.inputs is None else digest([inputs])
        row |= {name: value for name, value in trace.tags.items() if not name.startswith("mlflow.")}
        row |= inputs
        row |= {name: value for name, value in trace.costs.items() if value is not None}
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


_DIGEST = re.compile(r"[0-9a-f]{64}")
"""MLflow's digest of inputs; a run with ``predict_fn`` gives each trace a random text instead."""


def _whole(inputs: str | None, shown: str, metadata: str) -> str | None:
    """Return all of a trace's inputs; None: they are cut.

    Parameters
    ----------
    inputs
        Those of the trace's first span.
    shown
        The first 1,000 characters; of messages to a chat model, those of the last one alone.
    metadata
        The first 250 characters of all of them.
    """
    if inputs is not None:
        return inputs
    if metadata and len(metadata) < _METADATA:
        return metadata
    begin = metadata.removesuffix("...")
    return shown if len(shown) < _PREVIEW and shown.startswith(begin) else None


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

    def asked(sql: str) -> list[Cells]:
        own = f"{_OWN} UNION {_LINKED}" if _has_table(path, "entity_associations") else _OWN
        return _rows_of(path, f"WITH own(trace) AS ({own}) {sql}", {"run": run})

    judgements: dict[str, list[Judgement]] = {}
    for _, _, trace, name, kind, value, source, metadata in asked(_JUDGEMENTS):
        told = _value(metadata)
        given = told.get(_JUDGED_IN) if isinstance(told, dict) else None
        found = Judgement(str(name), _value(value), kind == "expectation", source == "HUMAN", given)
        judgements.setdefault(trace, []).append(found)
    tags: dict[str, dict[str, str]] = {}
    for trace, key, value in asked(_TAGS):
        tags.setdefault(trace, {})[key] = value
    costs = _database_costs(path)
    spans = asked(_SPANS) if _has_table(path, "spans") else []
    whole = {trace: inputs for _, trace, inputs in spans if isinstance(inputs, str)}
    for _, trace, preview, metadata in asked(_TRACES):
        shown = str(preview or "")
        inputs = _whole(whole.get(trace), shown, str(metadata or ""))
        own = _of_run(judgements.get(trace, ()), run)
        yield Trace(inputs, shown, tags.get(trace, {}), own, costs.get(trace, {}))


def _database_costs(path: Path) -> dict[str, dict[str, object]]:
    """Return the duration, tokens and cost of every trace: of columns that newer stores have, else of metadata."""
    columns = {
        str(name) for (name,) in _rows_of(path, "SELECT name FROM pragma_table_info('trace_info')", ())
    }
    found: dict[str, dict[str, object]] = {}
    for key, name in (("mlflow.trace.tokenUsage", "total_tokens"), ("mlflow.trace.cost", "total_cost")):
        sql = "SELECT request_id, value FROM trace_request_metadata WHERE key = ?"
        for trace, value in _rows_of(path, sql, (key,)):
            told = _value(value)
            if isinstance(told, dict):
                found.setdefault(trace, {})[name] = told.get(name)
    for column, name in (
        ("execution_time_ms", "execution_duration"),
        ("total_tokens", "total_tokens"),
        ("total_cost", "total_cost"),
    ):
        if column in columns:
            for trace, value in _rows_of(path, f"SELECT request_id, {column} FROM trace_info", ()):  # noqa: S608
                if value is not None:
                    found.setdefault(trace, {})[name] = value
    return found


def _server_costs(content: Record) -> dict[str, object]:
    """Return the duration, tokens and cost of a trace as a server gives them: ``0.5s``, and JSON in its metadata."""
    metadata = part_of(content, "trace_metadata")
    found: dict[str, object] = {}
    for key, name in (("mlflow.trace.tokenUsage", "total_tokens"), ("mlflow.trace.cost", "total_cost")):
        told = _value(metadata.get(key))
        found[name] = told.get(name) if isinstance(told, dict) else None
    duration = content.get("execution_duration")
    if isinstance(duration, str) and duration.endswith("s"):
        found["latency"] = duration[:-1]
    return found


def _has_table(path: Path, name: str) -> bool:
    return bool(_rows_of(path, "SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))


def _of_run(judgements: Iterable[Judgement], run: str) -> tuple[Judgement, ...]:
    """Leave out what another run's evaluation said of the same trace."""
    return tuple(judgement for judgement in judgements if judgement.run in (None, run))


_OWN = "SELECT request_id FROM trace_request_metadata WHERE key = 'mlflow.sourceRun' AND value = :run"
"""Traces that were made in a run."""
_LINKED = (
    "SELECT source_id FROM entity_associations"
    " WHERE source_type = 'trace' AND destination_type = 'run' AND destination_id = :run"
)
"""Traces that were made earlier, and evaluated in a run."""
_SPANS = (
    "SELECT s.start_time_unix_nano, s.trace_id,"
    """ CASE WHEN json_valid(s.content) THEN json_extract(s.content, '$.attributes."mlflow.spanInputs"') END"""
    " FROM spans s JOIN own ON own.trace = s.trace_id WHERE s.parent_span_id IS NULL"
)
_JUDGEMENTS = (
    "SELECT a.created_timestamp, a.assessment_id, a.trace_id, a.name, a.assessment_type, a.value, a.source_type,"
    " a.assessment_metadata FROM assessments a JOIN own ON own.trace = a.trace_id WHERE a.valid = 1"
)
_TAGS = "SELECT t.request_id, t.key, t.value FROM trace_tags t JOIN own ON own.trace = t.request_id"
_TRACES = (
    "SELECT t.timestamp_ms, t.request_id, t.request_preview, m.value FROM trace_info t"
    " JOIN own ON own.trace = t.request_id LEFT JOIN trace_request_metadata m"
    " ON m.request_id = t.request_id AND m.key = 'mlflow.traceInputs'"
)


def _value(text: object) -> object:
    """Return a value of the database that is JSON."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        return text


def _rows_of(path: Path, sql: str, parameters: tuple[object, ...] | Mapping[str, object]) -> list[Cells]:
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
    " ('runs', 'experiments', 'assessments', 'trace_info', 'trace_tags', 'trace_request_metadata', 'spans',"
    " 'entity_associations')"
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
    found = list(_paged(address, "3.0/mlflow/traces/search", asked, "traces"))
    whole = _span_inputs(address, [one for one in found if _trace(one, run, {}).inputs is None])
    return _traced((_trace(one, run, whole) for one in found), where)


def _span_inputs(address: str, traces: Sequence[Record]) -> dict[str, str]:
    """Return all inputs of traces whose inputs are cut in a search; none from servers that do not give them."""
    found: dict[str, str] = {}
    names = [str(one.get("trace_id")) for one in traces]
    for at in range(0, len(names), _BATCH):
        asked = urlencode([("trace_ids", name) for name in names[at : at + _BATCH]])
        text = _answer(address, f"api/3.0/mlflow/traces/batchGet?{asked}", None)
        if text is None:
            break
        content = parsed(text, Path(address), None, _SERVED)
        given = content.get("traces") if isinstance(content, dict) else None
        for one in given if isinstance(given, list) else []:
            spans = one.get("spans") if isinstance(one, dict) else None
            first = next((s for s in spans or () if isinstance(s, dict) and not s.get("parent_span_id")), {})
            inputs = _plain({"kvlist_value": {"values": first.get("attributes")}})
            if isinstance(inputs, dict) and "mlflow.spanInputs" in inputs:
                name = str(part_of(one, "trace_info").get("trace_id"))
                found[name] = json.dumps(inputs["mlflow.spanInputs"])
    return found


def _plain(value: object) -> object:
    """Return a value of OpenTelemetry as JSON has it."""
    kind, held = next(iter(value.items()), ("", None)) if isinstance(value, dict) else ("", None)
    values = held.get("values") if isinstance(held, dict) else None
    if kind == "kvlist_value":
        pairs = values if isinstance(values, list) else []
        return {str(pair.get("key")): _plain(pair.get("value")) for pair in pairs if isinstance(pair, dict)}
    if kind == "array_value":
        return [_plain(one) for one in values] if isinstance(values, list) else []
    return int(held) if kind == "int_value" and isinstance(held, str) else held


def _trace(content: Record, run: str, whole: Mapping[str, str]) -> Trace:
    judgements = []
    given = content.get("assessments")
    for one in given if isinstance(given, list) else []:
        if isinstance(one, dict) and one.get("valid", True):
            told = part_of(one, "feedback") or part_of(one, "expectation")
            human = part_of(one, "source").get("source_type") == "HUMAN"
            name = str(one.get("assessment_name"))
            given = part_of(one, "metadata").get(_JUDGED_IN)
            by = None if given is None else str(given)
            judgements.append(Judgement(name, told.get("value"), "expectation" in one, human, by))
    shown = str(content.get("request_preview") or "")
    metadata = str(part_of(content, "trace_metadata").get(_SOURCE_INPUTS) or "")
    inputs = _whole(whole.get(str(content.get("trace_id"))), shown, metadata)
    own = _of_run(judgements, run)
    return Trace(inputs, shown, part_of(content, "tags"), own, _server_costs(content))


def _paged(address: str, endpoint: str, asked: Record, name: str) -> Iterator[dict[str, object]]:
    """Yield the results of a search, page by page."""
    token: str | None = None
    for _ in range(_MOST_PAGES):
        page = {"max_results": _PAGE, **asked} | ({"page_token": token} if token else {})
        text = _answer(address, f"api/{endpoint}", json.dumps(page).encode())
        if text is None:
            raise InputError(f"it has no {endpoint}", file=address, expected="a server of MLflow 3")
        content = parsed(text, Path(address), None, _SERVED)
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
