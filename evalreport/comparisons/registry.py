"""The registry of tests: one documented function of a pair each, with its null hypothesis and assumptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalreport.metrics.estimate import Estimate
from evalreport.registry import Registry, summary_of

Floats = npt.NDArray[np.float64]
Needs = Literal["agreement", "losses", "placements", "replicates", "swaps"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models on one quantity, on the same examples.

    Attributes
    ----------
    a, b, difference
        The estimates and a - b; the difference of accuracies carries its ``agreement`` table.
    losses
        (n, 2) per-example values of both models where the quantity is their mean.
    swapped, swap_weights
        Differences after whole rows were swapped between the models, and their probabilities (None: equal,
        a Monte Carlo sample).
    """

    a: Estimate
    b: Estimate
    difference: Estimate
    losses: Floats | None = None
    swapped: Floats | None = None
    swap_weights: Floats | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test found; ``p_value`` is None with a reason where the data lack what it needs."""

    statistic: float | None
    p_value: float | None
    df: float | None = None
    effect: str | None = None
    effect_size: float | None = None
    reason: str | None = None


Function = Callable[[Pair], Outcome]


@dataclass(frozen=True, slots=True)
class Test:
    """One registered test of a pair of models on one test set."""

    name: str
    label: str
    summary: str
    null_hypothesis: str
    assumptions: str
    needs: Needs
    function: Function
    source: str


TESTS: Registry[Test] = Registry("test")


def comparison_test(
    label: str, needs: Needs, *, null_hypothesis: str, assumptions: str, source: str
) -> Callable[[Function], Function]:
    """Register a function of a ``Pair`` that returns an ``Outcome``."""

    def decorate(function: Function) -> Function:
        TESTS.add(
            Test(
                function.__name__,
                label,
                summary_of(function),
                null_hypothesis,
                assumptions,
                needs,
                function,
                source,
            )
        )
        return function

    return decorate


SMALLEST = float(np.finfo(np.float64).tiny)


def probability(p: float) -> float:
    """Keep a p-value in (0, 1]: one that underflows is tiny, never 0."""
    return min(max(float(p), SMALLEST), 1.0)
