"""The registry of curves: a curve is one documented function of the counts at each threshold, or of forecasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.curve_records import CurveRecord
from evalreport.keys import Task
from evalreport.metrics.curves.ladder import visible_points
from evalreport.registry import Registry, summary_of

Floats = npt.NDArray[np.float64]
Needs = Literal["scores", "probabilities"]

MOST_POINTS = 500
"""No curve in the results has more points; what is drawn beside the main curves has at most 200."""


@dataclass(frozen=True, slots=True)
class Points:
    """A curve as computed, every point of it.

    Attributes
    ----------
    x, y
        (m,) coordinates.
    threshold
        (m,) the score at and above which an example counts; nan where none does; None where x says it.
    count, successes
        (m,) weight behind each point, and how much of it y is the share of; None elsewhere.
    """

    x: Floats
    y: Floats
    threshold: Floats | None = None
    count: Floats | None = None
    successes: Floats | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A registered curve.

    Attributes
    ----------
    name, label, summary
        The name in results.json, the report's words, the first sentence of the function's docstring.
    x, y
        What the axes say.
    needs
        ``scores``: a function of a ``Ladder``; ``probabilities``: of ``Forecasts``.
    tasks
        Where it is computed; of several classes those of scores are of each class against the rest.
    most
        Points at most in the results.
    front
        True where the points stand for themselves, so that none is dropped for lying on a straight line.
    """

    name: str
    label: str
    summary: str
    x: str
    y: str
    needs: Needs
    function: Callable[[Any], Points | None]
    tasks: tuple[Task, ...] = ("binary",)
    most: int = 200
    front: bool = False
    source: str = ""


CURVES: Registry[Curve] = Registry("curve")


def curve(
    label: str, *, x: str, y: str, needs: Needs = "scores", name: str | None = None, **fields: Any
) -> Callable[[Callable[[Any], Points | None]], Callable[[Any], Points | None]]:
    """Register a function of a ``Ladder`` or of ``Forecasts``; its name is the function's unless one is given."""

    def _decorate(function: Callable[[Any], Points | None]) -> Callable[[Any], Points | None]:
        entry = Curve(
            name=name or function.__name__,
            label=label,
            summary=summary_of(function),
            x=x,
            y=y,
            needs=needs,
            function=function,
            **fields,
        )
        CURVES.add(entry)
        return function

    return _decorate


def record_of(entry: Curve, points: Points, *, model: str, label: str | None = None) -> CurveRecord:
    """Return the record of a curve, thinned without visible change; what has counts keeps every point."""
    m = len(points.x)
    if entry.front and m > entry.most:
        kept = np.unique(np.linspace(0, m - 1, entry.most).round().astype(np.int64))
    elif entry.front or points.count is not None:
        kept = np.arange(m)
    else:
        kept = visible_points(points.x, points.y, entry.most)
    threshold = None
    if points.threshold is not None:
        threshold = tuple(None if np.isnan(t) else float(t) for t in points.threshold[kept])
    return CurveRecord(
        model=model,
        curve=entry.name,
        label=label,
        x=tuple(points.x[kept].tolist()),
        y=tuple(points.y[kept].tolist()),
        threshold=threshold,
        count=None if points.count is None else tuple(points.count[kept].tolist()),
    )
