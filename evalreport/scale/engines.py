"""Where predictions are read, joined and counted: DuckDB in this process, a Dask cluster, or Spark.

Each gives lazy frames that narwhals speaks to; the plan that counts them (``aggregation``) knows no engine.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

import duckdb
import narwhals as nw
import pyarrow as pa

from evalreport.errors import EvalreportError, InputError, UsageError, redacted
from evalreport.options import Engine as Name
from evalreport.predictions.cells import Kind
from evalreport.registry import unknown_name
from evalreport.sources.database import database, usable_memory
from evalreport.sources.reading import file_format, literal_path, quote_name, quote_text
from evalreport.sources.unpacking import is_gzipped

Frame = nw.LazyFrame[Any]

Untyped: TypeAlias = Any
"""Of Dask and Spark, whose functions have no types."""

MEMORY = 500_000_000
"""Bytes that DuckDB uses for counting by default: more make it no faster; the rest is on disk."""
SECONDS_TO_CONNECT = 10
BYTES_A_PARTITION = "128MiB"
PARTS_OF_A_PART = 4
_DELIMITED = frozenset(("csv", "csv.gz", "tsv", "tsv.gz"))


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that has been started.

    Attributes
    ----------
    name
        As ``--engine`` spells it.
    scan
        Opens a file, by its path and what messages call it, without reading its rows.
    small
        Makes a frame of the engine of a small table.
    keep
        Lets the engine work out a frame once that is used several times.
    spread
        Brings the rows of an id together on one worker.
    """

    name: Name
    scan: Callable[[Path, str], Frame]
    small: Callable[[pa.Table], Frame]
    keep: Callable[[Frame], Frame]
    spread: Callable[[Frame], Frame] = lambda frame: frame


def read_engine(spelled: str) -> tuple[Name, str | None]:
    """Read ``--engine``: the engine, and the address of its cluster where one is given.

    Raises
    ------
    UsageError
        An unknown engine, or an address for an engine that takes none.

    Examples
    --------
    >>> read_engine("dask=tcp://127.0.0.1:8786"), read_engine("duckdb")
    (('dask', 'tcp://127.0.0.1:8786'), ('duckdb', None))
    """
    name, equals, address = spelled.partition("=")
    if name not in get_args(Name):
        raise UsageError(f"--engine {spelled}: {unknown_name('engine', name, list(get_args(Name)))}")
    if equals and (name == "duckdb" or not address):
        raise UsageError(f"--engine {spelled}: expected duckdb, dask, dask=ADDRESS, spark or spark=MASTER")
    return cast(Name, name), address or None


def elsewhere(spelled: str | None) -> str | None:
    """Return the engine that a run leaves its counting to; None: it reads the rows here, as it does by default.

    Raises
    ------
    UsageError
        As ``read_engine``.
    """
    return None if spelled is None or read_engine(spelled)[0] == "duckdb" else spelled


@contextmanager
def started(spelled: str, memory_limit: int | None = None) -> Iterator[Engine]:
    """Start an engine, and end it with the block.

    Raises
    ------
    UsageError
        An unknown engine, one whose library is missing, or a cluster that does not answer.
    """
    name, address = read_engine(spelled)
    start = {"duckdb": _duckdb, "dask": _dask, "spark": _spark}[name]
    with start(address if name != "duckdb" else memory_limit) as engine:  # type: ignore[operator]
        yield engine


def engine_of(frame: Untyped) -> Engine | None:
    """Return the engine of a lazy frame of Dask or Spark; None for any other frame."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pyspark" and hasattr(frame, "sparkSession"):
        return _of_spark(frame.sparkSession)
    if library == "dask" and hasattr(frame, "npartitions") and hasattr(frame, "columns"):
        return _of_dask()
    return None


def lazy(native: Untyped) -> Frame:
    """Return an engine's own frame as one that plans are made of."""
    with warnings.catch_warnings():
        # From 2.29 on narwhals tells users of Dask to install a package, which this program has no use for yet.
        warnings.filterwarnings("ignore", ".*narwhals-dask", FutureWarning)
        frame: Frame = nw.from_native(native)
    return frame


# --- DuckDB -----------------------------------------------------------------------------------------------------------


