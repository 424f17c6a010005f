"""Coverage without simulation: every possible outcome of a binomial or paired experiment, weighed by its chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from evalreport.intervals import leading, limits, recommended
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference, unpaired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedProportion, Proportion
from evalreport.metrics.registry import Quantity
from evalreport.samplings import Influence, sampling_by
from evalreport.schema.metrics import Interval
from research.studies.tally import LEADING, Tally, count

Floats = npt.NDArray[np.float64]

N_QUANTILES = 1999
"""The exact bootstrap distribution enters as this many of its quantiles, at (i - 1/2) / 1999."""

PROPORTION_METHODS = (
    "wilson", "agresti_coull", "clopper_pearson", "jeffreys", "normal", "t",
    "bootstrap_percentile", "bootstrap_bca", "bootstrap_basic", "bootstrap_normal",
)  # fmt: skip
PAIRED_METHODS = ("plus_two", "newcombe_paired", "tango", "normal", "t")


def proportion_estimate(successes: int, trials: int) -> Estimate:
    """Return the estimate of an accuracy of ``successes`` right of ``trials``, with its exact bootstrap.

    The bootstrap distribution of a proportion is binomial(n, x/n)/n: nothing has to be drawn.
    """
    bare = _bare_estimate(successes, trials)
    share = np.cumsum(stats.binom.pmf(np.arange(trials + 1), trials, bare.value))
    at = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    return replace(bare, replicates=np.searchsorted(share, at * share[-1]) / trials)


def _ends(interval: Interval) -> tuple[float, float]:
    """Return both limits; nan where there are none."""
    if interval.low is None or interval.high is None:
        return np.nan, np.nan
    return interval.low, interval.high


def proportion_limits(n: int, methods: Sequence[str], *, level: float = 0.95) -> dict[str, Floats]:
    """Return (n + 1, 2) limits of each method for 0 .. n successes, and those of the leading interval."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (LEADING, *methods)}
    for x in range(n + 1):
        estimate = proportion_estimate(x, n)
        for name in found:
            one = leading(estimate, level) if name == LEADING else limits(estimate, name, level)
            found[name].append(_ends(one))
    return {name: np.array(pairs, dtype=np.float64) for name, pairs in found.items()}


def covered(interval_limits: Floats, truths: Floats) -> npt.NDArray[np.bool_]:
    """Say whether limits (m, 2) hold each truth (k,): (k, m); rounding does not decide, an absent limit never holds."""
    edge = 1e-12
    low, high = interval_limits[:, 0], interval_limits[:, 1]
    return np.asarray((low - edge <= truths[:, None]) & (truths[:, None] <= high + edge))


def proportion_coverage(n: int, truths: Floats, interval_limits: Floats) -> Floats:
    """Return the exact chance (k,) that an interval of a proportion holds the true value."""
    chance = stats.binom.pmf(np.arange(n + 1), n, truths[:, None])
    return np.asarray((chance * covered(interval_limits, truths)).sum(axis=1))


def proportions(n: int, truths: Sequence[float], *, level: float = 0.95) -> dict[float, dict[str, Tally]]:
    """Return, for each true proportion, the exact tally of every method."""
    every = proportion_limits(n, PROPORTION_METHODS, level=level)
    return {
        p: {name: count(p, pairs, stats.binom.pmf(np.arange(n + 1), n, p)) for name, pairs in every.items()}
        for p in truths
    }


def paired_estimate(both: int, first: int, second: int, neither: int) -> Difference:
    """Return the estimate of the difference of two accuracies from the four counts of agreement."""
    n = both + first + second + neither
    value = (first - second) / n
    differences = CountedRows(
        np.array([1.0, -1.0, 0.0]), np.array([first, second, both + neither], dtype=np.float64)
    )
    assert differences.counts is not None
    return Difference(
        a=_bare_estimate(both + first, n), b=_bare_estimate(both + second, n), value=value, range=(-1.0, 1.0),
        sampling=sampling_by(n=n),
        evidence=PairedProportion(float(both), float(first), float(second), float(neither), differences),
        influence=Influence(np.array([1 - value, -1 - value, -value]) / n, differences.counts),
    )  # fmt: skip


def _tables(n: int) -> Iterator[tuple[int, int, int, int]]:
    for first in range(n + 1):
        for second in range(n + 1 - first):
            for both in range(n + 1 - first - second):
                yield both, first, second, n - both - first - second


