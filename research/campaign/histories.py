"""Runs put into a history without an analysis, processes killed at its statements, and whether it is whole."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

from evalreport.history.connection import History, open_history, reading, schema
from evalreport.history.store import (
    NewRun,
    acceptances,
    append,
    locked,
    predictions_of,
    results_of,
    runs,
    standing,
)
from research.campaign.processes import ended, forked


def new_run(number: int, **changes: Any) -> NewRun:
    """Return a run that is recorded without an analysis; its number makes its identity."""
    fields: dict[str, Any] = {
        "series": "default",
        "identity": f"{number:064x}",
        "signature": f"signature {number}",
        "time": f"2025-01-{number % 28 + 1:02d}T00:00:00Z",
        "exit_code": 0,
        "accepted_run": None,
        "last_run": None,
        "summary": {
            "n": 10, "primary_metric": "accuracy", "values": {"forest": [0.9, 0.8, 0.95]}, "models": ["forest"],
            "task": "binary", "headline": "forest has an accuracy of 0.9", "tone": "neutral", "evidence": {},
        },
        "results": b"{}",
        "predictions": b"predictions",
        "rows": 10,
    }  # fmt: skip
    return NewRun(**{**fields, **changes})


def record_once(url: str, number: int = 1, **changes: Any) -> None:
    """Open the history, making it where there is none, and record one run under the lock of its series."""
    history = open_history(url, create=True)
    series = str(changes.get("series", "default"))
    with locked(history, series, wait=60):
        append(history, new_run(number, **changes), after=standing(history, series).latest)


@contextmanager
def at_statement(number: int, act: Callable[..., object]) -> Iterator[list[int]]:
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


def statements_of(action: Callable[[], object]) -> int:
    """Count the statements, beginnings and commits of an action."""
    with at_statement(0, lambda: None) as count:
        action()
    return count[0]


def killed_at(number: int, action: Callable[[], object]) -> int:
    """Do the action in a process that is killed before its statement of that number; return how it ended."""

    def act(*_words: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def doomed() -> None:
        with at_statement(number, act):
            action()

    return ended(forked(doomed))


def whole(history: History) -> list[int]:
    """Check that the history holds whole runs only; return their ids.

    Whole: it has its predictions, its results can be read, and its series has an accepted run.
    """
    found = [run.id for run in runs(history)]
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
        return set(inspect(connection).get_table_names()) & set(schema().metadata.tables)
