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


def test_a_run_on_rows_loads_no_extension() -> None:
    """The packages of the extensions are not imported by an evaluation of data in memory."""
    program = (
        "import sys, evalreport as er\n"
        "er.evaluate({'m': {'y_pred': [1, 0, 1, 1]}}, truth=[1, 0, 1, 0], resamples=20)\n"
        "print(*sorted({n.split('.')[1] for n in sys.modules if n.startswith('evalreport.')}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "analysis" in done.stdout.split()
    assert not set(EXTENSIONS) & set(done.stdout.split())
