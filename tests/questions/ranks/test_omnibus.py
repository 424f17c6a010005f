"""Tests of all models at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

import evalreport as er

pytestmark = pytest.mark.usefixtures("primary_alone")


def right(k: int, n: int = 60, **options: Any) -> tuple[er.Results, np.ndarray]:
    """Return a run of k label models, and on which examples each is right, (n, k)."""
    random = np.random.default_rng(6)
    hits = random.random((n, k)) < np.linspace(0.6, 0.9, k)
    truth = np.arange(n) % 2
    ids, said = list(range(n)), np.where(hits.T, truth, 1 - truth)
    source = {f"m{j}": {"id": ids, "y_true": truth.tolist(), "y_pred": said[j].tolist()} for j in range(k)}
    return er.evaluate(source, resamples=20, **options), hits


def test_three_label_models_have_cochrans_q() -> None:
    """By default, on the primary metric, as statsmodels computes it."""
    found, hits = right(3)
    (record,) = found.omnibus
    wanted = cochrans_q(hits.astype(int))
    assert record.test == "cochran_q"
    assert (record.statistic, record.p_value) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_a_named_friedman_test_is_scipys_and_leaves_average_ranks() -> None:
    """With the critical difference of the run's level."""
    found, hits = right(3, tests=("friedman",))
    record = next(r for r in found.omnibus if r.metric == "accuracy")
    wanted = stats.friedmanchisquare(*hits.T.astype(float))
    assert record.p_value == pytest.approx(wanted.pvalue)
    ranks = {r.model: r.average_rank for r in found.average_ranks if r.metric == "accuracy"}
    mid = np.mean([stats.rankdata(-row) for row in hits.astype(float)], axis=0)
    assert [ranks[f"m{j}"] for j in range(3)] == pytest.approx(mid.tolist())


def test_two_models_have_none() -> None:
    """A pair is tested by itself."""
    assert right(2)[0].omnibus == []
