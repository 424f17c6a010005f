"""The page over time: limits, marks, links, hostile names, and what it may load."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalreport.audit.auditing import audit, record
from evalreport.audit.site import _shown, _state, limits_around, timelines, write_site
from evalreport.cli import main
from evalreport.errors import InputError, UsageError
from evalreport.history.connection import History, open_history
from evalreport.history.store import accept, results_of
from evalreport.options import Options, OutputOptions
from evalreport.report import render
from tests.samples.reviews import write

N = 60


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of three audits of two models, of which forest falls in the third; reports of the first two."""
    folder = tmp_path_factory.mktemp("site")
    history = open_history(f"sqlite:///{folder / 'a.db'}", create=True)
    for number, correct in enumerate((57, 56, 30)):
        models = write(folder / f"models-{number}", correct, N, first=N * number)
        write(models, 54, N, first=N * number, model="logreg")
        found = audit(models, options=options("forest.accuracy >= 0.75", "n >= 10"), history=history)
        failed = any(gate.outcome == "fail" for gate in found.results.gates)
        record(found, history=history, time=time(number), exit_code=int(failed))
        if number < 2:
            render(
                found.results,
                folder / "reports" / str(number),
                options=OutputOptions(formats=("html", "json")),
            )
    return folder


def options(*gates: str) -> Options:
    """Return options of one quick metric."""
    return Options(metrics=("accuracy",), resamples=50, gates=gates)


def time(number: int):
    """Return a day of March 2025."""
    from datetime import UTC, datetime

    return datetime(2025, 3, 1 + number, tzinfo=UTC)


@pytest.fixture
def history(place: Path) -> History:
    """That history, opened."""
    return open_history(f"sqlite:///{place / 'a.db'}")


def test_a_value_lies_outside_where_the_difference_three_errors_wide_excludes_zero():
    """Square and add by hand: accepted 0.95 [0.90, 0.98], audit 0.80 [0.70, 0.87] at 95 %, k = 3 / 1.959964."""
    k = 3 / 1.959963984540054
    low, _ = limits_around((0.95, 0.90, 0.98), (0.80, 0.70, 0.87), level=0.95)
    upper_difference = (0.80 - 0.95) + k * ((0.87 - 0.80) ** 2 + (0.95 - 0.90) ** 2) ** 0.5
    assert low == pytest.approx(0.95 - k * (0.05**2 + 0.07**2) ** 0.5, abs=1e-12)
    assert (low > 0.80) == (upper_difference < 0)


@pytest.mark.slow
def test_the_first_run_is_accepted_and_the_later_ones_have_limits_in_the_metrics_range(history: History):
    """No run is compared with itself; an accuracy has no limit above 1."""
    (line,) = timelines(history)
    first, *later = line.tracks[0].looks
    assert first.accepted
    assert first.lower is None
    for look in later:
        assert look.centre == first.value == 57 / N
        assert look.lower is not None
        assert look.upper is not None
        assert 0 <= look.lower < 57 / N < look.upper <= 1


def test_a_fall_lies_outside_and_marks_the_model_that_the_gate_is_about(history: History):
    """Forest's gate failed at the third audit: its chart is marked there, that of logreg is not."""
    (line,) = timelines(history)
    forest, logreg = line.tracks
    assert [look.failed for look in forest.looks] == [False, False, True]
    assert not any(look.failed for look in logreg.looks)
    third = forest.looks[-1]
    assert third.value is not None
    assert third.lower is not None
    assert third.value < third.lower


def test_an_alarm_of_the_audit_is_marked(tmp_path: Path):
    """Half of the answers to the same examples wrong, after 95 %: the audit itself calls forest worse."""
    history = open_history(f"sqlite:///{tmp_path / 'a.db'}", create=True)
    for number, correct in enumerate((57, 30)):
        found = audit(write(tmp_path / f"m{number}", correct, N), options=options(), history=history)
        record(found, history=history, time=time(number), exit_code=0)
    (line,) = timelines(history)
    assert [look.alarm for look in line.tracks[0].looks] == [False, True]
    assert line.audits[-1].alarms


