"""What a long run says about its time."""

import threading

import pytest

from evalreport.cli import time_left as module
from evalreport.cli.time_left import SHORTER, progress_line, time_left


def lines_of(monkeypatch: pytest.MonkeyPatch, *, shorter: bool) -> list[str]:
    """Return the first lines of a run that stands at 40 % of its comparisons."""
    monkeypatch.setattr(module, "FIRST", 0.01)
    monkeypatch.setattr(module, "AGAIN", 0.01)
    said: list[str] = []
    enough = threading.Event()

    def say(line: object) -> None:
        said.append(str(line))
        if len(said) >= 3:
            enough.set()

    with time_left("reading and checking", say, shorter=shorter) as moved:
        moved("comparing", 0.4)
        assert enough.wait(30)
    return said[:3]


def test_the_share_the_time_left_and_once_an_option_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The option is that of the stage."""
    first, option, later = lines_of(monkeypatch, shorter=True)
    assert first.startswith("comparing: 40 % of the run is done after ")
    assert option == str(SHORTER["comparing"])
    assert later.startswith("comparing: 40 %")


def test_other_work_has_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits and documents are not shortened by fewer metrics."""
    assert all(line.startswith("comparing: ") for line in lines_of(monkeypatch, shorter=False))


def test_a_short_run_says_nothing() -> None:
    """The thread ends with the run."""
    said: list[object] = []
    with time_left("reading and checking", said.append, shorter=True):
        pass
    assert not said


def test_before_anything_is_done_the_time_left_is_not_known() -> None:
    """The share is 0 while files are read."""
    assert str(progress_line("reading and checking", 0.0, 12.0)) == "reading and checking: 12 s so far"
