"""Two models of equal precision, F1 or balanced accuracy at unlike operating points, measured through the public API.

Given the class, the two models answer independently. ``unstudentised`` swaps without dividing by the error, as a test
of exchangeable models does; ``bootstrap_difference`` stands beside where power is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import evalreport as er
from evalreport.comparisons.pairs import compare
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.units import Units
from evalreport.options import Options
from research.studies.cells import Cell
from research.studies.designs import labelled

ALPHA = 0.05
WARNINGS = ("few_flagged",)
Rates = tuple[float, float]
"""Recall and false positive rate."""


@dataclass(frozen=True)
class Point(Cell):
    """Two models' operating points; ``kind``: ``unlike``, ``few`` errors among the flagged, few of a ``rare`` class,
    ``alike`` or ``power``.
    """

    kind: str
    metric: str
    n: int
    prevalence: float
    a: Rates
    b: Rates
    limit: float | None = None

    @property
    def data_sets(self) -> int:
        """Fewer of exchangeable models, for which the test is exact."""
        return 400 if self.kind == "alike" else 1000


def of_precision(n: int, flagged: Rates, precision: float, kind: str, limit: float | None) -> Point:
    """Return models that flag these shares of the examples at one precision; the classes are even."""
    a, b = ((2 * share * precision, 2 * share * (1 - precision)) for share in flagged)
    name = f"precision {precision:g}, n = {n}, flagging {flagged[0]:g} and {flagged[1]:g}"
    return Point(name, kind, "precision", n, 0.5, a, b, limit)


def of_f1(n: int, limit: float) -> Point:
    """Return models of F1 = 0.3 where a tenth is positive: one finds nearly all of it, the other a fifth."""
    share, value = 0.1, 0.3
    # F1 = 2 r s / (r s + f (1 - s) + s), solved for the false positive rate f.
    a, b = ((r, (2 * r * share / value - r * share - share) / (1 - share)) for r in (0.95, 0.197))
    return Point(f"f1 {value:g}, n = {n}", "unlike", "f1", n, share, a, b, limit)


def of_balance(name: str, kind: str, a: Rates, b: Rates, limit: float) -> Point:
    """Return models of 200 examples with even classes."""
    return Point(f"balanced accuracy, {name}", kind, "balanced_accuracy", 200, 0.5, a, b, limit)


CELLS = (
    of_precision(200, (0.58, 0.05), 0.6, "unlike", 0.11),
    of_precision(1000, (0.58, 0.05), 0.6, "unlike", 0.08),
    of_precision(1000, (0.58, 0.05), 0.8, "unlike", 0.08),
    of_precision(200, (0.58, 0.05), 0.8, "few", 0.11),
    of_precision(1000, (0.5, 0.05), 0.96, "few", 0.08),
    of_f1(200, 0.08),
    of_f1(1000, 0.065),
    of_balance("sensitivity .95 and .44", "unlike", (0.95, 0.56), (0.44, 0.05), 0.065),
    of_balance("sensitivity .92 and .50", "unlike", (0.92, 0.50), (0.50, 0.08), 0.065),
    Point(
        "balanced accuracy, 35 of 350 positive",
        "rare",
        "balanced_accuracy",
        350,
        0.1,
        (0.98, 0.02),
        (0.96, 0.0),
        0.065,
    ),
    of_balance("one better by .09", "power", (0.92, 0.59), (0.59, 0.08), 0.58),
    *(
        Point(f"exchangeable, {metric}", "alike", metric, 200, 0.3, (0.8, 0.1), (0.8, 0.1), 0.06)
        for metric in ("precision", "f1", "balanced_accuracy")
    ),
)
"""Without studentising, equal precisions are told apart in 29 % here, F1 in 14 %, balanced accuracy in 0.7 %."""


def draw(generator: np.random.Generator, cell: Point) -> dict[str, dict[str, Any]]:
    """Draw a test set as a user would write it."""
    true = generator.random(cell.n) < cell.prevalence
    ids = [f"{i:04d}" for i in range(cell.n)]
    return {
        name: {
            "id": ids,
            "y_true": true.astype(int).tolist(),
            "y_pred": (generator.random(cell.n) < np.where(true, *rates)).astype(int).tolist(),
        }
        for name, rates in (("a", cell.a), ("b", cell.b))
    }


def counted(cell: Point, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the tests reject at 0.05, and whether the run warns of few examples behind a value."""
    source, beside = draw(generator, cell), cell.kind == "power"
    results = er.evaluate(
        source, metrics=[cell.metric], intervals=["normal"], resamples=799 if beside else 50, seed=number,
        tests=["permutation", "bootstrap_difference"] if beside else ["permutation"],
    )  # fmt: skip
    p = {row.test: row.p_value for row in results.comparisons}
    warned = any(warning.code in WARNINGS for warning in results.warnings)
    rejected = _rejects(p["permutation"])
    found = {
        "permutation": rejected,
        "warned": warned,
        "rejected without a warning": rejected and not warned,
        "unstudentised": unstudentised(source, cell.metric, number) <= ALPHA,
    }
    return {**found, "bootstrap_difference": _rejects(p["bootstrap_difference"])} if beside else found


def _rejects(p: float | None) -> bool:
    return p is not None and p <= ALPHA


def unstudentised(source: Mapping[str, Mapping[str, Any]], metric: str, seed: int) -> float:
    """Return the p-value of swaps whose differences are compared as they are."""
    true = np.array(source["a"]["y_true"], dtype=np.int32)
    said = {name: np.array(columns["y_pred"], dtype=np.int32) for name, columns in source.items()}
    quantity, options = Quantity(metric), Options(resamples=50, seed=seed)
    sample = estimate_all(
        labelled(true, said, 2), [quantity], units=Units(len(true)), n_resamples=2, seed=seed
    )
    (comparison,) = compare(sample, [quantity], options)
    if comparison.pair is None or comparison.pair.swapped is None:
        return 1.0
    swapped, observed = comparison.pair.swapped(), abs(comparison.pair.difference.value)
    extreme = np.abs(swapped.differences) >= observed - 1e-12
    if swapped.weights is not None:
        return float(swapped.weights[extreme].sum())
    return float((extreme.sum() + 1) / (len(extreme) + 1))