def test_a_change_of_one_models_scores_marks_no_other_model(tmp_path: Path):
    """The mix of forest's predicted labels moves, that of logreg does not: only forest's chart bears the mark."""
    history = open_history(f"sqlite:///{tmp_path / 'a.db'}", create=True)
    for number in range(2):
        models = write(tmp_path / f"m{number}", 380, 400, first=400 * number)
        write(models, 380, 400, first=400 * number, model="logreg")
        if number:
            lines = (models / "forest.csv").read_text().splitlines()
            ones = [lines[0], *(line.rsplit(",", 1)[0] + ",1" for line in lines[1:])]
            (models / "forest.csv").write_text("\n".join(ones) + "\n")
        found = audit(models, options=options(), history=history)
        record(found, history=history, time=time(number), exit_code=0)
    (line,) = timelines(history)
    assert [look.data for look in line.tracks[0].looks] == [False, True]
    assert [look.data for look in line.tracks[1].looks] == [False, False]


def test_the_page_says_what_is_accepted_and_on_what_the_alarm_rests(tmp_path: Path):
    """Two runs accepted together are both named, and the promise stands there with its assumption."""
    history = open_history(f"sqlite:///{tmp_path / 'a.db'}", create=True)
    for number in range(3):
        found = audit(
            write(tmp_path / f"m{number}", 54, N, first=N * number), options=options(), history=history
        )
        record(found, history=history, time=time(number), exit_code=0)
    accept(history, 1, 3, time="2025-03-04T00:00:00Z")
    page = write_site(history, tmp_path / "out").page.read_text()
    assert "run 3 of 2025-03-03, together with 1" in page
    assert "false in at most 5 % of series of a year" in page
    assert "if runs are independent" in page
    (line,) = timelines(history)
    assert [audit.accepted for audit in line.audits] == [True, False, True]


def test_the_page_loads_nothing_and_runs_only_its_own_script(place: Path, history: History):
    """One policy, whose digests are those of the style and the script; no address but relative ones."""
    page = write_site(history, place / "out").page.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert "unsafe" not in policy[1]
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1].replace("&#39;", "'")
    assert not re.findall(r'(?:href|src)="(?!#|results/|data:|\.\./)[^"]*"', page)
    assert page.count('<figure class="plot plot-control"') == 2


@pytest.mark.slow
def test_runs_link_to_their_report_or_to_their_results(place: Path, history: History):
    """A report is found by the digest of the results beside it; the other run gets its results.json, byte for byte."""
    site = write_site(history, place / "linked", reports=place / "reports")
    links = re.findall(r'<a href="([^"]+)" aria-label="[^"]*of run (\d+)"', site.page.read_text())
    assert (site.audits, site.reports) == (3, 2)
    assert {int(run): link for link, run in links} == {
        1: "../reports/0/report.html", 2: "../reports/1/report.html", 3: "results/run-3.json",
    }  # fmt: skip
    assert (place / "linked" / "results" / "run-3.json").read_bytes() == results_of(history, 3)


@pytest.mark.slow
def test_written_again_it_is_the_same_and_leaves_others_files_alone(place: Path, history: History):
    """No time of writing stands in the page."""
    first = write_site(history, place / "again").page.read_bytes()
    (place / "again" / "own.txt").write_text("mine")
    assert write_site(history, place / "again").page.read_bytes() == first
    assert (place / "again" / "own.txt").read_text() == "mine"


def test_hostile_names_are_text_on_the_page(tmp_path: Path):
    """A model and a series named like mark-up, and a direction override, stand there as they are spelled."""
    history = open_history(f"sqlite:///{tmp_path / 'a.db'}", create=True)
    models = write(tmp_path / "models", 9, 10, model="<img src=x onerror=alert(1)>\u202e$x$")
    record(audit(models, options=options(), history=history, series="<b>"), history=history, exit_code=0)
    page = write_site(history, tmp_path / "out").page.read_text()
    assert "<img src=x" not in page
    assert "<b>" not in page.replace("<b>0.900</b>", "")
    assert "\u202e" not in page
    assert "U+202E" in page


