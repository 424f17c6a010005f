"""Bias and variance of every model from its bootstrap replicates: records of the means, and of single examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from evalreport.engine.distributions import Array
from evalreport.engine.draws import bootstrap_rows
from evalreport.numbers import number
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask, required
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.algorithms.records import SQUARES_OF, DecompositionRecord, ExampleVarianceRecord
from evalreport.questions.algorithms.replicates import Replicates, clusters_of, replicates_of, spread_of
from evalreport.questions.algorithms.two_ways import Limits, moments, of_bias, over_both
from evalreport.questions.thresholds.records import CurveRecord

Codes = Array
Splits = Callable[[Floats, Codes], "Split"]

POSITIVE = (0.0, math.inf)

MOST_AT_ONCE = 4_000_000
"""Numbers held at once while replicates are drawn again."""


@dataclass(frozen=True, slots=True)
class Split:
    """The decomposition of each example's expected loss, (n,) each.

    Attributes
    ----------
    expected_loss, bias, variance
        Squared loss: bias is (y - mean)^2, variance has divisor K, and expected_loss = bias + variance. 0-1: bias is
        [mode is wrong], variance the share that is not the mode.
    unbiased
        Squared loss and Kohavi-Wolpert: the variance with divisor K - 1 (nan for one prediction). 0-1: the variance
        of the examples whose mode is right.
    biased
        0-1: the share that is right where the mode is wrong; expected_loss = bias + unbiased - biased. Else None.
    main
        The mean prediction (n,) or (n, C), or the code of the mode.
    count
        K[i].
    """

    expected_loss: Floats
    bias: Floats
    variance: Floats
    unbiased: Floats
    biased: Floats | None
    main: Array
    count: Indices

    @property
    def bias_unbiased(self) -> Floats | None:
        """The bias without the share of the variance that K predictions leave in their mean: bias - unbiased / K.

        ``bias`` has the expectation bias^2 + variance / K; this one bias^2 for every K, so it may be negative. It
        and ``unbiased`` sum to the expected loss exactly. nan for one prediction; None for Domingos's split, whose
        mode has no unbiased estimate.
        """
        return None if self.biased is not None else self.bias - self.unbiased / self.count


def squared(predicted: Floats, given: Mask, truth: Floats) -> Split:
    """Split squared loss: mean (h - y)^2 = (y - mean h)^2 + mean (h - mean h)^2.

    The bias holds the noise of the truth: (y - mean h)^2 estimates bias^2 + noise.

    Parameters
    ----------
    predicted, given
        (K, n), or (K, n, C) for probabilities of C classes, whose squares are added; and which (K, n) there are.
    truth
        (n,) or (n, C). Every example has at least one prediction.

    References
    ----------
    Geman, Bienenstock and Doursat (1992), Neural Comput 4:1.

    Examples
    --------
    Predictions 1 and 3 of a truth of 5: loss (16 + 4) / 2, bias (5 - 2)^2, variance 1 (with divisor K - 1: 2).

    >>> found = squared(np.array([[1.0], [3.0]]), np.ones((2, 1), bool), np.array([5.0]))
    >>> [float(part[0]) for part in (found.expected_loss, found.bias, found.variance, found.unbiased)]
    [10.0, 9.0, 1.0, 2.0]
    """
    if predicted.ndim == 2:
        predicted, truth = predicted[:, :, None], truth[:, None]
    count = given.sum(axis=0)
    # About the truth, and left out where there is no prediction.
    errors = np.where(given[:, :, None], predicted - truth, 0.0)
    mean = errors.sum(axis=0) / count[:, None]
    deviations = np.where(given[:, :, None], errors - mean, 0.0)
    variance = (deviations**2).sum(axis=(0, 2)) / count
    bias = (mean**2).sum(axis=1)
    unbiased = np.where(count > 1, variance * count / np.maximum(count - 1, 1), np.nan)
    main = (mean + truth)[:, 0] if truth.shape[1] == 1 else mean + truth
    return Split(bias + variance, bias, variance, unbiased, None, main, count)


def zero_one(counts: Floats, truth: Codes) -> Split:
    """Split 0-1 loss after Domingos (2000), for any number of classes.

    The main prediction is the mode, ties to the class first in order. On an unbiased example variance adds errors; on
    a biased one it takes some away, with more than two classes only where it strays to the right class.

    Parameters
    ----------
    counts
        (n, C) how many replicates predicted each class.
    truth
        (n,) codes.

    Examples
    --------
    Three of four replicates are right; then one of four, with the other three on the same wrong class:

    >>> found = zero_one(np.array([[3.0, 1.0], [3.0, 1.0]]), np.array([0, 1]))
    >>> found.bias.tolist(), found.unbiased.tolist(), found.biased.tolist(), found.expected_loss.tolist()
    ([0.0, 1.0], [0.25, 0.0], [0.0, 0.25], [0.25, 0.75])
    """
    count = counts.sum(axis=1)
    shares = counts / count[:, None]
    mode = counts.argmax(axis=1)
    right = np.take_along_axis(shares, truth[:, None].astype(np.intp), axis=1)[:, 0]
    variance = 1.0 - shares.max(axis=1)
    bias = np.asarray(mode != truth, dtype=np.float64)
    unbiased, biased = np.where(bias == 0, variance, 0.0), np.where(bias == 1, right, 0.0)
    return Split(bias + unbiased - biased, bias, variance, unbiased, biased, mode, count.astype(np.int64))


def kohavi_wolpert(counts: Floats, truth: Codes) -> Split:
    """Split 0-1 loss after Kohavi and Wolpert (1996), with no noise: mean P(h is wrong) = bias^2 + variance.

    bias^2 = 1/2 sum_c ([y = c] - P_c)^2, variance = 1/2 (1 - sum_c P_c^2), P_c the share of class c. K replicates'
    shares overstate bias^2 by 1/2 sum_c P_c (1 - P_c) / (K - 1) and understate the variance by as much.

    Parameters
    ----------
    counts, truth
        As for ``zero_one``.

    Examples
    --------
    >>> found = kohavi_wolpert(np.array([[3.0, 1.0]]), np.array([0]))
    >>> float(found.bias[0]), float(found.variance[0]), float(found.expected_loss[0])
    (0.0625, 0.1875, 0.25)
    """
    count = counts.sum(axis=1)
    shares = counts / count[:, None]
    target = np.arange(counts.shape[1]) == truth[:, None]
    bias = 0.5 * ((target - shares) ** 2).sum(axis=1)
    variance = 0.5 * (1.0 - (shares**2).sum(axis=1))
    unbiased = np.where(count > 1, variance * count / np.maximum(count - 1, 1), np.nan)
    main = counts.argmax(axis=1)
    return Split(bias + variance, bias, variance, unbiased, None, main, count.astype(np.int64))


def label_counts(codes: Codes, given: Mask, n_classes: int) -> Floats:
    """Count how many replicates predicted each class of each example: (K, n) codes to (n, C)."""
    n = codes.shape[1]
    replicate, example = np.nonzero(given)
    cell = example * n_classes + codes[replicate, example]
    return np.bincount(cell, minlength=n * n_classes).reshape(n, n_classes).astype(np.float64)


# --- how far the means move with other replicates ---------------------------------------------------------------------


def redrawn_squared(predicted: Floats, given: Mask, truth: Floats, weights: Floats) -> Floats:
    """Return (B, 3) mean expected loss, bias and variance under weights (B, K) of the replicates."""
    if predicted.ndim == 2:
        predicted, truth = predicted[:, :, None], truth[:, None]
    totals = np.zeros((len(weights), 3))
    drawn = np.zeros(len(weights))
    for some in _chunks(given.shape[1], len(weights) * truth.shape[1]):
        mask = given[:, some].astype(np.float64)
        count = weights @ mask
        known = np.maximum(count, 1)
        loss, bias = np.zeros_like(count), np.zeros_like(count)
        for c in range(truth.shape[1]):
            errors = np.where(given[:, some], predicted[:, some, c] - truth[some, c], 0.0)
            loss += (weights @ errors**2) / known
            bias += ((weights @ errors) / known) ** 2
        totals += np.stack([part.sum(axis=1) for part in (loss, bias, loss - bias)], axis=1)
        drawn += (count > 0).sum(axis=1)
    return np.asarray(totals / np.maximum(drawn, 1)[:, None])


def redrawn_zero_one(
    codes: Codes, given: Mask, truth: Codes, weights: Floats, n_classes: int, split: Splits = zero_one
) -> Floats:
    """Return (B, 3) as ``redrawn_squared`` does, by a split of 0-1 loss."""
    totals = np.zeros((len(weights), 3))
    drawn = np.zeros(len(weights))
    for some in _chunks(given.shape[1], len(weights) * n_classes):
        by_class = np.stack(
            [weights @ (given[:, some] & (codes[:, some] == c)).astype(np.float64) for c in range(n_classes)],
            axis=2,
        )
        held = by_class.sum(axis=2) > 0
        for b in range(len(weights)):
            parts = split(by_class[b, held[b]], truth[some][held[b]])
            totals[b] += [parts.expected_loss.sum(), parts.bias.sum(), parts.variance.sum()]
        drawn += held.sum(axis=1)
    return np.asarray(totals / np.maximum(drawn, 1)[:, None])


def _chunks(n: int, width: int) -> Iterator[slice]:
    size = max(1, MOST_AT_ONCE // max(width, 1))
    for start in range(0, n, size):
        yield slice(start, start + size)


@dataclass(frozen=True, slots=True)
class Decomposed:
    """One model's split under one loss, its values (B, 3) with resampled replicates, and the noise if it is known.

    ``losses`` (K, n) of single predictions, and of squared losses ``squares`` (K, n) of their distances from the mean;
    ``shared`` is then the variance of the mean error over the replicates, as far as it is theirs.
    """

    loss: str
    split: Split
    redrawn: Floats
    noise: float | None
    losses: Floats
    squares: Floats | None = None
    shared: float = 0.0


def out_of_the_bag(replicates: Replicates | None) -> Replicates | None:
    """Leave out examples that every sample holds; None with fewer than two replicates, or where none is left."""
    if replicates is None:
        return None
    some = np.asarray(replicates.out.any(axis=0))
    return replicates.of(some) if replicates.count >= 2 and some.any() else None


REDRAWN = 200
"""How often the replicates are drawn again for the Monte Carlo error."""
MOST_VARIABLE = 12
"""Examples listed for each model."""
MOST_DRAWN = 20
"""Single replicates whose predictions are kept for a drawing."""
MOST_POINTS = 500
"""Points of such a curve."""


def decomposition_records(
    whole: Predictions, options: Options
) -> tuple[tuple[DecompositionRecord, ...], tuple[ExampleVarianceRecord, ...]]:
    """Split every model's expected loss under each loss that its outputs allow.

    Parameters
    ----------
    whole
        The table with its replicates; rows in the bag are left out here.

    Returns
    -------
    records, examples
        One record a model and loss; and each model's most variable examples. Both empty without replicates, and
        where examples weigh differently.
    """
    some = out_of_the_bag(replicates_of(whole))
    if some is None or whole.y_true is None or options.weight is not None:
        return (), ()
    records: list[DecompositionRecord] = []
    examples: list[ExampleVarianceRecord] = []
    cluster = clusters_of(whole, some.first, options)
    at = own_complexity(whole)
    for model in whole.models:
        found = [
            one
            for one in _decomposed(whole, model, some, options)
            if np.isfinite(one.split.expected_loss).all()
        ]
        records += [
            replace(_record(model.name, one, some, cluster, options), complexity=at.get(model.name))
            for one in found
        ]
        if found:
            examples += _most_variable(whole, model.name, found[0], some)
    return tuple(records), tuple(examples)


def _decomposed(
    whole: Predictions, model: ModelOutputs, some: Replicates, options: Options
) -> Iterator[Decomposed]:
    """Yield the model's splits, the one that the report leads with first."""
    truth, given = required(whole.y_true)[some.first], some.out
    weights = np.concatenate(list(bootstrap_rows(some.count, REDRAWN, seed=options.seed)))
    if not whole.classes:
        if model.y_pred is None:
            return
        values = np.asarray(model.y_pred, dtype=np.float64)[some.rows]
        yield of_squares("squared", values, given, truth, weights, options.noise)
        return
    if model.y_pred is not None:
        codes, size = np.asarray(model.y_pred)[some.rows], len(whole.answers)
        counts = label_counts(codes, given, size)
        wrong = np.asarray(codes != truth, dtype=np.float64)
        splits = {"0-1": zero_one} | ({"kohavi_wolpert": kohavi_wolpert} if options.kohavi_wolpert else {})
        for loss, split in splits.items():
            again = redrawn_zero_one(codes, given, truth, weights, size, split)
            yield Decomposed(loss, split(counts, truth), again, None, wrong)
    if model.proba is not None:
        p, target = _targets(whole, model.proba, truth)
        yield of_squares("brier", p[some.rows], given, target, weights, None)


