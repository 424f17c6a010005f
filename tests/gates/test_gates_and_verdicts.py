"""What a gate promises: each side errs alike at the bar, and it never contradicts the verdict on its pair."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import evalreport
from evalreport.gates.deciding import outcome_of
from evalreport.gates.outcomes import as_verdict, judging_interval
from evalreport.intervals.proportions import clopper_pearson_limits
from evalreport.schema.metrics import Interval, MetricRecord
from evalreport.schema.results import Results
from tests.reference.second_round import agrees, each
from tests.samples.cases import quick


@each("gate")
def test_the_reference_values(record: Mapping[str, Any]) -> None:
    """Clopper and Pearson's lower limit is R's qbeta; the one-sided mid-p at the bar shows what it guards against."""
    given, expected = record["inputs"], record["value"]
    k, n = given["k"], given["n"]
    low, _ = clopper_pearson_limits(k, n, given["level"])
    assert agrees(low, expected["cp_low"])
    metric = MetricRecord(
        model="a", metric="accuracy", average=None, label=None, slice=None, value=k / n, standard_error=0.01, n=n,
        intervals=(Interval(method="wilson", level=given["level"], low=0.0, high=1.0),), trials=float(n), reason=None,
    )  # fmt: skip
    assert agrees(judging_interval(metric).low or 0.0, expected["cp_low"])
    at_bar = stats.binom(n, given["bar"])
    assert agrees(at_bar.sf(k) + at_bar.pmf(k) / 2, expected["p_mid_at_least"])
    passed = outcome_of(">=", given["bar"], low=low, high=1.0) == "pass"
    # Jeffreys and mid-p pass 48 of 50 at no bar above their limits; the exact limit is below both of them.
    assert low < min(expected["midp_low"], expected["jeffreys_low"])
    assert passed == (expected["cp_low"] >= given["bar"])


@pytest.mark.slow
def test_a_proportion_at_its_bar_errs_on_neither_side_in_more_than_a_fortieth() -> None:
    """By enumeration at every n to 300 and 21 bars from 0.01 to 0.999: at most 2.5 % pass, at most 2.5 % fail."""
    bars = np.array([0.01, *np.arange(0.05, 0.951, 0.05), 0.99, 0.999])
    worst = 0.0
    for n in range(1, 301):
        limits = np.array([clopper_pearson_limits(k, n, 0.95) for k in range(n + 1)])
        chance = stats.binom.pmf(np.arange(n + 1)[:, None], n, bars)
        # As outcome_of has it for >=: at the limit itself a gate passes, and for > it fails.
        passes = (chance * (limits[:, :1] >= bars)).sum(axis=0)
        fails = (chance * (limits[:, 1:] <= bars)).sum(axis=0)
        worst = max(worst, passes.max(), fails.max())
    assert worst <= 0.025
    assert worst > 0.024  # the bound is reached, so the limits are no wider than they have to be


def binary(random: np.random.Generator, n: int) -> dict[str, dict[str, Any]]:
    """Two models of scores and labels, not far apart in skill."""
    truth, weight = random.integers(0, 2, n), random.integers(1, 4, n).tolist()
    source = {}
    for name in "ab":
        score = truth * random.uniform(0.8, 1.6) + random.normal(size=n)
        source[name] = {
            "id": [f"{i:03}" for i in range(n)], "y_true": truth.tolist(), "score": score.tolist(),
            "y_pred": (score > random.uniform(0.3, 0.9)).astype(int).tolist(),
            "site": [f"s{i % 11}" for i in range(n)], "w": weight,
        }  # fmt: skip
    return source


def numeric(random: np.random.Generator, n: int) -> dict[str, dict[str, Any]]:
    """Two models of numbers with heavy-tailed errors."""
    truth, weight = random.normal(size=n), random.integers(1, 4, n).tolist()
    return {
        name: {
            "id": [f"{i:03}" for i in range(n)], "y_true": truth.tolist(),
            "y_pred": (truth + random.uniform(0.8, 1.3) * random.standard_t(3, n)).tolist(),
            "site": [f"s{i % 11}" for i in range(n)], "w": weight,
        }
        for name in "ab"
    }  # fmt: skip


def contradictions(results: Results, metric: str) -> list[str]:
    """Return the gates of four that say otherwise than the verdict on the pair."""
    (said,) = results.verdicts
    greater = metric not in ("rmse", "mae", "log_loss")
    ahead = {"better": 1, "worse": -1, "undecided": 0}[said.verdict] * (1 if greater else -1)
    expected = {1: "pass", -1: "fail", 0: "undecided"}
    other = {"pass": "fail", "fail": "pass", "undecided": "undecided"}
    wanted = [expected[ahead], expected[ahead], other[expected[ahead]], other[expected[ahead]]]
    return [g.text for g, outcome in zip(results.gates, wanted, strict=True) if g.outcome != outcome]


@pytest.mark.parametrize(
    ("metric", "options"),
    quick(
        product(
            ["accuracy", "f1", "roc_auc", "rmse", "r2", "mae"], [{}, {"cluster": "site"}, {"weight": "w"}]
        ),
        [("accuracy", {}), ("accuracy", {"cluster": "site"}), ("roc_auc", {}), ("rmse", {"weight": "w"})],
    ),
    ids=str,
)
def test_a_gate_on_a_difference_never_contradicts_the_verdict(metric: str, options: dict[str, Any]) -> None:
    """A gate of the pair against 0 passes where the verdict says better, fails where worse, is undecided else.

    Five random data sets of every size from 20 to 100 for each metric, clusters and weights alike.
    """
    random = np.random.default_rng(41)
    made = numeric if metric in ("rmse", "r2", "mae") else binary
    gates = [f"a.{metric} - b.{metric} > 0", f"a.{metric} >= b.{metric}", f"0 > a.{metric} - b.{metric}",
             f"a.{metric} <= b.{metric}"]  # fmt: skip
    seen = set()
    for _ in range(5):
        source = made(random, int(random.integers(20, 101)))
        results = evalreport.evaluate(source, metrics=[metric], resamples=100, gates=gates, **options)
        assert contradictions(results, metric) == []
        seen.add(results.verdicts[0].verdict)
    assert "undecided" in seen


@pytest.mark.slow
def test_a_gate_between_several_models_agrees_with_the_unadjusted_verdict() -> None:
    """Three models: a gate does not pay for the other pairs, and says what a run without correction would say."""
    random = np.random.default_rng(42)
    adjusted_differs = 0
    for _ in range(12):
        n = 120
        truth = random.integers(0, 2, n)
        source = {
            name: {
                "y_true": truth.tolist(),
                "y_pred": np.where(random.random(n) < p, 1 - truth, truth).tolist(),
            }
            for name, p in zip("abc", (0.1, 0.2, 0.25), strict=True)
        }
        gates = [f"{a}.accuracy - {b}.accuracy > 0" for a, b in ("ab", "ac", "bc")]
        plain = evalreport.evaluate(
            source, metrics=["accuracy"], resamples=50, correction="none", gates=gates
        )
        holm = evalreport.evaluate(source, metrics=["accuracy"], resamples=50, gates=gates)
        outcome = {"better": "pass", "worse": "fail", "undecided": "undecided"}
        assert [outcome[v.verdict] for v in plain.verdicts] == [g.outcome for g in holm.gates]
        assert [(v.low, v.high) for v in plain.verdicts] == [(g.low, g.high) for g in holm.gates]
        adjusted_differs += [v.verdict for v in plain.verdicts] != [v.verdict for v in holm.verdicts]
    assert adjusted_differs


def test_limits_that_disagree_with_the_test_are_cut_or_stretched_for_a_gate_too() -> None:
    """By hand: p of 0.04 with limits around 0 decides above 0; p of 0.06 with limits above 0 reaches back to it."""
    cut, decided = as_verdict(
        Interval(method="newcombe_paired", level=0.95, low=-0.01, high=0.09), 0.04, 0.04
    )
    assert (cut.low, cut.method, decided) == (0.0, "newcombe_paired, cut at 0", True)
    stretched, decided = as_verdict(
        Interval(method="newcombe_paired", level=0.95, low=0.01, high=0.09), 0.05, 0.06
    )
    assert (stretched.low, stretched.method, decided) == (0.0, "newcombe_paired, stretched to 0", False)


def test_a_gate_on_a_proportion_is_decided_by_exact_limits() -> None:
    """Precision is a share of the predicted positives: their number counts (limits by statsmodels)."""
    truth, said = [1] * 30 + [0] * 10 + [1] * 20, [1] * 40 + [0] * 20
    results = evalreport.evaluate(
        {"a": {"y_true": truth, "y_pred": said}},
        gates=["a.precision >= 0.5", "a.accuracy >= 0.5", "a.f1 >= 0.5"],
        resamples=50,
    )
    precision, accuracy, f1 = results.gates
    assert (precision.low, precision.high) == pytest.approx(
        proportion_confint(30, 40, method="beta"), abs=1e-10
    )
    assert (accuracy.low, accuracy.high) == pytest.approx(
        proportion_confint(30, 60, method="beta"), abs=1e-10
    )
    assert "by Clopper-Pearson" in precision.text
    assert "by plus four" in f1.text


@pytest.mark.parametrize("option", ["weight", "cluster"])
def test_weights_and_clusters_leave_the_recommended_interval(option: str) -> None:
    """Binomial arithmetic holds for neither, so the first interval of the metric decides."""
    random = np.random.default_rng(43)
    source = {"a": binary(random, 90)["a"]}
    column = {"weight": "w", "cluster": "site"}[option]
    results = evalreport.evaluate(
        source, metrics=["accuracy"], gates=["a.accuracy >= 0.5"], resamples=50, **{option: column}
    )
    (metric,) = results.metrics
    (gate,) = results.gates
    assert metric.trials is None
    assert (gate.low, gate.high) == (metric.intervals[0].low, metric.intervals[0].high)
