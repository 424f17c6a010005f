"""What pages say is the point: no chart is drawn and no PDF laid out, but where a page is followed as it stands."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def words_alone(request: pytest.FixtureRequest) -> None:
    """Make reports of words alone, except in tests that run a whole page as a reader would."""
    if request.node.get_closest_marker("system") is None:
        request.getfixturevalue("undrawn")
