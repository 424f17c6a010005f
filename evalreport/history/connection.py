"""Opening a history in SQLite or PostgreSQL: URLs, tables and their migrations, transactions, messages about errors."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from evalreport.errors import HistoryError, UsageError, redacted, remember, remember_address
from evalreport.texts import say

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, MetaData, Table
    from sqlalchemy.exc import DBAPIError


VERSION = 3
"""The version of the tables below, which the database holds, too."""
FIRST = 3
"""The first version that a release wrote."""
MIGRATION_LOCK = 0x6576616C_6D696772
"""Key of PostgreSQL's advisory lock on the tables: any number that no other program uses."""
PATIENCE = 60
"""Seconds to wait for another process's short transaction."""
EXAMPLES = "sqlite:///audits.db or postgresql://user@host/database"


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one version.

    Attributes
    ----------
    schema
        One row: the version.
    runs
        One row for each audited run: series, time, exit code, and its results.json (zlib).
    predictions
        The aligned predictions of a run, as long as they are kept (see ``kept_predictions``).
    acceptances
        The accepted runs of each series; runs accepted ``together`` share a number, which rises.
    """

    metadata: MetaData
    schema: Table
    runs: Table
    predictions: Table
    acceptances: Table


@cache
def schema() -> Schema:
    """Return the tables of the present version.

    ``accepted_run`` and ``last_run`` name the runs that this one was compared with; they may have been pruned.
    Times are ISO 8601 in UTC, so that their order as text is their order. Ids are never used twice.
    """
    import sqlalchemy as sa

    metadata = sa.MetaData()
    version = sa.Table("evalreport_schema", metadata, sa.Column("version", sa.Integer, nullable=False))
    runs = sa.Table(
        "evalreport_runs",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("series", sa.Text, nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("exit_code", sa.Integer, nullable=False),
        sa.Column("accepted_run", sa.Integer),
        sa.Column("last_run", sa.Integer),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("results", sa.LargeBinary, nullable=False),
        sa.Column("results_sha256", sa.String(64), nullable=False),
        sa.UniqueConstraint("series", "identity", name="evalreport_runs_once"),
        sqlite_autoincrement=True,
    )
    predictions = sa.Table(
        "evalreport_predictions",
        metadata,
        sa.Column(
            "run_id", sa.Integer, sa.ForeignKey("evalreport_runs.id"), primary_key=True, autoincrement=False
        ),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("content_sha256", sa.String(64), nullable=False),
    )
    acceptances = sa.Table(
        "evalreport_acceptances",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("series", sa.Text, nullable=False, index=True),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("evalreport_runs.id"), nullable=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("together", sa.Integer, nullable=False, server_default="0"),
        sqlite_autoincrement=True,
    )
    return Schema(metadata, version, runs, predictions, acceptances)


def found_version(connection: Connection) -> int:
    """Return the version of the tables that are there; 0: none.

    Raises
    ------
    HistoryError
        The tables are newer than this evalreport, or older than its first release.
    """
    from sqlalchemy import inspect, select

    tables = schema()
    if not inspect(connection).has_table(tables.schema.name):
        return 0
    versions = list(connection.execute(select(tables.schema.c.version)).scalars())
    if len(versions) != 1 or not isinstance(versions[0], int) or versions[0] < 1:
        raise HistoryError(
            "the table evalreport_schema does not hold one version: it is damaged; restore the database from a copy"
        )
    version: int = versions[0]
    if version > VERSION:
        raise HistoryError(
            f"the history was written by a newer evalreport (its tables have version {version}, and this one knows"
            f" up to {VERSION}): use that version, or another database"
        )
    if version < FIRST:
        raise HistoryError(
            f"the history was written before the first release of evalreport (its tables have version {version}):"
            " begin another database"
        )
    return version


def migrate(connection: Connection) -> None:
    """Make the tables, or bring older ones up to the present version.

    The caller holds a transaction that keeps other writers out.
    """
    version, tables = found_version(connection), schema()
    if version == 0:
        tables.metadata.create_all(connection)
    for step in STEPS[version - FIRST :] if version else ():
        step(connection)
    if version < VERSION:
        connection.execute(tables.schema.delete())
        connection.execute(tables.schema.insert().values(version=VERSION))


STEPS: tuple[Callable[[Connection], None], ...] = ()
"""Step i migrates from version ``FIRST + i`` to the next."""


@dataclass(frozen=True, slots=True)
class History:
    """An open history.

    Attributes
    ----------
    name
        The URL without its secrets, for messages.
    path
        SQLite's file; None: a server.
    """

    engine: Engine
    name: str
    path: Path | None


def open_history(url: str, *, create: bool = False) -> History:
    """Open a history and bring its tables up to the present version.

    Parameters
    ----------
    url
        ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``; a password is better kept in ~/.pgpass.
    create
        Create missing tables and SQLite's file.

    Raises
    ------
    UsageError
        Another URL, or a missing library.
    HistoryError
        A database that cannot be reached, holds no history, or was written by a newer evalreport.
    """
    if not isinstance(url, str):
        raise UsageError(f"history must be an address such as sqlite:///audits.db, not {type(url).__name__}")
    parsed = _parsed(url)
    path = Path(str(parsed.database)) if parsed.get_backend_name() == "sqlite" else None
    name = redacted(parsed.render_as_string()).replace("postgresql+psycopg:", "postgresql:")
    if path is not None and not create and not path.is_file():
        raise HistoryError(
            f"{name}: no such file; `evalreport audit MODELS --history {name}` starts a history"
        )
    history = History(_engine(parsed), name, path)
    with reading(history) as connection:
        version = found_version(connection)
    if version == 0 and not create:
        raise HistoryError(f"{name}: holds no history; `evalreport audit MODELS --history {name}` starts one")
    if version < VERSION:
        with writing(history, lock=MIGRATION_LOCK) as connection:
            migrate(connection)
    return history


@contextmanager
def reading(history: History) -> Iterator[Connection]:
    """Yield a connection in a transaction that sees one state of the history."""
    with translated(history), history.engine.connect() as connection:
        if history.path is None:
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(history: History, *, lock: int) -> Iterator[Connection]:
    """Yield a connection in a transaction that keeps other writers out.

    Parameters
    ----------
    lock
        On a server, the key of the writers to keep out; SQLite has one writer at a time.
    """
    from sqlalchemy import text

    with translated(history), history.engine.connect() as bare:
        connection = bare.execution_options(evalreport_writes=True)
        with connection.begin():
            if history.path is None:
                connection.execute(text(f"SET LOCAL lock_timeout = '{PATIENCE}s'"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock})
            yield connection


@contextmanager
def translated(history: History) -> Iterator[None]:
    """Turn database errors into HistoryError, with advice."""
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        problem = " ".join(redacted(str(error.orig)).split())
        raised = ConnectionLostError if history.path is None and _lost(error) else HistoryError
        raise raised(f"{history.name}: {problem}{_advice(problem)}") from error
    except UnicodeDecodeError as error:  # a text of a damaged file, or SQLite's message that quotes it
        problem = "the database is malformed: it holds a text that is not UTF-8"
        raise HistoryError(f"{history.name}: {problem}{_advice(problem)}") from error


def _lost(error: DBAPIError) -> bool:
    """Return whether the server is gone: SQLSTATE 08 (connection) or 57 (shut down), or no answer."""
    from sqlalchemy.exc import InterfaceError, OperationalError

    state = getattr(error.orig, "sqlstate", None)
    unanswered = state is None and isinstance(error, (OperationalError, InterfaceError))
    return error.connection_invalidated or unanswered or str(state)[:2] in ("08", "57")


class ConnectionLostError(HistoryError):
    """The database could not be reached or stopped answering; the operation may be tried again."""


def _advice(problem: str) -> str:
    """Return advice about a database's message; empty: the message suffices."""
    for pattern, remedy in (
        ("full|File too large|No space", "full"),
        ("disk I/O", "disk"),
        ("unable to open", "no_folder"),
        ("readonly|read-only", "read_only"),
        ("not a database|malformed", "no_database"),
        ("locked|lock timeout", "locked"),
        ("password|authentication|role", "password"),
    ):
        if re.search(pattern, problem):
            return f"; {say(f'history_remedy.{remedy}')}"
    return ""


