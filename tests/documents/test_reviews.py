"""docs/reviews.md and docs/scheduling.md: what is copied from them is right where it can be checked here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evalreport.audit.commands import audit_command
from evalreport.history.commands import history_command
from evalreport.reviews.commands import comment_command

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
SCHEDULING = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")
REVIEWS = (ROOT / "docs" / "reviews.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def blocks(page: str, kind: str) -> list[str]:
    """Return the fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_scheduled_lines_name_options_that_there_are():
    """Cron's and systemd's commands: every flag is one of the command's."""
    commands = {
        "audit": audit_command,
        **{f"history {name}": c for name, c in history_command.commands.items()},
    }
    found = re.findall(r"\.venv/bin/evalreport (audit|history \w+) (.*)", SCHEDULING)
    assert {name for name, _ in found} == {"audit", "history prune", "history site"}
    for name, rest in found:
        flags = {flag for parameter in commands[name].params for flag in parameter.opts}
        assert set(re.findall(r"(?<=\s)-{1,2}[a-z][a-z-]*", rest)) <= flags, rest


def test_systemd_takes_the_units(tmp_path: Path):
    """As they stand on the page but for the account, the folder and the mail program, which are the reader's."""
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    names = re.findall(r"^`/etc/systemd/system/(\S+)`$", SCHEDULING, re.MULTILINE)
    units = blocks(SCHEDULING, "ini")
    assert len(names) == len(units) == 3
    for name, unit in zip(names, units, strict=True):
        (tmp_path / name).write_text(unit)
    asked = [str(tmp_path / name) for name in names if "@" not in name]
    done = subprocess.run([verify, "verify", *asked], capture_output=True, text=True, check=False)
    about_ours = [line for line in done.stderr.splitlines() if "evalreport-" in line]
    assert done.returncode == 0, done.stderr
    assert about_ours == []


def test_the_workflows_give_inputs_that_the_action_has():
    """Each workflow of the pages parses, and each input of the action stands in the table."""
    steps = []
    for page in (SCHEDULING, REVIEWS):
        for block in blocks(page, "yaml"):
            for job in yaml.safe_load(block)["jobs"].values():
                steps += [step for step in job["steps"] if "evalreport@" in step.get("uses", "")]
    assert len(steps) == 4
    for step in steps:
        assert set(step["with"]) <= set(ACTION["inputs"])
        assert "models" in step["with"]
    assert set(
        re.findall(r"^\| `([\w-]+)` \|", REVIEWS.split("| input | |")[1].split("\n\n")[0], re.MULTILINE)
    ) == set(ACTION["inputs"])


def test_the_commands_of_the_pages_are_known():
    """Every option of `evalreport comment` that is shown is one, and those of a key and a failure are shown."""
    flags = {flag for parameter in comment_command.params for flag in parameter.opts}
    shown = set(re.findall(r"evalreport comment[^\n|]*? (--[a-z-]+)", REVIEWS))
    assert shown <= flags
    for flag in ("--key", "--failed", "--number"):
        assert flag in REVIEWS


def test_every_link_of_the_pages_leads_somewhere():
    """To a file of the checkout."""
    for page in (SCHEDULING, REVIEWS):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page):
            assert (ROOT / "docs" / target).exists(), target
