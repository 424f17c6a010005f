"""ROC and precision-recall curves from a model's sorted scores; thinned for drawing, never for computing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.curve_records import CurveRecord
from evalreport.engine.ranks import Order, group_weights

Floats = npt.NDArray[np.float64]

MOST_POINTS = 500


def roc(model: str, order: Order, label: str | None = None) -> CurveRecord:
    """Return the ROC curve: true positive rate against false positive rate at every distinct threshold.

    Examples at or above the threshold are predicted positive; the first point, (0, 0), has no finite threshold.
    """
    positives, negatives = group_weights(np.ones(len(order.group)), order)
    found, wrong = (np.concatenate([[0.0], np.cumsum(part)]) for part in (positives, negatives))
    thresholds = np.concatenate([[np.nan], order.thresholds])
    return _record(model, "roc", label, wrong / wrong[-1], found / found[-1], thresholds)


def precision_recall(model: str, order: Order, label: str | None = None) -> CurveRecord:
    """Return the precision-recall curve; it begins at recall 0 with the precision of the highest threshold."""
    positives, negatives = group_weights(np.ones(len(order.group)), order)
    found, called = np.cumsum(positives), np.cumsum(positives + negatives)
    recall, precision = np.concatenate([[0.0], found / found[-1]]), found / called
    thresholds = np.concatenate([[np.nan], order.thresholds])
    return _record(model, "pr", label, recall, np.concatenate([precision[:1], precision]), thresholds)


def _record(
    model: str, curve: str, label: str | None, x: Floats, y: Floats, thresholds: Floats
) -> CurveRecord:
    kept = visible_points(x, y)
    return CurveRecord(
        model=model,
        curve=curve,
        label=label,
        x=tuple(x[kept].tolist()),
        y=tuple(y[kept].tolist()),
        threshold=tuple(None if np.isnan(t) else float(t) for t in thresholds[kept]),
    )


def visible_points(x: Floats, y: Floats, most: int = MOST_POINTS) -> npt.NDArray[np.int64]:
    """Return the indices of at most ``most`` points whose polyline looks like the whole.

    Corners are kept and points on straight runs dropped; if too many are left, points are spread evenly along
    the way from the first to the last.
    """
    keep = np.ones(len(x), dtype=bool)
    dx, dy = np.diff(x), np.diff(y)
    keep[1:-1] = np.abs(dx[:-1] * dy[1:] - dy[:-1] * dx[1:]) > 1e-15
    corners = np.flatnonzero(keep)
    if len(corners) <= most:
        return corners
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x[corners])) + np.abs(np.diff(y[corners])))])
    stops = np.searchsorted(way, np.linspace(0, way[-1], most), side="left")
    return np.asarray(corners[np.unique(np.minimum(stops, len(corners) - 1))])
