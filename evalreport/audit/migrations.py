"""From an empty database, or one of an older version, to the present tables: one step a version.

To change the tables: write the step below, add it to ``STEPS`` and raise ``schema.VERSION``. A step is never changed
once it was released. Its statements run in the transaction of the caller, so that a step is done whole or not at all.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalreport.audit import schema as present
from evalreport.errors import HistoryError

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Table


def found_version(connection: Connection) -> int:
    """Return the version of the tables that are there; 0: none.

    Raises
    ------
    HistoryError
        The tables are newer than this evalreport.
    """
    from sqlalchemy import inspect, select

    tables = present.schema()
    if not inspect(connection).has_table(tables.schema.name):
        return 0
    version = int(connection.execute(select(tables.schema.c.version)).scalar_one())
    if version > present.VERSION:
        raise HistoryError(
            f"the history was written by a newer evalreport (its tables have version {version}, and this one knows"
            f" up to {present.VERSION}): use that version, or another database"
        )
    return version


def migrate(connection: Connection) -> int:
    """Bring the tables up to the present version; return the version that was found.

    The caller holds a transaction that keeps other writers out.
    """
    found = found_version(connection)
    for step in STEPS[found:]:
        step(connection)
    if found < present.VERSION:
        table = present.schema().schema
        connection.execute(table.delete())
        connection.execute(table.insert().values(version=present.VERSION))
    return found


def to_version_1(connection: Connection) -> None:
    """Runs, their predictions, and one accepted run a series."""
    metadata, _ = version_1()
    metadata.create_all(connection)
    connection.execute(metadata.tables["evalreport_schema"].insert().values(version=1))


def version_1() -> tuple[MetaData, Table]:
    """Return the tables of version 1, and among them the one that version 2 replaced."""
    from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, Text

    metadata = MetaData()
    present.version_table(metadata)
    present.runs_table(metadata)
    present.predictions_table(metadata)
    pins = Table(
        "evalreport_pins",
        metadata,
        Column("series", Text, primary_key=True),
        Column("run_id", Integer, ForeignKey("evalreport_runs.id"), nullable=False),
    )
    return metadata, pins


def to_version_2(connection: Connection) -> None:
    """Keep when and why each run was accepted, not only which one is: what was a pin becomes a log."""
    from sqlalchemy import literal, select

    runs = present.schema().runs
    metadata, pins = version_1()
    acceptances = present.acceptances_table(metadata)
    acceptances.create(connection)
    pinned = (
        select(pins.c.series, pins.c.run_id, runs.c.time, literal("accepted before this was noted"))
        .join(runs, runs.c.id == pins.c.run_id)
        .order_by(pins.c.series)
    )
    connection.execute(acceptances.insert().from_select(["series", "run_id", "time", "note"], pinned))
    pins.drop(connection)


def to_version_3(connection: Connection) -> None:
    """Let several runs be accepted together, and keep each model's value of a night in place of condensed losses."""
    from sqlalchemy import select, text

    runs, acceptances = present.schema().runs, present.schema().acceptances
    added = "ALTER TABLE evalreport_acceptances ADD COLUMN together INTEGER DEFAULT 0 NOT NULL"
    connection.execute(text(added))
    connection.execute(acceptances.update().values(together=acceptances.c.id))
    query = select(runs.c.id, runs.c.summary, runs.c.results).where(runs.c.summary.contains('"evidence"'))
    for run_id, stored, results in connection.execute(query).all():
        summary = json.loads(stored)
        losses = summary["evidence"].get("models")
        if losses:
            records = json.loads(zlib.decompress(results))["evidence"]
            summary["evidence"]["models"] = _nights(losses, records)
            changed = json.dumps(summary, sort_keys=True)
            connection.execute(runs.update().where(runs.c.id == run_id).values(summary=changed))


def _nights(losses: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Turn [metric, levels, weights] of each model into [metric, value, standard error, n]."""
    values = {row["model"]: row["value"] for row in records}
    nights = {}
    for model, (metric, levels, weights) in losses.items():
        n = sum(weights)
        mean = sum(x * w for x, w in zip(levels, weights, strict=True)) / n
        squares = sum(w * (x - mean) ** 2 for x, w in zip(levels, weights, strict=True))
        nights[model] = [metric, values[model], math.sqrt(squares) / n, round(n)]
    return nights


STEPS: tuple[Callable[[Connection], None], ...] = (to_version_1, to_version_2, to_version_3)
"""The step at place i leads from version i to version i + 1."""