def paired(n: int, cells: Sequence[float], *, level: float = 0.95) -> dict[str, Tally]:
    """Return the exact tallies of a paired difference where the four outcomes have the chances ``cells``.

    Parameters
    ----------
    cells
        Chances that both are right, only the first, only the second, neither; positive, sum 1.
    """
    tables = np.array(list(_tables(n)))
    logs = special.gammaln(n + 1) - special.gammaln(tables + 1).sum(axis=1) + tables @ np.log(cells)
    every = paired_limits(n, level)
    return {name: count(cells[1] - cells[2], pairs, np.exp(logs)) for name, pairs in every.items()}


@cache
def paired_limits(n: int, level: float) -> dict[str, Floats]:
    """Return (tables, 2) limits of each method for every table of n examples, in the order of ``_tables``.

    All methods but Newcombe's depend on the discordant counts alone.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (LEADING, *PAIRED_METHODS)}
    known: dict[tuple[str, int, int], tuple[float, float]] = {}
    for both, first, second, neither in _tables(n):
        estimate = paired_estimate(both, first, second, neither)
        for name in PAIRED_METHODS:
            key = (name, first, second)
            if name == "newcombe_paired" or key not in known:
                known[key] = _ends(limits(estimate, name, level))
            found[name].append(known[key])
        found[LEADING].append(known[recommended(estimate), first, second])
    return {name: np.array(pairs, dtype=np.float64) for name, pairs in found.items()}


INDEPENDENT_METHODS = ("newcombe_independent", "normal")
NEGLIGIBLE_CHANCE = 1e-9
"""Pairs of outcomes rarer than this are left out: all of them together have less than 1e-4 of the chance."""


def independent(n: int, first: float, second: float, *, level: float = 0.95) -> dict[str, Tally]:
    """Return the exact tallies of the difference of two proportions from independent test sets of n examples each."""
    chances = [stats.binom.pmf(np.arange(n + 1), n, p) for p in (first, second)]
    likely = np.outer(*chances)
    xs, ys = np.nonzero(likely > NEGLIGIBLE_CHANCE)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (LEADING, *INDEPENDENT_METHODS)}
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        delta = unpaired_difference(_bare_estimate(x, n), _bare_estimate(y, n))
        for name in found:
            found[name].append(_ends(limits(delta, recommended(delta) if name == LEADING else name, level)))
    return {name: count(first - second, np.array(pairs), likely[xs, ys]) for name, pairs in found.items()}


def smallest_sample(p: float, *, at_least: float, largest: int, method: str = "normal") -> int:
    """Return the n from which an interval of a proportion keeps covering ``at_least``, as far as ``largest``.

    For each n only the ends of the run of outcomes whose interval holds p are looked for: outwards from those whose
    normal interval does (Wilson's limits around p), with the registered interval as the judge.
    """
    sizes = np.arange(2, largest + 1)
    first, last = np.array([_run_that_holds(p, n, method) for n in sizes.tolist()]).T
    chances = stats.binom.cdf(last, sizes, p) - stats.binom.cdf(first - 1, sizes, p)
    failures = sizes[np.where(first <= last, chances, 0.0) < at_least]
    return int(failures.max(initial=0)) + 1


def _run_that_holds(p: float, n: int, method: str) -> tuple[int, int]:
    def holds(x: int) -> bool:
        low, high = _ends(limits(_bare_estimate(x, n), method, 0.95))
        return low <= p <= high

    low, high = wilson_limits(n * p, n, 0.95)
    first, last = math.ceil(n * low), math.floor(n * high)
    while first > 0 and holds(first - 1):
        first -= 1
    while first <= n and not holds(first):
        first += 1
    while last < n and holds(last + 1):
        last += 1
    while last > first and not holds(last):
        last -= 1
    return first, last


def _bare_estimate(successes: int, n: int) -> Estimate:
    """Return an estimate without a bootstrap, for what needs counts and influence values only."""
    value = successes / n
    return Estimate(
        model="model", quantity=Quantity("accuracy"), value=value, range=(0.0, 1.0),
        sampling=sampling_by(n=n),
        evidence=Proportion(float(successes), float(n)),
        influence=Influence(
            np.array([1 - value, -value]) / n, np.array([successes, n - successes], dtype=np.float64)
        ),
    )  # fmt: skip
