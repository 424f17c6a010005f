"""Killed at any statement and at any moment, two at once, no room on the disk: nothing lost, never half a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from evalreport.history.connection import open_history
from evalreport.history.store import append, locked, prune, runs, standing
from research.campaign.histories import killed_at, new_run, record_once, statements_of, tables_of, whole
from research.campaign.processes import DONE, KILLED, REFUSED, ended, forked, killed_after
from tests.samples.audits import share, write

pytestmark = pytest.mark.system
resource = pytest.importorskip("resource")

QUICK = ("-m", "accuracy", "--resamples", "50", "-f", "json", "-q")


def url_of(path: Path) -> str:
    """The URL of a file."""
    return f"sqlite:///{path}"


def program(*words: object, cwd: Path, **given: object) -> subprocess.Popen[str]:
    """Start the real program in a folder."""
    command = [sys.executable, "-m", "evalreport", *map(str, words)]
    return subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **given
    )


def test_killed_before_any_statement_leaves_whole_runs_only(tmp_path):
    """Making the tables and recording the first run, killed before each statement, beginning and commit in turn."""
    total = statements_of(lambda: record_once(url_of(tmp_path / "counted.db")))
    assert total > 15
    kept = []
    for number in range(1, total + 1):
        url = url_of(tmp_path / f"{number}.db")
        assert killed_at(number, lambda url=url: record_once(url)) == KILLED
        history = open_history(url, create=True)
        kept.append(whole(history))
        record_once(url)
        assert whole(history) == [1]
        assert "evalreport_pins" not in tables_of(history)
    assert kept[0] == []


def test_killed_while_a_run_is_added_leaves_the_earlier_ones(tmp_path):
    """The second run, killed before each statement: run 1 as it was, and run 2 whole or not at all."""
    counted = url_of(tmp_path / "counted.db")
    record_once(counted)
    total = statements_of(lambda: record_once(counted, 2))
    for number in range(1, total + 1):
        url = url_of(tmp_path / f"{number}.db")
        record_once(url)
        assert killed_at(number, lambda url=url: record_once(url, 2)) == KILLED
        history = open_history(url)
        assert whole(history) in ([1], [1, 2])
        record_once(url, 2)
        assert [run.signature for run in runs(history)] == ["signature 1", "signature 2"]


def test_killed_at_any_moment_leaves_whole_runs_only(tmp_path):
    """A hundred kills from outside, spread over the time that recording takes, on one file that goes on growing."""
    url, content = url_of(tmp_path / "audits.db"), np.random.default_rng(1).bytes(300_000)
    began = time.monotonic()
    record_once(url, predictions=content)
    took = time.monotonic() - began
    history = open_history(url)
    outcomes = set()
    for number in range(2, 102):
        share_of_time = (number % 20) / 15
        outcomes.add(
            killed_after(took * share_of_time, lambda n=number: record_once(url, n, predictions=content))
        )
        assert whole(history)
    recorded = [run.signature for run in runs(history)]
    assert len(recorded) == len(set(recorded))
    assert KILLED in outcomes


def test_killed_while_pruning_leaves_whole_runs_only(tmp_path):
    """Three of five runs go together or not at all."""

    def filled(url: str) -> None:
        for number in range(1, 6):
            record_once(url, number)

    def pruned(url: str) -> None:
        prune(open_history(url), "default", [2, 3, 4])

    counted = url_of(tmp_path / "counted.db")
    filled(counted)
    total = statements_of(lambda: pruned(counted))
    for number in range(1, total + 1):
        url = url_of(tmp_path / f"{number}.db")
        filled(url)
        assert killed_at(number, lambda url=url: pruned(url)) == KILLED
        assert whole(open_history(url)) in ([1, 2, 3, 4, 5], [1, 5])


def test_many_at_once_are_all_recorded_each_after_the_one_before(tmp_path):
    """Eight processes, begun together, on a history that none of them has made yet."""
    url = url_of(tmp_path / "audits.db")
    processes = [forked(lambda n=number: record_once(url, n)) for number in range(1, 9)]
    assert [ended(process) for process in processes] == [DONE] * 8
    history = open_history(url)
    assert whole(history) == list(range(1, 9))
    assert {run.signature for run in runs(history)} == {f"signature {number}" for number in range(1, 9)}


def test_without_the_lock_the_database_itself_keeps_order(tmp_path):
    """Eight processes that all saw an empty history: one is recorded, the others are refused, none is half there."""
    url = url_of(tmp_path / "audits.db")
    history = open_history(url, create=True)
    processes = [
        forked(lambda n=number: append(open_history(url), new_run(n), after=None) and None)
        for number in range(1, 9)
    ]
    outcomes = sorted(ended(process) for process in processes)
    assert outcomes == [DONE] + [REFUSED] * 7
    assert len(whole(history)) == 1


def test_a_lock_ends_with_its_process(tmp_path):
    """Killed while it holds the lock: the next audit does not wait."""
    url = url_of(tmp_path / "audits.db")
    history = open_history(url, create=True)
    ready = tmp_path / "ready"

    def hold() -> None:
        with locked(open_history(url), "default", wait=0):
            ready.touch()
            time.sleep(60)

    process = forked(hold)
    while not ready.exists():
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    assert ended(process) == KILLED
    with locked(history, "default", wait=0):
        pass


def limited(url: str, size: int, number: int) -> int:
    """Record a run of a megabyte where no file may grow beyond a size, as on a full disk; return how it ended."""

    def act() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        record_once(url, number, predictions=np.random.default_rng(number).bytes(1_000_000))

    return ended(forked(act))


def test_no_room_leaves_the_history_as_it_was(tmp_path, capfd):
    """Refused at every size on the way, with what to do; with room again the same run is recorded."""
    path = tmp_path / "audits.db"
    record_once(url_of(path))
    size = path.stat().st_size
    for more in (0, 4096, 100_000, 500_000, 900_000):
        assert limited(url_of(path), size + more, 2) == REFUSED
        assert "nothing was added; make room" in capfd.readouterr().err
        assert whole(open_history(url_of(path))) == [1]
    assert limited(url_of(path), size + 2_000_000, 2) == DONE
    assert whole(open_history(url_of(path))) == [1, 2]


# --- the real program -----------------------------------------------------------------------------------------------


def test_two_real_audits_at_once_are_both_recorded(tmp_path):
    """The second waits for the first, and is compared with it."""
    models = [write(tmp_path / name, share(correct, 100)) for name, correct in (("a", 90), ("b", 91))]
    begun = [
        program("audit", folder, "--history", "sqlite:///audits.db", "-o", folder.name + "-out", *QUICK, cwd=tmp_path)
        for folder in models
    ]  # fmt: skip
    for process in begun:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    found = runs(open_history(url_of(tmp_path / "audits.db")))
    assert [(run.id, run.accepted_run, run.last_run) for run in found] == [(1, None, None), (2, 1, 1)]


@pytest.mark.parametrize("delay", [0.5, 1.8])
def test_a_killed_audit_changes_nothing_and_the_next_one_works(tmp_path, delay):
    """SIGKILL at several moments: the history holds run 1 or, whole, run 2 as well; then it is recorded once."""
    url = "sqlite:///audits.db"
    first, second = write(tmp_path / "a", share(90, 100)), write(tmp_path / "b", share(91, 100))
    process = program("audit", first, "--history", url, *QUICK, cwd=tmp_path)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    process = program("audit", second, "--history", url, *QUICK, cwd=tmp_path)
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=60)
    history = open_history(url_of(tmp_path / "audits.db"))
    assert whole(history) in ([1], [1, 2])
    again = program("audit", second, "--history", url, "--wait", "0", *QUICK, cwd=tmp_path)
    _, said = again.communicate(timeout=120)
    assert (again.returncode, said) == (0, "")
    assert whole(history) == [1, 2]


def test_a_real_audit_without_room_says_what_was_written(tmp_path):
    """The report is there, the run is not; exit 2 and one line without a traceback."""
    path = tmp_path / "audits.db"
    record_once(url_of(path), series="another", predictions=np.random.default_rng(1).bytes(400_000))
    size = path.stat().st_size
    models = write(tmp_path / "models", share(90_000, 100_000))

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    process = program(
        "audit", models, "--history", "sqlite:///audits.db", *QUICK, cwd=tmp_path, preexec_fn=no_room
    )
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "this run is not in the history (the report was written: evalreport-out)" in said
    assert len(said.splitlines()) == 1
    assert (tmp_path / "evalreport-out" / "results.json").exists()
    history = open_history(url_of(path))
    assert whole(history) == [1]
    assert standing(history, "default").latest is None
