"""Net benefit over declared thresholds, by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

import evalreport as er
from evalreport.questions.thresholds.decision_curves_section import describe
from evalreport.report.view import view_of

P = {"a": [0.05, 0.15, 0.3, 0.6, 0.8, 0.1], "b": [0.2, 0.05, 0.4, 0.5, 0.9, 0.3]}
Y = [0, 0, 1, 1, 1, 0]


def results(**options: object) -> er.Results:
    """Return a run of two models with thresholds."""
    source = {name: {"id": list("uvwxyz"), "y_true": Y, "p_1": p} for name, p in P.items()}
    return er.evaluate(source, resamples=20, thresholds="0.1:0.5", **options)


def test_net_benefit_is_that_of_vickers_and_elkin() -> None:
    """TP / n less the odds of the threshold times FP / n; treat all beside it, and what is saved."""
    y = np.array(Y)
    for record in results().decision_curves:
        flagged, odds = (
            np.array(P[record.model]) >= record.threshold,
            record.threshold / (1 - record.threshold),
        )
        expected = (flagged & (y == 1)).sum() / 6 - odds * (flagged & (y == 0)).sum() / 6
        everyone = 0.5 - odds * 0.5
        assert record.net_benefit == pytest.approx(expected)
        assert record.treat_all == pytest.approx(everyone)
        assert record.minus_all == pytest.approx(expected - everyone)
        assert record.avoided == pytest.approx((expected - everyone) / odds)
        assert record.standardised == pytest.approx(expected / 0.5)


def test_differences_are_those_of_the_curves() -> None:
    """A minus b at each threshold, inside its limits, and no p-value."""
    found = results()
    at = {(r.model, r.threshold): r.net_benefit for r in found.decision_curves}
    assert found.decision_curve_differences
    for record in found.decision_curve_differences:
        expected = at[record.a, record.threshold] - at[record.b, record.threshold]
        assert record.difference == pytest.approx(expected)
        assert record.low is not None
        assert record.high is not None
        assert record.low <= record.difference <= record.high


def test_no_thresholds_and_no_probabilities_have_no_curve() -> None:
    """Nothing is guessed."""
    source = {"a": {"id": list("uvwxyz"), "y_true": Y, "y_pred": Y}}
    assert er.evaluate(source, resamples=20, thresholds="0.1:0.5").decision_curves == []


def noisy(n: int, seed: int, spreads: tuple[float, float]) -> dict[str, dict]:
    """Return two models of the same events: their log odds with noise of two spreads."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    truth = (random.random(n) < 1 / (1 + np.exp(1 - x))).astype(int)
    ids = [f"{i:05d}" for i in range(n)]
    return {
        name: {"id": ids, "y_true": truth, "p_1": 1 / (1 + np.exp(1 - x - s * random.normal(size=n)))}
        for name, s in zip("ab", spreads, strict=True)
    }


def heading(source: dict[str, dict]) -> str:
    """Return the heading of the decision curves."""
    found = describe(view_of(er.evaluate(source, resamples=20, thresholds="0.1:0.5", metrics=["brier"])))
    assert found is not None
    return found.heading


@pytest.mark.slow
def test_the_heading_names_a_curve_only_where_its_lead_is_shown() -> None:
    """Of two equal models no curve is the highest; of one with much more noise the other one is."""
    assert heading(noisy(400, 3, (0.5, 0.5))).startswith(
        "Decision curves: no curve is shown to have the highest net benefit; at 30 %"
    )
    assert heading(noisy(8000, 4, (0.0, 3.0))).startswith(
        "Decision curves: a is shown to have the highest net benefit from 10 % to 50 %; at 30 %"
    )


@pytest.mark.slow
def test_a_lead_is_shown_by_limits_at_a_level_shared_among_all_thresholds() -> None:
    """Of 99 thresholds each has the level 1 - 0.05/99: records say so by the limits of one threshold at that level."""
    source = noisy(2000, 4, (0.0, 1.5))
    found = er.evaluate(source, resamples=20, thresholds="0.01:0.99", metrics=["brier"])
    alone = er.evaluate(
        source, resamples=20, thresholds="0.01:0.99", metrics=["brier"], confidence=1 - 0.05 / 99
    )
    strict = {r.threshold: r for r in alone.decision_curve_differences}
    assert len(found.decision_curve_differences) == 99
    shown = 0
    for record in found.decision_curve_differences:
        low, high = strict[record.threshold].low, strict[record.threshold].high
        assert record.above == (1 if low > 0 else -1 if high < 0 else 0)
        shown += record.above != 0
    assert 0 < shown < sum(r.low > 0 or r.high < 0 for r in found.decision_curve_differences)


def test_the_line_below_the_heading_says_its_words_once() -> None:
    """The other models have their number alone."""
    section = describe(view_of(results()))
    assert section is not None
    assert re.fullmatch(
        r"6 examples, 50 % of them positive\. At 30 % . is worth \d+ cases found per 1,000 at no false alarm, . \d+\.",
        section.text,
    )
