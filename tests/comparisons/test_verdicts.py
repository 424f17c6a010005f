"""The mapping from the test and the pair's one interval to a verdict, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.decisions import Decision, agreeing
from evalreport.comparisons.pairs import Comparison
from evalreport.comparisons.registry import Pair
from evalreport.comparisons.verdicts import verdict
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean, Paired
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.samplings import Influence, sampling_by
from evalreport.schema.metrics import Interval
from tests.samples.cases import every
from tests.samples.pairs import labels, row, run, values


def decision(metric: str, low: float, high: float, *, decided: bool, sign: int = 1) -> Decision:
    """Return a decision on a difference of 0.05 in the metric's units, with given limits of the advantage of a."""
    turn = 1 if metric == "accuracy" else -1
    limits = sorted([turn * low, turn * high])
    d = turn * sign * 0.05
    sampling = sampling_by(n=200)
    estimate = Estimate(
        model="a", quantity=Quantity(metric), value=d, range=(-9.0, 9.0), sampling=sampling, evidence=Mean()
    )
    delta = Difference(
        a=estimate,
        b=estimate,
        value=d,
        range=(-9.0, 9.0),
        sampling=sampling,
        evidence=Paired(),
        influence=Influence(np.full(200, 1e-4), np.ones(200)),
    )
    pair = Pair(a=estimate, b=estimate, difference=delta)
    comparison = Comparison("a", "b", Quantity(metric), lambda: pair)
    one = agreeing(Interval(method="t", level=0.95, low=limits[0], high=limits[1]), d, decided=decided)
    return Decision(comparison, 0.01 if decided else 0.4, one, decided, sign, 1)


ROWS = [
    # low, high, decided, margin, sign -> verdict, and its code, or words of its interval
    (-0.01, 0.02, False, 0.06, 1, "equivalent", "verdict.equivalent.within"),
    (-0.06, 0.06, False, 0.06, 1, "equivalent", "verdict.equivalent.within"),
    (0.01, 0.03, True, 0.06, 1, "equivalent", "verdict.equivalent.but_different"),
    # cut at 0 it lies inside the margin: the verdict reads the one interval
    (-0.07, 0.03, True, 0.06, 1, "equivalent", "verdict.equivalent.but_different"),
    (0.03, 0.07, True, 0.02, 1, "better", "verdict.better.by_the_margin"),
    (-0.07, -0.03, True, 0.02, -1, "worse", "verdict.worse.by_the_margin"),
    (0.01, 0.09, True, 0.02, 1, "better", "verdict.better.perhaps_by_less"),
    (-0.09, -0.01, True, 0.02, -1, "worse", "verdict.worse.perhaps_by_less"),
    (0.03, 0.07, True, None, 1, "better", "verdict.better.at_all"),
    (-0.01, 0.09, False, 0.02, 1, "non-inferior", "verdict.non_inferior"),
    (0.01, 0.09, False, 0.02, 1, "non-inferior", "verdict.non_inferior"),
    (-0.03, 0.09, False, 0.02, 1, "undecided", "verdict.undecided"),
    (-0.02, 0.09, False, 0.02, 1, "undecided", "verdict.undecided"),
    (-0.01, 0.09, False, None, 1, "undecided", "verdict.undecided"),
    (-0.01, 0.09, True, None, 1, "better", "its interval is in the table of pairs"),
    (0.01, 0.09, False, None, 1, "undecided", "0.0900"),
]


@pytest.mark.parametrize("metric", ["accuracy", "mae"])
@pytest.mark.parametrize(("low", "high", "decided", "margin", "sign", "kind", "words"), ROWS)
def test_mapping(
    metric: str, low: float, high: float, decided: bool, margin: float | None, sign: int, kind: str, words: str,
) -> None:  # fmt: skip
    """Each row of the table of verdicts, for a metric and for a loss; limits are those of a's advantage."""
    said = verdict(decision(metric, low, high, decided=decided, sign=sign), Options(margin=margin))
    assert said.verdict == kind
    assert words == said.text.code if words.startswith("verdict.") else words in said.text
    for never in ("proves", "no difference", "significant", "equal ", "p = 0.000", "borderline"):
        assert never not in said.text


def test_missing_p_values_take_no_place_in_the_family() -> None:
    """A pair that cannot be tested is no test: Holm is over the others, and its verdict is undecided.

    The expected values are Holm's by hand over the p values that there are.
    """
    random = np.random.default_rng(16)
    truth = random.normal(size=60)
    said = {name: truth + s * random.normal(size=60) for name, s in (("a", 1.0), ("b", 1.2), ("c", 2.0))}
    source = values(truth, **said)
    results = run(source, metrics=("mae",))
    raw = [row(results, "paired_t", *pair).p_value for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    adjusted = [row(results, "paired_t", *pair).p_adjusted for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    order = np.argsort(raw)
    by_hand = np.minimum(np.maximum.accumulate(np.array(raw)[order] * [3, 2, 1]), 1)
    assert np.array(adjusted)[order] == pytest.approx(by_hand)
    binary = random.integers(0, 2, 60)
    mixed = labels(binary, a=binary, b=1 - binary, c=np.roll(binary, 1))
    for name in "ab":
        mixed[name]["score"] = (binary + random.normal(size=60)).tolist()
    auc = run(mixed, metrics=("roc_auc",))
    tested = row(auc, "interval", "a", "b")
    assert tested.p_adjusted == tested.p_value
    undecided = [v for v in auc.verdicts if "c" in v.about]
    assert [v.verdict for v in undecided] == ["undecided", "undecided"]
    assert adjust([], "holm") == []


@pytest.mark.parametrize("primary", every(5, ["accuracy", "f1", "mcc", "roc_auc", "log_loss"]))
def test_other_metrics_change_no_verdict(primary: str) -> None:
    """The family is the primary metric's: asking for more metrics moves no p value, limit, letter or verdict."""
    random = np.random.default_rng(17)
    truth = random.integers(0, 2, 150)
    source = labels(truth, a=truth, b=truth, c=truth)
    for k, model in enumerate(source.values()):
        p = 1 / (1 + np.exp(-(2 * truth - 1) - (1 + 0.3 * k) * random.normal(size=150)))
        model |= {"p_1": p.tolist(), "y_pred": [str(int(x >= 0.5)) for x in p]}
    alone = run(source, metrics=(primary,), margin=0.1)
    among = run(
        source, metrics=(primary, "average_precision", "brier", "recall", "balanced_accuracy"), margin=0.1
    )
    assert alone.verdicts == among.verdicts
    assert alone.ranking == among.ranking
    assert list(alone.comparisons) == [c for c in among.comparisons if c.metric == primary]


def test_a_verdict_says_what_the_test_lacks() -> None:
    """Repeated hold-out without the number of training examples: the verdict names the column that would settle it."""
    source = labels(np.tile([0, 1], 30), a=np.tile([0, 1, 1], 20), b=np.tile([0, 0, 1, 1], 15))
    for model in source.values():
        model["repeat"] = [i % 3 for i in range(60)]
    (said,) = run(source, metrics=("accuracy",)).verdicts
    assert said.verdict == "undecided"
    assert "the number of training examples of each fit is not known: add a column train_size" in said.text
