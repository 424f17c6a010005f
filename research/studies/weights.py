"""How often intervals hold under weights, of single examples and of weighted clusters; docs/weights.csv.

Run by ``make study-weights``, some minutes on one core. Each data set is drawn by numpy, its derivatives are closed
forms, and the package's own functions choose and give the limits. Weights are log-normal and say nothing of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from evalreport.intervals import limits, recommended
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Floats, Indices
from evalreport.samplings import Influence, Sampling, sampling_by
from research.studies.harness import Run
from research.studies.tally import Tally, one

LEVEL = 0.95
CORRELATION = 0.2
"""Of the normal variables of two examples of a cluster."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Units, examples of each, and the spread of the logarithm of the weights."""

    name: str
    units: int
    spread: float
    sizes: Callable[[int], Indices] | None = None

    @property
    def cluster(self) -> Indices | None:
        """The code of each example's cluster."""
        return None if self.sizes is None else np.repeat(np.arange(self.units), self.sizes(self.units))


def households(units: int) -> Indices:
    """Return one to six examples, in turn."""
    return np.resize(np.arange(1, 7), units)


def unequal(units: int) -> Indices:
    """Return 3 to 60 examples."""
    return np.round(np.geomspace(3, 60, units)).astype(np.int64)


STRUCTURES = (
    Structure("200 examples, log-sd 1", 200, 1.0),
    Structure("200 examples, log-sd 0.5", 200, 0.5),
    Structure("1,000 examples, log-sd 1", 1000, 1.0),
    Structure("40 households, log-sd 1", 40, 1.0, households),
    Structure("40 households, log-sd 0.5", 40, 0.5, households),
    Structure("100 households, log-sd 1", 100, 1.0, households),
    Structure("20 clusters of 3 to 60, log-sd 0.5", 20, 0.5, unequal),
    Structure("40 clusters of 3 to 60, log-sd 0.7", 40, 0.7, unequal),
)
AREAS = ((0.5, 0.75), (0.4, 0.9), (0.15, 0.85))
"""Prevalence and area under the ROC curve."""

Slopes = tuple[float, Floats]
"""A value and its derivatives by an example's weight."""


def mean_of(losses: Floats, weight: Floats) -> Slopes:
    """Return a weighted mean."""
    mean = float(weight @ losses / weight.sum())
    return mean, (losses - mean) / weight.sum()


def area_of(score: Floats, positive: Floats, weight: Floats) -> Slopes:
    """Return the weighted area under the ROC curve of scores without ties."""
    order = np.argsort(score)
    p, q = (weight * positive)[order], (weight * (1 - positive))[order]
    below, above = np.cumsum(q) / q.sum(), 1 - np.cumsum(p) / p.sum()
    area = float(p @ below / p.sum())
    slopes = np.empty(len(score))
    slopes[order] = np.where(p > 0, (below - area) / p.sum(), (above - area) / q.sum())
    return area, slopes


def labels_of(truth: Floats, label: Floats, weight: Floats) -> Mapping[str, Slopes]:
    """Return balanced accuracy and MCC of two classes."""
    w = weight / weight.sum()
    cells = [truth * label, (1 - truth) * label, truth * (1 - label), (1 - truth) * (1 - label)]
    tp, fp, fn, tn = (float(w @ cell) for cell in cells)
    recall, specificity = tp / (tp + fn), tn / (tn + fp)
    of_recalls = (
        truth * (label - recall) / (tp + fn) + (1 - truth) * (1 - label - specificity) / (tn + fp)
    ) / 2
    margins = [tp + fp, tp + fn, tn + fp, tn + fn]
    root = float(np.sqrt(np.prod(margins)))
    mcc = (tp * tn - fp * fn) / root
    by_cell = [
        tn / root - mcc / 2 * (1 / margins[0] + 1 / margins[1]),
        -fn / root - mcc / 2 * (1 / margins[0] + 1 / margins[2]),
        -fp / root - mcc / 2 * (1 / margins[1] + 1 / margins[3]),
        tp / root - mcc / 2 * (1 / margins[2] + 1 / margins[3]),
    ]
    of_mcc = sum(slope * cell for slope, cell in zip(by_cell, cells, strict=True))
    total = weight.sum()
    return {
        "balanced_accuracy": ((recall + specificity) / 2, of_recalls / total),
        "mcc": (mcc, (of_mcc - w @ of_mcc) / total),
    }


# --- one data set ---------------------------------------------------------------------------------------------------

TRUE_LABELS = (0.3, 0.85, 0.1)
"""Prevalence, recall and false alarm rate of the labels."""


