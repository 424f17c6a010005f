"""Short forms of the campaign: five hundred wrong inputs, and each other way of disturbing the program a few times."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.system


def test_five_hundred_wrong_inputs_end_in_words(tmp_path: Path) -> None:
    """Exit codes 0 to 4, no traceback, no warning of a library, no secret; what is found is saved and named."""
    from research.campaign import fuzz

    part = fuzz.part(seed=1, tries=500, out=tmp_path / "found")
    assert part.findings == []
    assert (part.tries, sum(row.counts.total() for row in part.rows)) == (500, 500)


def test_the_fuzzer_finds_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that is broken on purpose: a defect, told apart by where it is."""
    from evalreport.sources import formats
    from research.campaign import fuzz
    from research.campaign.answers import host
    from research.campaign.targets import Case

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(formats, "empty_file", broken)
    case = Case(("check", "m.csv", "-q"), {"m.csv": b"id,y_true,y_pred\n", "other.txt": b"not needed"})
    with host() as (address, answers):
        outcome = fuzz.tried(case, tmp_path / "try", address, answers)
        assert (outcome.code, outcome.kind) == (70, "defect")
        assert outcome.what == "ZeroDivisionError in formats.py:read_file"
    assert (fuzz.saved(case, outcome, "delimited", "by hand", tmp_path) / "case.json").is_file()


def test_a_try_can_be_made_again() -> None:
    """The same seed and number are the same case: a finding in a report can be looked at."""
    from research.campaign import fuzz

    targets = ["delimited", "configuration", "review", "npz"]
    for number in range(20):
        assert fuzz.drawn(5, number, targets) == fuzz.drawn(5, number, targets)


@pytest.mark.slow
def test_full_disks_and_folders_that_vanish_break_no_promise() -> None:
    """Each way once: no file may grow, the folder vanishes or is another user's, the disk is full or read-only."""
    from research.campaign import disks

    part = disks.part(tries=5)
    assert part.findings == []
    assert part.tries == 5
    assert {"old", "new"} & {outcome for row in part.rows for outcome in row.counts}


@pytest.mark.slow
def test_several_writers_and_clocks_set_back_break_no_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two and four, each once: `run`, `audit` and `resample` into the same place; and a history whose clock jumps."""
    from research.campaign import writers

    monkeypatch.setattr(writers, "MOST", 4)
    part = writers.part(tries=7)
    assert part.findings == []
    assert [row.tries for row in part.rows] == [1] * 7


def test_a_server_that_restarts_loses_nothing() -> None:
    """Two restarts while a run is recorded."""
    from research.campaign import restarts

    part = restarts.part(tries=2)
    if not part.tries:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    assert part.findings == []


def test_hostile_names_are_text_everywhere() -> None:
    """Two draws of names, through every command and in Chromium."""
    from research.campaign import names

    part = names.part(tries=2, seed=3)
    assert part.findings == []
    assert part.rows[0].tries == 2
    if "chromium" not in part.versions:
        pytest.skip("chromium is not installed: apt-get install chromium")
    assert part.rows[1].counts["silent"] == part.rows[1].tries > 0


def test_a_page_that_acts_is_noticed(browser: object, tmp_path: Path) -> None:
    """What the browser judges by: a script, a picture from elsewhere, an element that plain names do not bring."""
    from research.campaign import names

    plain, bad = tmp_path / "plain.html", tmp_path / "bad.html"
    plain.write_text("<html><body><b>x</b></body></html>")
    bad.write_text(
        "<html><body><b>x</b><img src='http://127.0.0.1:9/x'><script>alert(1)</script></body></html>"
    )
    assert names._opened(browser, plain) == "silent"
    assert names._opened(browser, bad) == "acts"
    assert names._within(plain, plain)
    assert not names._within(bad, plain)


def test_damaged_aggregates_and_histories_end_in_words(tmp_path: Path) -> None:
    """A hundred edits of their files and tables, with digests made anew: refused or shown, and never believed."""
    from research.campaign import fuzz

    part = fuzz.damaged(seed=4, tries=100, out=tmp_path / "found")
    assert (part.tries, part.findings) == (100, [])


def test_contradictions_that_are_accepted_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that is switched off on purpose: a run on files that contradict one another is a finding."""
    from evalreport.scale import aggregates
    from research.campaign import damage, fuzz
    from research.campaign.answers import host
    from research.campaign.targets import QUICK, Case

    with host() as (address, answers):
        files = next(fuzz._aggregates(tmp_path / "try", address, answers))
        edited = damage._with_digest(
            {**files, damage.COUNTS: damage.without_rows(files[damage.COUNTS])}, damage.COUNTS
        )
        words = ("run", "d", "-m", "accuracy", *QUICK)
        case = Case(words, {f"d/{name}": data for name, data in edited.items()}, contradicts=True)
        assert fuzz.tried(case, tmp_path / "try", address, answers).code == 2
        monkeypatch.setattr(aggregates, "check_counts", lambda *_: None)
        monkeypatch.setattr(aggregates, "check_sums", lambda *_: None)
        assert fuzz.tried(case, tmp_path / "try", address, answers).kind == "accepted"


def test_closed_streams_and_endless_hosts_break_no_promise() -> None:
    """Three audits whose streams fail, and one host that never ends."""
    from research.campaign import streams

    part = streams.part(tries=4)
    assert part.findings == []
    assert [row.tries for row in part.rows] == [3, 1]


@pytest.mark.slow
def test_a_hundred_forgeries_are_found() -> None:
    """Of results, looks files, pages and criteria: each edit that changes a figure, a record, a sentence or a state."""
    from research.campaign import forging

    made = forging.part(seed=1, tries=100)
    assert made.findings == []
    assert made.tries == 100
