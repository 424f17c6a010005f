"""Saved results as records again: the same JSON, and the same sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError
from evalreport.schema.results import Results, to_json
from evalreport.texts import coded, joined


@pytest.fixture(scope="module")
def results() -> Results:
    """Two models with probabilities, a slice column and gates: verdicts, warnings and reasons of many kinds."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 120)
    models = {
        name: {"y_score": np.clip(0.5 + 0.2 * (2 * truth - 1) + rng.normal(0, s, 120), 0.01, 0.99)}
        for name, s in (("ash", 0.2), ("birch", 0.4))
    }
    return er.evaluate(models, truth=truth, gates=["ash.roc_auc >= 0.7", "n >= 1000"], resamples=100)


def test_saved_results_come_back(results: Results, tmp_path: Path) -> None:
    """Written again they are the same bytes, and verdicts and warnings have codes and parameters."""
    place = tmp_path / "any-name.json"
    place.write_bytes(to_json(results))
    found = er.Results.from_json(place)
    assert to_json(found) == to_json(results)
    for kept, made in zip(
        (*found.verdicts, *found.warnings), (*results.verdicts, *results.warnings), strict=True
    ):
        assert [coded(part)[0] for part in joined(kept.text)] == [
            coded(part)[0] for part in joined(made.text)
        ]
        assert str(kept.text) == str(made.text)
    assert str(found.headline.text) == str(results.headline.text)  # type: ignore[union-attr]


def test_a_text_that_was_edited_stays_as_it_is(results: Results, tmp_path: Path) -> None:
    """Its parameters no longer say the same, so the text is taken for what it is."""
    place = tmp_path / "results.json"
    text = str(results.verdicts[0].text)
    place.write_bytes(to_json(results).replace(text.encode(), b"Both are wonderful."))
    assert er.Results.from_json(place).verdicts[0].text == "Both are wonderful."


def test_what_is_no_results_is_refused(tmp_path: Path) -> None:
    """With the place of the wrong type."""
    place = tmp_path / "results.json"
    place.write_text('{"schema": "evalreport/results/2", "signature": 3}')
    with pytest.raises(InputError, match="signature must be a text, not a whole number"):
        er.Results.from_json(place)
