"""The registry of intervals."""

from __future__ import annotations

import pytest

from evalreport.intervals.registry import interval


def test_an_interval_with_an_unknown_need_is_refused_at_once() -> None:
    """The message names the need and lists those that there are."""
    with pytest.raises(ValueError, match="needs 'proportions', which is not in NEEDS: folds"):
        interval("Misspelled", needs=("proportions",))
