"""Do groups of influence values give the limits of drawn rows? docs/groups.csv.

Both ways resample the same data sets, 2,000 times each, and the limits of both are compared set by set. The expected
coverage of limits at ``value + a SE`` and ``value + b SE`` is the chance that a normal value has the truth between
them, so few sets tell two ways apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from evalreport.intervals.choice import limits
from evalreport.loading.load import load
from evalreport.metrics import replicates
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options
from evalreport.samplings import sampling_by
from evalreport.schema.metrics import Interval
from research.studies.harness import Run

RESAMPLES, LEVEL = 2_000, 0.95
METHODS = ("bootstrap_percentile", "bootstrap_bca")
BINARY, REGRESSION = ("roc_auc", "average_precision", "log_loss"), ("rmse",)


@dataclass(frozen=True, slots=True)
class Design:
    """One kind of data: rows, and the share of positives; None: true values."""

    name: str
    n: int
    positives: float | None
    clusters: int | None = None


SHARES = {"30 % positives": 0.3, "0.5 % positives": 0.005, "numbers": None}
DESIGNS = (
    *(Design(name, n, share) for n in (12_000, 50_000) for name, share in SHARES.items()),
    *(Design("500 positives", n, 500 / n) for n in (12_000, 50_000, 100_000)),
    Design("2,000 positives", 50_000, 0.04),
)


def sample_of(design: Design, seed: int, number: int, metrics: Sequence[str], *, by_rows: bool) -> Sample:
    """Draw a data set of two models that hardly differ, and resample it in groups or by rows."""
    random = np.random.default_rng([seed, design.n, number])
    noise, apart = random.normal(size=design.n), random.normal(size=(2, design.n))
    if design.positives is None:
        truth = random.normal(size=design.n)
        errors = random.standard_t(5, size=design.n)
        columns = {
            m: {"y_true": truth, "y_pred": truth + errors + 0.2 * e} for m, e in zip("ab", apart, strict=True)
        }
    else:
        positive = random.random(design.n) < design.positives
        base = np.log(design.positives / (1 - design.positives)) - 0.5
        columns = {
            m: {
                "y_true": positive.astype(int),
                "p_1": 1 / (1 + np.exp(-(base + 1.5 * positive + noise + 0.1 * e))),
            }
            for m, e in zip("ab", apart, strict=True)
        }
    predictions = load(columns, options=Options(task="binary" if design.positives else "regression"))
    # One stratum for all: rows are drawn at any size.
    units = sampling_by(design.n, strata=np.zeros(design.n, np.int64)) if by_rows else sampling_by(design.n)
    quantities = [Quantity(name) for name in metrics]
    return estimate_all(predictions, quantities, units=units, n_resamples=RESAMPLES, seed=number)


def compared(design: Design, seed: int, sets: int) -> Iterator[dict[str, object]]:
    """Yield by metric, method and value or difference the expected coverage of both ways."""
    metrics = REGRESSION if design.positives is None else BINARY
    found: dict[tuple[str, str, str], list[list[float]]] = {}
    for number in range(sets):
        both = [sample_of(design, seed, number, metrics, by_rows=by_rows) for by_rows in (False, True)]
        for name in metrics:
            for of in ("value", "difference"):
                values = [_value(sample, name, of) for sample in both]
                error = values[0].standard_error
                assert error
                for method in METHODS:
                    cover = [_expected(limits(v, method, LEVEL), v.value, error) for v in values]
                    found.setdefault((name, of, method), []).append(cover)
    for (name, of, method), pairs in found.items():
        groups, rows = np.array(pairs).T
        apart = groups - rows
        error = float(apart.std(ddof=1) / len(apart) ** 0.5)
        yield {
            "design": design.name, "n": design.n, "seed": seed, "sets": sets,
            "metric": name, "of": of, "method": method,
            "groups": round(float(groups.mean()), 4), "rows": round(float(rows.mean()), 4),
            "difference": round(float(apart.mean()), 4), "error": round(error, 4),
        }  # fmt: skip


def _value(sample: Sample, name: str, of: str) -> Estimate | Difference:
    a, b = (sample.estimates[m, Quantity(name)] for m in "ab")
    return a if of == "value" else paired_difference(a, b)


def _expected(interval: Interval, value: float, error: float) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return float(ndtr((value - interval.low) / error) - ndtr((value - interval.high) / error))


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/groups.csv; fewer data sets of many rows."""
    # Groups in every cell, to see where they are good enough.
    replicates.LEAST_OF_TWO, replicates.LEAST_OF_PRECISION = 50, 0
    for design in DESIGNS:
        if run.only in design.name:
            yield from compared(design, run.seed, max(run.replications * 12_000 // design.n, 4))