def of_squares(
    loss: str, predicted: Floats, given: Mask, truth: Floats, weights: Floats, noise: float | None
) -> Decomposed:
    """Split squared losses of numbers (K, n) or probabilities (K, n, C)."""
    split = squared(predicted, given, truth)
    errors, distances = (predicted - truth), (predicted - split.main)
    if predicted.ndim == 2:
        errors, distances = errors[:, :, None], distances[:, :, None]
    losses, squares = (errors**2).sum(axis=2), (distances**2).sum(axis=2)
    shared = max(moments(errors[:, :, c], given)[1].term.variance for c in range(errors.shape[2]))
    again = redrawn_squared(predicted, given, truth, weights)
    return Decomposed(loss, split, again, noise, losses, squares, shared)


def _targets(whole: Predictions, proba: Floats, truth: Array) -> tuple[Floats, Floats]:
    """Return the probabilities and their targets as in the Brier score: of two classes the positive one."""
    if whole.task == "binary" and whole.positive is not None:
        code = whole.positive_code
        return proba[:, code], np.asarray(truth == code, dtype=np.float64)
    return proba, np.asarray(np.arange(proba.shape[1]) == truth[:, None], dtype=np.float64)


def _record(
    model: str, one: Decomposed, some: Replicates, cluster: Indices | None, options: Options
) -> DecompositionRecord:
    split, level, given, noise = one.split, options.confidence, some.out, one.noise or 0.0
    loss_error, bias_error, variance_error = (float(part.std(ddof=1)) for part in one.redrawn.T)
    known = split.bias_unbiased if split.bias_unbiased is not None else np.full(len(split.bias), np.nan)
    mean_unbiased, aggregated = _mean(known), float(split.bias.mean())
    loss = over_both(one.losses, given, cluster, level, POSITIVE)
    bias, unbiased = (
        of_bias(spread_of(part, cluster), bias_error, one.shared, len(given), level)
        for part in (split.bias, known)
    )
    if one.squares is None:
        variance = of_bias(spread_of(split.variance, cluster), variance_error, 0.0, len(given), level)
    else:
        variance = of_variance(one.squares, given, cluster, level)
    return DecompositionRecord(
        model=model,
        loss=one.loss,
        expected_loss=float(split.expected_loss.mean()),
        bias=aggregated - noise,
        bias_unbiased=_less(mean_unbiased, noise),
        bias_unbiased_low=_less(unbiased[0], noise),
        bias_unbiased_high=_less(unbiased[1], noise),
        n_unbiased=None if mean_unbiased is None else int((split.count > 1).sum()),
        variance=float(split.variance.mean()),
        variance_unbiased=_mean(split.unbiased),
        variance_biased=None if split.biased is None else float(split.biased.mean()),
        noise=one.noise,
        n_replicates=len(given),
        low=loss[0],
        high=loss[1],
        n=len(split.bias),
        # Kohavi and Wolpert's bias is no loss of a single prediction.
        aggregated_loss=None if one.loss == "kohavi_wolpert" else aggregated,
        bias_low=_less(_not_negative(bias[0]), noise),
        bias_high=_less(bias[1], noise),
        variance_low=_not_negative(variance[0]),
        variance_high=variance[1],
        expected_loss_monte_carlo=loss_error,
        bias_monte_carlo=bias_error,
        variance_monte_carlo=variance_error,
    )


