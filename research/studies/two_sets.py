"""How often two equal models on test sets of their own are decided; writes docs/two-sets.csv.

Run by ``make study-two-sets``, eight minutes on one core. The limits of each value are the package's own; those of the
difference are squared and added. A set of n rows stands beside one of 400 that is drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from scipy import stats

from evalreport.intervals import leading
from evalreport.intervals.choice import with_few_rows
from evalreport.intervals.proportions import ValueLimits, difference_limits
from evalreport.loading.load import load
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.quantities import parse
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from research.studies.audited_metrics import Cell, draw
from research.studies.harness import Run

SIZES = (8, 12, 40, 400)
LEVEL = 0.95
LABELS = ("roc_auc", "f1", "mcc", "average_precision")
QUALITY = 1.5
"""Standard deviations between the classes: an area of 0.86."""
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
CHANCES = (0.05, 0.05, 0.1, 0.3, 0.5)
"""An outcome of five levels."""


@cache
def template(task: str, n: int) -> Predictions:
    """Return a table of n rows of one model."""
    ids = [f"{k:06d}" for k in range(n)]
    if task == "outcome":
        return load(
            {"m": {"id": ids, "outcome": [0.25 * (k % 5) for k in range(n)]}}, options=Options(task="outcome")
        )
    rows = {"id": ids, "y_true": [0.5 * k + 0.1 for k in range(n)], "y_pred": [0.5 * k for k in range(n)]}
    return load({"m": rows}, options=Options(task="regression"))


NAMES = {"binary": LABELS, "outcome": ("mean_outcome",), "regression": ("rmse",)}


def limits(n: int, generator: np.random.Generator, only: str = "") -> dict[str, ValueLimits | None]:
    """Draw a test set of each task; return the value and the limits of each metric, None where there are none.

    ``only``: a word in the names of the metrics that are measured.
    """
    tasks = [task for task, names in NAMES.items() if any(only in name for name in names)]
    tables = {"binary": draw(Cell("f1"), QUALITY, generator, n)} if "binary" in tasks else {}
    for task in (task for task in tasks if task != "binary"):
        empty = template(task, n)
        (model,) = empty.models
        if task == "outcome":
            own = replace(model, outcome=generator.choice(LEVELS, n, p=CHANCES))
            tables[task] = replace(empty, models=(own,))
        else:
            truth = generator.normal(size=n)
            own = replace(model, y_pred=truth + generator.standard_t(5, n))
            tables[task] = replace(empty, y_true=truth, models=(own,))
    found: dict[str, ValueLimits | None] = {}
    for task, table in tables.items():
        names = [name for name in NAMES[task] if only in name]
        quantities = [parse(name, table.task, table.classes) for name in names]
        sample = estimate_table(table, quantities, Options(resamples=1, positive="1"), seed=0)
        for name, quantity in zip(names, quantities, strict=True):
            estimate = sample.estimates["m", quantity]
            interval = leading(estimate, LEVEL) if np.isfinite(estimate.value) else None
            if interval is None or interval.low is None or interval.high is None:
                found[name] = None
            else:
                found[name] = with_few_rows(estimate, (estimate.value, interval.low, interval.high))
    return found


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how many pairs of equal models were decided, of those whose values both have limits.

    ``run.only``: a word in the metrics' names, and after a space the sizes that are measured: ``roc_auc 8,12``.
    """
    generator = np.random.default_rng(run.seed)
    word, _, named = run.only.partition(" ")
    sizes = tuple(map(int, named.split(","))) if named else SIZES
    old = [limits(400, generator, word) for _ in range(run.replications)]
    for n in sizes:
        new = [limits(n, generator, word) for _ in range(run.replications)]
        for metric in old[0]:
            sides = [(a[metric], b[metric]) for a, b in zip(new, old, strict=True)]
            pairs = [difference_limits(a, b) for a, b in sides if a is not None and b is not None]
            decided = sum(low > 0 or high < 0 for low, high in pairs)
            upper = stats.binomtest(decided, len(pairs)).proportion_ci(0.99).high
            yield {
                "metric": metric, "n": n, "other": 400, "sets": len(pairs), "decided": f"{decided / len(pairs):.4f}",
                "upper": f"{upper:.4f}", "seed": run.seed,
            }  # fmt: skip
