"""How often bands and the intervals of chosen thresholds hold; docs/thresholds.csv.

Scores of both classes are normal with variance 1, so every true rate at every threshold is a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from evalreport.engine.counts import Counts
from evalreport.engine.ranks import descending_order
from evalreport.metrics.threshold_counts import count_thresholds
from evalreport.questions.thresholds.operating_points import (
    RECHOSEN,
    USUAL_RATES,
    Criterion,
    band,
    criteria,
    curve_replicates,
    operating_points,
)
from evalreport.questions.thresholds.records import OperatingPointRecord
from evalreport.samplings import sampling_by
from research.studies.harness import Cell
from research.studies.simulation import LEVEL
from research.studies.tally import Tally, one

RESAMPLES = 400
COST_RATIO = 5.0


@dataclass(frozen=True)
class Design(Cell):
    """Examples, the share of positives that is drawn, and how far apart the classes' means are."""

    n: int
    prevalence: float
    shift: float


CELLS = tuple(
    Design(
        f"{n} examples, {100 * share:g} % positive, {shift:g} apart",
        n,
        share,
        shift,
        stream=(n, round(1000 * share)),
    )
    for n, share, shift in (
        *((60, 0.5, 1.5), (100, 0.2, 1.5), (200, 0.5, 0.7)),
        *((200, 0.5, 1.5), (1000, 0.05, 2.0), (1000, 0.5, 1.5)),
    )
)


def counted(design: Design, generator: np.random.Generator, number: int) -> Mapping[str, Tally]:
    """Say of one data set whether each kind of limits holds the truth."""
    chosen_by, units = criteria((), COST_RATIO), sampling_by(design.n)
    truth = generator.random(design.n) < design.prevalence
    scores = generator.normal(size=design.n) + design.shift * truth
    ranking = count_thresholds(descending_order(scores, truth), model="m")
    (drawn,) = curve_replicates([ranking], units, chosen_by, n_resamples=RESAMPLES, seed=number)
    limits = band(drawn, units, LEVEL)
    if limits is None:
        return {}
    tallies = {}
    for fpr in USUAL_RATES.alarms:
        low, high = (float(np.interp(fpr, drawn.grid, side)) for side in limits)
        tallies[f"band at FPR {fpr}"] = one(float(norm.sf(norm.isf(fpr) - design.shift)), low, high)
    for point in operating_points(drawn, chosen_by, units, limits, level=LEVEL, cost_ratio=COST_RATIO):
        if point.method == RECHOSEN and point.low is not None and point.high is not None:
            true = on_fresh_examples(point, chosen_by, design)
            tallies[f"{point.criterion} {point.metric}"] = one(true, point.low, point.high)
    return tallies


def on_fresh_examples(point: OperatingPointRecord, chosen_by: tuple[Criterion, ...], design: Design) -> float:
    """Return what the chosen threshold gives in the population."""
    (criterion,) = (c for c in chosen_by if (c.name, c.metric) == (point.criterion, point.metric))
    threshold = math.inf if point.threshold is None else point.threshold
    positive = design.prevalence
    tp, fp = positive * norm.sf(threshold - design.shift), (1 - positive) * norm.sf(threshold)
    counts = (np.array([share]) for share in (tp, fp, positive - tp, 1 - positive - fp))
    return float(criterion.value(Counts(*counts))[0])