def drawn(
    structure: Structure, generator: np.random.Generator
) -> Iterator[tuple[str, float, Estimate | Difference]]:
    """Yield name, true value and estimate of each figure of one data set."""
    cluster = structure.cluster
    n = structure.units if cluster is None else len(cluster)
    weight = np.exp(structure.spread * generator.normal(size=structure.units))
    weight = weight if cluster is None else weight[cluster]
    sampling = sampling_by(n, cluster, weight=weight)

    def normal() -> Floats:
        single = generator.normal(size=n)
        if cluster is None:
            return single
        shared = generator.normal(size=structure.units)[cluster]
        return np.asarray(np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * single)

    def estimate(metric: str, value: Slopes) -> Estimate:
        return of_slopes(metric, value, sampling)

    for prevalence, area in AREAS:
        positive = (normal() < stats.norm.ppf(prevalence)).astype(np.float64)
        if not 2 < positive.sum() < n - 2:
            continue
        common, apart = normal(), np.sqrt(2) * stats.norm.ppf(area)
        scores = [np.sqrt(0.6) * common + np.sqrt(0.4) * normal() + apart * positive for _ in range(2)]
        sides = [estimate("roc_auc", area_of(score, positive, weight)) for score in scores]
        if max(side.value for side in sides) == 1:
            continue
        yield f"roc_auc {area:g} at {prevalence:g}", area, sides[0]
        yield f"difference of roc_auc {area:g} at {prevalence:g}", 0.0, difference_of(*sides)
    z = normal()
    p = special.expit(1.5 * z)
    y = (generator.random(n) < p) if cluster is None else (special.ndtr(normal()) < p)
    far = [special.expit(1.5 * z + 0.5 * normal()) for _ in range(2)]
    for metric, loss, true in (("brier", brier_of, TRUE_BRIER), ("log_loss", log_loss_of, TRUE_LOG_LOSS)):
        yield metric, true, estimate(metric, mean_of(loss(p, y), weight))
        sides = [estimate(metric, mean_of(loss(q, y), weight)) for q in far]
        yield f"difference of {metric}", 0.0, difference_of(*sides)
    errors = [normal(), normal()]
    sides = [estimate("mse", mean_of(e**2, weight)) for e in errors]
    yield "mse", 1.0, sides[0]
    yield "difference of mse", 0.0, difference_of(*sides)
    yield "mae", float(np.sqrt(2 / np.pi)), estimate("mae", mean_of(np.abs(errors[0]), weight))
    prevalence, recall, alarms = TRUE_LABELS
    truth, noise = (normal() < stats.norm.ppf(prevalence)).astype(np.float64), normal()
    label = np.where(truth == 1, noise < stats.norm.ppf(recall), noise < stats.norm.ppf(alarms)).astype(
        np.float64
    )
    if 2 < truth.sum() < n - 2 and 0 < label.sum() < n:
        exact = labels_of(
            np.array([1.0, 1, 0, 0]),
            np.array([1.0, 0, 1, 0]),
            np.array([prevalence * recall, prevalence * (1 - recall), (1 - prevalence) * alarms,
                      (1 - prevalence) * (1 - alarms)]),
        )  # fmt: skip
        for metric, value in labels_of(truth, label, weight).items():
            yield metric, exact[metric][0], estimate(metric, value)


def brier_of(p: Floats, y: Floats) -> Floats:
    """Return both classes' squared errors."""
    return np.asarray(2 * (p - y) ** 2)


def log_loss_of(p: Floats, y: Floats) -> Floats:
    """Return minus the logarithm of the true class's probability."""
    return np.asarray(-np.log(np.where(y, p, 1 - p)))


NODES, OF_NODES = np.polynomial.hermite_e.hermegauss(200)
AT_NODES = special.expit(1.5 * NODES)
TRUE_BRIER = float(OF_NODES @ (2 * AT_NODES * (1 - AT_NODES)) / OF_NODES.sum())
TRUE_LOG_LOSS = float(OF_NODES @ (special.entr(AT_NODES) + special.entr(1 - AT_NODES)) / OF_NODES.sum())


def of_slopes(metric: str, value: Slopes, sampling: Sampling) -> Estimate:
    """Return an estimate from a value and its derivatives."""
    by_unit = sampling.influence(value[1])
    by_example = (lambda: value[1]) if sampling.knows_examples else None
    return Estimate(
        model="m",
        quantity=Quantity(metric),
        value=value[0],
        range=definition(Quantity(metric)).scale.range_of("binary"),
        sampling=sampling,
        evidence=Mean(),
        influence=Influence(by_unit, np.ones(len(by_unit)), by_example=by_example),
    )


def difference_of(a: Estimate, b: Estimate) -> Difference:
    """Return the difference of two models on the same examples."""
    return paired_difference(a, replace(b, model="n"))


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how many leading intervals hold the true value, and the lower confidence limit of that share."""
    for place, structure in enumerate(STRUCTURES):
        if run.only not in structure.name:
            continue
        tallies: dict[tuple[str, str], Tally] = {}
        for number in range(run.replications):
            generator = np.random.default_rng([run.seed, place, number])
            for name, true, estimate in drawn(structure, generator):
                leader = recommended(estimate)
                found = limits(estimate, leader, LEVEL)
                tally = tallies.get((name, leader), Tally())
                tallies[name, leader] = tally + one(true, found.low, found.high)
        for (name, leader), tally in tallies.items():
            if tally.given:
                yield {
                    "units": structure.name,
                    "figure": name,
                    "leads": leader,
                    **tally.rates,
                    "seed": run.seed,
                }
