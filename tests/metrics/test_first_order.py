"""Replicates of means over pairs of examples to first order: near those of the rows, and taken only where they are."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from evalreport.metrics.first_order import MOST_LEFT_OUT, FirstOrder, held_to_first_order
from evalreport.metrics.histogram_records import histograms_found
from evalreport.metrics.registry import Quantity
from evalreport.metrics.row_data import Key
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.samplings import sampling_by

QUANTITIES = (
    Quantity("roc_auc_ovr", "macro"),
    Quantity("roc_auc_ovr", "weighted"),
    Quantity("roc_auc_ovo"),
)
EVEN = (0.25, 0.25, 0.25, 0.25)


@cache
def sample(
    n: int = 12_000,
    shares: tuple[float, ...] = EVEN,
    *,
    noise: float = 1.0,
    replicates: int = 1_000,
    exact: bool = False,
    weight: bool = False,
    apart: float = 1.5,
    quantities: tuple[Quantity, ...] = QUANTITIES,
) -> Sample:
    """Estimate two models' probabilities of several classes; the second model is the first with noise."""
    random = np.random.default_rng(20)
    k = len(shares)
    true = np.concatenate([np.arange(k), random.choice(k, n - k, p=shares)])
    logits = random.normal(size=(n, k)) + apart * np.eye(k)[true]
    outputs = []
    for name, own in (("a", logits), ("b", logits + noise * random.normal(size=(n, k)))):
        odds = np.exp(own)
        outputs.append(ModelOutputs(name, proba=odds / odds.sum(axis=1, keepdims=True)))
    predictions = Predictions(
        task="multiclass",
        design="test-set",
        ids=np.arange(n),
        example=np.arange(n),
        y_true=true.astype(np.int32),
        models=tuple(outputs),
        labels=Labels(classes=tuple(f"c{code}" for code in range(k)), positive=None),
    )
    units = sampling_by(n, None, np.arange(n) % 2 + np.ones(n)) if weight else sampling_by(n)
    return estimate_all(predictions, quantities, units=units, n_resamples=replicates, seed=0, exact=exact)


def replicates(found: Sample, key: Key) -> Floats:
    """Return the replicates of one estimate."""
    drawn = found.estimates[key].replicates
    assert drawn is not None
    return drawn


def left_out(found: Sample) -> dict[Key, float]:
    """Return what replicates to first order leave out, where they are taken."""
    return held_to_first_order(found.rows, found.estimates, [*found.estimates])


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_they_are_near_those_of_the_rows(quantity: Quantity) -> None:
    """What they leave out is no more than is said, so that the standard error is right to a thousandth."""
    near, rows = sample(), sample(exact=True)
    of_one = [(replicates(near, (m, quantity)), replicates(rows, (m, quantity))) for m in "ab"]
    difference = tuple(a - b for a, b in zip(*of_one, strict=True))
    assert len(left_out(near)) == 2 * len(QUANTITIES)
    for (found, exact), most in zip(
        (*of_one, difference),
        (left_out(near)["a", quantity], left_out(near)["b", quantity], 0.05),
        strict=True,
    ):
        error = exact.std()
        assert 0 < (found - exact).std() <= most * error
        assert found.std() == pytest.approx(error, rel=1e-3)


def test_a_class_that_was_not_drawn_leaves_no_value() -> None:
    """As the metric itself has none under such weights."""
    found = sample(replicates=1)
    n = found.rows.units.n
    weights = np.ones((n, 2))
    codes = found.predictions.y_true
    assert codes is not None
    weights[codes == 2, 0] = 0
    prepared = FirstOrder.of(found.rows, found.estimates, [*found.estimates])
    in_tiles = prepared.replicates([(slice(0, 5_000), weights[:5_000]), (slice(5_000, n), weights[5_000:])])
    for key, (without, whole) in in_tiles.items():
        assert np.isnan(without)
        assert whole == pytest.approx(found.estimates[key].value, abs=1e-9)


def test_a_single_class_needs_itself_and_any_other() -> None:
    """Draws without a third class have a value, as from the rows; those without the class or the rest have none."""
    single = Quantity("roc_auc_ovr", None, "c0")
    found = sample(replicates=1, quantities=(single,))
    codes, key = found.predictions.y_true, ("a", single)
    assert codes is not None
    weights = np.ones((len(codes), 3))
    weights[codes == 2, 0], weights[codes == 0, 1], weights[codes != 0, 2] = 0, 0, 0
    prepared = FirstOrder.of(found.rows, found.estimates, [key])
    (without_another, without_it, alone) = prepared.replicates([(slice(0, len(codes)), weights)])[key]
    assert abs(without_another - found.estimates[key].value) < 0.05
    assert np.isnan([without_it, alone]).all()


def test_replicates_of_a_perfect_model_are_its_value() -> None:
    """Exactly, so that no interval of rounding stands where nothing varies."""
    found = sample(apart=50.0, noise=0.0, replicates=100)
    assert len(left_out(found)) == 2 * len(QUANTITIES)
    for key, estimate in found.estimates.items():
        assert estimate.value == 1
        assert (replicates(found, key) == 1).all()


@pytest.mark.parametrize(
    "of",
    [
        {"n": 2_000},
        {"exact": True},
        {"weight": True},
        {"noise": 0.02},
        {"n": 3_000},
        {"shares": (0.004, 0.004, 0.496, 0.496)},
    ],
    ids=["few rows", "exact", "weights", "nearly alike", "not enough rows", "rare classes"],
)
def test_rows_are_taken_where_more_would_be_left_out(of: dict[str, Any]) -> None:
    """Few rows, rare classes, models that hardly differ, weights and all rows asked for keep replicates of the rows."""
    assert left_out(sample(replicates=1, **of)) == {}
    assert not histograms_found(sample(replicates=1, **of))


def test_the_report_says_so() -> None:
    """The method's record names the metrics, and the largest share that is left out."""
    (found,) = histograms_found(sample())
    share = max(left_out(sample()).values())
    assert 0.01 < share <= MOST_LEFT_OUT
    assert "replicates of roc_auc_ovo, roc_auc_ovr_macro, roc_auc_ovr_weighted from" in found.why
    assert f"at most {share:.1g} of the standard deviation" in found.why
