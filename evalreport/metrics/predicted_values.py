"""The predictions as charts show them: scores by class, predicted against true values, the trend of the errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np

from evalreport.engine.distributions import f_tail, t_quantile
from evalreport.engine.draws import stream
from evalreport.metrics.sample import Sample
from evalreport.numbers import digits_apart
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.thresholds.records import ScoreHistogramRecord
from evalreport.schema.metrics import ErrorTrendRecord, ResidualRecord

SCORE_BINS, MOST_VALUES, MOST_WHOLE = 20, 40, 400
"""Bins of scores. Up to the third number of whole values has bins between them, up to the second a bin for each."""

OUTSIDE = 0.001
"""Of bare scores, this share at each end may lie beyond the edges."""

MOST_POINTS, MOST_LARGE = 200, 20
"""Examples that are drawn of one model, and how many of them for the size of their errors."""

VALUE_BINS, LEAST_IN_BIN = 10, 5
"""Bins, fewer of few examples so that each holds the second number at least."""

DIGITS = 6
"""Digits of numbers that are only drawn."""

LARGEST_WHOLE = 2.0**50
"""Up to here a double has halves."""

LARGEST = float(np.finfo(np.float64).max)


def score_histograms(sample: Sample) -> tuple[ScoreHistogramRecord, ...]:
    """Count each model's scores by true class, in bins of equal width; empty unless the task is binary."""
    histograms = []
    predictions = sample.predictions
    for model, score, positive, weight, is_probability in _scored(sample):
        scale: Literal["probability", "score"] = "probability" if is_probability else "score"
        edges = np.arange(SCORE_BINS + 1) / SCORE_BINS if is_probability else _edges(score)
        cell = _bins(score, edges) + (len(edges) - 1) * positive
        both = np.bincount(cell, weights=weight, minlength=2 * (len(edges) - 1)).reshape(2, -1)
        for code, name in enumerate(predictions.classes):
            of_positive = code == predictions.positive_code
            counts, members = both[int(of_positive)], positive == of_positive
            histograms.append(
                ScoreHistogramRecord(
                    model=model,
                    true=name,
                    positive=of_positive,
                    scale=scale,
                    edges=tuple(edges.tolist()),
                    counts=tuple(counts.tolist()),
                    n=float(counts.sum()),
                    median=_median(score[members], weight[members]),
                )
            )
    return tuple(histograms)


def _median(score: Floats, weight: Floats) -> float | None:
    """Return the smallest score with half of the weight at or below it; None without weight."""
    if not weight.sum() > 0:
        return None
    order = np.argsort(score, kind="stable")
    below = np.cumsum(weight[order])
    return float(score[order[np.searchsorted(below, below[-1] / 2 * (1 - 1e-12))]])


def _bins(score: Floats, edges: Floats) -> Indices:
    """Return the bin (n,) of each score; scores outside the edges belong to the nearest bin."""
    return np.asarray(np.searchsorted(edges[1:-1], score, side="right"))


def _scored(sample: Sample) -> Iterator[tuple[str, Floats, Mask, Floats, bool]]:
    """Yield each model's scores, which are of positives, their weights, and whether they are probabilities."""
    predictions, true = sample.predictions, sample.predictions.y_true
    if predictions.task != "binary" or predictions.positive is None or true is None:
        return
    for model, bins in {} if predictions.scores is None else predictions.scores.bins.items():
        positive = np.repeat([True, False], len(bins.middle))
        weight = np.concatenate([bins.positives, bins.negatives])
        yield model, np.tile(bins.middle, 2), positive, weight, bins.probability
    for outputs in predictions.models:
        if outputs.score is not None:
            rows = _rows(outputs, len(true))
            # A column of scores ranks even where there are probabilities beside it.
            is_probability = outputs.proba is not None and np.array_equal(
                outputs.score, outputs.proba[:, predictions.positive_code]
            )
            weight, positive = sample.units.base[rows], true[rows] == predictions.positive_code
            yield outputs.name, outputs.score[rows], positive, weight, is_probability


def _rows(outputs: ModelOutputs, n: int) -> Indices:
    return np.arange(n) if outputs.present is None else np.flatnonzero(outputs.present)


