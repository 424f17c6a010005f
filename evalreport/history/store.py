"""The runs of a history, their results and predictions, and which of them are accepted: reading, adding, removing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evalreport import platform
from evalreport.errors import HistoryError, InputError, UsageError
from evalreport.history.connection import ConnectionLostError, History, reading, schema, translated, writing
from evalreport.history.summaries import read_summary
from evalreport.options import shown
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import converted, parsed
from evalreport.schema.recorded import results_of as from_json
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, say

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row, Select, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The facts of a run besides its number, its results and its predictions.

    Attributes
    ----------
    identity
        SHA-256 of the signature and the options; a series holds each identity once.
    time
        ISO 8601 in UTC: the given time, else when it was recorded.
    accepted_run, last_run
        The runs it was compared with (the newest of several accepted ones); None: there was none yet.
    summary
        Facts for lists: n, models, primary_metric, values, gates.
    """

    series: str
    identity: str
    signature: str
    time: str
    exit_code: int
    summary: JsonObject
    accepted_run: int | None = None
    last_run: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunFacts):
    """One recorded run; ids count the runs in the order of recording and are never used twice."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun(RunFacts):
    """A run to be recorded, with the bytes of results.json and of the predictions (None: not kept)."""

    results: bytes
    predictions: bytes | None
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """The latest run of a series, its accepted runs in rising order, and its last run that exited 0."""

    latest: int | None
    accepted: tuple[int, ...]
    last: int | None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One entry of the log of accepted runs."""

    series: str
    run_id: int
    time: str
    note: str


def runs(history: History, series: str | None = None, *, damaged: list[str] | None = None) -> list[Run]:
    """Return the runs of one series, or of all, in the order of recording.

    Parameters
    ----------
    damaged
        Takes a sentence about each run that cannot be read; None: the first one is raised.

    Raises
    ------
    HistoryError
        A run is damaged.
    """
    from sqlalchemy import select

    table = schema().runs
    query = select(*_facts()).order_by(table.c.id)
    runs_of_series = []
    with reading(history) as connection:
        # A run whose series is damaged may be of this one.
        own = None if damaged is not None else series
        for row in connection.execute(_of_series(query, table, own)):
            try:
                runs_of_series.append(_run(row))
            except HistoryError as error:
                if damaged is None:
                    raise
                damaged.append(f"{history.name}: {error}")
    return [run for run in runs_of_series if series is None or run.series == series]


@contextmanager
def noted(damaged: list[str] | None) -> Iterator[None]:
    """Note what cannot be read, and go on; where nothing is noted, it is raised."""
    try:
        yield
    except (HistoryError, InputError) as error:
        if damaged is None:
            raise
        damaged.append(str(error))


def run_with(history: History, run_id: int) -> Run:
    """Return one run.

    Raises
    ------
    UsageError
        There is no such run.
    """
    with reading(history) as connection:
        run = find(connection, run_id)
    if run is None:
        raise _no_run(history, run_id)
    return run


def _no_run(history: History, run_id: int) -> UsageError:
    listed = "`evalreport history list` shows the runs"
    return UsageError(f"{history.name} holds no run {shown(run_id)}; {listed}")


def same_run(history: History, series: str, identity: str) -> Run | None:
    """Return the recorded run of a series with this identity; None: there is none."""
    with reading(history) as connection:
        return find_identity(connection, series, identity)


def standing(history: History, series: str) -> Standing:
    """Return the latest, the accepted and the last passed run of a series."""
    with reading(history) as connection:
        return standing_of(connection, series)


def acceptances(history: History, series: str | None = None) -> list[Acceptance]:
    """Return the log of accepted runs, the oldest first."""
    from sqlalchemy import select

    table = schema().acceptances
    query = select(table.c.series, table.c.run_id, table.c.time, table.c.note).order_by(table.c.id)
    with reading(history) as connection:
        accepted = [Acceptance(*row) for row in connection.execute(_of_series(query, table, series))]
    for pin in accepted:
        texts = (pin.series, pin.time, pin.note)
        if not isinstance(pin.run_id, int) or not all(isinstance(text, str) for text in texts):
            raise _damaged("the log of accepted runs is damaged")
    return accepted