@contextmanager
def _duckdb(memory_limit: int | None) -> Iterator[Engine]:
    from evalreport.sources.binary import class_names_of
    from evalreport.sources.formats import read_file

    _complaints_silenced()
    scanned: list[tuple[Path, str]] = []
    kept: list[str] = []
    with database(memory_limit or min(MEMORY, usable_memory())) as connection:
        connection.execute("SET preserve_insertion_order = false")

        def scan(path: Path, name: str) -> Frame:
            scanned.append((path, name))
            suffix = file_format(path)
            where = quote_text(literal_path(path))
            if suffix == "parquet":
                coded = ", ".join(
                    f"[{', '.join(map(quote_text, names))}][{quote_name(header)} + 1] AS {quote_name(header)}"
                    for header, names in class_names_of(path).items()
                )
                chosen = f"* REPLACE ({coded})" if coded else "*"
                query = f"SELECT {chosen} FROM read_parquet({where})"  # noqa: S608 - all of it is quoted
            elif suffix in _DELIMITED:
                query = f"SELECT * FROM read_csv({where}, {_form(path, name)})"  # noqa: S608 - the same
            else:
                read = read_file(path, name, _every)
                return small(_table(read.arrays))
            return lazy(connection.sql(query))

        def small(table: pa.Table) -> Frame:
            return lazy(connection.from_arrow(table))

        def keep(frame: Frame) -> Frame:
            native: Untyped = frame.to_native()
            kept.append(f"kept_{len(kept)}")
            native.create(kept[-1])
            return lazy(connection.table(kept[-1]))

        try:
            # Of a union of files its group-by lets nothing go to disk; of a table it does.
            yield Engine("duckdb", scan, small, keep, spread=keep)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            for path, name in scanned:
                read_file(path, name, _every, memory_limit=memory_limit)  # says where the fault is
            raise _gave_up("duckdb", error) from None
        finally:
            for name in kept:
                connection.execute(f"DROP TABLE IF EXISTS {name}")


def _form(path: Path, name: str) -> str:
    """Return how DuckDB reads a file of text, with the header that a run finds in it.

    Raises
    ------
    InputError
        Its numbers have a decimal comma, which DuckDB does not read as a run does.
    """
    from evalreport.sources.formats import header_of

    dialect, names = header_of(path, name)
    if dialect.decimal_comma:
        raise InputError.of("decimal_comma_uncounted", file=name)
    called = [header or f"Unnamed: {place}" for place, header in enumerate(names)]
    columns = ", ".join(f"{quote_text(header)}: 'VARCHAR'" for header in called)
    return (
        f"columns={{{columns}}}, auto_detect=false, header={'false' if dialect.nameless else 'true'},"
        f" skip={dialect.nameless + dialect.announced}, delim={quote_text(dialect.delimiter)},"
        f" compression='{'gzip' if is_gzipped(path) else 'none'}', quote='\"', escape='\"',"
        " null_padding=false, strict_mode=true"
    )


def _every(names: tuple[str, ...]) -> dict[str, Kind]:
    return dict.fromkeys(names, "metadata")


def _gave_up(name: Name, error: Exception) -> InputError:
    reason = redacted(str(error) or type(error).__name__).splitlines()[0][:200]
    return InputError.of("engine_gave_up", engine=name, kind=type(error).__name__, why=reason)


def _table(arrays: Any) -> pa.Table:
    return pa.table({header or "Unnamed: 0": array for header, array in arrays.items()})


@cache
def _complaints_silenced() -> None:
    """Let go of DuckDB's types before Python ends: kept to the end, DuckDB 2 complains of each on standard error."""
    atexit.register(_forget_types)


def _forget_types() -> None:
    types = sys.modules.get("duckdb.sqltypes")
    if types is None:
        return
    kind = types.DuckDBPyType
    for module in (types, sys.modules["duckdb"], sys.modules.get("narwhals._duckdb.utils", types)):
        for name, value in list(vars(module).items()):
            if isinstance(value, kind) or value is kind:
                delattr(module, name)
            elif isinstance(value, dict) and any(isinstance(part, kind) for part in value.values()):
                value.clear()


# --- Dask -------------------------------------------------------------------------------------------------------------


@contextmanager
def _dask(address: str | None) -> Iterator[Engine]:
    """Work on the workers of a scheduler; without an address in threads of this process."""
    try:
        import dask.dataframe  # noqa: F401
        from distributed import Client
    except ImportError:
        raise _lacks("dask") from None
    if address is None:
        with _faults("dask"):
            yield _of_dask()
        return
    try:
        connect: Untyped = Client  # which has no types
        client = connect(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError, TypeError, ImportError) as error:
        text = redacted(str(error)).splitlines()
        raise UsageError(
            f"no Dask scheduler answers at {redacted(address)} ({type(error).__name__}: {text[0] if text else ''});"
            " start one with `dask scheduler`, and name the address that it prints"
        ) from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise UsageError(
                f"the Dask scheduler at {address} has no worker; start some with `dask worker {address}`"
            )
        with _faults("dask"):
            yield _of_dask()


