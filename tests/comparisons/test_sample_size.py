"""The detectable difference and the examples that a difference needs, by enumeration and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons.sample_size import (
    corrected_fold_error,
    detectable_accuracy_difference,
    detectable_difference,
    examples_needed,
)
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Evidence, Paired, PairedProportion, Proportion
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sampling import Fits, Sampling
from tests.samples.pairs import labels, run

FIGURES = [(1000, 0.05, 2.0), (1000, 0.1, 2.8), (1000, 0.2, 4.0), (100, 0.1, 8.8), (5000, 0.1, 1.25)]


@pytest.mark.parametrize(("n", "discordant", "points"), FIGURES)
def test_published_figures(n: int, discordant: float, points: float) -> None:
    """Connett, Smith and McHugh's equation gives the figures of a simulation study of this project, to two digits."""
    assert 100 * detectable_accuracy_difference(n, discordant, 0.05) == pytest.approx(points, abs=0.06)


@pytest.mark.parametrize(
    ("n", "discordant", "most"), [(1000, 0.2, 0.83), (1000, 0.05, 0.84), (200, 0.015, 0.92)]
)
def test_power_at_the_detectable_difference_is_eighty_per_cent(
    n: int, discordant: float, most: float
) -> None:
    """McNemar's mid-p test finds that difference in about 80 % of test sets, by enumeration of the counts.

    Where the plain equation asks for more than the share of discordant examples (2.4 points of 1.5 %: found in
    55 %), that share is raised to the difference; all are then on one side, where the normal approximation
    promises too little.
    """
    d = detectable_accuracy_difference(n, discordant, 0.05)
    share = max(discordant, d)
    first = (share + d) / 2 / share
    total = np.arange(n + 1)
    weight = stats.binom.pmf(total, n, share)
    power = 0.0
    for m in total[weight > 1e-9]:
        b = np.arange(m + 1)
        smaller = np.minimum(b, m - b)
        p = 2 * stats.binom.cdf(smaller, m, 0.5) - stats.binom.pmf(smaller, m, 0.5)
        power += weight[m] * stats.binom.pmf(b, m, first)[np.minimum(p, 1) <= 0.05].sum()
    assert 0.78 < power < most


def test_examples_needed_solve_the_same_equation() -> None:
    """At the n given, the observed difference is the detectable one: the two sentences cannot contradict."""
    values = CountedRows(np.array([0.0, 1.0, -1.0]), np.array([900.0, 55.0, 45.0]))
    delta = _difference(0.01, 1000, PairedProportion(850.0, 55.0, 45.0, 50.0, values))
    needed = examples_needed(delta, 0.05)
    assert needed is not None
    assert detectable_accuracy_difference(needed, 0.1, 0.05) == pytest.approx(0.01, rel=1e-4)
    assert needed == math.ceil(
        ((1.959963985 * math.sqrt(0.1) + 0.841621234 * math.sqrt(0.1 - 0.0001)) / 0.01) ** 2
    )


@pytest.mark.parametrize("affordable", [True, False])
def test_a_large_family_draws_more_replicates(affordable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """66 pairs at 5 % need p down to 0.00076: more replicates are drawn, or, of too many rows, asked for."""
    if not affordable:
        monkeypatch.setattr("evalreport.comparisons.decisions.MOST_WEIGHTS", 0)
    random = np.random.default_rng(15)
    source = {}
    for k in range(12):
        truth = random.integers(0, 2, 200)
        source |= labels(truth, **{f"m{k:02d}": np.where(random.random(200) < 0.04 * k, 1 - truth, truth)})
        source[f"m{k:02d}"]["id"] = [f"{k}/{i}" for i in range(200)]
    results = run(source, metrics=("f1",), resamples=1000, join="independent")
    leading = [row for row in results.comparisons if row.recommended]
    assert {row.test for row in leading} == {"bootstrap_difference"}
    decided = [v for v in results.verdicts if v.verdict in ("better", "worse")]
    codes = {w.code for w in results.warnings}
    assert (len(decided) > 20) == affordable
    assert ("few_resamples_for_family" not in codes) == affordable


@pytest.mark.parametrize("metric", ["precision", "mcc"])
def test_a_value_that_is_0_by_convention_is_compared(metric: str) -> None:
    """A model without a positive answer has value 0 and influence 0: its pairs are tested and in the family."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 150)
    right = {f"m{k}": np.where(random.random(150) < q, 1 - truth, truth) for k, q in enumerate((0.1, 0.2))}
    zero = np.zeros(150, dtype=int)
    results = run(labels(truth, **right, nobody=zero, none=zero), metrics=(metric,))
    by_pair = {frozenset(v.about): v for v in results.verdicts}
    assert [v.level for v in by_pair.values()] == pytest.approx([1 - 0.05 / 6] * 6)
    assert {by_pair[frozenset((m, z))].verdict for m in right for z in ("nobody", "none")} == {"better"}
    p_values = {
        frozenset((row.a, row.b)): (row.p_value, row.p_adjusted)
        for row in results.comparisons
        if row.recommended
    }
    assert p_values[frozenset(("nobody", "none"))] == (1.0, 1.0)
    (p, adjusted) = p_values[frozenset(right)]
    assert adjusted == pytest.approx(min(1, 2 * p))
    single = run(labels(truth, m0=right["m0"], nobody=zero), metrics=(metric,))
    (pair,) = (row for row in single.comparisons if row.recommended)
    assert pair.difference == pytest.approx(next(r.value for r in single.metrics if r.model == "m0"))
    assert "nobody" in str(pair.reason)
    assert [(r.model, r.value) for r in single.ranking][1] == ("nobody", 0.0)


def _difference(value: float, n: int, evidence: Evidence, fits: Fits | None = None) -> Difference:
    """Return a difference of two accuracies."""
    sampling = Sampling(n=n)
    accuracy = Estimate(
        model="m",
        quantity=Quantity("accuracy"),
        value=0.9,
        range=(0.0, 1.0),
        sampling=sampling,
        evidence=Proportion(0.9 * n, n),
    )
    return Difference(
        a=accuracy,
        b=accuracy,
        value=value,
        range=(-1.0, 1.0),
        sampling=sampling,
        evidence=evidence,
        fits=fits,
    )


def _of_fits(kind: str) -> Difference:
    """Return a difference on four fits, each tested on a third of what it was trained on."""
    codes = np.arange(4)
    fits = Fits(np.array([0.01, 0.03, 0.02, 0.06]), codes, codes, np.full(4, 30.0), np.full(4, 90.0), kind)
    return _difference(0.03, 120, Paired(), fits)


def test_detectable_difference_over_folds_has_one_degree_fewer_than_folds() -> None:
    """Student's quantiles of 3 degrees of freedom times sqrt((1/4 + 1/3) s^2), s^2 = 0.0014 / 3 (Nadeau and Bengio)."""
    error = math.sqrt((1 / 4 + 1 / 3) * 0.0014 / 3)
    expected = (stats.t.ppf(0.975, 3) + stats.t.ppf(0.8, 3)) * error
    assert detectable_difference(_of_fits("folds"), 0.05) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["replicates", "seeds", "datasets"])
def test_only_folds_have_the_error_of_folds(kind: str) -> None:
    """Fits of other training data than folds of one data set: no factor for shared training applies."""
    assert corrected_fold_error(_of_fits("folds")) == pytest.approx(math.sqrt((1 / 4 + 1 / 3) * 0.0014 / 3))
    assert corrected_fold_error(_of_fits(kind)) is None