def results_of(history: History, run_id: int) -> bytes:
    """Return a run's results.json, as it was written.

    Raises
    ------
    UsageError, HistoryError
        There is no such run, or its stored results are damaged.
    """
    from sqlalchemy import select

    table = schema().runs
    query = select(_raw(table.c.results), table.c.results_sha256).where(table.c.id == run_id)
    with reading(history) as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        raise _no_run(history, run_id)
    packed = zlib.decompressobj()
    try:
        content = packed.decompress(row[0], MOST_BYTES)
    except (zlib.error, TypeError):
        content = b""
    whole = content if packed.eof else b""
    return _checked(history, f"the results of run {run_id}", whole, row[1])


def recorded_results(history: History, run_id: int) -> Results:
    """Return a run's results, checked.

    Raises
    ------
    UsageError, HistoryError, InputError
        There is no such run, or its stored results are damaged.
    """
    return from_json(parsed(results_of(history, run_id), f"{history.name}, run {run_id}"))


def predictions_of(history: History, run_id: int) -> bytes | None:
    """Return a run's aligned predictions as they were stored; None: they are not kept.

    Raises
    ------
    HistoryError
        The stored predictions are damaged.
    """
    from sqlalchemy import select

    table = schema().predictions
    query = select(_raw(table.c.content), table.c.content_sha256).where(table.c.run_id == run_id)
    with reading(history) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else _checked(history, f"the predictions of run {run_id}", row[0], row[1])


def find(connection: Connection, run_id: int) -> Run | None:
    """Return one run; None: there is none."""
    from sqlalchemy import select

    if not 0 < run_id <= LARGEST_ID:
        return None  # a database has no number for it
    row = connection.execute(select(*_facts()).where(schema().runs.c.id == run_id)).one_or_none()
    return None if row is None else _run(row)


def find_identity(connection: Connection, series: str, identity: str) -> Run | None:
    """Return the run of a series with this identity; None: there is none."""
    from sqlalchemy import select

    table = schema().runs
    query = select(*_facts()).where(table.c.series == series, table.c.identity == identity)
    row = connection.execute(query).one_or_none()
    return None if row is None else _run(row)


def standing_of(connection: Connection, series: str) -> Standing:
    """Return the latest, the accepted and the last passed run of a series."""
    from sqlalchemy import func, select

    runs_table, pins = schema().runs, schema().acceptances
    newest = select(func.max(runs_table.c.id)).where(runs_table.c.series == series)
    together = select(func.max(pins.c.together)).where(pins.c.series == series).scalar_subquery()
    pinned = select(pins.c.run_id).where(pins.c.series == series, pins.c.together == together)
    latest: int | None = connection.execute(newest).scalar_one()
    last: int | None = connection.execute(newest.where(runs_table.c.exit_code == 0)).scalar_one()
    accepted = tuple(connection.execute(pinned.order_by(pins.c.run_id)).scalars())
    if not all(isinstance(run_id, int) for run_id in accepted):
        raise _damaged("the log of accepted runs is damaged")
    return Standing(latest, accepted, last)


def _facts() -> list[Any]:
    columns = schema().runs.c
    return [columns[entry.name] for entry in fields(Run)]


def _raw(column: Any) -> Any:
    """Return a column as the database holds it: a number in place of bytes would become as many bytes."""
    from sqlalchemy import type_coerce
    from sqlalchemy.types import NullType

    return type_coerce(column, NullType())


def _run(row: Row[Any]) -> Run:
    """Return a run; SQLite holds values of any type in any column.

    Raises
    ------
    HistoryError
        A fact is of another type, or the summary is none.
    """
    values: JsonObject = {entry.name: value for entry, value in zip(fields(Run), row, strict=True)}
    try:
        run = converted({**values, "summary": read_summary(values["summary"])}, Run)
        datetime.fromisoformat(run.time)
        return run
    except ValueError as error:
        raise _damaged(f"run {values['id']} is damaged ({error})") from None


def timestamp(time: datetime) -> str:
    """Return a time as the history keeps it: ISO 8601 in UTC, to the second.

    Examples
    --------
    >>> timestamp(datetime.fromisoformat("2024-03-01T02:30:00+02:00"))
    '2024-03-01T00:30:00Z'
    """
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of(run: Run) -> datetime:
    """Return the time of a run; one without a zone is in UTC, as all are."""
    time = datetime.fromisoformat(run.time)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _damaged(what: str) -> HistoryError:
    return HistoryError(f"{what}: restore the database from a copy")


def _of_series(query: Select[Any], table: Table, series: str | None) -> Select[Any]:
    return query if series is None else query.where(table.c.series == series)


