"""The level that decides: reached exactly it decides, and the limits of a family are those of its level."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.schema.results import Results
from tests.samples.cases import every


def on_five_examples(confidence: float) -> Results:
    """Compare two models of 100 answers that differ on five examples, on which only the first is right."""
    truth = np.arange(100) % 2
    first = np.where(np.arange(100) < 90, truth, 1 - truth)
    second = np.where(np.arange(100) < 85, truth, 1 - truth)
    answers = {"first": first, "second": second}
    return evalreport.evaluate(
        answers, truth=truth, metrics=["accuracy"], confidence=confidence, resamples=100
    )


def test_a_p_value_at_alpha_decides() -> None:
    """Mid-p of 5 against 0 is 2 (1/2)^6 = 1/32 exactly: at alpha = 1/32 it decides, at a smaller one it does not."""
    (verdict,) = on_five_examples(1 - 1 / 32).verdicts
    assert on_five_examples(1 - 1 / 32).comparisons[0].p_value == 1 / 32
    assert verdict.verdict == "better"
    (verdict,) = on_five_examples(1 - 1 / 33).verdicts
    assert verdict.verdict == "undecided"


@pytest.mark.parametrize("correction, pairs", every(3, [("holm", 3), ("bonferroni", 3), ("none", 1)]))
def test_limits_are_those_of_the_family_s_level(correction: str, pairs: int) -> None:
    """Of three pairs each has the limits that one pair alone has at level 1 - alpha / 3; uncorrected, at 1 - alpha."""
    random = np.random.default_rng(4)
    truth = random.normal(size=300)
    models = {
        name: truth + size * random.normal(size=300) for name, size in zip("abc", (1, 2, 3), strict=True)
    }
    together = evalreport.evaluate(
        models, truth=truth, metrics=["mae"], correction=correction, resamples=100
    ).verdicts
    assert len(together) == 3
    for verdict in together:
        assert verdict.level == pytest.approx(1 - 0.05 / pairs)
        of_two = {name: models[name] for name in verdict.about}
        (alone,) = evalreport.evaluate(
            of_two, truth=truth, metrics=["mae"], confidence=1 - 0.05 / pairs, resamples=100
        ).verdicts
        assert verdict.verdict == alone.verdict == "better"
        assert (verdict.low, verdict.high) == pytest.approx((alone.low, alone.high), rel=1e-12)