def of_variance(squares: Floats, given: Mask, cluster: Indices | None, level: float) -> Limits:
    """Return limits of the variance: the upper one with divisor K - 1, so that both divisors' values lie between them.

    Parameters
    ----------
    squares
        (K, n) squared distances from each example's mean prediction.
    """
    count = given.sum(axis=0)
    unbiased = squares * (count / np.maximum(count - 1, 1))
    return over_both(squares, given, cluster, level, POSITIVE)[0], over_both(
        unbiased, given, cluster, level, POSITIVE
    )[1]


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def _not_negative(limit: float | None) -> float | None:
    return None if limit is None else max(limit, 0.0)


def _less(limit: float | None, noise: float) -> float | None:
    return None if limit is None else limit - noise


def _most_variable(
    whole: Predictions, model: str, one: Decomposed, some: Replicates
) -> Iterator[ExampleVarianceRecord]:
    split = one.split
    of_probabilities = SQUARES_OF.get(one.loss) == "probabilities"
    order = np.argsort(-split.variance, kind="stable")[:MOST_VARIABLE]
    for i in order:
        if split.variance[i] <= 0:
            return
        truth, main = required(whole.y_true)[some.first[i]], split.main[i]
        yield ExampleVarianceRecord(
            model=model,
            id=str(whole.ids[int(some.examples[i])]),
            loss=one.loss,
            truth=_shown(whole, truth),
            main_prediction=_probability(main, truth) if of_probabilities else _shown(whole, main),
            expected_loss=float(split.expected_loss[i]),
            bias=float(split.bias[i]),
            variance=float(split.variance[i]),
            n_replicates=int(split.count[i]),
        )


