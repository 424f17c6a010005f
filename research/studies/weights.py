"""How often intervals hold under weights, of single examples and of weighted clusters; docs/weights.csv.

Run by ``make study-weights``, half an hour on one core. Weights are log-normal and say nothing of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import Truth, labelled, predictions_on
from research.studies.harness import Cell, add
from research.studies.simulation import estimate_of, led
from research.studies.tally import Tally, one

CORRELATION = 0.2
"""Of the normal variables of two examples of a cluster."""


@dataclass(frozen=True)
class Structure(Cell):
    """Units, examples of each, and the spread of the logarithm of the weights."""

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


CELLS = (
    Structure("200 examples, log-sd 1", 200, 1.0, stream=(0,)),
    Structure("200 examples, log-sd 0.5", 200, 0.5, stream=(1,)),
    Structure("1,000 examples, log-sd 1", 1000, 1.0, stream=(2,)),
    Structure("40 households, log-sd 1", 40, 1.0, households, stream=(3,)),
    Structure("40 households, log-sd 0.5", 40, 0.5, households, stream=(4,)),
    Structure("100 households, log-sd 1", 100, 1.0, households, stream=(5,)),
    Structure("20 clusters of 3 to 60, log-sd 0.5", 20, 0.5, unequal, stream=(6,)),
    Structure("40 clusters of 3 to 60, log-sd 0.7", 40, 0.7, unequal, stream=(7,)),
)
AREAS = ((0.5, 0.75), (0.4, 0.9), (0.15, 0.85))
"""Prevalence and area under the ROC curve."""
PREVALENCE, RECALL, ALARMS = 0.3, 0.85, 0.1
"""Of the labels."""

NODES, OF_NODES = np.polynomial.hermite_e.hermegauss(200)
AT_NODES = special.expit(1.5 * NODES)
TRUE_BRIER = float(OF_NODES @ (AT_NODES * (1 - AT_NODES)) / OF_NODES.sum())
TRUE_LOG_LOSS = float(OF_NODES @ (special.entr(AT_NODES) + special.entr(1 - AT_NODES)) / OF_NODES.sum())
SIDES = (PREVALENCE * RECALL + (1 - PREVALENCE) * ALARMS, PREVALENCE)
"""Shares that are called positive, and that are."""
TRUE_MCC = float(
    (PREVALENCE * RECALL - SIDES[0] * SIDES[1])
    / np.sqrt(SIDES[0] * (1 - SIDES[0]) * SIDES[1] * (1 - SIDES[1]))
)

Drawn = tuple[Predictions, dict[Truth, float], str]
"""A test set, the true values of what is estimated on it, and what else its name says."""


def drawn(n: int, normal: Callable[[], Floats], uniform: Callable[[], Floats]) -> Iterator[Drawn]:
    """Yield the test sets of one data set: of scores, of probabilities, of numbers and of labels."""
    for prevalence, area in AREAS:
        positive = normal() < stats.norm.ppf(prevalence)
        if not 2 < positive.sum() < n - 2:
            continue
        common, apart = normal(), np.sqrt(2) * stats.norm.ppf(area)
        scores = [np.sqrt(0.6) * common + np.sqrt(0.4) * normal() + apart * positive for _ in range(2)]
        models = tuple(ModelOutputs(name, score=score) for name, score in zip("ab", scores, strict=True))
        yield (
            predictions_on("binary", positive.astype(np.int32), models, 2),
            _both("roc_auc", area),
            f" {area:g} at {prevalence:g}",
        )
    z = normal()
    p = special.expit(1.5 * z)
    y = uniform() < p
    far = [special.expit(1.5 * z + 0.5 * normal()) for _ in range(2)]
    models = tuple(
        ModelOutputs(name, score=q, proba=np.stack([1 - q, q], axis=1))
        for name, q in zip("abc", (*far, p), strict=True)
    )
    losses = _both("brier", TRUE_BRIER, "c") | _both("log_loss", TRUE_LOG_LOSS, "c")
    yield predictions_on("binary", y.astype(np.int32), models, 2), losses, ""
    models = tuple(ModelOutputs(name, y_pred=normal()) for name in "ab")
    absolute: dict[Truth, float] = {("value", "a", Quantity("mae")): float(np.sqrt(2 / np.pi))}
    yield predictions_on("regression", np.zeros(n), models), _both("mse", 1.0) | absolute, ""
    truth, noise = normal() < stats.norm.ppf(PREVALENCE), normal()
    label = np.where(truth, noise < stats.norm.ppf(RECALL), noise < stats.norm.ppf(ALARMS))
    if 2 < truth.sum() < n - 2 and 0 < label.sum() < n:
        yield (
            labelled(truth.astype(np.int32), {"a": label.astype(np.int32)}, 2),
            {
                ("value", "a", Quantity("balanced_accuracy")): (RECALL + 1 - ALARMS) / 2,
                ("value", "a", Quantity("mcc")): TRUE_MCC,
            },
            "",
        )


def _both(metric: str, value: float, model: str = "a") -> dict[Truth, float]:
    """Return the true value of a model, and that of the difference of the two that are alike."""
    return {("value", model, Quantity(metric)): value, ("difference", "a", Quantity(metric)): 0.0}


def counted(
    structure: Structure, generator: np.random.Generator, _number: int
) -> Mapping[tuple[str, str], Tally]:
    """Say of every figure of one data set what leads, and whether it holds."""
    cluster = structure.cluster
    n = structure.units if cluster is None else len(cluster)
    weight = np.exp(structure.spread * generator.normal(size=structure.units))
    units = sampling_by(n, cluster, weight=weight if cluster is None else weight[cluster])

    def normal() -> Floats:
        single = generator.normal(size=n)
        if cluster is None:
            return single
        shared = generator.normal(size=structure.units)[cluster]
        return np.asarray(np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * single)

    def uniform() -> Floats:
        return generator.random(n) if cluster is None else np.asarray(special.ndtr(normal()))

    found: dict[tuple[str, str], Tally] = {}
    for predictions, truths, suffix in drawn(n, normal, uniform):
        quantities = list(dict.fromkeys(quantity for _, _, quantity in truths))
        sample = estimate_all(predictions, quantities, units=units, n_resamples=2, seed=0)
        if suffix and max(estimate.value for estimate in sample.estimates.values()) == 1:
            continue  # a model that ranks all examples rightly
        for truth, value in truths.items():
            interval = led(estimate_of(sample, truth))
            name = f"{'difference of ' * (truth[0] == 'difference')}{truth[2].metric}{suffix}"
            add(found, {(name, interval.method): one(value, interval.low, interval.high)})
    return found
