"""Bands: the same draws as every other metric, what they hold, and another way of drawing for very many rows."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.metrics import threshold_counts
from evalreport.metrics.threshold_counts import coarse, replicates, tpr_at
from evalreport.questions.thresholds.operating_points import USUAL_RATES, band, curve_replicates, grid_of
from evalreport.samplings import sampling_by
from tests.samples.curves import counts_along, evaluated, rows, two_normals


def roc_of(results, model="m"):
    """Return a model's ROC record."""
    return next(c for c in results.curves if c.curve == "roc" and c.model == model)


def test_replicates_are_those_of_the_rows():
    """TPR at fixed FPRs under the very multiplicities that every metric is resampled by, row by row."""
    truth, scores = two_normals(60, seed=1)
    one, units = counts_along(np.round(scores, 1), truth), sampling_by(60)
    grid = grid_of(one)
    drawn = replicates([coarse(one)], units, 20, seed=7)
    found = np.concatenate([tpr_at(made(), grid) for _, [made] in drawn])
    for drawn, ours in zip(np.concatenate(list(units.unit_draws(20, seed=7))), found, strict=True):
        rounded = np.round(scores, 1)
        steps = np.unique(rounded)[::-1]
        called = rounded[None, :] >= steps[:, None]
        tpr = np.concatenate([[0], (called * drawn * truth).sum(axis=1) / (drawn * truth).sum()])
        fpr = np.concatenate([[0], (called * drawn * ~truth).sum(axis=1) / (drawn * ~truth).sum()])
        expected = [np.interp(x, fpr, tpr) for x in grid]
        # At a place where a vertical step falls on the grid rounding decides which end is read.
        at_a_step = np.abs(fpr[:, None] - grid[None, :]).min(axis=0) < 1e-9
        assert ours[~at_a_step] == pytest.approx(np.array(expected)[~at_a_step], abs=1e-9)


def test_a_band_holds_its_curve_and_is_never_of_zero_width():
    """Low <= TPR <= high at every point where the curve does not rise straight up, also at TPR = 1."""
    truth, scores = two_normals(150, seed=2)
    curve = roc_of(evaluated({"m": rows(truth, score=scores)}, resamples=400))
    assert curve.band == "pointwise"
    x, y, low, high = (np.array(v) for v in (curve.x, curve.y, curve.low, curve.high))
    last_of_step = np.append(np.diff(x) > 0, True)
    # Between two grid points the band is a straight line, the curve may have a corner: a hundredth is one positive.
    assert (low[last_of_step] <= y[last_of_step] + 0.01).all()
    assert (high[last_of_step] >= y[last_of_step] - 0.01).all()
    assert ((high - low) > 0.005).all()
    assert ((low >= 0) & (high <= 1)).all()


@pytest.mark.parametrize("n", [60, 300])
def test_a_best_accuracy_has_the_same_limits_wherever_it_stands(n: int):
    """The threshold table and the metric say the same of one threshold: 1,000 replicates, the first of the run's."""
    truth, scores = two_normals(n, seed=5)
    results = evaluated({"m": rows(truth, score=scores)}, resamples=2000)
    (point,) = [p for p in results.operating_points if (p.criterion, p.metric) == ("best", "accuracy")]
    metric = next(m for m in results.metrics if m.metric == "max_accuracy")
    leading = metric.intervals[0]
    assert leading.method == point.method == "rechosen"
    assert (point.low, point.high) == pytest.approx((leading.low, leading.high), rel=1e-12)


def test_counts_drawn_by_bin_vary_as_rows_do(monkeypatch):
    """Of many rows the bins' counts are drawn: the same standard deviations as from rows, within 12 %.

    A standard deviation of 1,000 replicates has a relative error of 2.2 %, the ratio of two 3.2 %.
    """
    truth, scores = two_normals(2000, seed=4)
    one, units = counts_along(scores, truth), sampling_by(2000)
    grid = np.array(USUAL_RATES.alarms)

    def spread(most_drawn: int) -> np.ndarray:
        monkeypatch.setattr(threshold_counts, "MOST_DRAWN", most_drawn)
        blocks = replicates([coarse(one)], units, 1000, seed=0)
        return np.concatenate([tpr_at(made(), grid) for _, [made] in blocks]).std(axis=0)

    assert spread(100) / spread(10_000) == pytest.approx(np.ones(4), abs=0.12)