def _edges(score: Floats) -> Floats:
    """Return edges of equal width that leave out a few scores at either end, where tails are long.

    Between whole numbers where all scores are whole.
    """
    least, most = float(score.min()), float(score.max())
    values = most - least + 1
    if values <= MOST_WHOLE and max(-least, most) < LARGEST_WHOLE and (score == np.rint(score)).all():
        step = 1 if values <= MOST_VALUES else math.ceil(values / SCORE_BINS)
        return np.arange(math.ceil(values / step) + 1, dtype=np.float64) * step + (least - 0.5)
    low, high = np.quantile(score, [OUTSIDE, 1 - OUTSIDE])
    with np.errstate(over="ignore"):
        width = high - low
    if not width > 0 or not math.isfinite(width):
        low, high = np.min(score), np.max(score)
        # By more than the last digit of a large score.
        apart = max(0.5, 1e-6 * float(np.abs(score).max()))
        low, high = max(low - apart, -LARGEST), min(high + apart, LARGEST)
    # Halves first: the span of scores near the largest double is infinite.
    return np.unique(_rounded(np.linspace(low / 2, high / 2, SCORE_BINS + 1) * 2))


def residuals(sample: Sample, level: float, *, seed: int) -> tuple[ResidualRecord, ...]:
    """Return each model's predicted and true values, thinned, and calibration; empty except for regression."""
    predictions = sample.predictions
    if predictions.task != "regression" or predictions.y_true is None:
        return ()
    records = []
    for outputs in predictions.models:
        if outputs.y_pred is None:
            continue
        rows = _rows(outputs, predictions.n)
        if not len(rows):
            continue
        predicted = outputs.y_pred[rows].astype(np.float64)
        true = predictions.y_true[rows].astype(np.float64)
        order = np.argsort(predicted, kind="stable")
        drawn = _drawn(predicted, true, order)
        weight = sample.units.base[rows]
        bins = [
            _bin(predicted[part], true[part], weight[part], level if sample.units.plain else None)
            for part in _parts(predicted, order)
        ]
        means, truths, lows, highs, counts = (tuple(column) for column in zip(*bins, strict=True))
        records.append(
            ResidualRecord(
                model=outputs.name, predicted=_rounded(predicted[drawn]), true=_rounded(true[drawn]),
                bin_predicted=means, bin_true=truths, bin_low=lows, bin_high=highs,
                bin_count=counts, level=level, n=len(rows),
                trend=error_trend(predicted, true, seed=seed) if sample.units.plain else None,
            )
        )  # fmt: skip
    return tuple(records)


def _drawn(predicted: Floats, true: Floats, order: Indices) -> Indices:
    """Choose the examples that are drawn: evenly along the predictions, and those with the largest errors."""
    if len(order) <= MOST_POINTS:
        return order
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(predicted - true)
    largest = np.argsort(-error, kind="stable")[:MOST_LARGE]
    evenly = order[np.linspace(0, len(order) - 1, MOST_POINTS - MOST_LARGE).round().astype(np.int64)]
    return np.unique(np.concatenate([largest, evenly]))


