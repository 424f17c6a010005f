"""What stands in a history: its runs, their results and predictions, and which run is accepted.

What changes a history stands in ``record``.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from evalreport.audit.connection import History, reading
from evalreport.audit.schema import schema
from evalreport.errors import HistoryError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row


@dataclass(frozen=True, slots=True)
class Run:
    """One audited run, without its results and predictions.

    Attributes
    ----------
    id
        Its number: in the order in which the runs were recorded, never used twice.
    identity
        SHA-256 of the signature and the options: the same in the same series is the same run.
    time
        ISO 8601 in UTC: given, or when it was recorded.
    accepted_run, last_run
        The runs it was compared with, of several accepted together the newest; None: there was none yet.
    summary
        Facts for lists: n, models, primary_metric, values, gates.
    """

    id: int
    series: str
    identity: str
    signature: str
    time: str
    exit_code: int
    accepted_run: int | None
    last_run: int | None
    summary: Mapping[str, Any]


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
        raise UsageError(f"{history.name} holds no run {run_id}; `evalreport history list` shows the runs")
    return found


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
        raise UsageError(f"{history.name} holds no run {run_id}; `evalreport history list` shows the runs")
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


def with_predictions(history: History) -> set[int]:
    """Return the ids of the runs whose predictions are kept."""
    from sqlalchemy import select

    with reading(history) as connection:
        return set(connection.execute(select(schema().predictions.c.run_id)).scalars())


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
    values: dict[str, Any] = {entry.name: value for entry, value in zip(fields(Run), row, strict=True)}
    return Run(**{**values, "summary": json.loads(values["summary"])})


def _of_series(query: Any, table: Any, series: str | None) -> Any:
    return query if series is None else query.where(table.c.series == series)


def _checked(history: History, what: str, content: bytes, digest: str) -> bytes:
    if hashlib.sha256(content).hexdigest() != digest:
        raise HistoryError(f"{history.name}: {what} are damaged: restore the database from a copy")
    return content