def _shown(whole: Predictions, value: float) -> str:
    if whole.classes:
        return whole.classes[int(value)]
    text = number(float(value), 4)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _probability(main: Array, truth: float) -> str:
    """Format the mean probability: of the positive class, or of several classes that of the true one."""
    return number(float(main if np.ndim(main) == 0 else main[int(truth)]), 3)


def own_complexity(predictions: Predictions) -> dict[str, float]:
    """Return the complexity of each model that has a single one in the files."""
    complexity = {}
    for model in predictions.models:
        column = model.columns.get("complexity") or predictions.keys.get("complexity")
        if column is not None and column.categories is None:
            values = np.unique(column.values[~np.isnan(column.values)])
            if len(values) == 1:
                complexity[model.name] = float(values[0])
    return complexity


# --- inputs of one dimension ------------------------------------------------------------------------------------------


def replicate_curves(whole: Predictions) -> tuple[CurveRecord, ...]:
    """Return what single replicates predict against a numeric column ``x``, with their mean and the truth.

    Returns
    -------
    tuple of CurveRecord
        ``curve`` is replicate (``label`` its name), mean or truth, points sorted by x; of regression only, and empty
        where there is no column ``x``.
    """
    replicates, x = replicates_of(whole), whole.metadata.get("x")
    some = out_of_the_bag(replicates)
    if some is None or replicates is None or x is None or x.categories is not None or whole.classes:
        return ()
    at, given = np.asarray(x.values, dtype=np.float64)[some.first], some.out
    kept = np.flatnonzero(~np.isnan(at))
    order = kept[np.argsort(at[kept], kind="stable")]
    order = order[:: -(-len(order) // MOST_POINTS) or 1]
    names = whole.keys["replicate"].categories or ()
    curves: list[CurveRecord] = []
    for model in whole.models:
        if model.y_pred is None:
            continue
        values = np.where(given, np.asarray(model.y_pred, dtype=np.float64)[some.rows], np.nan)
        for k in range(min(len(values), MOST_DRAWN)):
            label = names[int(whole.keys["replicate"].values[replicates.rows[k].max()])]
            curves.append(_curve(model.name, "replicate", label, at[order], values[k, order]))
        count = given.sum(axis=0)
        mean = np.where(given, values, 0.0).sum(axis=0) / count
        curves.append(_curve(model.name, "mean", None, at[order], mean[order]))
        curves.append(_curve(model.name, "truth", None, at[order], required(whole.y_true)[some.first][order]))
    return tuple(curves)


def _curve(model: str, kind: str, label: str | None, x: Floats, y: Floats) -> CurveRecord:
    given = ~np.isnan(y)
    return CurveRecord(
        model=model,
        curve=kind,
        label=label,
        x=tuple(float(v) for v in x[given]),
        y=tuple(float(v) for v in y[given]),
    )
