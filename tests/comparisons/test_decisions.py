"""The one interval of a pair: simultaneous over the family, and never at odds with the test that decides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.comparisons.adjustment import adjust, level_of_each
from evalreport.comparisons.decisions import agreeing, decides, settled_at
from evalreport.intervals.inversion import smallest_alpha
from evalreport.schema.metrics import Interval
from evalreport.schema.results import Results
from tests.reference.second_round import agrees, each
from tests.samples.cases import every, quick
from tests.samples.pairs import labels, row, run, scores, values

ALPHA = 1 - 0.95


def t_limits(estimate: float, error: float, df: float | None, level: float) -> Interval:
    """Student's t interval, or the normal one without degrees of freedom."""
    distribution = stats.norm() if df is None else stats.t(df)
    half = float(distribution.ppf((1 + level) / 2)) * error
    return Interval(method="t", level=level, low=estimate - half, high=estimate + half)


@each("verdict_interval")
def test_the_reference_values(record: Mapping[str, Any]) -> None:
    """Decisions, level and limits of whole families are those of the independent implementation."""
    given, expected = record["inputs"], record["value"]
    tails = [
        (stats.norm() if df is None else stats.t(df)).sf(abs(e) / s)
        for e, s, df in zip(given["est"], given["se"], given["df"], strict=True)
    ]
    adjusted = adjust([2 * float(tail) for tail in tails], given["correction"])
    assert all(map(agrees, adjusted, expected["p_adjusted"]))
    for i, (estimate, p) in enumerate(zip(given["est"], adjusted, strict=True)):
        limits = partial(t_limits, estimate, given["se"][i], given["df"][i])
        decided, one = settled_at(estimate, p, adjusted, limits, correction=given["correction"])(
            given["alpha"]
        )
        assert decided == expected["decided"][i]
        assert agrees(one.level, expected["level"])
        assert agrees(one.low, expected["low"][i])
        assert agrees(one.high, expected["high"][i])
        assert one.method == ("t" if expected["changed"][i] == "none" else f"t, {expected['changed'][i]}")


@pytest.mark.parametrize(
    ("correction", "level"), [("holm", 0.9875), ("bonferroni", 0.9875), ("bh", 0.975), ("none", 0.95)]
)
def test_the_level_of_each_pair_by_correction(correction: Any, level: float) -> None:
    """METHODS 5e by hand for four pairs of which two are decided; none decided counts as one under bh."""
    assert level_of_each(0.05, [0.01, 0.05, 0.3, 0.5], correction) == pytest.approx(level, abs=1e-15)
    assert level_of_each(0.05, [0.3] * 4, "bh") == pytest.approx(0.9875, abs=1e-15)


def test_a_p_value_of_exactly_alpha_decides() -> None:
    """Rejection is at or below alpha, as the tests' tables have it."""
    limits = Interval(method="t", level=0.95, low=-0.01, high=0.2)
    assert decides(0.1, ALPHA, limits, ALPHA)
    assert not decides(0.1, float(np.nextafter(ALPHA, 1)), limits, ALPHA)
    assert not decides(0.0, 0.001, limits, ALPHA)


def test_a_test_that_contradicts_its_difference_decides_nothing() -> None:
    """Ranks of data sets for a, their mean for b because of one of them: the direction is not known."""
    limits = Interval(method="hodges_lehmann", level=0.95, low=0.01, high=0.05)
    assert not decides(-0.02, 0.001, limits, ALPHA)
    assert agreeing(limits, -0.02, decided=False).low == 0.0


def binary(random: np.random.Generator, n: int) -> dict[str, dict[str, Any]]:
    """Three models of scores with labels at one half, of unlike skill."""
    truth = random.integers(0, 2, n)
    said = {
        name: truth * skill + random.normal(size=n)
        for name, skill in zip("abc", random.uniform(0.6, 1.8, 3), strict=True)
    }
    source = scores(truth, **said)
    for name, found in said.items():
        source[name]["y_pred"] = [str(int(x > 0.6)) for x in found]
    return source


