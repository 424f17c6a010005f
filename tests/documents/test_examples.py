"""The READMEs of examples quote the sentence that their command prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalreport

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    "name, options",
    [
        ("segmentation", {"metrics": ("jaccard", "precision", "recall"), "slices": ("digit",)}),
        ("quantiles", {"slices": ("sex",)}),
    ],
)
def test_the_headline_of_an_example_is_the_one_that_it_quotes(name: str, options: dict[str, Any]) -> None:
    """Few replicates: the intervals that lead here need none."""
    results = evalreport.evaluate(EXAMPLES / name / "models", resamples=20, **options)
    assert results.headline is not None
    told = " ".join((EXAMPLES / name / "README.md").read_text(encoding="utf-8").split())
    assert f"The headline: *{results.headline.text}*" in told
