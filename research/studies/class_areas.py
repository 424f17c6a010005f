"""How often intervals of areas under the ROC curve over several classes hold; docs/class-areas.csv.

Run by ``make study-class-areas``, some minutes on one core. Each data set is drawn by numpy: a model's score of each
class is normal, and higher by the shift for the true class: every area is Phi(shift / sqrt 2). An example's class
is drawn with its share, and data sets with fewer than two of a class are drawn again. The second model has the same
shift, and scores that are correlated with the first one's, so that the true difference is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evalreport.metrics.registry import Quantity
from evalreport.predictions.table import ModelOutputs
from research.studies.designs import Truth, predictions_on
from research.studies.harness import Cell
from research.studies.simulation import held_of
from research.studies.tally import Tally

OTHERS = ((60, 140), (30, 40, 60, 70))
RAREST = (3, 5, 10, 20)
SHIFTS = ((1.0, 0.9), (2.0, 0.99), (3.0, 0.0))
"""Between the score of the true class and the others, in standard deviations, and the correlation of both models."""
QUANTITIES = (Quantity("roc_auc_ovr", "macro"), Quantity("roc_auc_ovr", "weighted"), Quantity("roc_auc_ovo"))


@dataclass(frozen=True)
class Areas(Cell):
    """How many classes, examples of each on average, the shift of the true class, the correlation of both models."""

    classes: int
    rarest: int
    sizes: tuple[int, ...]
    shift: float
    correlation: float


CELLS = tuple(
    Areas(
        f"rarest {rarest}, {1 + len(others)} classes, shift {shift}", 1 + len(others), rarest, (rarest, *others),
        shift, correlation, stream=(rarest, *others, round(10 * shift)),
    )
    for others in OTHERS
    for rarest in RAREST
    for shift, correlation in SHIFTS
)  # fmt: skip


def counted(cell: Areas, generator: np.random.Generator, _number: int) -> Mapping[tuple[str, str], Tally]:
    """Say of one data set what the leading intervals of a value and of a difference hold."""
    k, n = cell.classes, sum(cell.sizes)
    true = np.zeros(n, dtype=np.int32)
    while np.bincount(true, minlength=k).min() < 2:
        true = np.sort(generator.choice(k, n, p=np.array(cell.sizes) / n)).astype(np.int32)
    first, second = generator.normal(size=(2, n, k))
    noises = first, cell.correlation * first + np.sqrt(1 - cell.correlation**2) * second
    models = tuple(
        ModelOutputs(name, proba=cell.shift * np.eye(k)[true] + noise)
        for name, noise in zip("ab", noises, strict=True)
    )
    area = float(stats.norm.cdf(cell.shift / np.sqrt(2)))
    truths: dict[Truth, float] = {("value", "a", quantity): area for quantity in QUANTITIES}
    truths |= {("difference", "a", quantity): 0.0 for quantity in QUANTITIES}
    return held_of(predictions_on("multiclass", true, models, k), truths)
