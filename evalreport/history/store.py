"""What stands in a history: its runs, their results and predictions, and which run is accepted.

What changes a history stands in ``record``.
"""

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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evalreport.errors import HistoryError, UsageError
from evalreport.history.connection import ConnectionLostError, History, reading, schema, translated, writing
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text, say

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row, Select, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the history says of a run beside its number, its results and its predictions.

    Attributes
    ----------
    identity
        SHA-256 of the signature and the options: the same in the same series is the same run.
    time
        ISO 8601 in UTC: given, or when it was recorded.
    accepted_run, last_run
        The runs it was compared with, of several accepted together the newest; None: there was none yet.
    summary
        Facts for lists: n, models, primary_metric, values, gates.
    """

    series: str
    identity: str
    signature: str
    time: str
    exit_code: int
    accepted_run: int | None
    last_run: int | None
    summary: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunFacts):
    """One recorded run; ``id`` counts the runs in the order in which they were recorded, and is never used twice."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun(RunFacts):
    """What is to be recorded, with the bytes of results.json and of the predictions (None: not kept)."""

    results: bytes
    predictions: bytes | None
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a series stands: its run recorded last, the accepted ones, rising, and the last that exited 0."""

    latest: int | None
    nights: tuple[int, ...]
    last: int | None

    @property
    def accepted(self) -> int | None:
        """The newest of the accepted runs, which gates and changes are about; None: none is accepted yet."""
        return self.nights[-1] if self.nights else None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One line of the log of accepted runs."""

    series: str
    run_id: int
    time: str
    note: str


def runs(history: History, series: str | None = None) -> list[Run]:
    """Return the runs in the order in which they were recorded; of one series, or of all."""
    from sqlalchemy import select

    table = schema().runs
    query = select(*_facts()).order_by(table.c.id)
    with reading(history) as connection:
        return [_run(row) for row in connection.execute(_of_series(query, table, series))]


def run_with(history: History, run_id: int) -> Run:
    """Return one run.

    Raises
    ------
    UsageError
        There is no such run.
    """
    with reading(history) as connection:
        found = find(connection, run_id)
    if found is None:
        raise _no_run(history, run_id)
    return found


def _no_run(history: History, run_id: int) -> UsageError:
    return UsageError(f"{history.name} holds no run {run_id}; `evalreport history list` shows the runs")


def same_run(history: History, series: str, identity: str) -> Run | None:
    """Return the run of a series that has this identity, if it was recorded."""
    with reading(history) as connection:
        return find_identity(connection, series, identity)


def standing(history: History, series: str) -> Standing:
    """Return where a series stands."""
    with reading(history) as connection:
        return standing_of(connection, series)


def acceptances(history: History, series: str | None = None) -> list[Acceptance]:
    """Return the log of accepted runs, the oldest first."""
    from sqlalchemy import select

    table = schema().acceptances
    query = select(table.c.series, table.c.run_id, table.c.time, table.c.note).order_by(table.c.id)
    with reading(history) as connection:
        return [Acceptance(*row) for row in connection.execute(_of_series(query, table, series))]


def results_of(history: History, run_id: int) -> bytes:
    """Return a run's results.json, as it was written.

    Raises
    ------
    UsageError, HistoryError
        There is no such run; what is stored is damaged.
    """
    from sqlalchemy import select

    table = schema().runs
    query = select(table.c.results, table.c.results_sha256).where(table.c.id == run_id)
    with reading(history) as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        raise _no_run(history, run_id)
    try:
        content = zlib.decompress(row[0])
    except zlib.error:
        content = b""
    return _checked(history, f"the results of run {run_id}", content, row[1])


def predictions_of(history: History, run_id: int) -> bytes | None:
    """Return a run's aligned predictions as they were stored; None where they are not kept (any more).

    Raises
    ------
    HistoryError
        What is stored is damaged.
    """
    from sqlalchemy import select

    table = schema().predictions
    query = select(table.c.content, table.c.content_sha256).where(table.c.run_id == run_id)
    with reading(history) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else _checked(history, f"the predictions of run {run_id}", row[0], row[1])


