"""How often the intervals of agreements of groups hold, and how often their test rejects where nothing is to be found.

Examples belong to one of K true groups; a model puts each into its own group but for a share, which goes anywhere among
its G groups. An interval should hold the mean of the metric over such sets of n examples (and over pairs of models, of
the difference).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

import evalreport
from evalreport.metrics.clustering import GroupTable, Overlap, expected_mutual_information
from evalreport.metrics.registry import METRICS
from research.studies.harness import Run

SETS, RESAMPLES, FOR_THE_MEAN = 400, 400, 3000
NAMES = tuple(m.name for m in METRICS.values() if m.tasks == ("clustering",) and m.scale.affine_of is None)


@dataclass(frozen=True)
class Design:
    """n examples in K true groups of equal chance, or of chances 1 / k; two models with G groups and noise each."""

    n: int
    k: int
    groups: tuple[int, int]
    noise: tuple[float, float]
    skew: bool = False


DESIGNS = (
    Design(100, 3, (3, 3), (0.3, 0.3)),
    Design(100, 3, (3, 3), (0.1, 0.2)),
    Design(300, 3, (3, 6), (0.3, 0.3)),
    Design(500, 10, (10, 10), (0.3, 0.3)),
    Design(1000, 10, (10, 10), (0.05, 0.1), skew=True),
    Design(500, 4, (20, 4), (0.3, 0.3), skew=True),
    Design(2000, 20, (20, 20), (0.5, 0.5)),
    Design(200, 6, (6, 6), (0.9, 0.9)),
)


def drawn(design: Design, random: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Draw one set: true groups, and each model's."""
    chances = 1 / np.arange(1, design.k + 1) if design.skew else np.ones(design.k)
    truth = random.choice(design.k, design.n, p=chances / chances.sum())
    said = []
    for groups, noise in zip(design.groups, design.noise, strict=True):
        # With more groups than true ones each true group is divided among its own at random.
        own = truth + design.k * random.integers(0, max(groups // design.k, 1), design.n)
        said.append(np.where(random.random(design.n) < noise, random.integers(0, groups, design.n), own))
    return truth, said


def values(truth: np.ndarray, said: np.ndarray) -> list[float]:
    """Return every metric of one grouping."""
    table = GroupTable.of(truth.astype(np.int32), said.astype(np.int32))
    sums = table.overlap(table.counts, expected_mutual_information(*table.sizes))
    return [float(METRICS[name].computation.function(Overlap(*sums))) for name in NAMES]


def measured(design: Design) -> list[dict[str, object]]:
    """Return a row for each metric: shares of intervals that hold, and of pairs that are told apart."""
    random = np.random.default_rng(17)
    means = np.mean(
        [
            [values(truth, one) for one in said]
            for truth, said in (drawn(design, random) for _ in range(FOR_THE_MEAN))
        ],
        axis=0,
    )
    held = {
        name: [0, 0, 0, 0] for name in NAMES
    }  # value held, difference held, told apart, sets with an interval
    for _ in range(SETS):
        truth, said = drawn(design, random)
        models = {name: {"y_true": truth, "y_pred": one} for name, one in zip("ab", said, strict=True)}
        found = evalreport.evaluate(models, task="clustering", metrics=NAMES, resamples=RESAMPLES)
        first = {r.metric: r.intervals[0] for r in found.metrics if r.model == "a"}
        for row in found.comparisons:
            interval = first.get(row.metric)
            if (
                not row.recommended
                or row.low is None
                or row.high is None
                or interval is None
                or row.p_value is None
            ):
                continue
            assert interval.low is not None
            assert interval.high is not None
            a, b = means[:, NAMES.index(row.metric)]
            counts = held[row.metric]
            counts[0] += interval.low <= a <= interval.high
            counts[1] += row.low <= a - b <= row.high
            counts[2] += row.p_value <= 0.05
            counts[3] += 1
    return [
        {
            "n": design.n,
            "true_groups": design.k,
            "groups": "/".join(map(str, design.groups)),
            "noise": "/".join(map(str, design.noise)),
            "skew": design.skew,
            "metric": name,
            "value_held": round(value / sets, 3) if sets else "",
            "difference_held": round(difference / sets, 3) if sets else "",
            "told_apart": round(apart / sets, 3) if sets else "",
            "sets": sets,
        }
        for name, (value, difference, apart, sets) in held.items()
    ]


def rows(_: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/clustering.csv; the sets and the seed are fixed."""
    for design in DESIGNS:
        yield from measured(design)
