"""The job for GitLab CI: its script, run by a shell in a made-up environment with a host on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.samples.review_host import Host, served
from tests.samples.reviews import write

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
JOB = yaml.safe_load((ROOT / "integrations" / "gitlab-ci.yml").read_text(encoding="utf-8"))["evalreport"]

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def host() -> Iterator[Host]:
    """A host in the place of GitLab."""
    found = Host()
    server = served(found)
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(tmp_path: Path, host: Host) -> Run:
    """Run the job's script on a model that is right on 90 of 100 examples, for merge request 5."""
    write(tmp_path / "models", 90, 100)
    program = tmp_path / "bin" / "evalreport"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evalreport "$@"\n')
    program.chmod(0o755)

    def go(*gates: str, page: bool = False, **variables: str) -> tuple[int, str]:
        written = ", ".join(f"'{gate}'" for gate in gates)
        formats = ["html", "md"] if page else ["md"]
        (tmp_path / "evalreport.toml").write_text(
            f"[evalreport]\nmetric = ['accuracy']\nresamples = 50\nformat = {formats}\ngate = [{written}]\n"
        )
        environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path),
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", str(Path.home() / ".cache" / "matplotlib")),
            "GITLAB_CI": "true", "CI_API_V4_URL": f"{host.address}/api/v4", "CI_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_IID": "5", "CI_JOB_NAME": "evalreport", "GITLAB_TOKEN": "glpat",
            **JOB["variables"], **variables,
        }  # fmt: skip
        done = subprocess.run(
            ["sh", "-e", "-c", "\n".join(JOB["script"])],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return go


@pytest.mark.slow
def test_a_failed_gate_still_fails_the_job(run: Run, host: Host, tmp_path: Path):
    """Exit 1 and a note; gates and page are there to be kept."""
    assert run("forest.accuracy >= 0.99", page=True)[0] == 1
    (note,) = host.comments
    assert "fail" in note["body"]
    assert (tmp_path / JOB["artifacts"]["reports"]["junit"]).is_file()
    assert (tmp_path / "evalreport-out" / "report.html").is_file()
    assert JOB["artifacts"]["when"] == "always"


@pytest.mark.slow
def test_a_refused_note_hides_nothing(run: Run, host: Host):
    """The token is wrong: the failed gate's exit code stays, and the log says that there is no note."""
    host.always = (401, "Unauthorized")
    code, log = run("forest.accuracy >= 0.99")
    assert code == 1
    assert "No note was written" in log
    assert "glpat" not in log


@pytest.mark.slow
def test_a_broken_file_is_said_in_the_note(run: Run, host: Host, tmp_path: Path):
    """Exit 2, and the reason in the merge request."""
    (tmp_path / "models" / "forest.csv").write_text("id,y_true,y_pred\na,1\n")
    assert run()[0] == 2
    assert "line 2" in host.comments[0]["body"]


@pytest.mark.slow
def test_outside_of_a_merge_request_with_a_history_it_is_a_quiet_audit(run: Run, host: Host, tmp_path: Path):
    """A schedule: the run is recorded, and no call is made."""
    code, log = run(EVALREPORT_HISTORY="sqlite:///audits.db", CI_MERGE_REQUEST_IID="")
    assert code == 0, log
    assert (tmp_path / "audits.db").is_file()
    assert host.calls == []


@pytest.mark.slow
def test_pushes_are_counted_in_the_cache_of_the_branch(run: Run, host: Host, tmp_path: Path):
    """Two looks, and a third is refused; one note is updated each time. test_action.py pushes the same one twice."""
    (cached,) = JOB["cache"]["paths"]
    for right, look in ((90, 1), (92, 2)):
        write(tmp_path / "models", right, 100)
        assert run(EVALREPORT_LOOKS="2")[0] == 0
        (note,) = host.comments
        assert f"look {look} of 2; level 0.025" in note["body"]
    assert (tmp_path / cached / "looks.json").is_file()
    write(tmp_path / "models", 94, 100)
    assert run(EVALREPORT_LOOKS="2")[0] == 2
    (note,) = host.comments
    assert "declared looks are spent" in note["body"]