# --- within a transaction -------------------------------------------------------------------------------------------


def find(connection: Connection, run_id: int) -> Run | None:
    """Return one run, if it is there."""
    from sqlalchemy import select

    row = connection.execute(select(*_facts()).where(schema().runs.c.id == run_id)).one_or_none()
    return None if row is None else _run(row)


def find_identity(connection: Connection, series: str, identity: str) -> Run | None:
    """Return the run of a series that has this identity, if it is there."""
    from sqlalchemy import select

    table = schema().runs
    query = select(*_facts()).where(table.c.series == series, table.c.identity == identity)
    row = connection.execute(query).one_or_none()
    return None if row is None else _run(row)


def standing_of(connection: Connection, series: str) -> Standing:
    """Return where a series stands."""
    from sqlalchemy import func, select

    runs_table, pins = schema().runs, schema().acceptances
    newest = select(func.max(runs_table.c.id)).where(runs_table.c.series == series)
    together = select(func.max(pins.c.together)).where(pins.c.series == series).scalar_subquery()
    pinned = select(pins.c.run_id).where(pins.c.series == series, pins.c.together == together)
    latest: int | None = connection.execute(newest).scalar_one()
    last: int | None = connection.execute(newest.where(runs_table.c.exit_code == 0)).scalar_one()
    nights = connection.execute(pinned.order_by(pins.c.run_id)).scalars()
    return Standing(latest, tuple(nights), last)


def _facts() -> list[Any]:
    columns = schema().runs.c
    return [columns[entry.name] for entry in fields(Run)]


def _run(row: Row[Any]) -> Run:
    values: JsonObject = {entry.name: value for entry, value in zip(fields(Run), row, strict=True)}
    return Run(**{**values, "summary": json.loads(values["summary"])})


def _of_series(query: Select[Any], table: Table, series: str | None) -> Select[Any]:
    return query if series is None else query.where(table.c.series == series)


def _checked(history: History, what: str, content: bytes, digest: str) -> bytes:
    if hashlib.sha256(content).hexdigest() != digest:
        raise HistoryError(f"{history.name}: {what} are damaged: restore the database from a copy")
    return content


MOST_BYTES = 500_000_000
"""Predictions that are larger, compressed, are not kept: neither database takes them well."""
PAUSES = (0.5, 2.0, 5.0)
"""Seconds before each further try after a lost connection: a server that was restarted is back soon."""


def series_key(series: str, purpose: Literal["audit", "write"]) -> int:
    """Return the number under which a series is locked: 63 bits of a digest.

    The lock of a whole audit is not that of its short transactions, which are on connections of their own.

    Examples
    --------
    >>> series_key("default", "audit") == series_key("default", "audit")
    True
    >>> series_key("default", "audit") == series_key("default", "write")
    False
    """
    return int.from_bytes(hashlib.sha256(f"evalreport {purpose} {series}".encode()).digest()[:8], "big") >> 1


def append(history: History, new: NewRun, *, after: int | None) -> tuple[Run, bool]:
    """Record a run, and pin it where the series has no accepted run yet; return it and whether it was added.

    Parameters
    ----------
    after
        The last recorded run when this one began: it was compared with what stood there then.

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
    # It may have been lost after the commit. A run is recorded once, so trying again is safe.
    return _append(history, new, after)


def _append(history: History, new: NewRun, after: int | None) -> tuple[Run, bool]:
    tables = schema()
    with writing(history, lock=series_key(new.series, "write")) as connection:
        there = find_identity(connection, new.series, new.identity)
        if there is not None:
            return there, False
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
            connection.execute(
                tables.predictions.insert().values(
                    run_id=run_id,
                    rows=new.rows,
                    content=new.predictions,
                    content_sha256=hashlib.sha256(new.predictions).hexdigest(),
                )
            )
        if not standing.nights:
            _pin(connection, new.series, [run_id], time=new.time, note=say("history_note.first"))
        recorded = find(connection, run_id)
    assert recorded is not None
    return recorded, True


def accept(history: History, *run_ids: int, time: str, note: str = "") -> list[Run]:
    """Pin runs together as the accepted ones of their series; return them, the newest last.

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
        found = [find(connection, run_id) for run_id in chosen]
        runs = [run for run in found if run is not None]
        if len(runs) < len(chosen):
            gone = chosen[found.index(None)]
            raise UsageError(f"{history.name} holds no run {gone} any more")
        if standing_of(connection, series).nights != tuple(chosen):
            _pin(connection, series, chosen, time=time, note=note)
    return runs


