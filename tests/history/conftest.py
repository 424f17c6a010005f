"""Two runs, and their comparison by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.cli import main
from tests.samples.compared_runs import GATE, METRICS
from tests.samples.two_models import run, write


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """Runs of one base branch and several pull requests: predictions in NAME/, results in NAME-out/."""
    place = tmp_path_factory.mktemp("compare")
    both = ("forest", "logreg")
    write(place / "base", models=both)
    run(place / "base", place / "base-out", *METRICS, *GATE)
    write(place / "better", models=(*both, "tree"), lift=0.2)
    run(place / "better", place / "better-out", *METRICS, "--gate", "n >= 10")
    write(place / "worse", models=both, lift=-0.15)
    run(place / "worse", place / "worse-out", *METRICS, *GATE, code=1)
    write(place / "slightly", models=both, lift=0.03)
    run(place / "slightly", place / "slightly-out", *METRICS, *GATE)
    return place


@pytest.fixture
def compare(made, capsys):
    """Compare the base branch with a pull request; return exit code and output."""

    def call(new: str, *words: object, old: str = "base", inputs: bool = False) -> tuple[int, str]:
        given = ["--inputs", made / old, made / new] if inputs else []
        capsys.readouterr()
        code = main(["compare-runs", *map(str, [made / f"{old}-out", made / f"{new}-out", *given, *words])])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call