def _checked(history: History, what: str, content: bytes, digest: str) -> bytes:
    if not isinstance(content, bytes) or hashlib.sha256(content).hexdigest() != digest:
        raise _damaged(f"{history.name}: {what} are damaged")
    return content


MOST_BYTES = 500_000_000
"""Compressed predictions beyond this size are not kept: neither database handles them well."""
PAUSES = (0.5, 2.0, 5.0)
"""Seconds before each further try after a lost connection, such as a restart of the server."""


def series_key(series: str, purpose: Literal["audit", "write"]) -> int:
    """Return the number under which a series is locked: 63 bits of a digest.

    A whole audit and its short transactions have different locks, since they use different connections.

    Examples
    --------
    >>> series_key("default", "audit") == series_key("default", "audit")
    True
    >>> series_key("default", "audit") == series_key("default", "write")
    False
    """
    return int.from_bytes(hashlib.sha256(f"evalreport {purpose} {series}".encode()).digest()[:8], "big") >> 1


def append(history: History, new: NewRun, *, after: int | None) -> tuple[Run, bool]:
    """Record a run, accepting it if it is the first of its series; return it and whether it was added.

    Parameters
    ----------
    after
        The last recorded run when this one began.

    Raises
    ------
    HistoryError
        Another run was recorded since; or the database failed: nothing was added.
    """
    for pause in PAUSES:
        try:
            return _append(history, new, after)
        except ConnectionLostError:
            time.sleep(pause)
    # The connection may have been lost after the commit; an identity is recorded once, so another try is safe.
    return _append(history, new, after)


def _append(history: History, new: NewRun, after: int | None) -> tuple[Run, bool]:
    tables = schema()
    with writing(history, lock=series_key(new.series, "write")) as connection:
        known = find_identity(connection, new.series, new.identity)
        if known is not None:
            return known, False
        standing = standing_of(connection, new.series)
        if standing.latest != after:
            raise HistoryError(
                f"{history.name}: another run of the series {new.series!r} was recorded while this one worked;"
                " nothing was added: run again, to be compared with it"
            )
        values = {entry.name: getattr(new, entry.name) for entry in fields(RunFacts)} | {
            "summary": json.dumps(dict(new.summary), sort_keys=True),
            "results": zlib.compress(new.results, 9),
            "results_sha256": hashlib.sha256(new.results).hexdigest(),
        }
        key = connection.execute(tables.runs.insert().values(**values)).inserted_primary_key
        assert key is not None
        run_id = int(key[0])
        if new.predictions is not None and len(new.predictions) <= MOST_BYTES:
            facts = {"run_id": run_id, "rows": new.rows, "content": new.predictions}
            digest = hashlib.sha256(new.predictions).hexdigest()
            connection.execute(tables.predictions.insert().values(**facts, content_sha256=digest))
        if not standing.accepted:
            _accept(connection, new.series, [run_id], time=new.time, note=say("history_note.first"))
        recorded = find(connection, run_id)
    assert recorded is not None
    return recorded, True


def accept(history: History, *run_ids: int, time: str, note: str = "") -> list[Run]:
    """Accept runs of one series together; return them, the newest last.

    Raises
    ------
    UsageError
        There is no such run, or they are of several series.
    """
    chosen = sorted(set(run_ids))
    names = sorted({run_with(history, run_id).series for run_id in chosen})
    if len(names) != 1:
        raise UsageError(f"runs of one series are accepted together; these are of {', '.join(names)}")
    (series,) = names
    with writing(history, lock=series_key(series, "write")) as connection:
        accepted = [find(connection, run_id) for run_id in chosen]
        runs = [run for run in accepted if run is not None]
        if len(runs) < len(chosen):
            gone = chosen[accepted.index(None)]
            raise UsageError(f"{history.name} holds no run {gone} any more")
        if standing_of(connection, series).accepted != tuple(chosen):
            _accept(connection, series, chosen, time=time, note=note)
    return runs


