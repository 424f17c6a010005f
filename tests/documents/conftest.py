"""What the pages show is carried out as it stands, but for pictures that no page shows."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def words_alone(undrawn: None) -> None:
    """Leave out what the pages do not show; tests/report and tests/plots have real PDFs and charts."""
