"""Bias and variance: exact sums, hand counts, any labels, noise that is given or measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import evalreport
from evalreport.errors import UsageError
from evalreport.plots.estimates import bias_variance
from evalreport.questions.algorithms.decomposition import (
    kohavi_wolpert,
    label_counts,
    of_squares,
    of_variance,
    redrawn_squared,
    redrawn_zero_one,
    squared,
    zero_one,
)
from evalreport.questions.algorithms.replicates import spread_of
from evalreport.questions.algorithms.two_ways import moments, of_bias, over_both
from evalreport.schema.warnings import WarningRecord
from tests.reference.second_round import agrees, each
from tests.samples.algorithms import evaluate, replicates

pytestmark = pytest.mark.usefixtures("primary_alone")

# Additive to rounding: the terms of the sums are of the size of the loss.
EXACT = 1e-12

numbers = st.floats(-100, 100, allow_nan=False)


@settings(deadline=None)
@given(hnp.arrays(float, (5, 4), elements=numbers), hnp.arrays(float, 4, elements=numbers), st.data())
def test_squared_parts_add_up(predicted: np.ndarray, truth: np.ndarray, data: st.DataObject) -> None:
    """Mean squared error of the given predictions = bias^2 + variance with divisor K, example by example."""
    held = data.draw(hnp.arrays(bool, (5, 4)))
    held[0] = True
    found = squared(predicted, held, truth)
    for i in range(4):
        own = predicted[held[:, i], i]
        loss = float(((own - truth[i]) ** 2).mean())
        assert found.expected_loss[i] == pytest.approx(loss, rel=EXACT, abs=1e-9)
        assert found.bias[i] + found.variance[i] == pytest.approx(
            found.expected_loss[i], rel=EXACT, abs=EXACT
        )
        assert found.variance[i] == pytest.approx(own.var(), rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(hnp.arrays(int, (6, 5), elements=st.integers(0, 3)), hnp.arrays(int, 5, elements=st.integers(0, 3)))
def test_zero_one_parts_add_up_for_any_number_of_classes(codes: np.ndarray, truth: np.ndarray) -> None:
    """Share of errors = bias + unbiased - biased variance (Domingos) = bias^2 + variance (Kohavi and Wolpert)."""
    counts = label_counts(codes, np.ones_like(codes, dtype=bool), 4)
    errors = (codes != truth).mean(axis=0)
    found = zero_one(counts, truth)
    assert found.biased is not None
    assert found.bias + found.unbiased - found.biased == pytest.approx(errors, abs=EXACT)
    assert found.expected_loss == pytest.approx(errors, abs=EXACT)
    other = kohavi_wolpert(counts, truth)
    assert other.bias + other.variance == pytest.approx(errors, abs=EXACT)


@each("biasvar")
def test_unbiased_bias_and_variance_are_the_references(record: dict[str, Any]) -> None:
    """Squared loss out of the bag and 0-1 loss after Kohavi and Wolpert, against R and exact fractions."""
    inputs, expected = record["inputs"], record["value"]
    said = np.array([[np.nan if h is None else h for h in row] for row in inputs["pred"]]).T
    held, truth = ~np.isnan(said), np.array(inputs["y"])
    some = held.any(axis=0)
    if inputs["loss"] == "squared":
        found = squared(said[:, some], held[:, some], truth[some])
    else:
        found = kohavi_wolpert(label_counts(said.astype(int), held, int(said.max()) + 1), truth)
    several = found.count > 1
    assert found.bias_unbiased is not None
    parts = {
        "n_used": several,
        "bias2_unbiased": found.bias_unbiased,
        "variance_unbiased": found.unbiased,
        "bias2_plugin": found.bias,
        "variance_plugin": found.variance,
        "mse": found.expected_loss,
        "error": found.expected_loss,
    }
    for name, value in expected.items():
        got = several.sum() if name == "n_used" else parts[name][several].mean()
        assert agrees(float(got), value), name
    both = found.bias_unbiased + found.unbiased
    assert both[several] == pytest.approx(found.expected_loss[several], abs=EXACT)


def test_a_true_bias_is_estimated_without_bias_from_thirty_replicates() -> None:
    """Noise of variance 0.09 and a variance of 3.15: the plug-in shows 0.195, the unbiased estimate 0.09.

    200 data sets of 200 examples. The standard error of the mean over data sets is 0.0013 (plug-in alike); four of
    them are allowed.
    """
    generator, n, k = np.random.default_rng(11), 200, 30
    unbiased, plug_in = [], []
    for _ in range(200):
        truth = generator.normal(0, 0.3, n)
        found = squared(generator.normal(0, 3.15**0.5, (k, n)), np.ones((k, n), dtype=bool), truth)
        assert found.bias_unbiased is not None
        unbiased.append(found.bias_unbiased.mean())
        plug_in.append(found.bias.mean())
    assert np.std(unbiased) / 200**0.5 < 0.0016
    assert np.mean(unbiased) == pytest.approx(0.09, abs=4 * 0.0013)
    assert np.mean(plug_in) == pytest.approx(0.09 + 3.15 / 30, abs=4 * 0.0013)


def test_an_unbiased_bias_below_zero_is_shown_as_it_is() -> None:
    """Two examples whose mean prediction is right: bias^2 is 0 - s^2 / 2 each (s^2 = 2 and 8); two fits: no limits."""
    results = evaluate(replicates([2.0, 3.0], [[1.0, 1.0], [3.0, 5.0]]), task="regression")
    (found,) = results.decomposition
    assert found.bias == 0
    assert found.bias_unbiased == pytest.approx(-(2 / 2 + 8 / 2) / 2, abs=EXACT)
    assert (
        found.low
        is found.high
        is found.bias_unbiased_low
        is found.bias_unbiased_high
        is found.bias_low
        is None
    )
    assert found.variance_low is found.variance_high is None
    (bar,) = [patch for patch in bias_variance(results).patches if patch.get_x() + patch.get_width() < 0]
    assert bar.get_width() == pytest.approx(-2.5, abs=EXACT)


def test_the_replicates_part_is_that_of_a_two_way_table() -> None:
    """With every prediction there: s_c^2 / K of the replicates' means and MSR / (n K) of the residuals (METHODS 5j)."""
    z = np.random.default_rng(3).normal(size=(12, 7)) + np.arange(12)[:, None]
    by_example, parts = moments(z, np.ones(z.shape, dtype=bool))
    rows, columns = z.mean(axis=0), z.mean(axis=1)
    residuals = z - rows - columns[:, None] + z.mean()
    assert by_example == pytest.approx(rows, rel=1e-12)
    assert parts.term.observed == pytest.approx(columns.var(ddof=1) / 12, rel=1e-12)
    assert parts.term.expected == pytest.approx((residuals**2).sum() / (6 * 11) / (7 * 12), rel=1e-12)
    third = 12 / (11 * 10) * ((columns - columns.mean()) ** 3).sum() / 12**2  # of the mean, unbiased moment
    own = (parts.term.variance / parts.term.observed) ** 1.5
    assert parts.third == pytest.approx(own * third, rel=1e-9)


