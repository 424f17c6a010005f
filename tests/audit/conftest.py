"""A history with a good week accepted, made once and copied."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evalreport.history.connection import History, open_history
from evalreport.history.store import accept
from tests.samples.audits import audited
from tests.samples.nights import WEEK, night


@pytest.fixture(scope="session")
def accepted_week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a history in which the seven nights of a good week are accepted together."""
    path = tmp_path_factory.mktemp("week") / "audits.db"
    history = open_history(f"sqlite:///{path}", create=True)
    for number, accuracy in enumerate(WEEK):
        audited(history, night(accuracy, 200, first=10_000 * number))
    accept(history, *range(1, len(WEEK) + 1), time="2025-01-08T00:00:00Z", note="a good week")
    history.engine.dispose()
    return path


@pytest.fixture
def week(tmp_path: Path, accepted_week: Path) -> History:
    """A copy of that history; the next night is number 7, counted from 0."""
    shutil.copy(accepted_week, tmp_path / "week.db")
    return open_history(f"sqlite:///{tmp_path / 'week.db'}")
