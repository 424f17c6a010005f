"""docs/audits.md: what it shows is run, what it names exists, and what there is stands in it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from evalreport.audit.commands import audit_command
from evalreport.cli import main
from evalreport.history.commands import history_command
from evalreport.options import KEYS
from tests.samples.audits import share, write

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audits.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run(tmp_path, monkeypatch, capsys):
    """The console block, twice: exit 0, and one run in the list."""
    monkeypatch.chdir(tmp_path)
    write(Path("models"), share(90, 100))
    block = re.search(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    commands = [line.removeprefix("$ evalreport ") for line in block[1].splitlines()]
    assert len(commands) == 2
    for command in commands * 2:
        capsys.readouterr()
        assert main(shlex.split(command)) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_the_page_names_every_option_and_every_command():
    """Those of `audit` beside `run`, and the subcommands of `history`."""
    of_run = {key.field for key in KEYS} | {"config"}
    own = [p.opts[0] for p in audit_command.params if p.name not in of_run and p.opts[0].startswith("-")]
    assert len(own) == 4  # the time is an option of run as well
    for name in own:
        assert f"`{name} " in PAGE
    for name in history_command.commands:
        assert f"`evalreport history {name}" in PAGE


def test_the_gates_of_the_page_can_be_read():
    """Each indented line with a comparator."""
    from evalreport.gates.conditions import parse

    lines = re.findall(r"^    ((?:forest\.|n )\S.*?)(?:   .*)?$", PAGE, re.MULTILINE)
    gates = [parse(line, models=["forest"]) for line in lines]
    assert [gate.reference for gate in gates] == ["accepted", "last", "accepted", None, None]
    assert [gate.every_night for gate in gates] == [False] * 3 + [True] * 2
