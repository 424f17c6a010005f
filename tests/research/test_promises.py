"""The page of promised rates is what the last confirmation measured, and every promise holds there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.studies.confirm import page
from research.studies.direct import CHECKS
from research.studies.promises import PROMISES, at_least, at_most, or_warned

DOCS = Path(__file__).resolve().parents[2] / "docs"


def confirmed() -> dict[str, Any]:
    """Return the committed confirmation."""
    found: dict[str, Any] = json.loads((DOCS / "promises.json").read_text(encoding="utf-8"))
    return found


def test_page_is_written_from_the_results() -> None:
    """docs/promises.md is what docs/promises.json says."""
    assert (DOCS / "promises.md").read_text(encoding="utf-8") == page(confirmed())


def test_confirmation_is_whole_and_of_another_seed() -> None:
    """Every heading stands there, measured with a seed that no table of the study of tests has."""
    assert list(confirmed()["promises"]) == list(PROMISES)
    assert confirmed()["seed"] != json.loads((DOCS / "tests.json").read_text(encoding="utf-8"))["seed"]


@pytest.mark.parametrize("heading", list(PROMISES))
def test_every_promise_holds(heading: str) -> None:
    """No promise under this heading failed when it was measured again."""
    failed = [line["promise"] for line in confirmed()["promises"][heading] if not line["holds"]]
    assert not failed


@pytest.mark.parametrize(("rate", "holds"), [(0.05, True), (0.0717, True), (0.0719, False)])
def test_a_rate_may_exceed_its_limit_by_two_errors(rate: float, holds: bool) -> None:
    """Of 400 data sets the error of a share of 0.05 is 0.0109: up to 0.0717 is within two."""
    assert at_most("rate", rate, 0.05, 400).holds is holds


def test_a_rate_that_misses_holds_only_where_the_run_warns() -> None:
    """A miss has to be warned of in nine of ten data sets, and the line says how often it was."""
    missed = at_least("coverage", 0.8, 0.92, 400)
    assert not missed.holds
    assert or_warned(missed, 0.95).holds
    assert not or_warned(missed, 0.85).holds
    assert or_warned(missed, 0.95).measured == "80.0 %; warned in 95.0 %"


@pytest.mark.parametrize("check", list(CHECKS))
def test_what_is_no_rate_holds(check: str) -> None:
    """Each check that the confirmation tries once holds here too."""
    assert CHECKS[check](np.random.default_rng(12)) is None
