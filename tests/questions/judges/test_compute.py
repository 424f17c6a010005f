"""Whether judge and people agree, and whether the judge favours a model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.samples.judges import answers, favoured, of_pair, run


def test_counts_kappa_and_bias_are_those_of_the_judged_rows() -> None:
    """Counts by hand, kappa by scikit-learn, the bias with Student's interval by scipy."""
    source = answers()
    for record in favoured().judge_agreement:
        if record.model is None:
            continue
        columns = source[record.model]
        given = ~np.isnan(columns["gold"])
        judge, gold = columns["outcome"][given], columns["gold"][given]
        counts = [int(((judge == j) & (gold == g)).sum()) for j, g in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert [record.both, record.judge_only, record.human_only, record.neither] == counts
        assert record.kappa == pytest.approx(cohen_kappa_score(gold, judge))
        assert record.kappa_low is not None
        assert record.kappa_high is not None
        assert record.kappa_low < record.kappa < record.kappa_high  # type: ignore[operator]
        low, high = stats.t.interval(0.95, len(gold) - 1, (judge - gold).mean(), stats.sem(judge - gold))
        assert (record.bias, record.bias_low, record.bias_high) == pytest.approx(
            ((judge - gold).mean(), low, high)
        )


def test_all_models_together_are_clustered_by_question() -> None:
    """Three answers to one question are alike: kappa over all of them has the interval of clusters."""
    whole = next(r for r in favoured().judge_agreement if r.model is None)
    assert whole.n_gold == 450
    assert whole.kappa_method == "cluster_wilson"


def test_the_difference_of_the_bias_is_tested_on_common_rows() -> None:
    """A paired t test for every pair, adjusted by Holm over the three."""
    source, found = answers(), favoured().judge_bias
    p_values = []
    for record in found:
        bias = of_pair(source, record.a, record.b, "outcome") - of_pair(source, record.a, record.b, "gold")
        tested = stats.ttest_1samp(bias[~np.isnan(bias)], 0)
        assert record.p_value == pytest.approx(tested.pvalue)
        assert record.difference == pytest.approx(np.nanmean(bias))
        p_values.append(tested.pvalue)
    assert [r.p_adjusted for r in found] == pytest.approx(multipletests(p_values, method="holm")[1])


def test_graded_outcomes_have_a_bias_and_no_counts() -> None:
    """Outcomes between 0 and 1: no confusion and no kappa, but estimates and bias."""
    source = answers()
    random = np.random.default_rng(3)
    graded = {
        name: {"outcome": 0.8 * columns["outcome"] + 0.2 * random.random(1200), "gold": 0.9 * columns["gold"]}
        for name, columns in source.items()
    }
    results = run(graded)
    assert all(r.both is None and r.kappa is None and r.bias_low is not None for r in results.judge_agreement)
    assert all(r.value is not None for r in results.judge_estimates)