@pytest.mark.slow
def test_limits_hold_what_other_replicates_would_give() -> None:
    """Thirty fits that move together (variance 0.5, noise 0.02): limits over examples alone missed in 55 to 98 %.

    Of 200 data sets at most 6 % may miss in truth; 22 or more of 200 would have the chance 0.005.
    """
    generator, missed = np.random.default_rng(90311), np.zeros(3)
    for _ in range(200):
        truth = generator.normal(0, 0.02**0.5, 200)
        predicted = np.repeat(generator.normal(0, 0.5**0.5, (30, 1)), 200, axis=1)
        limits = limits_of(predicted, truth, generator)
        for at, true in enumerate((0.52, 0.5, 0.02)):
            low, high = limits[at]
            missed[at] += not low <= true <= high
    assert (missed < 22).all()


def test_ten_replicates_hold_and_nine_have_no_limits() -> None:
    """A bias of 0.5, a variance of 0.2 together and 0.2 apart: before, 7.4 % of the limits of the variance missed.

    Of 300 data sets at most 6 % may miss in truth; 30 or more of 300 would have the chance 0.005.
    """
    generator, missed = np.random.default_rng(77120), np.zeros(3)
    for _ in range(300):
        truth = generator.normal(0, 0.02**0.5, 200)
        move, apart = generator.normal(0, 0.2**0.5, (10, 1)), generator.normal(0, 0.2**0.5, (10, 200))
        limits = limits_of(0.5 + move + apart, truth, generator)
        for at, true in enumerate((0.67, 0.4, 0.27)):
            low, high = limits[at]
            missed[at] += not low <= true <= high
    assert (missed < 30).all()
    assert limits_of((0.5 + move + apart)[:9], truth, generator) == [(None, None)] * 3


