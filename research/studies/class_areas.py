"""How often intervals of areas under the ROC curve over several classes hold; docs/class-areas.csv.

Run by ``make study-class-areas``, some minutes on one core. Each data set is drawn by numpy: a model's score of each
class is normal, and higher by the shift for the true class: every area is Phi(shift / sqrt 2). An example's class
is drawn with its share, and data sets with fewer than two of a class are drawn again. The second model has the same
shift, and scores that are correlated with the first one's, so that the true difference is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from evalreport.engine.ranks import ClassRanks, class_ranks
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import Average, Chosen, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_estimates import evidence_of_classes
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Examples, Influence
from evalreport.schema.metrics import Interval
from research.studies.harness import Cell, Run, measure
from research.studies.simulation import led
from research.studies.tally import Tally, one

OTHERS = ((60, 140), (30, 40, 60, 70))
RAREST = (3, 5, 10, 20)
SHIFTS = ((1.0, 0.9), (2.0, 0.99), (3.0, 0.0))
"""Between the score of the true class and the others, in standard deviations, and the correlation of both models."""
QUANTITIES = (Quantity("roc_auc_ovr", "macro"), Quantity("roc_auc_ovr", "weighted"), Quantity("roc_auc_ovo"))


def estimate_of(quantity: Quantity, ranks: ClassRanks, ones: Floats) -> Estimate:
    """Return the estimate as a run makes it, under weights (1, n) of one."""
    computation = definition(quantity).computation
    assert isinstance(computation, RowWise)
    assert computation.derivative is not None
    average: Average | None = quantity.average
    state = Chosen(ranks, average, None) if computation.averages else ranks
    evidence = evidence_of_classes(state)
    assert evidence is not None
    slopes = computation.derivative(state, ones)[0]
    return Estimate(
        model="m",
        quantity=quantity,
        value=float(computation.function(state, ones)[0]),
        range=(0.0, 1.0),
        sampling=Examples(len(ranks.true)),
        evidence=evidence,
        influence=Influence(slopes, np.ones(len(slopes))),
    )


@dataclass(frozen=True)
class Classes(Cell):
    """Examples of each class on average, the shift of the true class, and the correlation of both models."""

    sizes: tuple[int, ...]
    shift: float
    correlation: float

    @property
    def truth(self) -> float:
        """Every area."""
        return float(stats.norm.cdf(self.shift / np.sqrt(2)))


CELLS = tuple(
    Classes(
        f"rarest {rarest}, {1 + len(others)} classes, shift {shift}",
        (rarest, *others),
        shift,
        correlation,
        stream=(rarest, *others, round(10 * shift)),
    )
    for others in OTHERS
    for rarest in RAREST
    for shift, correlation in SHIFTS
)


def counted(
    cell: Classes, generator: np.random.Generator, _number: int
) -> Mapping[tuple[Quantity, str], Tally]:
    """Say of one data set what the leading intervals of a value and of a difference hold."""
    k, n = len(cell.sizes), sum(cell.sizes)
    true = np.sort(generator.choice(k, n, p=np.array(cell.sizes) / n)).astype(np.int32)
    while np.bincount(true, minlength=k).min() < 2:
        true = np.sort(generator.choice(k, n, p=np.array(cell.sizes) / n)).astype(np.int32)
    first, second = generator.normal(size=(2, n, k))
    noises = first, cell.correlation * first + np.sqrt(1 - cell.correlation**2) * second
    pair = [class_ranks(true, cell.shift * np.eye(k)[true] + noise) for noise in noises]
    found: dict[tuple[Quantity, str], tuple[float, Interval]] = {}
    for quantity in QUANTITIES:
        a, b = (estimate_of(quantity, ranks, np.ones((1, n))) for ranks in pair)
        of_pair = led(paired_difference(a, replace(b, model="n")))
        found |= {(quantity, "value"): (cell.truth, led(a)), (quantity, "difference"): (0.0, of_pair)}
    return {figure: one(truth, interval.low, interval.high) for figure, (truth, interval) in found.items()}


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often the leading interval of a value and of a difference holds, with the lower 99 % limit of that."""
    for result in measure(CELLS, counted, run, equally=True):
        cell = result.cell
        for (quantity, kind), tally in result.totals.items():
            yield {
                "kind": kind, "metric": quantity.spelled, "classes": len(cell.sizes), "rarest": cell.sizes[0],
                "shift": cell.shift, "correlation": cell.correlation, "truth": f"{cell.truth:.4f}",
                "sets": round(tally.given), "held": f"{tally.coverage:.4f}", "lower": f"{tally.least(0.99):.4f}",
                "seed": run.seed,
            }  # fmt: skip
