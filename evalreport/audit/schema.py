"""The tables of a history of audits, as the present version of evalreport knows them.

Older versions, and the way from each to the next, stand in ``migrations``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table

VERSION = 3
"""The version of the tables below; it stands in the database, too."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one version.

    Attributes
    ----------
    schema
        One row: the version.
    runs
        One row an audited run: who, when, with which outcome, and its results.json (zlib).
    predictions
        The aligned predictions of a run, as long as they are kept (see ``columnar``).
    acceptances
        Which runs of a series were accepted when; rows pinned ``together`` have one number, the newest the greatest.
    """

    metadata: MetaData
    schema: Table
    runs: Table
    predictions: Table
    acceptances: Table


@cache
def schema() -> Schema:
    """Return the tables of the present version."""
    from sqlalchemy import Column, Integer, MetaData

    metadata = MetaData()
    acceptances = acceptances_table(metadata)
    acceptances.append_column(Column("together", Integer, nullable=False, server_default="0"))
    return Schema(
        metadata, version_table(metadata), runs_table(metadata), predictions_table(metadata), acceptances
    )


def version_table(metadata: MetaData) -> Table:
    """Return the table that holds the schema's version; the same in every version."""
    from sqlalchemy import Column, Integer, Table

    return Table("evalreport_schema", metadata, Column("version", Integer, nullable=False))


def runs_table(metadata: MetaData) -> Table:
    """Return the table of runs; unchanged since version 1.

    ``accepted_run`` and ``last_run`` name the runs that this one was compared with; they may have been pruned.
    Times are ISO 8601 in UTC, so that their order as text is their order. Ids are never used twice.
    """
    from sqlalchemy import Column, Integer, LargeBinary, String, Table, Text, UniqueConstraint

    return Table(
        "evalreport_runs",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("series", Text, nullable=False),
        Column("identity", String(64), nullable=False),
        Column("signature", Text, nullable=False),
        Column("time", Text, nullable=False),
        Column("exit_code", Integer, nullable=False),
        Column("accepted_run", Integer),
        Column("last_run", Integer),
        Column("summary", Text, nullable=False),
        Column("results", LargeBinary, nullable=False),
        Column("results_sha256", String(64), nullable=False),
        UniqueConstraint("series", "identity", name="evalreport_runs_once"),
        sqlite_autoincrement=True,
    )


def acceptances_table(metadata: MetaData) -> Table:
    """Return the log of accepted runs as version 2 made it."""
    from sqlalchemy import Column, ForeignKey, Integer, Table, Text

    return Table(
        "evalreport_acceptances",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("series", Text, nullable=False, index=True),
        Column("run_id", Integer, ForeignKey("evalreport_runs.id"), nullable=False),
        Column("time", Text, nullable=False),
        Column("note", Text, nullable=False),
        sqlite_autoincrement=True,
    )


def predictions_table(metadata: MetaData) -> Table:
    """Return the table of aligned predictions; unchanged since version 1."""
    from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, String, Table

    return Table(
        "evalreport_predictions",
        metadata,
        Column("run_id", Integer, ForeignKey("evalreport_runs.id"), primary_key=True, autoincrement=False),
        Column("rows", Integer, nullable=False),
        Column("content", LargeBinary, nullable=False),
        Column("content_sha256", String(64), nullable=False),
    )
