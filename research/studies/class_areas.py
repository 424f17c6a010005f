"""How often intervals of areas under the ROC curve over several classes hold; docs/class-areas.csv.

Run by ``make study-class-areas``, some minutes on one core. Each data set is drawn by numpy: a model's score of each
class is normal, and higher by the shift for the true class: every area is Phi(shift / sqrt 2). An example's class
is drawn with its share, and data sets with fewer than two of a class are drawn again. The second model has the same
shift, and scores that are correlated with the first one's, so that the true difference is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy import stats

from evalreport.engine.ranks import ClassRanks, class_ranks
from evalreport.intervals import leading, recommended, resolved
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import Average, Chosen, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_estimates import evidence_of_classes
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Examples, Influence
from research.studies.harness import Run

OTHERS = ((60, 140), (30, 40, 60, 70))
RAREST = (3, 5, 10, 20)
SHIFTS = ((1.0, 0.9), (2.0, 0.99), (3.0, 0.0))
"""Between the score of the true class and the others, in standard deviations, and the correlation of both models."""
QUANTITIES = (Quantity("roc_auc_ovr", "macro"), Quantity("roc_auc_ovr", "weighted"), Quantity("roc_auc_ovo"))
LEVEL = 0.95


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


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often the leading interval of a value and of a difference holds, with the lower 99 % limit of that.

    ``run.only``: a number of the rarest class.
    """
    for others in OTHERS:
        for rarest in (size for size in RAREST if run.only in ("", str(size))):
            for shift, correlation in SHIFTS:
                sizes = (rarest, *others)
                held: dict[tuple[Quantity, str], list[bool]] = {}
                truth = float(stats.norm.cdf(shift / np.sqrt(2)))
                for number in range(run.replications):
                    seed = [run.seed, *sizes, round(10 * shift), number]
                    for name, low, value, high in drawn(
                        np.random.default_rng(seed), sizes, shift, correlation, truth
                    ):
                        held.setdefault(name, []).append(low <= value <= high)
                for (quantity, kind), outcomes in held.items():
                    lower = stats.binomtest(sum(outcomes), len(outcomes)).proportion_ci(0.98).low
                    yield {
                        "kind": kind, "metric": quantity.spelled, "classes": len(sizes), "rarest": rarest,
                        "shift": shift, "correlation": correlation, "truth": f"{truth:.4f}",
                        "sets": len(outcomes), "held": f"{np.mean(outcomes):.4f}", "lower": f"{lower:.4f}",
                        "seed": run.seed,
                    }  # fmt: skip


def drawn(
    generator: np.random.Generator, sizes: tuple[int, ...], shift: float, correlation: float, truth: float
) -> Iterator[tuple[tuple[Quantity, str], float, float, float]]:
    """Yield (quantity and kind, low, true value, high) of one data set."""
    k, n = len(sizes), sum(sizes)
    true = np.sort(generator.choice(k, n, p=np.array(sizes) / n)).astype(np.int32)
    while np.bincount(true, minlength=k).min() < 2:
        true = np.sort(generator.choice(k, n, p=np.array(sizes) / n)).astype(np.int32)
    first, second = generator.normal(size=(2, n, k))
    noises = first, correlation * first + np.sqrt(1 - correlation**2) * second
    pair, ones = [class_ranks(true, shift * np.eye(k)[true] + noise) for noise in noises], np.ones((1, n))
    for quantity in QUANTITIES:
        a, b = (estimate_of(quantity, ranks, ones) for ranks in pair)
        of_value = leading(a, LEVEL)
        if of_value.low is not None and of_value.high is not None:
            yield (quantity, "value"), of_value.low, truth, of_value.high
        delta = paired_difference(a, replace(b, model="n"))
        of_pair = resolved(delta, recommended(delta), LEVEL)
        if of_pair.low is not None and of_pair.high is not None:
            yield (quantity, "difference"), of_pair.low, 0.0, of_pair.high
