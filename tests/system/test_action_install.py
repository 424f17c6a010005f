"""Every step of the GitHub action, the first included: from nothing to the comment, with what it installed itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reviews.test_action import QUICK, Job
from tests.samples.review_host import Host, served
from tests.samples.reviews import write

pytestmark = [pytest.mark.system, pytest.mark.machines]


def test_the_action_installs_itself_and_comments(tmp_path: Path):
    """Pinned and hashed requirements into an environment of its own; the PDF is made, the exit code handed on."""
    write(tmp_path / "models", 90, 100)
    host = Host()
    server = served(host)
    options = QUICK.replace("html,", "html,pdf,")
    job = Job(
        tmp_path, host, {"models": "models", "options": f"{options} --gate 'forest.accuracy >= 0.99'"},
        {"pull_request": {"number": 7}}, installs=True,
    )  # fmt: skip
    (tmp_path / "temp").mkdir()
    code = job.run()
    server.shutdown()
    server.server_close()
    assert code == 1, job.log
    assert (tmp_path / "temp/evalreport/bin/evalreport").is_file()
    assert (tmp_path / "evalreport-out/report.pdf").read_bytes()[:5] == b"%PDF-"
    assert job.outputs["run"] == {"exit-code": "1", "report": "evalreport-out"}
    assert "fail" in job.host.comments[0]["body"]