def prune(
    history: History, series: str, chosen: Sequence[int], *, predictions_only: bool = False
) -> list[int]:
    """Remove runs of a series, or only their predictions; return the ids of these runs.

    The runs that the next one is compared with are never removed: the accepted ones, the last that exited 0, and the
    latest.
    """
    from sqlalchemy import select

    tables, removed = schema(), []
    runs, pins, predictions = tables.runs, tables.acceptances, tables.predictions
    own = select(runs.c.id).where(runs.c.series == series)
    if predictions_only:
        own = own.join(predictions, predictions.c.run_id == runs.c.id)
    with writing(history, lock=series_key(series, "write")) as connection:
        standing = standing_of(connection, series)
        recorded = set(connection.execute(own).scalars())
        needed = {*standing.accepted, standing.last, standing.latest}
        for run_id in sorted(recorded.intersection(chosen) - needed):
            connection.execute(predictions.delete().where(predictions.c.run_id == run_id))
            if not predictions_only:
                connection.execute(pins.delete().where(pins.c.run_id == run_id))
                connection.execute(runs.delete().where(runs.c.id == run_id))
            removed.append(run_id)
    return removed


def compact(history: History) -> None:
    """Return the space of removed runs to the disk, for SQLite; a server does that itself.

    Raises
    ------
    HistoryError
        The disk has no space for it; nothing is lost.
    """
    if history.path is None:
        return
    with translated(history), history.engine.connect() as connection:
        # VACUUM must run outside a transaction, and the driver's own connection begins none.
        connection.connection.cursor().execute("VACUUM")


def _accept(connection: Connection, series: str, run_ids: Sequence[int], *, time: str, note: str) -> None:
    from sqlalchemy import func, select

    pins = schema().acceptances
    newest = connection.execute(select(func.max(pins.c.together)).where(pins.c.series == series)).scalar()
    if not isinstance(newest, int | None):
        raise _damaged("the log of accepted runs is damaged")
    together = (newest or 0) + 1
    alike = {"series": series, "time": time, "note": note, "together": together}
    connection.execute(pins.insert(), [{**alike, "run_id": run_id} for run_id in run_ids])


LARGEST_ID = 2**63 - 1
POLL = 0.2
"""Seconds between two attempts to take a lock."""


@contextmanager
def locked(
    history: History, series: str, *, wait: float, say: Callable[[Text], None] | None = None
) -> Iterator[None]:
    """Hold the lock of a series while the block runs.

    Parameters
    ----------
    wait
        Seconds to wait for another audit of the series; 0: none.
    say
        Called once with a sentence when there is something to wait for.

    Raises
    ------
    HistoryError
        Another audit of the series still ran after that time; or the lock could not be made.
    """
    holding = _file_lock(history, series) if history.path is not None else _server_lock(history, series)
    with holding as attempt:
        deadline, told = time.monotonic() + wait, False
        while (holder := attempt()) is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise HistoryError(
                    f"another audit of the series {series!r} is running ({holder}): nothing was done; try again when it"
                    " has ended, or wait for it with --wait SECONDS"
                )
            if say is not None and not told:
                say(Message("cli.audit.waiting", seconds=wait, series=series, holder=holder))
            told = True
            time.sleep(min(POLL, left))
        yield


Attempt = Callable[[], str | Message | None]
"""Tries to take the lock; returns None on success, else who holds it."""


@contextmanager
def _file_lock(history: History, series: str) -> Iterator[Attempt]:
    assert history.path is not None
    # The file is never removed, because another process may be waiting for its lock.
    path = Path(f"{history.path}.{series_key(series, 'audit'):016x}.lock")
    try:
        descriptor = platform.open_to_lock(path, 0o666, follow=True)
    except OSError as error:
        raise HistoryError(f"{path}: cannot be made ({error.strerror}): audits lock their history") from error

    def attempt() -> str | None:
        """Take the lock, or return who holds it."""
        if not platform.lock(descriptor):
            holder = platform.read_at_start(descriptor, 200)
            return holder.decode("utf-8", "replace").strip() or "it has just begun"
        # The name of the holder is only a courtesy, so a full disk must not stop the audit.
        with contextlib.suppress(OSError):
            platform.overwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        return None

    try:
        yield attempt
    finally:
        os.close(descriptor)


@contextmanager
def _server_lock(history: History, series: str) -> Iterator[Attempt]:
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError

    with translated(history):
        connection = history.engine.connect()
    try:
        # A lock of the session: a transaction would be idle on the server for the whole audit.
        connection.execution_options(isolation_level="AUTOCOMMIT")

        def attempt() -> Message | None:
            """Take the lock, or return who holds it."""
            with translated(history):
                key = {"key": series_key(series, "audit")}
                taken = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), key)
                return None if taken.scalar_one() else Message("lock.server")

        yield attempt
    finally:
        # A lost connection has released the lock already; recording notices runs added meanwhile.
        with contextlib.suppress(DBAPIError):
            connection.close()
