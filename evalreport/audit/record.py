"""What changes a history: recording a run, accepting one, pruning.

Every change is one transaction, so that a kill, a full disk or a lost connection leaves the whole of it or nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalreport.audit.connection import ConnectionLostError, History, translated, writing
from evalreport.audit.schema import schema
from evalreport.audit.store import Run, find, find_identity, run_with, standing_of
from evalreport.errors import HistoryError, UsageError
from evalreport.texts import say

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_BYTES = 500_000_000
"""Predictions that are larger, compressed, are not kept: neither database takes them well."""
PAUSES = (0.5, 2.0, 5.0)
"""Seconds before each further try after a lost connection: a server that was restarted is back soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What is to be recorded: as ``Run``, with the bytes of results.json and of the predictions (None: not kept)."""

    series: str
    identity: str
    signature: str
    time: str
    exit_code: int
    accepted_run: int | None
    last_run: int | None
    summary: Mapping[str, Any]
    results: bytes
    predictions: bytes | None
    rows: int = 0


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
        values = {
            "series": new.series,
            "identity": new.identity,
            "signature": new.signature,
            "time": new.time,
            "exit_code": new.exit_code,
            "accepted_run": new.accepted_run,
            "last_run": new.last_run,
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
