"""Replicates of very many rows stay within 0.02 standard errors of those of the rows themselves: blocking."""

from functools import cache

import numpy as np
import pytest

from evalreport.engine.distributions import column_sums, running_sums, whole_numbers
from evalreport.engine.draws import tiles_of
from evalreport.engine.histograms import Bins, Cells, CodeSums, bin_weights, bins_of, shares, slopes_of
from evalreport.engine.ranks import descending_order, group_weights
from evalreport.metrics import METRICS as REGISTERED
from research.benchmarks.stress import AT_CUTS, CASES, FEW, METRICS, Found, errors, scores
from tests.samples.draws import uniform_multinomial

RANKED = METRICS[:4]


@cache
def found(case: str) -> tuple[Found, ...]:
    """Return the largest error of everything that is estimated on one case, in standard errors."""
    return tuple(errors(case))


@pytest.mark.parametrize("case", CASES)
def test_stress_suite(case: str) -> None:
    """Values and paired differences are at most 0.02 standard errors off in every replicate.

    But for a difference of twins that lies inside bins, so that ranks hold to first order only: the report names it.
    """
    assert len(found(case)) == len(METRICS) * 6
    assert max(one.error for one in found(case) if not one.named) <= 0.02
    assert sum(one.named for one in found(case)) <= 6


@pytest.mark.parametrize("n", FEW)
@pytest.mark.parametrize("case", CASES)
def test_where_bins_begin(case: str, n: int) -> None:
    """From a few thousand rows on bins give every replicate to 0.02 standard errors, differences of twins included."""
    few = list(errors(case, n, METRICS + AT_CUTS))
    assert len(few) >= 6 * len(METRICS)
    assert not any(one.named for one in few)
    assert max(one.error for one in few) <= 0.02


@pytest.mark.parametrize("n", [2_500, 20_000])
@pytest.mark.parametrize("case", ["ordinary", "100 positives", "rare and near-perfect"])
def test_values_alone_do_with_fewer_bins(case: str, n: int) -> None:
    """Within slices models are compared on the primary metric alone: a quarter of the bins gives the values."""
    alone = list(errors(case, n, METRICS + AT_CUTS, differences=False))
    assert len(alone) >= 3 * len(METRICS)
    assert max(one.error for one in alone) <= 0.02


@pytest.mark.parametrize("n", [2_500, 20_000])
@pytest.mark.parametrize("case", CASES)
def test_cuts_alone_do_with_the_fewest_bins(case: str, n: int) -> None:
    """What depends on one place of the ranking needs bins there alone, for values and for differences."""
    assert max(one.error for one in errors(case, n, AT_CUTS)) <= 0.02


def test_means_of_losses_are_exact() -> None:
    """A mean of losses is linear, so its first order is all of it: off by rounding, even for twins."""
    for case in CASES:
        assert max(one.error for one in found(case) if one.metric in ("log_loss", "brier")) <= 1e-3


@pytest.mark.parametrize("case", ["ordinary", "near-perfect", "few distinct scores"])
def test_data_themselves_are_exact(case: str) -> None:
    """Under the data's own weights the histogram gives the exact value: its corrections come from there.

    The partial area ends inside a bin, of which it takes a parabola; a bin holds (pi / 2 / 2048)^2 = 6e-7 of the pairs.
    """
    positive, score = scores(case, np.random.default_rng(7))
    order = descending_order(score, positive)
    bins = bins_of(order, np.ones(len(score)))
    ones = bin_weights(np.ones((len(score), 1), dtype=np.float32), bins)
    for name in RANKED:
        metric = REGISTERED[name]
        assert metric.binned is not None
        exact = float(metric.computation.function(*group_weights(np.ones(len(score)), order)))
        tolerance = 6e-7 if name == "partial_auc" else 1e-12
        assert metric.binned(ones)[0] == pytest.approx(exact, rel=tolerance), name


