"""From samples to how predictions are distributed, for charts: scores by class, true against predicted values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.config import Options
from evalreport.curve_records import ResidualRecord, ScoreHistogramRecord
from evalreport.data.predictions import ModelOutputs
from evalreport.engine.distributions import t_quantile
from evalreport.metrics.sample import Sample
from evalreport.numbers import digits_apart

Floats = npt.NDArray[np.float64]

SCORE_BINS = 20
OUTSIDE = 0.001
"""Of bare scores, this share at each end may lie beyond the edges."""

MOST_POINTS, MOST_LARGE = 200, 20
"""Examples that are drawn of one model, and how many of them for the size of their errors."""

VALUE_BINS, LEAST_IN_BIN = 10, 5
"""Bins, fewer of few examples so that each holds the second number at least."""

DIGITS = 6
"""Digits of what is only drawn."""

LARGEST = float(np.finfo(np.float64).max)


def distribution_fields(samples: Sequence[Sample], options: Options) -> dict[str, Any]:
    """Return the fields of the results about how predictions are distributed, by name."""
    return {
        "score_histograms": tuple(record for sample in samples for record in score_histograms(sample)),
        "residuals": tuple(record for s in samples for record in residuals(s, options.confidence)),
    }


# --- scores by class --------------------------------------------------------------------------------------------------


def score_histograms(sample: Sample) -> tuple[ScoreHistogramRecord, ...]:
    """Count each model's scores by true class, in bins of equal width; nothing but for a binary task."""
    predictions = sample.predictions
    true = predictions.y_true
    if predictions.task != "binary" or predictions.positive is None or true is None:
        return ()
    found = []
    for outputs in predictions.models:
        if outputs.score is None:
            continue
        rows = _rows(outputs, len(true))
        score, weight = outputs.score[rows], sample.units.base[rows]
        scale: Literal["probability", "score"] = "score"
        # A column of scores ranks even where there are probabilities beside it.
        if outputs.proba is not None and np.array_equal(
            outputs.score, outputs.proba[:, predictions.positive_code]
        ):
            scale = "probability"
        edges = np.arange(SCORE_BINS + 1) / SCORE_BINS if scale == "probability" else _edges(score)
        place = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
        for code, name in enumerate(predictions.classes):
            own = true[rows] == code
            counts = np.bincount(place[own], weights=weight[own], minlength=len(edges) - 1)
            found.append(
                ScoreHistogramRecord(
                    outputs.name, name, code == predictions.positive_code, scale, tuple(edges.tolist()),
                    tuple(counts.tolist()), float(counts.sum()),
                )
            )  # fmt: skip
    return tuple(found)


def _rows(outputs: ModelOutputs, n: int) -> npt.NDArray[np.int64]:
    return np.arange(n) if outputs.present is None else np.flatnonzero(outputs.present)


def _edges(score: Floats) -> Floats:
    """Return edges of equal width that leave out a few scores at either end, where tails are long."""
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


# --- true against predicted values ------------------------------------------------------------------------------------


def residuals(sample: Sample, level: float) -> tuple[ResidualRecord, ...]:
    """Return each model's predicted and true values, thinned, and its calibration; nothing but for regression."""
    predictions = sample.predictions
    if predictions.task != "regression" or predictions.y_true is None:
        return ()
    found = []
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
        found.append(
            ResidualRecord(
                outputs.name, _rounded(predicted[drawn]), _rounded(true[drawn]), means, truths, lows, highs,
                counts, level, len(rows),
            )
        )  # fmt: skip
    return tuple(found)


def _drawn(predicted: Floats, true: Floats, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Choose the examples that are drawn: evenly along the predictions, and those with the largest errors."""
    if len(order) <= MOST_POINTS:
        return order
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(predicted - true)
    largest = np.argsort(-error, kind="stable")[:MOST_LARGE]
    evenly = order[np.linspace(0, len(order) - 1, MOST_POINTS - MOST_LARGE).round().astype(np.int64)]
    return np.unique(np.concatenate([largest, evenly]))


def _parts(predicted: Floats, order: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
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
