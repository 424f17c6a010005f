"""A host of code in the place of the real one, and a report to comment on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalreport.reviews import comment as reviews
from tests.samples.review_host import Host, served
from tests.samples.reviews import SUMMARY


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host in the place of the real one; nobody waits between tries."""
    found = Host()
    server = served(found)
    monkeypatch.setattr(reviews, "PAUSES", (0.0, 0.0))
    for name in ("GITLAB_CI", "GITHUB_RUN_ID", "GITHUB_EVENT_PATH", "CI_JOB_URL", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_REPOSITORY", "team/models")
    monkeypatch.setenv("GITHUB_API_URL", found.address)
    monkeypatch.setenv("GITHUB_TOKEN", "secret-token")
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A folder with a summary."""
    (tmp_path / "summary.md").write_text(SUMMARY, encoding="utf-8")
    return tmp_path