def check(results: Results) -> None:
    """The interval leaves 0 out exactly where the pair is decided, and says where it was changed."""
    level = 1 - ALPHA / len(results.verdicts)
    for said in results.verdicts:
        (test,) = (c for c in results.comparisons if c.recommended and (c.a, c.b) == said.about)
        decided = test.p_adjusted is not None and test.p_adjusted <= ALPHA and test.difference != 0
        assert said.verdict in (("better", "worse") if decided else ("undecided",))
        assert said.level == pytest.approx(level, abs=1e-12)
        assert said.low is not None
        assert said.high is not None
        excluded = said.low > 0 or said.high < 0 or "cut at 0" in str(said.method)
        assert excluded == decided
        if decided:
            assert (said.low >= 0) == (test.difference > 0)
        assert ("stretched" in str(said.method)) <= (0.0 in (said.low, said.high))


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric, many", [("accuracy", 6), ("f1", 6), ("mcc", 6), ("roc_auc", 6), ("average_precision", 3)]
)
def test_the_interval_excludes_0_exactly_where_the_pair_is_decided(metric: str, many: int) -> None:
    """Random data sets of three models, near the border of decision."""
    random = np.random.default_rng(101)
    for _ in range(many):
        check(run(binary(random, int(random.integers(40, 120))), metrics=(metric,)))


@pytest.mark.parametrize("metric", quick(["rmse", "mae", "r2", "medae"], ["rmse"]))
def test_the_interval_agrees_on_errors_of_numbers_too(metric: str) -> None:
    """Six random data sets of three models with heavy-tailed errors."""
    random = np.random.default_rng(102)
    for _ in range(6):
        truth = random.normal(size=60)
        said = {
            name: truth + size * random.standard_t(4, size=60)
            for name, size in zip("abc", (1, 1.3, 1.6), strict=True)
        }
        check(run(values(truth, **said), metrics=(metric,)))


def test_enough_is_drawn_where_an_interval_of_replicates_decides() -> None:
    """Of 600 replicates five lie beyond a limit for three pairs: the primary metric's are drawn again."""
    random = np.random.default_rng(103)
    truth = random.normal(size=200)
    source = values(truth, **{name: truth + random.normal(size=200) for name in "abc"})
    three = run(source, metrics=("rae",), resamples=600).verdicts
    two = run({name: source[name] for name in "ab"}, metrics=("rae",), resamples=600).verdicts
    assert {str(v.method).partition(",")[0] for v in (*three, *two)} == {"bootstrap_bca"}


@pytest.mark.parametrize("metric", ["r2_correlation", "rae"])
def test_of_few_replicates_what_leads_is_bootstrap_normal_of_any_metric(metric: str) -> None:
    """Five of 200 replicates lie beyond a value's limit; of the difference that is decided, enough are drawn."""
    random = np.random.default_rng(104)
    truth = random.normal(size=80)
    said = {name: truth + size * random.normal(size=80) for name, size in zip("ab", (1, 1.2), strict=True)}
    few, many = (run(values(truth, **said), metrics=(metric,), resamples=n) for n in (200, 400))
    assert {i.method for r in few.metrics for i in r.intervals[:1]} == {"bootstrap_normal"}
    assert {str(v.method).partition(",")[0] for v in few.verdicts} == {"bootstrap_bca"}
    assert all(r.intervals[0].method != "bootstrap_normal" for r in many.metrics)


@pytest.mark.parametrize("named", ["tango", "bootstrap_percentile"])
def test_a_named_interval_stands_beside_the_verdict_and_not_in_it(named: str) -> None:
    """Bonett and Price's interval decides on accuracy; Tango's stands in McNemar's rows where it is asked for."""
    random = np.random.default_rng(105)
    source = binary(random, 150)
    plain, asked = (run(source, metrics=("accuracy",), intervals=i) for i in ((), (named,)))
    assert asked.verdicts == plain.verdicts
    assert {str(v.method).partition(",")[0] for v in asked.verdicts} == {"plus_two"}
    if named == "tango":
        beside = {c.interval_method for c in asked.comparisons if str(c.test).startswith("mcnemar_")}
        assert beside == {"plus_two", "tango"}