def _of_dask() -> Engine:
    import dask.dataframe as dd

    def scan(path: Path, name: str) -> Frame:
        _require_parquet(path, name, "dask")
        return lazy(dd.read_parquet(str(path.absolute()), blocksize=BYTES_A_PARTITION))

    def small(table: pa.Table) -> Frame:
        from_pandas: Untyped = dd.from_pandas
        return lazy(from_pandas(table.to_pandas(), npartitions=1))

    def keep(frame: Frame) -> Frame:
        native: Untyped = frame.to_native()
        return lazy(native.persist(fuse=False))

    def spread(frame: Frame) -> Frame:
        # Else its group-by gathers fifteen partitions in one.
        native: Untyped = frame.to_native()
        return lazy(native.shuffle("id") if native.npartitions > 1 else native)

    return Engine("dask", scan, small, keep, spread)


# --- Spark ------------------------------------------------------------------------------------------------------------


@contextmanager
def _spark(master: str | None) -> Iterator[Engine]:
    """Start a session on a master, by default on all processors of this machine; one that runs already is used."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise _lacks("spark") from None
    running = SparkSession.getActiveSession()
    if running is not None:
        yield _of_spark(running)
        return
    builder = SparkSession.builder.appName("evalreport").master(master or "local[*]")
    for key, value in _SPARK.items():
        builder = builder.config(key, value)
    with tempfile.TemporaryFile() as log:
        try:
            with _errors_into(log.fileno()):
                session = builder.getOrCreate()
        except (PySparkException, OSError, RuntimeError) as error:
            raise UsageError(
                f"no Spark session at {master or 'local[*]'} ({str(error).splitlines()[0][:160]}); Spark needs Java 17"
                " or newer (Debian: apt-get install default-jre-headless) and a master that answers"
            ) from None
        try:
            with _faults("spark"):
                yield _of_spark(session)
        finally:
            session.stop()


_SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.autoBroadcastJoinThreshold": "64MB",
}


@contextmanager
def _errors_into(descriptor: int) -> Iterator[None]:
    """Keep what the Java machine writes to standard error, at its start and later, off the terminal."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        os.dup2(descriptor, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _of_spark(session: Untyped) -> Engine:
    def scan(path: Path, name: str) -> Frame:
        _require_parquet(path, name, "spark")
        return lazy(session.read.parquet(str(path.absolute())))

    def small(table: pa.Table) -> Frame:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # of the versions of pandas that it has not seen yet
            return lazy(session.createDataFrame(table))

    def keep(frame: Frame) -> Frame:
        native: Untyped = frame.to_native()
        return lazy(native.persist())

    def spread(frame: Frame) -> Frame:
        native: Untyped = frame.to_native()
        # Of few rows as many parts as the session is set to would nearly all be empty, and each takes its time.
        parts = PARTS_OF_A_PART * native.rdd.getNumPartitions()
        few = parts < int(session.conf.get("spark.sql.shuffle.partitions"))
        return lazy(native.repartition(*([parts] if few else []), "id"))

    return Engine("spark", scan, small, keep, spread)


def _lacks(name: Name) -> UsageError:
    workers = "" if name == "spark" else ", here and on the workers"
    return UsageError(f"the engine {name} is not installed: pip install 'evalreport[{name}]'{workers}")


def _require_parquet(path: Path, name: str, engine: Name) -> None:
    from evalreport.sources.binary import class_names_of

    if file_format(path) != "parquet":
        raise InputError.of("parquet_alone", file=name, engine=engine)
    coded = class_names_of(path)
    if coded:
        raise InputError.of("class_codes_uncounted", file=name, engine=engine, columns=list(coded))


@contextmanager
def _faults(name: Name) -> Iterator[None]:
    """Say in one message what stopped an engine: a file that it cannot open, workers that were lost.

    Raises
    ------
    InputError
        With the first line of the engine's message.
    """
    try:
        yield
    except EvalreportError:
        raise
    except Exception as error:
        raise _gave_up(name, error) from error