@pytest.mark.parametrize("case", ["ordinary", "near-perfect", "few distinct scores"])
def test_bins_without_a_positive_between_them_are_one(case: str) -> None:
    """The order of negatives between two positives moves no rank metric, in any replicate (single precision: 1e-6)."""
    rng = np.random.default_rng(3)
    positive, score = scores(case, rng)
    bins = bins_of(descending_order(score, positive), np.ones(len(score)))
    drawn = rng.multinomial(len(score), np.full(len(score), 1 / len(score)), size=20).T.astype(np.float32)
    all_bins, merged = bin_weights(drawn, bins), bin_weights(drawn, bins.by_positives)
    assert len(bins.by_positives.wins) <= len(bins.wins)
    assert np.array_equal(all_bins.by_positives.by_code, merged.by_code)
    for metric in REGISTERED.values():
        if metric.binned is not None:
            assert metric.binned(merged) == pytest.approx(metric.binned(all_bins), rel=1e-6), metric.name


def ordinary_bins() -> tuple[Bins, np.ndarray, np.ndarray]:
    """Return the bins of the ordinary case, the derivatives of its area, and which rows are positive."""
    positive, score = scores("ordinary", np.random.default_rng(8))
    order = descending_order(score, positive)
    slope = REGISTERED["roc_auc"].computation.derivative
    assert slope is not None
    derivative = order.by_example(*slope(*group_weights(np.ones(len(score)), order)))
    return bins_of(order, np.ones(len(score))), derivative, positive


def test_guard_is_the_share_of_variance_inside_bins() -> None:
    """The printed guard is small for a fine histogram and 1 where all of the variance lies inside one bin."""
    bins, derivative, positive = ordinary_bins()
    assert shares(slopes_of([derivative], [bins]))[0, 0] < 1e-5
    tied = bins_of(descending_order(np.zeros(len(positive)), positive), np.ones(len(positive)))
    centred = derivative - np.where(positive, derivative[positive].mean(), derivative[~positive].mean())
    assert shares(slopes_of([centred], [tied]))[0, 0] == pytest.approx(1.0)


def test_sums_of_bytes_do_not_overflow() -> None:
    """Counts added as bytes by cell, then by bin, are the sums of the counts, ties of 210,000 rows included."""
    weights = uniform_multinomial(210_000, 4, np.random.default_rng(9))
    _, _, positive = ordinary_bins()
    _, score = scores("ordinary", np.random.default_rng(8))
    for values in (score, np.zeros_like(score), np.round(score)):
        bins = bins_of(descending_order(values, positive), np.ones(len(values)))
        for b in (4, 3):
            sums = CodeSums(bins, b)
            for rows in tiles_of(len(values)):
                sums.add(Cells.of(bins.code[rows], bins.codes), np.ascontiguousarray(weights[rows, :b]))
            columns = weights[:, :b].T
            expected = [np.bincount(bins.code, weights=column, minlength=bins.codes) for column in columns]
            np.testing.assert_array_equal(sums.total(), np.array(expected).T)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 15, 16, 17, 1000])
def test_running_sums(rows: int, precision: type[np.floating]) -> None:
    """Running sums by blocks of rows are numpy's cumsum, exactly for whole numbers."""
    values = np.random.default_rng(1).integers(0, 9, size=(2, rows, 17)).astype(precision)
    np.testing.assert_array_equal(running_sums(values), np.cumsum(values, axis=1))


def test_column_sums_do_not_depend_on_the_place() -> None:
    """Equal columns have equal sums to the last bit, so a model compared with itself differs by 0."""
    random = np.random.default_rng(2)
    values = random.normal(size=20_001)
    whole, unit = whole_numbers(values)
    weights = uniform_multinomial(20_001, 33, random)
    sums = column_sums([whole] * 7, weights)
    exact = whole.astype(object) @ weights.astype(object)
    assert (sums == exact.astype(np.float64)).all()
    np.testing.assert_allclose(unit * sums[0], values @ weights, rtol=0, atol=1e-5)