# --- equivalence ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correction", every(3, ["holm", "bh", "none"]))
@pytest.mark.parametrize(("metric", "margin"), every(2, [("accuracy", 0.11), ("mcc", 0.22)]))
def test_the_adjusted_p_of_equivalence_is_that_of_the_verdicts_interval(
    metric: str, margin: float, correction: Any
) -> None:
    """At most alpha exactly where the verdict is equivalent."""
    random = np.random.default_rng(104)
    seen = set()
    for _ in range(6):
        truth = random.integers(0, 2, 200)
        said = {name: np.where(random.random(200) < 0.1, 1 - truth, truth) for name in "abc"}
        results = run(labels(truth, **said), metrics=(metric,), margin=margin, correction=correction)
        for found in results.verdicts:
            p = row(results, "tost", *found.about).p_adjusted
            assert p is not None
            assert (p <= ALPHA) == (found.verdict == "equivalent")
            inside = (
                found.low is not None and found.high is not None and max(-found.low, found.high) <= margin
            )
            assert inside == (found.verdict == "equivalent")
            seen.add(found.verdict)
    assert "equivalent" in seen
    assert len(seen) > 1


def test_at_its_adjusted_p_the_verdicts_interval_touches_the_margin() -> None:
    """A run at that confidence has a verdict's limit on the margin: the p-value is the interval inverted."""
    random = np.random.default_rng(12)
    truth = random.integers(0, 2, 300)
    a, b, c = (np.where(random.random(300) < share, 1 - truth, truth) for share in (0.2, 0.22, 0.4))
    source = labels(truth, a=a, b=b, c=c)
    p = row(run(source, metrics=("accuracy",), margin=0.08), "tost").p_adjusted
    assert p is not None
    assert 0.01 < p < 0.9
    touching = next(
        v
        for v in run(source, metrics=("accuracy",), margin=0.08, confidence=1 - p).verdicts
        if v.about == ("a", "b")
    )
    assert touching.low is not None
    assert touching.high is not None
    assert max(abs(touching.low), abs(touching.high)) == pytest.approx(0.08, abs=1e-6)


def test_the_smallest_alpha_agrees_with_what_is_decided_at_alpha() -> None:
    """Where limits change their method between two alphas, the answer still lies on the side of what was decided."""
    assert smallest_alpha(lambda alpha: alpha - 0.2, 0.05) == pytest.approx(0.2, abs=1e-9)
    assert smallest_alpha(lambda alpha: alpha - 0.01, 0.05) == pytest.approx(0.01, abs=1e-9)
    assert smallest_alpha(lambda _: -1.0, 0.05) == 1.0
    assert smallest_alpha(lambda alpha: 1.0 if alpha < 0.1 else alpha - 0.3, 0.05) <= 0.05
    assert smallest_alpha(lambda alpha: 1.0 if alpha < 0.01 else alpha - 0.3, 0.05) > 0.05


@pytest.mark.slow
def test_a_large_family_can_be_decided_on_what_has_no_influence_values() -> None:
    """Eight models make 28 pairs, and 200 resamples would leave no p-value times 28 below 0.05."""
    random = np.random.default_rng(1)
    truth = random.normal(size=60)
    models = {f"m{k:02d}": truth + (0.2 + 0.4 * k) * random.normal(size=60) for k in range(8)}
    results = evalreport.evaluate(
        values(truth, **models), options=evalreport.Options(metrics=("medae",), resamples=200)
    )
    assert sum(verdict.verdict in ("better", "worse") for verdict in results.verdicts) > 8
