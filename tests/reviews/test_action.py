"""The GitHub action, run step by step as its file says, in a made-up environment and with a host on this machine."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.samples.review_host import Host, served
from tests.samples.reviews import write

pytestmark = pytest.mark.system

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]


@dataclass
class Job:
    """A runner's job: its folder, what it hands to steps, and what the steps left."""

    folder: Path
    host: Host
    inputs: dict[str, str]
    event: dict[str, Any]
    installs: bool = False
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""

    @property
    def summary(self) -> str:
        """The job's summary."""
        return (self.folder / "step-summary").read_text(encoding="utf-8")

    def value(self, text: str) -> str:
        """Put in what an expression stands for; only those that the action uses."""

        def known(match: re.Match[str]) -> str:
            path = match[1].split(".")
            if path[0] == "inputs":
                default = str(ACTION["inputs"][path[1]].get("default", ""))
                return self.inputs.get(path[1], self.value(default))
            if path[0] == "steps":
                return self.outputs.get(path[1], {}).get(path[3], "")
            return {
                "github.action_path": str(ROOT), "github.token": "job-token", "github.ref": "refs/pull/7/merge",
                "github.run_id": "1", "github.run_attempt": "1", "runner.temp": str(self.folder / "temp"),
            }[match[1]]  # fmt: skip

        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", known, str(text))

    def wanted(self, condition: str | None) -> bool:
        """Evaluate a step's condition: NAME == 'text' or NAME != 'text'."""
        if condition is None:
            return True
        name, sign, text = re.fullmatch(r"([\w.-]+) (==|!=) '(.*)'", condition).groups()
        return (self.value(f"${{{{ {name} }}}}") == text) == (sign == "==")

    def run(self) -> int:
        """Run the steps that are scripts, in order; return the exit code of the first that failed, else 0."""
        for step in STEPS:
            if not self.wanted(step.get("if")):
                continue
            if "uses" in step:
                if step.get("id") == "upload":
                    self.outputs["upload"] = {"artifact-url": "https://github.com/team/models/artifacts/1"}
                continue
            # Installing takes a network and a minute: tests/system/test_action_install.py.
            code = 0 if step["id"] == "install" and not self.installs else self._script(step)
            if code:
                return code
        return 0

    def _script(self, step: dict[str, Any]) -> int:
        files = {
            n: self.folder / n.lower().replace("_", "-") for n in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        files["GITHUB_STEP_SUMMARY"] = self.folder / "step-summary"
        files["GITHUB_OUTPUT"].write_text("")
        event = self.folder / "event.json"
        event.write_text(json.dumps(self.event))
        environment = {
            **({"PIP_CERT": own, "SSL_CERT_FILE": own} if (own := os.environ.get("SSL_CERT_FILE")) else {}),
            **({} if self.installs else {"PYTHONPATH": str(ROOT)}),
            "PATH": os.environ["PATH"], "HOME": str(self.folder),
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", str(Path.home() / ".cache" / "matplotlib")),
            "RUNNER_TEMP": str(self.folder / "temp"), "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": "team/models", "GITHUB_API_URL": self.host.address,
            "GITHUB_WORKFLOW": "review", "GITHUB_JOB": "models",
            **{name: str(path) for name, path in files.items()},
            **{name: self.value(text) for name, text in step.get("env", {}).items()},
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.log += done.stdout + done.stderr
        pairs = [line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines()]
        self.outputs[step["id"]] = dict(pairs)
        return done.returncode


QUICK = "-m accuracy --resamples 50 -f html,json,md"


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """A job of pull request 7 on a model that is right on 90 of 100 examples."""
    write(tmp_path / "models", 90, 100)
    python = tmp_path / "temp" / "evalreport" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # Not a link: the interpreter would look for its libraries beside it.
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    host = Host()
    server = served(host)
    yield Job(tmp_path, host, {"models": "models", "options": QUICK}, {"pull_request": {"number": 7}})
    server.shutdown()
    server.server_close()


def test_every_input_reaches_scripts_as_a_variable():
    """No expression stands inside a script: a branch or a title could otherwise run as a command."""
    assert not [step["run"] for step in STEPS if "${{" in step.get("run", "")]
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


def test_a_passed_run_leaves_report_summary_and_one_comment(job: Job):
    """Exit 0; run again after a change, the same comment says the new value."""
    assert job.run() == 0
    assert job.outputs["run"] == {"exit-code": "0", "report": "evalreport-out"}
    assert (job.folder / "evalreport-out" / "report.html").is_file()
    assert (job.folder / "evalreport-out" / "gates.xml").is_file()
    assert "0.900" in job.summary
    write(job.folder / "models", 60, 100)
    assert job.run() == 0
    (comment,) = job.host.comments
    assert "0.600" in comment["body"]
    assert "[report (HTML, PDF)](https://github.com/team/models/artifacts/1)" in comment["body"]


def test_a_failed_gate_ends_the_job_after_everything_was_attached(job: Job):
    """Exit 1, and artefact, summary and comment are there."""
    job.inputs["options"] = f"{QUICK} --gate 'forest.accuracy >= 0.99'"
    assert job.run() == 1
    assert "upload" in job.outputs
    assert "fail" in job.summary
    assert "fail" in job.host.comments[0]["body"]


def test_a_failing_host_does_not_hide_the_gates_result(job: Job):
    """The host refuses every call: one warning, and still exit 1; without a failed gate exit 0."""
    job.host.always = (403, "Resource not accessible by integration")
    assert job.run() == 0
    assert job.log.count("::warning title=evalreport::no comment was written") == 1
    job.inputs["options"] = f"{QUICK} --gate 'forest.accuracy >= 0.99'"
    assert job.run() == 1
    assert "job-token" not in job.log


def test_an_undecided_gate_keeps_its_exit_code(job: Job):
    """Exit 3 is handed on as it is."""
    job.inputs["options"] = f"{QUICK} --gate 'forest.accuracy >= 0.9'"
    assert job.run() == 3


def test_bad_input_is_said_where_the_green_comment_was(job: Job):
    """A broken file after a good run: exit 2, the old report is not taken for new, the one comment says why."""
    assert job.run() == 0
    (job.folder / "models" / "forest.csv").write_text("id,y_true,y_pred\na,1\n")
    assert job.run() == 2
    assert job.outputs["run"]["report"] == ""
    (comment,) = job.host.comments
    assert "made no report" in comment["body"]
    assert "line 2" in comment["body"]


def test_options_that_no_shell_could_read_are_bad_usage(job: Job):
    """An open quote is exit 2 with a message, not a traceback."""
    job.inputs["options"] = "--gate 'forest"
    assert job.run() == 2
    assert "No closing quotation" in job.summary


def test_without_a_pull_request_only_the_comment_is_missing(job: Job):
    """A push or a schedule: exit code and summary as ever, and no call."""
    job.event = {"ref": "refs/heads/main"}
    assert job.run() == 0
    assert job.host.calls == []
    assert "0.900" in job.summary


def test_names_from_files_are_no_commands_of_the_runner(job: Job):
    """What evalreport prints stands between stop-commands and its secret end."""
    (job.folder / "models" / "forest.csv").rename(job.folder / "models" / "::error::x.csv")
    assert job.run() == 0
    within = re.search(r"::stop-commands::(\w{32})\n(.*?)\n::\1::", job.log, flags=re.DOTALL)
    assert within is not None
    outside = re.sub(r"::stop-commands::(\w{32})\n.*?\n::\1::\n", "", job.log, flags=re.DOTALL)
    assert "::error" in within[2]
    assert "::error" not in outside


def test_with_a_history_it_is_an_audit(job: Job):
    """The input history turns the run into an audit that is recorded."""
    job.inputs["history"] = "sqlite:///audits.db"
    assert job.run() == 0
    assert (job.folder / "audits.db").is_file()
    assert "recorded as run 1" in job.log


def unescaped(text: str) -> str:
    """Return a text as Markdown shows it."""
    return html.unescape(re.sub(r"\\(.)", r"\1", text))


def based(job: Job, *, right: int) -> None:
    """Leave the base branch's predictions and its output folder where a job has them."""
    write(job.folder / "base" / "models", right, 100)
    options = ["-m", "accuracy", "--resamples", "50", "-f", "json,md", "--gate", "n >= 50"]
    words = [sys.executable, "-m", "evalreport", "run", "base/models", "-o", "base-out", *options]
    subprocess.run(
        words, cwd=job.folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True
    )


def test_the_comment_says_what_changed_since_the_base_branch(job: Job):
    """From 60 right answers to 90, pair by pair with the predictions of both, and a gate that is new."""
    based(job, right=60)
    job.inputs |= {"base": "base-out", "base-models": "base/models"}
    job.inputs["options"] = f"{QUICK} --gate 'forest.accuracy >= 0.8'"
    assert job.run() == 0, job.log
    (comment,) = job.host.comments
    before, part = comment["body"].split("### Since the base branch\n")
    sentence = "The gate n ≥ 50 was removed; forest is better: accuracy 0.900, was 0.600 (change +0.300"
    assert unescaped(part).lstrip().startswith(sentence)
    assert "| forest accuracy | 0.600" in part
    assert "+0.300" in part
    assert "forest.accuracy >= 0.8: not asked -> pass" in unescaped(part)
    assert "n >= 50: pass -> REMOVED" in unescaped(part)
    assert "<details>" not in before
    assert part.index("better") < part.index("<details>")


def test_without_results_of_the_base_branch_the_comment_is_as_ever(job: Job):
    """A first run has none: a warning in the log, and results that are broken are said in the comment."""
    job.inputs["base"] = "base-out"
    assert job.run() == 0
    assert "::warning title=evalreport::no results of the base branch: base-out is not there" in job.log
    assert "Since the base branch" not in job.host.comments[0]["body"]
    (job.folder / "base-out").mkdir()
    (job.folder / "base-out" / "results.json").write_text("{}")
    assert job.run() == 0
    (comment,) = job.host.comments
    assert "The results of the base branch cannot be compared" in comment["body"]
    assert "0.900" in comment["body"]


def test_five_pushes_are_counted_and_the_same_one_counts_once(job: Job):
    """Each push has an equal share of the error; the same predictions are one push; the third of two is refused."""
    job.inputs["looks"] = "2"
    for right, look in ((90, 1), (90, 1), (92, 2)):
        write(job.folder / "models", right, 100)
        assert job.run() == 0
        assert f"look {look} of 2; level 0.025" in job.summary.rpartition("<!-- evalreport")[2]
    write(job.folder / "models", 94, 100)
    assert job.run() == 2
    assert "declared looks are spent" in job.summary
    (comment,) = job.host.comments
    assert "declared looks are spent" in comment["body"]


def test_the_looks_are_kept_from_push_to_push() -> None:
    """What is restored is what the step writes and what is saved, by the branch, only where looks are counted."""
    kept = {
        how: s for s in STEPS for how in ("restore", "save") if f"actions/cache/{how}@" in s.get("uses", "")
    }
    restore, save = kept["restore"], kept["save"]
    assert restore["if"] == save["if"] == "inputs.looks != ''"
    assert restore["with"]["path"] == save["with"]["path"] == "${{ runner.temp }}/evalreport-looks"
    assert restore["with"]["key"] == save["with"]["key"]
    assert restore["with"]["key"].startswith(restore["with"]["restore-keys"])
    assert (
        STEPS.index(restore)
        < next(i for i, s in enumerate(STEPS) if s.get("id") == "run")
        < STEPS.index(save)
    )
