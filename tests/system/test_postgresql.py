"""A history on a real PostgreSQL server, started here on the loopback: the same promises as in SQLite."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import inspect, text

from evalreport.errors import HistoryError
from evalreport.history import connection as present
from evalreport.history.connection import History, _engine, open_history
from evalreport.history.store import (
    accept,
    acceptances,
    append,
    compact,
    locked,
    predictions_of,
    prune,
    results_of,
    runs,
    series_key,
    standing,
)
from research.campaign.histories import (
    at_statement,
    killed_at,
    new_run,
    record_once,
    statements_of,
    tables_of,
    whole,
)
from research.campaign.processes import DONE, KILLED, REFUSED, ended, forked
from research.campaign.servers import Server, fresh, installed
from research.campaign.servers import server as running
from tests.samples.audits import audited, gate_of, right, share, write

pytestmark = pytest.mark.system

QUICK = ("-m", "accuracy", "--resamples", "50", "-f", "json", "-q")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start Debian's server with data of its own; skip where it is not installed."""
    programs = installed()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with running(programs) as made:
        yield made


@pytest.fixture
def url(server: Server, request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty database of the test's own."""
    return fresh(server)


def shape(history: History) -> dict[str, object]:
    """The tables with their columns, as the database tells them."""
    with history.engine.connect() as connection:
        told = inspect(connection)
        names = sorted(name for name in told.get_table_names() if name.startswith("evalreport_"))
        return {
            name: sorted((c["name"], str(c["type"]), c["nullable"]) for c in told.get_columns(name))
            for name in names
        }


def program(*words: object, cwd: Path) -> subprocess.Popen[str]:
    """Start the real program in a folder."""
    command = [sys.executable, "-m", "evalreport", *map(str, words)]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_history_keeps_what_it_is_given(url):
    """Bytes, times, pins, numbers that are never used twice, room given back."""
    history = open_history(url, create=True)
    noise = np.random.default_rng(1).bytes(200_000)
    for number, code in enumerate([0, 1, 0, 3], start=1):
        append(
            history,
            new_run(number, exit_code=code, predictions=noise, results=b"r"),
            after=number - 1 or None,
        )
    assert (results_of(history, 2), predictions_of(history, 2)) == (b"r", noise)
    found = standing(history, "default")
    assert (found.accepted, found.last, found.latest) == ((1,), 3, 4)
    assert append(history, new_run(2), after=4)[1] is False
    accept(history, 3, time="2025-03-01T00:00:00Z", note="reviewed – 確認")
    assert acceptances(history)[-1].note == "reviewed – 確認"
    assert prune(history, "default", [1, 2, 3, 4]) == [1, 2]
    compact(history)
    assert append(history, new_run(9), after=4)[0].id == 5
    assert whole(history) == [3, 4, 5]


def test_a_new_history_has_the_declared_tables(server):
    """All of them, and no others."""
    new = open_history(fresh(server), create=True)
    assert set(shape(new)) == set(present.schema().metadata.tables)


def test_killed_before_any_statement_leaves_whole_runs_only(server):
    """Making the tables and recording the first run, killed before each statement, beginning and commit in turn."""
    counted = fresh(server)
    total = statements_of(lambda: record_once(counted))
    assert total > 15
    for number in range(1, total + 1):
        url = fresh(server)
        assert killed_at(number, lambda url=url: record_once(url)) == KILLED
        history = open_history(url, create=True)
        assert whole(history) in ([], [1])
        record_once(url)
        assert len(whole(history)) == 1
        assert "evalreport_pins" not in tables_of(history)


def test_many_at_once_are_all_recorded_each_after_the_one_before(url):
    """Six processes, begun together, on a database in which none of them has made the tables yet."""
    processes = [forked(lambda n=number: record_once(url, n)) for number in range(1, 7)]
    assert [ended(process) for process in processes] == [DONE] * 6
    assert len(whole(open_history(url))) == 6


def test_without_the_lock_the_database_itself_keeps_order(url):
    """Six processes that all saw an empty history: one is recorded, the others are refused."""
    open_history(url, create=True)
    processes = [
        forked(lambda n=number: append(open_history(url), new_run(n), after=None) and None)
        for number in range(1, 7)
    ]
    assert sorted(ended(process) for process in processes) == [DONE] + [REFUSED] * 5
    assert len(whole(open_history(url))) == 1


def test_a_lock_is_waited_for_and_ends_with_its_process(url, tmp_path):
    """Held: refused at once with a message. Its process killed: free. Another series: free all the time."""
    history, ready = open_history(url, create=True), tmp_path / "ready"

    def hold() -> None:
        with locked(open_history(url), "default", wait=0):
            ready.touch()
            time.sleep(60)

    process = forked(hold)
    while not ready.exists():
        time.sleep(0.01)
    with pytest.raises(HistoryError, match="is running"), locked(history, "default", wait=0.3):
        pass
    with locked(history, "weekly", wait=0):
        pass
    os.kill(process, 9)
    assert ended(process) == KILLED
    with locked(history, "default", wait=5):
        pass


def lose(connection: object, *_words: object) -> None:
    """Let the server end the very connection that is about to be used."""
    pid = connection.connection.dbapi_connection.info.backend_pid  # type: ignore[attr-defined]
    with _engine(connection.engine.url).connect() as other:  # type: ignore[attr-defined]
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        # The signal is sent; wait until it has been obeyed.
        for _ in range(200):
            gone = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")
            if other.execute(gone, {"pid": pid}).scalar_one() == 0:
                return
            time.sleep(0.01)


def test_a_connection_lost_before_any_statement_of_recording_is_taken_up_again(server, monkeypatch):
    """The server ends the connection before each statement and before the commit: recorded once, and whole."""
    monkeypatch.setattr("evalreport.history.store.PAUSES", (0.01, 0.01, 0.01))
    counted = open_history(fresh(server), create=True)
    total = statements_of(lambda: append(counted, new_run(1), after=None))
    history = open_history(fresh(server), create=True)
    for number in range(1, total + 1):
        latest = standing(history, "default").latest
        with at_statement(number, lose):
            append(history, new_run(number), after=latest)
    assert len(whole(history)) == total
    assert [run.signature for run in runs(history)] == [f"signature {n}" for n in range(1, total + 1)]


def test_an_audit_whose_lock_was_lost_is_recorded_if_nothing_came_in_between(url):
    """The server restarts while the audit computes; recording notices whether another run was recorded."""
    history = open_history(url, create=True)
    key = series_key("default", "audit")

    def lose_lock() -> None:
        with history.engine.connect() as other:
            held = (
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = :low"
            )
            assert other.execute(text(held), {"low": key & 0xFFFFFFFF}).scalars().all() == [True]

    with locked(history, "default", wait=0):
        lose_lock()
        append(history, new_run(1), after=None)
    with locked(history, "default", wait=5):
        lose_lock()
        append(history, new_run(2), after=1)
        with pytest.raises(HistoryError, match="another run of the series"):
            append(history, new_run(3), after=1)
    assert whole(history) == [1, 2]


def test_a_server_that_is_gone_is_said_and_the_report_stands(server, tmp_path, monkeypatch, capsys):
    """Stopped as by a power cut while the audit computes: exit 2, the report written; recorded once afterwards."""
    from evalreport.audit import auditing
    from evalreport.cli import main

    url, models = fresh(server), write(tmp_path / "models", share(90, 100))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalreport.history.store.PAUSES", (0.01,))
    evaluate = auditing.evaluate

    def meanwhile(*words: object, **given: object) -> object:
        server.stop()
        return evaluate(*words, **given)

    monkeypatch.setattr(auditing, "evaluate", meanwhile)
    try:
        code = main(["audit", str(models), "--history", url, *QUICK])
    finally:
        server.start()
    said = capsys.readouterr().err
    assert code == 2
    assert "this run is not in the history (the report was written: evalreport-out): postgresql://" in said
    assert len(said.splitlines()) == 1
    assert (tmp_path / "evalreport-out" / "results.json").exists()
    assert whole(open_history(url)) == []
    monkeypatch.setattr(auditing, "evaluate", evaluate)
    assert main(["audit", str(models), "--history", url, *QUICK]) == 0
    assert whole(open_history(url)) == [1]


def test_a_server_that_restarts_meanwhile_costs_nothing(server, tmp_path, monkeypatch):
    """The lock is lost and the connections with it; the run is recorded all the same."""
    from evalreport.audit import auditing
    from evalreport.cli import main

    url, models = fresh(server), write(tmp_path / "models", share(90, 100))
    monkeypatch.chdir(tmp_path)
    evaluate = auditing.evaluate

    def meanwhile(*words: object, **given: object) -> object:
        server.stop()
        server.start()
        return evaluate(*words, **given)

    monkeypatch.setattr(auditing, "evaluate", meanwhile)
    assert main(["audit", str(models), "--history", url, *QUICK]) == 0
    assert whole(open_history(url)) == [1]


def test_two_real_audits_at_once_are_both_recorded(url, tmp_path):
    """The second waits for the first, and is compared with it."""
    models = [write(tmp_path / name, share(correct, 100)) for name, correct in (("a", 90), ("b", 91))]
    begun = [
        program("audit", folder, "--history", url, "-o", folder.name + "-out", *QUICK, cwd=tmp_path)
        for folder in models
    ]
    for process in begun:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    found = runs(open_history(url))
    assert [(run.accepted_run, run.last_run) for run in found] == [(None, None), (1, 1)]


def test_gates_are_decided_against_a_run_on_the_server(url):
    """The stored predictions come back: pair by pair."""
    history = open_history(url, create=True)
    audited(history, right(share(360, 400)))
    found, _, _ = audited(
        history, right(share(320, 400)), gates=("forest.accuracy >= accepted - 0.03",), exit_code=1
    )
    outcome, said = gate_of(found)
    assert outcome == "fail"
    assert "pair by pair on the same 400 examples" in said


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda url: url.replace("/postgres", "/none"), "does not exist"),
        (lambda url: url.replace("evalreport@", "nobody:secret@"), "nobody"),
    ],
)
def test_a_server_that_refuses_is_quoted_without_the_password(url, change, message):
    """An unknown database, an unknown user."""
    with pytest.raises(HistoryError, match=message) as caught:
        open_history(change(url), create=True)
    assert "secret" not in str(caught.value)
