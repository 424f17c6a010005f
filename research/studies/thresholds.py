"""How often bands and the intervals of chosen thresholds hold.

Scores of both classes are normal with variance 1, so every true rate at every threshold is a closed form.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from evalreport.engine.counts import Counts
from evalreport.engine.ranks import descending_order
from evalreport.metrics.operating_points import USUAL_RATES, Criterion, criteria, curve_replicates
from evalreport.metrics.threshold_counts import count_thresholds
from evalreport.questions.thresholds.operating_points import RECHOSEN, band, operating_points
from evalreport.questions.thresholds.records import OperatingPointRecord
from evalreport.samplings import sampling_by
from research.studies.harness import Run

LEVEL = 0.95
RESAMPLES = 1000
COST_RATIO = 5.0


@dataclass(frozen=True, slots=True)
class Design:
    """How many of each class, and how far apart their means are."""

    positives: int
    negatives: int
    shift: float


DESIGNS = (Design(20, 80, 1.5), Design(100, 100, 1.5), Design(50, 950, 2.0), Design(500, 500, 1.5))


def study(design: Design, sets: int) -> dict[str, float]:
    """Return the share of data sets in which each kind of limits holds the truth."""
    chosen_by = criteria((), COST_RATIO)
    units = sampling_by(design.positives + design.negatives)
    held: dict[str, list[bool]] = defaultdict(list)
    truth = np.repeat([True, False], [design.positives, design.negatives])
    for seed in range(sets):
        scores = np.random.default_rng(seed).normal(size=len(truth)) + design.shift * truth
        one = count_thresholds(descending_order(scores, truth), model="m")
        (tally,) = curve_replicates([one], units, chosen_by, n_resamples=RESAMPLES, seed=seed)
        limits = band(tally, units, LEVEL)
        assert limits is not None
        for fpr in USUAL_RATES.alarms:
            low, high = (float(np.interp(fpr, tally.grid, side)) for side in limits)
            held[f"band at FPR {fpr}"].append(low <= norm.sf(norm.isf(fpr) - design.shift) <= high)
        for point in operating_points(tally, chosen_by, units, level=LEVEL, cost_ratio=COST_RATIO):
            if point.method == RECHOSEN and point.low is not None and point.high is not None:
                true = on_fresh_examples(point, chosen_by, design)
                held[f"{point.criterion} {point.metric}"].append(point.low <= true <= point.high)
    return {name: float(np.mean(outcomes)) for name, outcomes in held.items()}


def on_fresh_examples(point: OperatingPointRecord, chosen_by: tuple[Criterion, ...], design: Design) -> float:
    """Return what the chosen threshold gives in the population."""
    (criterion,) = (c for c in chosen_by if (c.name, c.metric) == (point.criterion, point.metric))
    threshold = math.inf if point.threshold is None else point.threshold
    tp = design.positives * norm.sf(threshold - design.shift)
    fp = design.negatives * norm.sf(threshold)
    counts = (np.array([n]) for n in (tp, fp, design.positives - tp, design.negatives - fp))
    return float(criterion.value(Counts(*counts))[0])


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/thresholds.csv."""
    for design in DESIGNS:
        for name, share in study(design, run.replications).items():
            classes = f"{design.positives} positives, {design.negatives} negatives, {design.shift:g} apart"
            yield {"classes": classes, "limits": name, "held": f"{share:.4f}", "sets": run.replications}
