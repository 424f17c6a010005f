"""Do groups of influence values give the limits of drawn rows? docs/groups.csv.

Both ways resample the same data sets, 2,000 times each, and the limits of both are compared set by set. The expected
coverage of limits at ``value + a SE`` and ``value + b SE`` is the chance that a normal value has the truth between
them, so few sets tell two ways apart. Of 24 data sets of 12,000 rows: many hours on one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from evalreport.intervals.choice import limits
from evalreport.metrics import replicates
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import Kind, predictions_on
from research.studies.harness import Cell, Run, measure
from research.studies.simulation import LEVEL, estimate_of

RESAMPLES = 2_000
METHODS = ("bootstrap_percentile", "bootstrap_bca")
KINDS: tuple[Kind, ...] = ("value", "difference")
BINARY, REGRESSION = ("roc_auc", "average_precision", "log_loss"), ("rmse",)


@dataclass(frozen=True)
class Data(Cell):
    """One kind of data: rows, and the share of positives; None: true values."""

    design: str
    n: int
    positives: float | None


SHARES = {"30 % positives": 0.3, "0.5 % positives": 0.005, "numbers": None}
CELLS = tuple(
    Data(design, design, n, share, data_sets=max(12_000_000 // n, 1), stream=(n,))
    for design, n, share in (
        *((name, n, share) for n in (12_000, 50_000) for name, share in SHARES.items()),
        *(("500 positives", n, 500 / n) for n in (12_000, 50_000, 100_000)),
        ("2,000 positives", 50_000, 0.04),
    )
)


def drawn(cell: Data, random: np.random.Generator) -> Predictions:
    """Draw a data set of two models that hardly differ."""
    noise, apart = random.normal(size=cell.n), random.normal(size=(2, cell.n))
    if cell.positives is None:
        truth = random.normal(size=cell.n)
        errors = random.standard_t(5, size=cell.n)
        numbers = (ModelOutputs(m, y_pred=truth + errors + 0.2 * e) for m, e in zip("ab", apart, strict=True))
        return predictions_on("regression", truth, tuple(numbers))
    positive = random.random(cell.n) < cell.positives
    base = np.log(cell.positives / (1 - cell.positives)) - 0.5
    models = []
    for m, e in zip("ab", apart, strict=True):
        p = 1 / (1 + np.exp(-(base + 1.5 * positive + noise + 0.1 * e)))
        models.append(
            ModelOutputs(m, y_pred=(p >= 0.5).astype(np.int32), score=p, proba=np.stack([1 - p, p], 1))
        )
    return predictions_on("binary", positive.astype(np.int32), tuple(models), 2)


def counted(
    cell: Data, random: np.random.Generator, number: int
) -> Mapping[tuple[str, str, str], np.ndarray]:
    """Return the expected coverage of both ways, and the square of their distance, by metric, kind and method."""
    # Groups in every cell, to see where they are good enough.
    replicates.LEAST_OF_TWO, replicates.LEAST_OF_PRECISION = 50, 0
    predictions = drawn(cell, random)
    quantities = [Quantity(name) for name in (REGRESSION if cell.positives is None else BINARY)]
    # One stratum for all: rows are drawn at any size.
    samplings = sampling_by(cell.n), sampling_by(cell.n, strata=np.zeros(cell.n, np.int64))
    samples = [
        estimate_all(predictions, quantities, units=units, n_resamples=RESAMPLES, seed=number)
        for units in samplings
    ]
    found: dict[tuple[str, str, str], np.ndarray] = {}
    for quantity in quantities:
        for kind in KINDS:
            both = [estimate_of(sample, (kind, "a", quantity)) for sample in samples]
            error = both[0].standard_error
            assert error
            for method in METHODS:
                cover = []
                for value in both:
                    interval = limits(value, method, LEVEL)
                    assert interval.low is not None
                    assert interval.high is not None
                    ends = (value.value - interval.low) / error, (value.value - interval.high) / error
                    cover.append(float(ndtr(ends[0]) - ndtr(ends[1])))
                found[quantity.metric, kind, method] = np.array([*cover, (cover[0] - cover[1]) ** 2])
    return found


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/groups.csv; fewer data sets of many rows."""
    for result in measure(CELLS, counted, run):
        sets = result.data_sets
        for (metric, of, method), totals in result.totals.items():
            groups, by_rows, square = totals / sets
            apart = groups - by_rows
            yield {
                "design": result.cell.design, "n": result.cell.n, "seed": run.seed, "sets": sets, "metric": metric,
                "of": of, "method": method, "groups": round(float(groups), 4), "rows": round(float(by_rows), 4),
                "difference": round(float(apart), 4),
                "error": round(float(np.sqrt(max(square - apart**2, 0) / max(sets - 1, 1))), 4),
            }  # fmt: skip