def limits_of(
    predicted: np.ndarray, truth: np.ndarray, generator: np.random.Generator
) -> list[tuple[float | None, float | None]]:
    """Return the limits of expected loss, variance and unbiased bias^2 of numbers that every replicate predicts."""
    given = np.ones(predicted.shape, dtype=bool)
    weights = generator.multinomial(len(given), np.full(len(given), 1 / len(given)), size=100).astype(float)
    parts = of_squares("squared", predicted, given, truth, weights, None)
    spread = spread_of(parts.split.bias_unbiased, None)
    error = float(parts.redrawn[:, 1].std(ddof=1))
    return [
        over_both(parts.losses, given, None, 0.95, (0.0, np.inf)),
        of_variance(parts.squares, given, None, 0.95),
        of_bias(spread, error, parts.shared, len(given), 0.95),
    ]


def test_an_example_with_one_prediction_is_left_out_of_the_unbiased_parts_and_counted() -> None:
    """Out of the bag once: no variance can be estimated there; the plug-in parts still hold it."""
    said, inbag = [[1.0, 4.0], [3.0, 7.0]], [[0, 0], [0, 1]]
    results = evaluate(replicates([2.0, 3.0], said, inbag, [2.0, 3.0]), task="regression")
    (found,) = results.decomposition
    assert (found.n, found.n_unbiased) == (2, 1)
    assert (found.bias_unbiased, found.variance_unbiased) == (-1.0, 2.0)
    assert found.bias == pytest.approx(1 / 2, abs=EXACT)


def test_noise_leaves_the_unbiased_bias_too() -> None:
    """A given level is taken from both estimates of the bias and from the limits; the sum stays the loss."""
    rows = replicates([1.0, 3.0, 10.0, 10.5], [[2.0 + k, 2.0, 9.0 - k, 9.0 + k / 7] for k in range(10)])
    (plain,) = evaluate(rows, task="regression").decomposition
    (found,) = evaluate(rows, task="regression", noise=0.5).decomposition
    for name in ("bias_unbiased", "bias_unbiased_low", "bias_unbiased_high"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name) - 0.5, abs=EXACT)
    assert found.bias_unbiased is not None
    assert found.variance_unbiased is not None
    total = 0.5 + found.bias_unbiased + found.variance_unbiased
    assert total == pytest.approx(found.expected_loss, abs=EXACT)


def test_domingos_has_no_unbiased_bias() -> None:
    """The mode is no mean: the record says null, and the drawing keeps bias and net variance."""
    (found,) = evaluate(replicates(["a", "b"], [["a", "a"], ["b", "b"]])).decomposition
    assert found.bias_unbiased is found.bias_unbiased_low is found.n_unbiased is None