def test_the_accepted_value_moves_with_the_acceptance(tmp_path: Path):
    """After another run is accepted, later audits are drawn around that one."""
    history = open_history(f"sqlite:///{tmp_path / 'a.db'}", create=True)
    for number, correct in enumerate((54, 48, 47)):
        models = write(tmp_path / f"m{number}", correct, N, first=N * number)
        found = audit(models, options=options(), history=history)
        record(found, history=history, time=time(number), exit_code=0)
        if number == 1:
            accept(history, 2, time="2025-03-02T12:00:00Z")
    (line,) = timelines(history)
    assert [look.centre for look in line.tracks[0].looks] == [0.9, 0.9, 0.8]
    assert [look.accepted for look in line.tracks[0].looks] == [True, True, False]


def test_a_history_without_runs_has_no_page(tmp_path: Path):
    """A misspelt series is said instead of an empty page."""
    history = open_history(f"sqlite:///{tmp_path / 'a.db'}", create=True)
    with pytest.raises(UsageError, match="holds no run of the series 'nightly'"):
        timelines(history, "nightly")


@pytest.mark.slow
def test_the_command_says_where_the_page_lies(place: Path, capsys):
    """One line on standard output, exit 0; an unwritable place is an output that cannot be made."""
    url = f"sqlite:///{place / 'a.db'}"
    assert main(["history", "site", str(place / "cli"), "--history", url]) == 0
    assert capsys.readouterr().out == f"{place / 'cli' / 'index.html'}: 3 audits, 0 linked to their report\n"
    (place / "file").write_text("in the way")
    assert main(["history", "site", str(place / "file"), "--history", url]) == 4
    assert "name another folder" in capsys.readouterr().err


@pytest.mark.slow
def test_the_words_of_the_page_are_those_of_the_results(place: Path, history: History):
    """What did not pass stands beside its run, in the gate's own words."""
    page = write_site(history, place / "words").page.read_text()
    failed = [g for g in json.loads(results_of(history, 3))["gates"] if g["outcome"] == "fail"]
    assert len(failed) == 1
    assert failed[0]["text"] in page


@pytest.mark.parametrize(
    "options",
    ['{"confidence": 0.9, "name": "caf\\u00e9 \\"x\\""}', '{"name": "\\ud800"}'],
    ids=["valid", "no-text"],
)
def test_the_parts_of_results_are_those_that_json_finds(options: str) -> None:
    """Also where a part is missing or in other parts too, and where msgspec refuses what Python reads."""
    data = f'{{"options": {options}, "models": ["a"], "classes": [], "x": {{"audit": [1]}}}}'.encode()
    shown = _shown(data, "results.json")
    assert shown.options.confidence == json.loads(data)["options"].get("confidence", 0.95)
    assert (shown.models, shown.classes, shown.gates, shown.audit) == (("a",), (), (), ())


@pytest.mark.parametrize("part", ['"confidence": 1', '"confidence": "high"'])
def test_a_level_that_is_none_ends_in_words(part: str) -> None:
    """A level is a number between 0 and 1."""
    with pytest.raises(InputError, match=r"options\.confidence"):
        _shown(f'{{"options": {{{part}}}, "models": [], "classes": []}}'.encode(), "results.json")


@pytest.mark.parametrize(
    ("exit_code", "tone", "state"),
    [
        (1, "bad", "gate_failed"), (3, "undecided", "undecided"), (0, "undecided", "look"), (0, "bad", "alarm"),
        (0, "good", "passed"), (0, "neutral", "none"), (4, "neutral", "none"),
    ],
)  # fmt: skip
def test_the_state_of_an_audit_is_the_tone_of_its_sentence(exit_code, tone, state):
    """A run that nobody asked anything of has no word; one whose model is lower is never called passed."""
    run = SimpleNamespace(exit_code=exit_code, summary={"tone": tone})
    assert _state(SimpleNamespace(run=run))[0] == state