def test_bins_keep_every_count():
    """A cut ranking has at most a few hundred bins, whose running counts are those of the whole at its indices."""
    truth, scores = two_normals(5000, seed=6)
    cut = coarse(counts_along(scores, truth))
    assert 100 < cut.size <= 300
    assert (cut.found[-1], cut.wrong[-1]) == (truth.sum(), (~truth).sum())
    counted = np.bincount(cut.bins[truth], minlength=cut.size)
    assert np.array_equal(np.diff(cut.found), counted)


def test_a_large_group_of_ties_has_a_bin_of_its_own():
    """A third of 3,000 scores are one number: its bin holds nothing else."""
    random = np.random.default_rng(0)
    scores = random.normal(size=3000)
    scores[:1000] = 0.25
    cut = coarse(counts_along(scores, random.random(3000) < 0.5))
    assert set(cut.bins[:1000]).isdisjoint(cut.bins[1000:])


def test_models_share_the_draws_and_another_model_moves_nothing():
    """A model's band is the same alone and beside another one: streams belong to purposes, not to models."""
    truth, scores = two_normals(80, seed=8)
    alone = roc_of(evaluated({"m": rows(truth, score=scores)}))
    beside = roc_of(evaluated({"a": rows(truth, score=-scores), "m": rows(truth, score=scores)}))
    assert (alone.low, alone.high) == (beside.low, beside.high)


def test_clusters_widen_a_band():
    """Every example four times over, as clusters of four: the band is that of the sixty, not of 240."""
    truth, scores = two_normals(60, seed=9)
    four = {
        "m": rows(
            np.repeat(truth, 4), score=np.repeat(scores, 4), site=[f"s{i // 4:03d}" for i in range(240)]
        )
    }
    widths = {}
    for name, cluster in (("apart", None), ("whole", "site")):
        curve = roc_of(evaluated(four, cluster=cluster, resamples=600))
        widths[name] = float(np.mean(np.array(curve.high) - np.array(curve.low)))
    # Four times the examples: half the width.
    assert widths["whole"] / widths["apart"] == pytest.approx(2.0, abs=0.35)


def test_too_few_replicates_make_no_band():
    """Limits at 2.5 % from twenty replicates would be noise: none are given."""
    truth, scores = two_normals(50, seed=1)
    one = counts_along(scores, truth)
    (resampled,) = curve_replicates([one], sampling_by(50), (), n_resamples=20, seed=0)
    assert band(resampled, sampling_by(50), 0.95) is None
    curve = roc_of(evaluated({"m": rows(truth, score=scores)}, resamples=20))
    assert curve.low is curve.high is curve.band is None


def test_what_the_bands_are_is_said():
    """The results say that bands are pointwise."""
    truth, scores = two_normals(50, seed=1)
    (said,) = (f for f in evaluated({"m": rows(truth, score=scores)}).found if f.what == "ROC bands")
    assert said.value == "pointwise"
    assert "not of the whole curve" in said.why


@pytest.mark.slow
def test_classes_have_bands_where_one_model_is_alone() -> None:
    """Charts of several models show the curves of a class without bands, so none is drawn by resampling."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 90)
    chances = {name: rng.dirichlet(np.ones(3), 90) + np.eye(3)[truth] for name in ("a", "b")}
    models = {
        name: {"y_true": truth, **{f"prob_{k}": p[:, k] / 2 for k in range(3)}} for name, p in chances.items()
    }
    several = {"task": "multiclass", "positive": None}
    alone, both = evaluated({"a": models["a"]}, **several), evaluated(models, **several)
    assert all(c.band == "pointwise" for c in alone.curves if c.curve == "roc")
    assert all(c.band is None for c in both.curves if c.curve == "roc")
    (said,) = (f for f in both.found if f.what == "ROC bands")
    assert (said.value, said.why) == (
        "none", "curves of the classes of several models; with one model each has its band"
    )  # fmt: skip
