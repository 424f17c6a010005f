"""Recorded results, and the command that recomputes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evalreport.cli import main
from tests.samples.two_models import run, write
from tests.samples.verified import OPTIONS


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """A folder with models/ and out/ of one run: slices, gates, curves."""
    place = tmp_path_factory.mktemp("verify")
    write(place / "models")
    run(place / "models", place / "out", *OPTIONS)
    return place


@pytest.fixture(scope="session")
def printed(made, tmp_path_factory) -> Path:
    """The same with the PDF, for what is attached to it: without charts, which take most of its time."""
    place = tmp_path_factory.mktemp("printed")
    shutil.copytree(made / "models", place / "models")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("evalreport.plots.pictures.drawn", lambda _figure: "<svg></svg>")
        run(place / "models", place / "out", *OPTIONS, "-f", "json,pdf")
    return place


@pytest.fixture
def copy(made, tmp_path) -> Path:
    """The same, to be tampered with."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


@pytest.fixture
def verify(capsys):
    """Call `evalreport verify`; return the exit code and what it printed."""

    def call(*words: object) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["verify", *map(str, words)])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call
