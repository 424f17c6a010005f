"""An empty history of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.history.connection import History, open_history


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A new history in SQLite."""
    return open_history(f"sqlite:///{tmp_path / 'audits.db'}", create=True)