def _parts(predicted: Floats, order: Indices) -> list[Indices]:
    """Divide the examples into bins of equal size by their prediction; equal predictions stay together."""
    bins = min(VALUE_BINS, max(len(order) // LEAST_IN_BIN, 1))
    cuts = np.linspace(0, len(order), bins + 1)[1:-1].round().astype(np.int64)
    ranked = predicted[order]
    inside = np.unique(np.searchsorted(ranked, ranked[cuts], side="left"))
    return [part for part in np.split(order, inside) if len(part)]


def _bin(
    predicted: Floats, true: Floats, weight: Floats, level: float | None
) -> tuple[float, float, float | None, float | None, float]:
    """Return mean prediction, mean truth, its limits (Student's t of the errors) and the weight of one bin."""
    total = float(weight.sum())
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mean, truth = (
            (float((weight * values).sum() / total) if total else math.nan) for values in (predicted, true)
        )
        n = len(true)
        if level is None or n < LEAST_IN_BIN:
            return mean, truth, None, None, total
        half = t_quantile((1 + level) / 2, n - 1) * float((true - predicted).std(ddof=1)) / math.sqrt(n)
    if not math.isfinite(half):
        return mean, truth, None, None, total
    return mean, truth, truth - half, truth + half, total


def _rounded(values: Floats) -> tuple[float, ...]:
    """Round values (n,) to the digits that tell them apart."""
    listed = values.tolist()
    digits = digits_apart(listed, DIGITS)
    return tuple(float(f"{value:.{digits}g}") for value in listed)


LEAST_ROWS = 60
"""With fewer examples nothing is tested: at 20 a trend is named in 11 % of data sets without one."""

SKEWED = 400
"""Errors whose skewness g is so large that n < 400 g^2 are not tested: their mean is far from normal."""

ALPHA = 0.03
"""A title names a trend from this p-value down: below 0.05, since skewed errors make p-values too small."""

FLIPS, MOST_FLIPPED, BATCH = 499, 10_000, 100
"""Draws of random signs, and the most examples for which signs are drawn; with more, F decides."""

PARTS: tuple[Literal["level"], Literal["slope"], Literal["curvature"]] = ("level", "slope", "curvature")


def error_trend(predicted: Floats, true: Floats, *, seed: int = 0) -> ErrorTrendRecord | None:
    """Fit errors (predicted - true) to 1, z and z^2 - 1, z the standardised prediction, and test the three together.

    Least squares with HC3 errors: V = (X'X)^-1 X' diag(e^2 / (1 - h)^2) X (X'X)^-1, F = b' V^-1 b / 3 on 3 and
    n - 3 degrees of freedom. The level is the mean error, since z and z^2 - 1 have mean 0. F's own p-value is too small
    where few predictions lie far out. So up to 10,000 examples F is also computed of the errors under 499 draws of
    random signs, which is exact for errors that are symmetric around 0 at every prediction, and that p-value decides.

    Parameters
    ----------
    predicted, true
        (n,), of independent examples of equal weight.

    Returns
    -------
    ErrorTrendRecord or None
        None with fewer than 60 examples, or fewer than 400 times the squared skewness of what the fit leaves over; with
        fewer than three different predictions; and where the fit leaves nothing over, or an example alone decides a
        coefficient (h = 1).

    Notes
    -----
    HC3: MacKinnon and White (1985), J Econometrics 29:305. Random signs: Davidson and Flachaire (2008), J Econometrics
    146:162, with the null imposed. How often a trend is named where there is none is in docs/error-trend.csv.
    """
    n = len(predicted)
    if n < LEAST_ROWS:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        unit = float(np.abs(predicted - true).max())
        error = (predicted - true) / unit
        spread = float(predicted.std())
        z = (predicted - predicted.mean()) / spread
    if not (np.isfinite(z).all() and np.isfinite(error).all()):
        return None
    design = np.column_stack([np.ones(n), z, z * z - 1])
    q, r = np.linalg.qr(design)
    if abs(r[2, 2]) <= 1e-9 * math.sqrt(n) or spread <= 1e-12 * float(np.abs(predicted).max()):
        return None
    coefficients = np.linalg.solve(r, q.T @ error)
    rest, free = error - design @ coefficients, 1 - (q * q).sum(axis=1)
    if free.min() <= 1e-9 or np.abs(rest).max() <= 1e-9:
        return None
    if n < SKEWED * float((rest**3).mean() / (rest**2).mean() ** 1.5) ** 2:
        return None
    scores = np.linalg.solve(r, (q * (rest / free)[:, None]).T)
    variance = scores @ scores.T
    errors = np.sqrt(np.diag(variance))
    scaled = variance / np.outer(errors, errors)
    if not errors.min() > 0 or np.linalg.cond(scaled) > 1e12:
        return None
    ratios = coefficients / errors
    statistic = float(ratios @ np.linalg.solve(scaled, ratios)) / 3
    low, high = np.quantile(z, [0.05, 0.95])
    ends = [float(coefficients @ (1.0, at, at * at - 1)) * unit for at in (low, high)]
    p_value = f_tail(statistic, 3, n - 3)
    p_signs = _under_signs(q, free, error, statistic, seed) if n <= MOST_FLIPPED else None
    return ErrorTrendRecord(
        **dict(zip(PARTS, (coefficients * unit).tolist(), strict=True)),
        leads=PARTS[int(np.abs(ratios).argmax())],
        at_low=ends[0], at_high=ends[1],
        statistic=statistic, df2=n - 3, p_value=p_value, p_signs=p_signs,
        shown=(p_value if p_signs is None else p_signs) <= ALPHA,
    )  # fmt: skip


def _under_signs(q: Floats, free: Floats, error: Floats, statistic: float, seed: int) -> float:
    """Return the share of draws of random signs of the errors whose F is at least ``statistic``.

    Parameters
    ----------
    q
        (n, 3), an orthonormal basis of the design, in which F is the same.
    free
        (n,), 1 - h.
    """
    left, right = np.triu_indices(3)
    products = q[:, left] * q[:, right] / (free * free)[:, None]
    at_least = 0
    for block, start in enumerate(range(0, FLIPS, BATCH)):
        generator = stream(seed, "signs of errors", block)
        signs = generator.integers(0, 2, size=(min(BATCH, FLIPS - start), len(error)), dtype=np.int8)
        flipped = (2.0 * signs - 1) * error
        b = flipped @ q
        variance = np.empty((len(b), 3, 3))
        variance[:, left, right] = variance[:, right, left] = (flipped - b @ q.T) ** 2 @ products
        drawn = (b * np.linalg.solve(variance, b[:, :, None])[:, :, 0]).sum(axis=1) / 3
        at_least += int((drawn >= statistic * (1 - 1e-12)).sum())
    return (1 + at_least) / (FLIPS + 1)