def _parsed(url: str) -> URL:
    """Read the URL and choose the driver.

    Raises
    ------
    UsageError
        The URL is of neither kind, or SQLAlchemy or the driver is missing.
    """
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:
        raise UsageError(
            "a history needs SQLAlchemy: install evalreport with its extra history (in a clone: make env)"
        ) from None
    remember_address(url)
    remember(os.environ.get("PGPASSWORD", ""))
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # The text is not repeated, because it may hold a password.
        raise UsageError(f"--history: not the URL of a database; expected {EXAMPLES}") from None
    backend = parsed.get_backend_name()
    rest = url.partition("://")[2]
    if backend != "sqlite" and "@" in re.sub("^[^/?#@]*@", "", rest):
        raise UsageError(
            "--history: an @ that ends neither user nor password; in a user, a password or a name write %40 for @,"
            " %3A for :, %2F for / and %3F for ?"
        )
    if backend == "sqlite":
        server = (parsed.username, parsed.password, parsed.host, parsed.port)
        if any(part is not None for part in server) or parsed.query:
            raise UsageError(
                "--history sqlite: a file has no host, user or query; expected sqlite:///audits.db (relative) or"
                " sqlite:////var/lib/audits.db (absolute)"
            )
        # SQLAlchemy 2.0 leaves %00 in the name, 2.1 decodes it to a character that no name may hold.
        if not parsed.database or parsed.database == ":memory:" or "\0" in unquote(parsed.database):
            raise UsageError("--history sqlite: a history is a file; expected sqlite:///audits.db")
        return parsed
    if backend not in ("postgresql", "postgres"):
        raise UsageError(f"--history: {backend} is not supported; expected {EXAMPLES}")
    try:
        import psycopg  # noqa: F401 - imported here to name what to install
    except ImportError:
        raise UsageError(
            "a history on PostgreSQL needs its driver: install evalreport with its extra"
            " postgresql (in a clone: make env)"
        ) from None
    return parsed.set(drivername="postgresql+psycopg")


def _engine(url: URL) -> Engine:
    """Return an engine that opens a connection on demand and keeps none."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import ArgumentError
    from sqlalchemy.pool import NullPool

    sqlite = url.get_backend_name() == "sqlite"
    # Keepalives detect a server that vanished.
    server = {"connect_timeout": 15, "keepalives_idle": 30, "application_name": "evalreport"}
    given = {key: value for key, value in server.items() if key not in url.query}
    try:
        asked = {"timeout": PATIENCE} if sqlite else given
        engine = create_engine(url, poolclass=NullPool, connect_args=asked, hide_parameters=True)
    except ArgumentError as error:
        raise UsageError(f"--history: {error}; expected {EXAMPLES}") from None
    if sqlite:
        # SQLAlchemy's documented way to include DDL in transactions, which the driver itself does not.
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    # A commit is on the disk before it is reported. That is the default, stated because histories depend on it.
    connection.execute("PRAGMA synchronous = FULL")


def _on_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("evalreport_writes", False)
    # A writer locks at the beginning: two writers that read first would block each other.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
