"""The lower bounds of requirements are those that are tested."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_lower_bound_is_pinned_for_the_tests_with_the_lowest_versions():
    """`make lock` writes requirements/lowest.txt from the bounds; a bound that moved alone would go untested."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # Spark and MLflow's client are pinned apart for the tests that need them (requirements/spark.txt, mlflow.txt).
    extras = [
        lines for name, lines in project["optional-dependencies"].items() if name not in ("spark", "mlflow")
    ]
    bounds = {
        re.sub(r"\[.*\]", "", line).replace(">=", "==")
        for part in (project["dependencies"], *extras)
        for line in part
    }
    pinned = re.findall(
        r"^([\w-]+==[\w.]+)", (ROOT / "requirements" / "lowest.txt").read_text(), re.MULTILINE
    )

    def whole(pin: str) -> str:
        name, version = pin.lower().split("==")
        return name + "==" + re.sub(r"(\.0)+$", "", version)

    assert {whole(bound) for bound in bounds} <= {whole(pin) for pin in pinned}
    assert len(bounds) > 12


def test_warnings_are_errors_and_each_exception_has_its_reason():
    """Whoever lists a warning says in a comment why it may stand."""
    text = (ROOT / "pyproject.toml").read_text()
    filters = tomllib.loads(text)["tool"]["pytest"]["ini_options"]["filterwarnings"]
    assert filters[0] == "error"
    for line in text.splitlines():
        if any(f'"{entry}"' in line for entry in filters):
            assert "#" in line, line


def test_a_bound_that_is_named_is_not_skipped():
    """Where no interpreter is found the command fails: automation would pass without a test."""
    done = subprocess.run(["scripts/test-bounds.sh", "3.999"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"no Python 3.999" in done.stderr