def prune(
    history: History, series: str, chosen: Sequence[int], *, predictions_only: bool = False
) -> list[int]:
    """Remove runs of a series, or only their predictions; return the ids of those that were touched.

    The runs that the next one is compared with stay whole, whoever chose them: the accepted ones, the last that
    exited 0, and the last of all.
    """
    from sqlalchemy import select

    tables, touched = schema(), []
    runs, pins, predictions = tables.runs, tables.acceptances, tables.predictions
    own = select(runs.c.id).where(runs.c.series == series)
    if predictions_only:
        own = own.join(predictions, predictions.c.run_id == runs.c.id)
    with writing(history, lock=series_key(series, "write")) as connection:
        standing = standing_of(connection, series)
        there = set(connection.execute(own).scalars())
        needed = {*standing.nights, standing.last, standing.latest}
        for run_id in sorted(there.intersection(chosen) - needed):
            connection.execute(predictions.delete().where(predictions.c.run_id == run_id))
            if not predictions_only:
                connection.execute(pins.delete().where(pins.c.run_id == run_id))
                connection.execute(runs.delete().where(runs.c.id == run_id))
            touched.append(run_id)
    return touched


def compact(history: History) -> None:
    """Give the room of what was pruned back to the disk; a server does so by itself.

    Raises
    ------
    HistoryError
        There is no room to do it in; nothing is lost.
    """
    if history.path is None:
        return
    with translated(history), history.engine.connect() as connection:
        # Outside of a transaction, as VACUUM asks: the driver's own connection begins none.
        connection.connection.cursor().execute("VACUUM")


def _pin(connection: Connection, series: str, run_ids: Sequence[int], *, time: str, note: str) -> None:
    from sqlalchemy import func, select

    pins = schema().acceptances
    newest = connection.execute(select(func.max(pins.c.together)).where(pins.c.series == series)).scalar()
    together = (newest or 0) + 1
    rows = [
        {"series": series, "run_id": run_id, "time": time, "note": note, "together": together}
        for run_id in run_ids
    ]
    connection.execute(pins.insert(), rows)


POLL = 0.2
"""Seconds between two looks at a lock that another audit holds."""


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
        Told once, in a sentence, that there is something to wait for.

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


Attempt = Callable[[], Text | None]
"""Tries to take the lock: None where it was taken, else who holds it."""


@contextmanager
def _file_lock(history: History, series: str) -> Iterator[Attempt]:
    import fcntl

    assert history.path is not None
    # The file stays: whoever removed it would take it from under one that waits.
    path = Path(f"{history.path}.{series_key(series, 'audit'):016x}.lock")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise HistoryError(f"{path}: cannot be made ({error.strerror}): audits lock their history") from error

    def attempt() -> str | None:
        """Take the lock; return who holds it where that fails."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "it has just begun"
        # Who holds it is a courtesy: a full disk must not keep an audit from its work.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
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
        # Of the session, not of a transaction, which the server would see idle for as long as the work takes.
        connection.execution_options(isolation_level="AUTOCOMMIT")

        def attempt() -> Message | None:
            """Take the lock; return who holds it where that fails."""
            with translated(history):
                taken = connection.execute(
                    text("SELECT pg_try_advisory_lock(:key)"), {"key": series_key(series, "audit")}
                )
                return None if taken.scalar_one() else Message("lock.server")

        yield attempt
    finally:
        # A connection that was lost on the way took the lock with it; recording notices what came in between.
        with contextlib.suppress(DBAPIError):
            connection.close()
