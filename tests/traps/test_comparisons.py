"""Traps A, B, C, D, J, L, R: what goes wrong elsewhere when two models are compared.

That results have the same bytes for any number of threads (R) is asked in tests/properties/test_degenerate.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.samples.traps import Source, evaluate, noisy_values, paired_counts, right_or_wrong, row_of, scored


def twins(source: Source) -> Source:
    """Return the first model twice."""
    first = next(iter(source.values()))
    return {"one": first, "two": first}


def test_a_model_against_itself(capfd: pytest.CaptureFixture[str]) -> None:
    """A: a model compared with itself gives difference 0, p = 1, in every test, and no warning on stderr.

    tests/properties asks it of every task and layout, and the same of swapped models (C).
    """
    results = evaluate(twins(noisy_values(seed=1)), tests=("all",), intervals=("all",))
    pairs = [row for row in results.comparisons if row.b is not None]
    assert {row.metric for row in pairs} >= {results.primary_metric}
    for row in pairs:
        assert row.difference in (0.0, None), row
        assert row.p_value in (1.0, None), row
        assert row.p_value is not None or row.reason, row
    assert all(row.p_value == 1.0 for row in pairs if row.recommended and row.difference is not None)
    assert {verdict.verdict for verdict in results.verdicts} == {"undecided"}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("discordant", [1, 5, 20])
def test_b_corrected_mcnemar_of_equal_counts(discordant: int) -> None:
    """B: max(abs(b - c) - 1, 0), so b = c gives p = 1 and not 0.752."""
    results = evaluate(paired_counts(80, discordant, discordant, 10), tests=("mcnemar_corrected",))
    row = row_of(results, "mcnemar_corrected", "accuracy")
    assert row.statistic == 0.0
    assert row.p_value == 1.0


@pytest.mark.usefixtures("primary_alone")
def test_b_small_counts_are_tested_exactly() -> None:
    """B: the recommended test is McNemar's mid-p, from the binomial distribution, whatever b + c."""
    for b, c in ((1, 0), (5, 5), (6, 1), (40, 15)):
        results = evaluate(paired_counts(80, b, c, 10))
        (row,) = (r for r in results.comparisons if r.recommended and r.metric == "accuracy")
        tail = 2 * stats.binom.cdf(min(b, c), b + c, 0.5)
        expected = 1.0 if b == c else tail - stats.binom.pmf(min(b, c), b + c, 0.5)  # Fagerland et al. 2013
        assert row.test == "mcnemar_midp"
        assert row.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.usefixtures("primary_alone")
def test_c_unequal_accuracies_of_five_hundred() -> None:
    """C: accuracies of 0.95 and 0.85 on 500 give a small p in whichever order, never 0.99999995."""
    for first, second in ((475, 425), (425, 475)):
        source = right_or_wrong(
            {"a": [1] * first + [0] * (500 - first), "b": [1] * second + [0] * (500 - second)}
        )
        row = row_of(evaluate(source), "mcnemar_midp", "accuracy")
        assert row.p_value is not None
        assert row.p_value < 1e-10  # 50 discordant pairs, all one way: 2 / 2^50, less half a term
        assert row.difference == pytest.approx((first - second) / 500, abs=1e-12)


@pytest.mark.slow
def test_d_null_rejection_rate() -> None:
    """D: for exchangeable models the tests reject about alpha, within two Monte Carlo errors.

    200 test sets of 80 with independent normal errors of equal size, RMSE, alpha = 5 %: 2 SE = 3.1 %.
    """
    n_sets, rejected = 200, {"bootstrap_difference": 0, "permutation": 0}
    for seed in range(n_sets):
        results = evaluate(
            noisy_values(seed, n=80),
            metrics=("rmse",),
            tests=tuple(rejected),
            intervals=("bootstrap_percentile",),
        )
        for test in rejected:
            p_value = row_of(results, test, "rmse").p_value
            assert p_value is not None
            rejected[test] += p_value <= 0.05
    allowed = 2 * np.sqrt(0.05 * 0.95 / n_sets)
    for test, count in rejected.items():
        assert abs(count / n_sets - 0.05) <= allowed, (test, count)


@pytest.mark.usefixtures("primary_alone")
def test_j_paired_outcomes() -> None:
    """J: right by both 800, b = 40, c = 15, wrong by both 145 gives exact McNemar's 0.00102, not 0.139."""
    results = evaluate(paired_counts(800, 40, 15, 145), tests=("all",))
    row = row_of(results, "mcnemar_exact", "accuracy")
    assert row.p_value == pytest.approx(stats.binomtest(15, 55).pvalue, abs=1e-12)
    assert row.p_value == pytest.approx(0.00102, abs=5e-6)
    assert not [r for r in results.comparisons if r.test == "two_proportions_z" and r.p_value is not None]
    assert not [
        r for r in results.comparisons if r.interval_method == "newcombe_independent" and r.low is not None
    ]


def test_l_one_set_of_draws_for_all_models() -> None:
    """L: models that differ on 6 of 400 examples have a bootstrap difference that varies by those 6 alone.

    b = 4, c = 2: sd of the difference = sqrt(b + c - (b - c)^2 / n) / n = 0.0061; drawn apart it would be
    sqrt(2 * 0.75 * 0.25 / 400) = 0.031.
    """
    results = evaluate(
        paired_counts(296, 4, 2, 98),
        tests=("bootstrap_difference",),
        intervals=("bootstrap_percentile",),
        resamples=2000,
    )
    row = next(
        r
        for r in results.comparisons
        if r.interval_method == "bootstrap_percentile" and r.metric == "accuracy"
    )
    assert row.low is not None
    assert row.high is not None
    paired = np.sqrt(6 - 4 / 400) / 400
    assert 3 * paired <= row.high - row.low <= 5 * paired


@pytest.mark.parametrize("test", ["bootstrap_difference", "permutation"])
def test_r_monte_carlo_p_is_never_zero(test: str) -> None:
    """R: p >= 1 / (B + 1), however far apart the models are.

    On a mean of real losses, whose 2^200 swaps no one enumerates, so that both tests are Monte Carlo.
    """
    truth = [0, 1] * 100
    noise = np.random.default_rng(1).uniform(0.01, 0.05, 200)
    source = scored(truth, {"a": [abs(t - e) for t, e in zip(truth, noise, strict=True)],
                            "b": [abs(1 - t - e) for t, e in zip(truth, noise, strict=True)]})  # fmt: skip
    results = evaluate(source, tests=(test,), resamples=500, metrics=("log_loss",))
    values = [r.p_value for r in results.comparisons if r.test == test and r.p_value is not None]
    assert values
    # The primary metric's swaps are at least 40 for each pair and alpha: 40 / 0.05.
    drawn = max(500, 800) if test == "permutation" else 500
    assert min(values) >= 1 / (drawn + 1)