def test_ties_of_the_mode_go_to_the_class_first_in_order() -> None:
    """Two of four replicates say each class: the main prediction is the first."""
    found = zero_one(np.array([[2.0, 2.0], [2.0, 2.0]]), np.array([0, 1]))
    assert found.main.tolist() == [0, 0]
    assert found.bias.tolist() == [0.0, 1.0]


def test_labels_of_any_type_are_decomposed() -> None:
    """Three classes as text: mode wrong on z (2 of 3 say x), right on x with one stray.

    Bias 1/2; variance (1/3 + 1/3) / 2; unbiased 1/6, biased 1/6 (the third replicate is right on z).
    """
    results = evaluate(replicates(["x", "z"], [["x", "x"], ["y", "x"], ["x", "z"]]))
    (found,) = [d for d in results.decomposition if d.loss == "0-1"]
    assert found.bias == pytest.approx(1 / 2, abs=EXACT)
    assert found.variance == pytest.approx(1 / 3, abs=EXACT)
    assert found.variance_unbiased == pytest.approx(1 / 6, abs=EXACT)
    assert found.variance_biased == pytest.approx(1 / 6, abs=EXACT)
    assert found.expected_loss == pytest.approx(1 / 2, abs=EXACT)
    assert found.aggregated_loss == found.bias


def test_rows_in_the_bag_serve_no_decomposition() -> None:
    """Only the out-of-bag prediction of each example counts: two of them, one each way."""
    said, inbag = [["a", "b"], ["b", "a"], ["b", "b"]], [[1, 0], [0, 1], [0, 0]]
    results = evaluate(replicates(["a", "a"], said, inbag, ["a", "a"]))
    (found,) = results.decomposition
    # e000: replicates 2 and 3 say b, b; e001: replicates 1 and 3 say b, b.
    assert (found.bias, found.variance, found.expected_loss) == (1.0, 0.0, 1.0)


def test_probabilities_have_a_squared_decomposition() -> None:
    """The expected Brier score is the squared distance of the mean probability and its variance."""
    rows = replicates([1, 0], [[1, 0], [1, 1]])
    rows["p_1"] = [0.9, 0.2, 0.7, 0.6]
    results = evaluate(rows, task="binary", positive="1")
    (found,) = [d for d in results.decomposition if d.loss == "brier"]
    # Mean p: 0.8 of 1, 0.4 of 0; variances 0.01 and 0.04.
    assert found.bias == pytest.approx((0.2**2 + 0.4**2) / 2, abs=EXACT)
    assert found.variance == pytest.approx((0.01 + 0.04) / 2, abs=EXACT)
    assert found.variance_unbiased == pytest.approx((0.02 + 0.08) / 2, abs=EXACT)


NOISY = replicates([1.0, 3.0, 10.0, 10.5], [[2.0, 2.0, 9.0, 9.0], [3.0, 3.0, 9.5, 9.5]])


def test_a_given_noise_is_taken_out_of_the_bias() -> None:
    """Expected loss = noise + bias^2 + variance; without a level the noise is null and inside the bias."""
    (plain,) = evaluate(NOISY, task="regression").decomposition
    assert plain.noise is None
    results = evaluate(NOISY, task="regression", noise=0.5)
    (found,) = results.decomposition
    assert found.noise == 0.5
    assert found.bias == pytest.approx(plain.bias - 0.5, abs=EXACT)
    assert found.expected_loss == pytest.approx(found.noise + found.bias + found.variance, abs=EXACT)
    assert "noise_in_bias" not in codes(results.warnings)
    assert "noise_in_bias" in codes(evaluate(NOISY, task="regression").warnings)
    assert "noise_exceeds_bias" in codes(evaluate(NOISY, task="regression", noise=50.0).warnings)


def codes(warnings: tuple[WarningRecord, ...]) -> set[str]:
    """Return the codes of warnings."""
    return {w.code for w in warnings}


