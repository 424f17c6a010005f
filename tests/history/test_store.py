"""What a history keeps, and what it refuses."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from evalreport.errors import HistoryError, UsageError
from evalreport.history import store as recording
from evalreport.history.connection import ConnectionLostError, open_history
from evalreport.history.store import (
    accept,
    acceptances,
    append,
    compact,
    predictions_of,
    prune,
    results_of,
    run_with,
    runs,
    standing,
)
from research.campaign.histories import new_run


def test_a_run_is_kept_as_it_was_given(history):
    """Every fact, and the bytes of the results and the predictions."""
    run, added = append(history, new_run(1, results=b"the results", exit_code=3), after=None)
    assert added
    assert run == run_with(history, run.id) == runs(history)[0]
    assert (run.id, run.series, run.exit_code, run.time) == (1, "default", 3, "2025-01-02T00:00:00Z")
    assert run.summary["values"] == {"forest": [0.9, 0.8, 0.95]}
    assert (results_of(history, 1), predictions_of(history, 1)) == (b"the results", b"predictions")


def test_the_same_run_is_recorded_once_in_a_series(history):
    """The identity decides; the same identity in another series is another run."""
    first, _ = append(history, new_run(1), after=None)
    again, added = append(history, new_run(1, exit_code=1, time="2026-01-01T00:00:00Z"), after=1)
    assert (again, added) == (first, False)
    _, other = append(history, new_run(1, series="weekly"), after=None)
    assert other
    assert [run.series for run in runs(history)] == ["default", "weekly"]
    assert [run.id for run in runs(history, "weekly")] == [2]


def test_a_run_that_came_in_between_is_noticed(history):
    """What was compared with run 1 is not recorded after run 2, even without any lock."""
    append(history, new_run(1), after=None)
    append(history, new_run(2), after=1)
    with pytest.raises(HistoryError, match="another run of the series 'default' was recorded"):
        append(history, new_run(3), after=1)
    assert [run.id for run in runs(history)] == [1, 2]


def test_the_first_run_is_pinned_and_last_is_the_last_that_exited_0(history):
    """The contract's definitions of accepted and last."""
    assert standing(history, "default").latest is None
    for number, code in enumerate([1, 0, 3, 4], start=1):
        append(history, new_run(number, exit_code=code), after=number - 1 or None)
    found = standing(history, "default")
    assert (found.accepted, found.last, found.latest) == ((1,), 2, 4)


def test_accepting_moves_the_pin_of_its_series_and_is_noted(history):
    """Accepting the accepted run again notes nothing."""
    append(history, new_run(1), after=None)
    append(history, new_run(2), after=1)
    append(history, new_run(3, series="weekly"), after=None)
    for _ in range(2):
        accept(history, 2, time="2025-03-01T00:00:00Z", note="reviewed")
    assert standing(history, "default").accepted == (2,)
    assert standing(history, "weekly").accepted == (3,)
    assert [(pin.run_id, pin.note) for pin in acceptances(history, "default")] == [
        (1, "the first run of the series"),
        (2, "reviewed"),
    ]
    with pytest.raises(UsageError, match="holds no run 9"):
        accept(history, 9, time="2025-03-01T00:00:00Z")


def test_runs_are_accepted_together(history):
    """Three nights are one acceptance, in any order and once each; gates are about the newest; none is pruned."""
    for number in range(1, 6):
        append(history, new_run(number), after=number - 1 or None)
    append(history, new_run(9, series="weekly"), after=None)
    found = accept(history, 4, 2, 3, 2, time="2025-03-01T00:00:00Z", note="a good week")
    assert [run.id for run in found] == [2, 3, 4]
    assert standing(history, "default").accepted == (2, 3, 4)
    accept(history, 2, 3, 4, time="2025-03-02T00:00:00Z")
    assert [(pin.run_id, pin.time) for pin in acceptances(history, "default")[1:]] == [
        (number, "2025-03-01T00:00:00Z") for number in (2, 3, 4)
    ]
    assert prune(history, "default", range(1, 6)) == [1]
    accept(history, 5, time="2025-03-03T00:00:00Z")
    assert standing(history, "default").accepted == (5,)
    with pytest.raises(
        UsageError, match="runs of one series are accepted together; these are of default, weekly"
    ):
        accept(history, 5, 6, time="2025-03-04T00:00:00Z")


def test_pruning_never_takes_what_the_next_run_is_compared_with(history):
    """Of six runs: 1 is accepted, 4 the last that exited 0, 6 the last of all."""
    for number in range(1, 7):
        append(history, new_run(number, exit_code=0 if number in (1, 2, 4) else 1), after=number - 1 or None)
    assert prune(history, "default", range(1, 7), predictions_only=True) == [2, 3, 5]
    kept = [run_id for run_id in range(1, 7) if predictions_of(history, run_id) is not None]
    assert kept == [1, 4, 6]
    assert prune(history, "default", range(1, 7)) == [2, 3, 5]
    assert [run.id for run in runs(history)] == [1, 4, 6]
    assert prune(history, "default", range(1, 7)) == []


