"""The lazy table of commands and services: every entry is there, and the core loads none of them."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from evalreport.extensions import COMMANDS, SERVICES, load

EXTENSIONS = ("audit", "verify", "reviews", "refit", "imports", "scale")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_one_under_its_name(name: str) -> None:
    """What click shows in the help is what the table calls it."""
    command = load(name)
    assert isinstance(command, click.Command)
    assert command.name == name


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_can_be_called(name: str) -> None:
    """Module and attribute exist."""
    assert callable(load(name))


PROGRAM = """
import sys
import evalreport as er

labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
results = er.evaluate(labels, truth=[1, 0, 1, 0], gates=["forest.accuracy >= 0.1"], resamples=50)
assert len(results.gates) == 1
names = [name.split(".") for name in sys.modules]
print(*sorted({name[1] if name[0] == "evalreport" and len(name) > 1 else name[0] for name in names}))
"""


@pytest.mark.slow
def test_a_run_on_rows_loads_no_extension() -> None:
    """Nor the store of runs: neither is imported by an evaluation of data in memory, with a gate."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"analysis", "gates"} <= loaded
    assert not {*EXTENSIONS, "history", "sqlalchemy"} & loaded
