"""Processes that write to a history and are stopped on the way, at a statement or at a moment."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event

from evalreport.audit.connection import History, open_history, reading
from evalreport.audit.lock import locked
from evalreport.audit.record import append
from evalreport.audit.schema import schema
from evalreport.audit.store import acceptances, runs, standing, with_predictions

from .sources import new_run

DONE = 0
REFUSED = 7
KILLED = -signal.SIGKILL


def forked(action: Callable[[], None]) -> int:
    """Start a process that does the action; return its id.

    It ends with DONE, or with REFUSED and its message on standard error where it raises.
    """
    process = os.fork()
    if process:
        return process
    code = REFUSED
    try:
        action()
        code = DONE
    except Exception as error:  # noqa: BLE001 - a child must never come back into the tests
        sys.stderr.write(f"{error}\n")
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(process: int) -> int:
    """Wait for a process; return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def record_once(url: str, number: int = 1, **changes: object) -> None:
    """Open the history, making it where there is none, and record one run under the lock of its series."""
    history = open_history(url, create=True)
    series = str(changes.get("series", "default"))
    with locked(history, series, wait=60):
        append(history, new_run(number, **changes), after=standing(history, series).latest)


@contextmanager
def at_statement(number: int, act: Callable[..., None]) -> Iterator[list[int]]:
    """Act before the statement or commit of that number, counted over all connections; yields the count so far."""
    count = [0]

    def counted(*words: object) -> None:
        count[0] += 1
        if count[0] == number:
            act(*words)

    names = ("before_cursor_execute", "commit", "begin")
    for name in names:
        event.listen(Engine, name, counted)
    try:
        yield count
    finally:
        for name in names:
            event.remove(Engine, name, counted)


def statements_of(action: Callable[[], None]) -> int:
    """Count the statements, beginnings and commits of an action."""
    with at_statement(0, lambda: None) as count:
        action()
    return count[0]


def killed_at(number: int, action: Callable[[], None]) -> int:
    """Do the action in a process that is killed before its statement of that number; return how it ended."""

    def act(*_words: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def doomed() -> None:
        with at_statement(number, act):
            action()

    return ended(forked(doomed))


def killed_after(seconds: float, action: Callable[[], None]) -> int:
    """Do the action in a process that is killed from outside after a while; return how it ended."""
    process = forked(action)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    return ended(process)


def whole(history: History) -> list[int]:
    """Check that the history holds whole runs only; return their ids.

    Whole: it has its predictions, its results can be read, and its series has an accepted run.
    """
    from evalreport.audit.store import predictions_of, results_of

    found = [run.id for run in runs(history)]
    assert with_predictions(history) == set(found)
    for run_id in found:
        assert results_of(history, run_id)
        assert predictions_of(history, run_id)
    assert {pin.run_id for pin in acceptances(history)} <= set(found)
    assert bool(acceptances(history)) == bool(found)
    if history.path is not None:
        with reading(history) as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    return found


def tables_of(history: History) -> set[str]:
    """Return the names of our tables that are there."""
    from sqlalchemy import inspect

    with history.engine.connect() as connection:
        return set(inspect(connection).get_table_names()) & {*schema().metadata.tables, "evalreport_pins"}
