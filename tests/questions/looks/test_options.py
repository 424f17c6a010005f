"""Options about looks that contradict each other, or say too little, are refused in one line."""

from __future__ import annotations

from typing import Any

import pytest

from evalreport.errors import UsageError
from evalreport.questions.looks.options import MOST_LOOKS, LookOptions


@pytest.mark.parametrize(
    "options, said",
    [
        ({"n_max": 100}, "n_max is about a comparison that may be repeated"),
        ({"pushes": True}, "pushes is about a comparison that may be repeated"),
        ({"look": 1}, "look is about a comparison that may be repeated"),
        ({"looks": 0}, "looks must be a whole number from 1"),
        ({"looks": MOST_LOOKS + 1}, "looks must be a whole number from 1"),
        ({"looks": 5}, "add --looks-file FILE"),
        ({"looks": 5, "look": 1, "looks_file": "l.json"}, "contradict each other"),
        ({"looks": 5, "look": 1, "n_max": 10}, "look and n_max contradict each other"),
        ({"looks": 5, "look": 6}, "declared looks are spent"),
        ({"looks": 5, "look": 0}, "look must be a whole number from 1 to 5"),
        ({"looks": 5, "looks_file": "l.json", "n_max": 10, "pushes": True}, "n_max and pushes contradict"),
        ({"looks": 5, "looks_file": "l.json", "n_max": 0}, "n_max must be a whole number"),
    ],
)
def test_each_contradiction_has_its_line(options: dict[str, Any], said: str) -> None:
    """It names the options."""
    with pytest.raises(UsageError, match=said):
        LookOptions(**options).check()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"looks": 5, "look": 5},
        {"looks": 5, "looks_file": "l.json"},
        {"looks": 5, "looks_file": "l.json", "n_max": 5000},
        {"looks": 5, "looks_file": "l.json", "pushes": True},
    ],
)
def test_what_fits_is_taken(options: dict[str, Any]) -> None:
    """Nothing is raised."""
    LookOptions(**options).check()