def test_pruning_one_series_leaves_the_others(history):
    """Even where the ids are named."""
    append(history, new_run(1, series="a"), after=None)
    append(history, new_run(2, series="b"), after=None)
    append(history, new_run(3, series="a"), after=1)
    append(history, new_run(4, series="b"), after=2)
    accept(history, 4, time="2025-03-01T00:00:00Z")
    assert prune(history, "a", [1, 2, 3, 4]) == []
    assert [run.id for run in runs(history)] == [1, 2, 3, 4]


def test_the_number_of_a_pruned_run_is_never_used_again(history):
    """A number in a report or a note must not come to mean another run."""
    for number in range(1, 4):
        append(history, new_run(number), after=number - 1 or None)
    accept(history, 1, time="2025-03-01T00:00:00Z")
    prune(history, "default", [2])
    run, _ = append(history, new_run(2), after=3)
    assert run.id == 4


def test_pruning_gives_the_room_back(history):
    """A megabyte of predictions is gone from the file after compaction."""
    noise = np.random.default_rng(1).bytes(1_000_000)
    for number in range(1, 4):
        append(history, new_run(number, predictions=noise), after=number - 1 or None)
    before = history.path.stat().st_size
    prune(history, "default", [2])
    compact(history)
    assert history.path.stat().st_size < before - 900_000


def test_predictions_that_are_too_large_are_not_kept(history, monkeypatch):
    """The run is."""
    monkeypatch.setattr(recording, "MOST_BYTES", 5)
    append(history, new_run(1), after=None)
    assert predictions_of(history, 1) is None
    assert [run.id for run in runs(history)] == [1]


def test_a_connection_that_is_lost_after_the_commit_costs_nothing(history, monkeypatch):
    """The second try finds the run that the first one recorded, whatever the first one was told."""
    real, calls = recording._append, []

    def lost_once(*words):
        calls.append(real(*words))
        if len(calls) == 1:
            raise ConnectionLostError("gone")
        return calls[-1]

    monkeypatch.setattr(recording, "_append", lost_once)
    monkeypatch.setattr(recording, "PAUSES", (0.0,))
    run, _ = append(history, new_run(1), after=None)
    assert [found.id for found in runs(history)] == [run.id] == [1]


def test_damage_is_found_before_it_is_believed(history):
    """A bit flipped in the results or in the predictions."""
    append(history, new_run(1), after=None)
    with closing(sqlite3.connect(history.path)) as database, database:
        database.execute("UPDATE evalreport_runs SET results = x'00'")
        database.execute("UPDATE evalreport_predictions SET content = x'70'")
    for read in (results_of, predictions_of):
        with pytest.raises(HistoryError, match="of run 1 are damaged"):
            read(history, 1)


@pytest.mark.parametrize(
    "url, message",
    [
        ("audits.db", "not the URL of a database"),
        ("mysql://me:secret@host/db", "mysql is not supported"),
        ("sqlite://", "a history is a file"),
        ("sqlite:///:memory:", "a history is a file"),
        ("sqlite:///a%00b.db", "a history is a file"),
        ("sqlite://host/x.db", "a file has no host"),
        ("sqlite://me:secret@/x.db", "a file has no host"),
        ("sqlite:///x.db?password=secret", "a file has no host, user or query"),
        ("postgresql://me:sec@ret@host/db", "write %40"),
        ("postgresql://me:sec/ret@host/db", "write %40"),
        ("postgresql://host/db?password=secret&port=five", "non-integer port"),
    ],
)
def test_what_is_no_history_is_refused_without_its_password(url, message):
    """Bad usage; no message holds the secret of a URL."""
    with pytest.raises(UsageError, match=message) as caught:
        open_history(url, create=True)
    assert not re.search("sec.?ret", str(caught.value))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2"])
def test_a_servers_url_is_taken_in_its_usual_spellings(scheme):
    """Nothing listens on port 1: that is what is said, of the server and without the password."""
    pytest.importorskip("psycopg")
    with pytest.raises(HistoryError, match="postgresql://me:\\*\\*\\*@127.0.0.1:1/db: connection failed"):
        open_history(f"{scheme}://me:secret@127.0.0.1:1/db")


def test_a_history_that_is_only_read_is_not_made(tmp_path):
    """Neither where there is no file, nor in a file without tables."""
    for name in ("none.db", "empty.db"):
        path = tmp_path / name
        if name == "empty.db":
            path.touch()
        with pytest.raises(HistoryError, match="evalreport audit MODELS --history"):
            open_history(f"sqlite:///{path}")
        assert path.exists() == (name == "empty.db")
        assert name == "none.db" or path.stat().st_size == 0


def test_a_foreign_file_is_refused_and_left_alone(tmp_path):
    """Predictions given as a history by mistake."""
    path = tmp_path / "forest.csv"
    path.write_text("id,y_true,y_pred\n" + "1,0,0\n" * 200)
    before = path.read_bytes()
    with pytest.raises(HistoryError, match="not a database"):
        open_history(f"sqlite:///{path}", create=True)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_said(tmp_path):
    """SQLite's own message names no remedy."""
    with pytest.raises(HistoryError, match="the folder must exist"):
        open_history(f"sqlite:///{tmp_path / 'none' / 'audits.db'}", create=True)