@pytest.mark.parametrize("options", [{"noise": 0.1}, {"kohavi_wolpert": True}])
def test_an_option_without_replicates_is_refused(options: dict[str, object]) -> None:
    """An option of the decomposition that would change nothing is an error, not silence."""
    rows = {"id": ["a", "b"], "model": ["m", "m"], "y_true": [1.5, 2.5], "y_pred": [1.0, 2.0]}
    with pytest.raises(UsageError):
        evaluate(rows, **options)


def test_monte_carlo_error_shrinks_with_the_replicates() -> None:
    """Quadrupling the replicates halves the error of the mean loss; three Monte Carlo errors of 200 redraws allowed."""
    generator = np.random.default_rng(0)
    truth = generator.normal(size=50)
    errors = {}
    for k in (50, 200):
        said = truth + generator.normal(size=(k, 1)) + generator.normal(size=(k, 50))
        weights = generator.multinomial(k, np.full(k, 1 / k), size=200).astype(float)
        again = redrawn_squared(said, np.ones_like(said, dtype=bool), truth, weights)
        errors[k] = again[:, 0].std()
    assert errors[50] / errors[200] == pytest.approx(2, rel=3 * (2 / 200) ** 0.5 + 0.35)


def test_redrawn_means_are_those_of_the_weighted_replicates() -> None:
    """Weights of one on every replicate give the decomposition itself; a doubled replicate counts twice."""
    said = np.array([[1.0, 2.0], [3.0, 2.5], [2.0, 4.0]])
    truth, held = np.array([2.0, 3.0]), np.ones((3, 2), dtype=bool)
    whole = squared(said, held, truth)
    doubled = squared(np.vstack([said, said[:1]]), np.ones((4, 2), dtype=bool), truth)
    found = redrawn_squared(said, held, truth, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]]))
    for row, split in zip(found, (whole, doubled), strict=True):
        expected = [split.expected_loss.mean(), split.bias.mean(), split.variance.mean()]
        assert row == pytest.approx(expected, abs=EXACT)
    labels = np.array([[0, 1], [1, 1], [0, 2]])
    by_mode = redrawn_zero_one(labels, held, np.array([0, 2]), np.ones((1, 3)), 3)
    split = zero_one(label_counts(labels, held, 3), np.array([0, 2]))
    assert by_mode[0] == pytest.approx(
        [split.expected_loss.mean(), split.bias.mean(), split.variance.mean()], abs=EXACT
    )


def test_the_most_variable_examples_come_first() -> None:
    """Each model's list falls in variance and names ids; examples without variance are left out."""
    results = evaluate(replicates([0.0, 0.0, 0.0], [[1.0, 5.0, 2.0], [2.0, -5.0, 2.0]]), task="regression")
    assert [(e.id, e.variance) for e in results.example_variance] == [("e001", 25.0), ("e000", 0.25)]
    assert results.example_variance[0].truth == "0"


def test_a_column_x_keeps_what_replicates_predict() -> None:
    """With a numeric column x, single replicates, their mean and the truth stand against it, sorted."""
    rows = {**replicates([1.0, 2.0], [[1.0, 2.0], [3.0, 2.0]]), "x": [0.7, 0.2] * 2}
    curves = evaluate(rows, task="regression").replicate_predictions
    by_kind = {(c.curve, c.label): (c.x, c.y) for c in curves}
    assert by_kind["mean", None] == ((0.2, 0.7), (2.0, 2.0))
    assert by_kind["truth", None] == ((0.2, 0.7), (2.0, 1.0))
    assert by_kind["replicate", "2"] == ((0.2, 0.7), (2.0, 3.0))


def test_kohavi_and_wolpert_come_on_request() -> None:
    """Domingos's split is the standing one; the other is added by its option."""
    rows = replicates(["a", "b"], [["a", "a"], ["b", "b"]])
    assert [d.loss for d in evaluate(rows).decomposition] == ["0-1"]
    assert [d.loss for d in evaluate(rows, kohavi_wolpert=True).decomposition] == ["0-1", "kohavi_wolpert"]
    assert evalreport.Options().kohavi_wolpert is False
