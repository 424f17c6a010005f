"""The promised error rates, each measured once more with a seed of its own: one line a promise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from research.studies import (
    audits,
    bars,
    cells,
    direct,
    families,
    held,
    operating,
    seeds,
    sliced,
    ties,
    unequal,
)


@dataclass(frozen=True, slots=True)
class Line:
    """One promise and what was found.

    Attributes
    ----------
    limit
        In words.
    measured
        In words: a rate, or what was found instead.
    data_sets, error
        How many data sets the rate is of, and its Monte Carlo error; None where it was enumerated or tried once.
    holds
        Within two Monte Carlo errors of a rate at the limit.
    """

    promise: str
    limit: str
    measured: str
    data_sets: int | None
    error: float | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Run:
    """How many data sets a cell of a thousand has here, and the seed."""

    replications: int
    seed: int
    jobs: int


def at_most(promise: str, rate: float, limit: float, n: int, *, least: float = 0.0) -> Line:
    """Judge a rate that should not exceed a limit (nor fall below another) by more than two Monte Carlo errors."""
    holds = rate <= limit + 2 * cells.error(limit, n) and rate >= least - 2 * cells.error(least, n)
    said = f"at most {percent(limit)}" if not least else f"{percent(least)} to {percent(limit)}"
    return Line(promise, said, percent(rate), n, cells.error(rate, n), holds)


def at_least(promise: str, rate: float, limit: float, n: int) -> Line:
    """Judge a rate that should reach a limit, within two Monte Carlo errors."""
    holds = rate >= limit - 2 * cells.error(limit, n)
    return Line(promise, f"at least {percent(limit)}", percent(rate), n, cells.error(rate, n), holds)


def or_warned(line: Line, warned: float) -> Line:
    """Where a rate misses, the run has to say so in nine of ten data sets."""
    said = replace(line, limit=f"{line.limit}, or a warning")
    if line.holds:
        return said
    return replace(said, measured=f"{line.measured}; warned in {percent(warned)}", holds=warned >= 0.9)


def percent(rate: float) -> str:
    """Write a rate with one decimal of a percent.

    Examples
    --------
    >>> percent(0.0553)
    '5.5 %'
    """
    return f"{100 * rate:.1f} %"


# --- the promises ---------------------------------------------------------------------------------------------------


def _cells(run: Run, part: Any, only: Sequence[cells.Cell] | None = None) -> list[dict[str, Any]]:
    return cells.measure(
        part.CELLS if only is None else only,
        part.counted,
        replications=run.replications,
        seed=run.seed,
        jobs=run.jobs,
    )


def of_slices(run: Run) -> Iterator[Line]:
    """No slice is flagged where none differs, and one that differs is found."""
    still, fallen = _cells(run, sliced)
    yield at_most("40 slices x 60, none differs: any flagged", still["flagged"], 0.06, still["data_sets"])
    yield at_least("one slice at 0.6 among 0.9: found", fallen["found"], 0.8, fallen["data_sets"])


def of_swaps(run: Run) -> Iterator[Line]:
    """Equal metrics at unlike operating points are told apart no more often than promised."""
    for row in _cells(run, operating):
        n, rate, name = row["data_sets"], row["permutation"], row["name"]
        if row["kind"] == "power":
            yield at_least(f"power, {name}", rate, row["limit"], n)
            continue
        least = 0.04 if row["metric"] == "balanced_accuracy" and row["kind"] == "unlike" else 0.0
        yield or_warned(at_most(f"equal {name}", rate, row["limit"], n, least=least), row["warned"])


def of_unequal(run: Run) -> Iterator[Line]:
    """Clusters and weights of unequal size: intervals, verdicts, equivalence, gates."""
    for row in _cells(run, unequal):
        n, name, short = row["data_sets"], row["name"], 0.92 if row["clusters"] == 8 else 0.93
        if row["ahead"]:
            yield at_most(f"{name}: called equivalent", row["equivalent"], 0.05, n)
            continue
        yield at_least(f"{name}: the value's interval", 1 - row["missed"], short, n)
        yield at_least(f"{name}: the difference's interval", 1 - row["difference missed"], short, n)
        yield at_most(f"{name}: the pair is decided", row["decided"], 1 - short, n)
        for side in ("passes", "fails"):
            yield or_warned(
                at_most(f"{name}: a gate at its bar {side}", row[f"gate {side}"], 0.035, n), row["warned"]
            )


SEEDS: tuple[seeds.Setting, ...] = (
    ("same", 3, True, 0.03), ("same", 5, True, 0.03), ("same", 5, False, 0.03), ("another", 5, True, 0.05),
    ("another", 3, True, 0.05),
)  # fmt: skip


def of_seeds(run: Run) -> Iterator[Line]:
    """The same algorithm trained twice is not told apart from itself; with few seeds the run warns."""
    for row in seeds.measure(replications=run.replications, seed=run.seed, jobs=run.jobs, cells=SEEDS):
        second = "the same algorithm" if row["second"] == "same" else "an equally good one"
        kind = "named alike" if row["paired"] else "named unlike"
        line = at_most(
            f"{second}, {row['seeds']} seeds {kind}: decided", row["seeds_t"], 0.065, run.replications
        )
        # few_seeds is raised by the number of seeds alone.
        yield or_warned(line, float(row["seeds"] < 5))


def of_ties(run: Run) -> Iterator[Line]:
    """Wilcoxon's test keeps its level with ties at every n to 50."""
    for row in _cells(run, ties):
        yield at_most(f"Wilcoxon with ties, n = {row['n']}", row["wilcoxon"], row["limit"], row["data_sets"])


def of_nights(run: Run) -> Iterator[Line]:
    """Alarms in a year without change, and nights until a drop of five points is seen."""
    series = max(run.replications, 200)
    for number, setting in enumerate(s for s in audits.STILL if s.kind == "normal" and s.accepted_n >= 1000):
        rate = _years(setting, series, run.seed, number)["within_365"]
        name = f"alarm in a year, {setting.accepted} nights of {setting.accepted_n:,} accepted, sd {setting.sd:g}"
        yield at_most(name, rate, 0.07, series)
    falling = (audits.Setting(sd=0.01, drop=0.05), audits.Setting(accepted=1, good=30, sd=0.01, drop=0.05))
    for number, setting in enumerate(falling):
        median = _years(setting, series, run.seed, 100 + number)["median_days"]
        name = (
            f"a drop of 5 points, sd 0.01, {setting.accepted} accepted, after {setting.good} nights: seen in"
        )
        holds = median != "" and median <= 8
        yield Line(name, "a median of 8 nights", f"{median or 'no'} nights", series, None, holds)


def _years(setting: audits.Setting, series: int, seed: int, number: int) -> dict[str, Any]:
    first, _ = audits.new_examples(setting, series, np.random.default_rng([seed, number]))
    return audits.summary(first["alarm"], setting)


def of_bias(run: Run) -> Iterator[Line]:
    """The unbiased squared bias is near the true one, and its interval holds it."""
    (row,) = cells.measure(
        (held.Biased("squared bias 0.09, 30 replicates"),),
        held.bias_counted,
        replications=run.replications,
        seed=run.seed,
        jobs=run.jobs,
    )
    n = row["data_sets"]
    yield at_least("squared bias 0.09 of 30 replicates: its interval", row["held"], 0.93, n)
    error = float(np.sqrt((row["unbiased squared"] - row["unbiased"] ** 2) / n))
    found = f"{row['unbiased']:.4f} ± {error:.4f} (with variance / K {row['plain']:.3f})"
    close = abs(row["unbiased"] - held.BIAS**2) < 3 * error
    yield Line(
        "squared bias 0.09 of 30 replicates: its mean", "0.09, within three errors", found, n, None, close
    )
    yield at_least("loss = bias + variance, exactly", row["identity"], 1.0, n)


def of_gates(run: Run) -> Iterator[Line]:
    """Gates exactly at the bar, and never against the verdict."""
    for row in bars.enumerate_bars():
        for side in ("passes", "fails"):
            name = f"a proportion at the bar {row['bar']:g}, every n to {row['most']}: {side}"
            yield Line(name, "at most 2.5 %", f"{100 * row[side]:.2f} %", None, None, row[side] <= 0.025)
    for row in _cells(run, bars):
        n = row["data_sets"]
        for side in ("passes", "fails"):
            yield at_most(f"{row['name']} at the bar: {side}", row[side], 0.035, n)
        if row["name"].startswith("difference"):
            yield at_most(f"{row['name']}: gate against verdict", row["contradicts"], 0.0, n)


def of_intervals(run: Run) -> Iterator[Line]:
    """Heavy tails and rare classes: the leading interval holds, or the run says that it is short."""
    for row in _cells(run, held):
        line = at_least(f"{row['name']}: the leading interval", row["held"], 0.92, row["data_sets"])
        yield or_warned(line, row["warned"])


def of_families(run: Run) -> Iterator[Line]:
    """Twelve equally good models: any verdict for one of them."""
    for row in _cells(run, families):
        yield at_most(f"{row['name']}: any called better", row["any better"], row["limit"], row["data_sets"])


def of_checks(run: Run) -> Iterator[Line]:
    """What is no rate is tried once."""
    for number, check in enumerate(direct.CHECKS.values()):
        said = (check.__doc__ or "").strip().rstrip(".")
        found = check(np.random.default_rng([run.seed, number]))
        yield Line(said, "always", "yes" if found is None else found, None, None, found is None)


PROMISES: Mapping[str, Callable[[Run], Iterable[Line]]] = {
    "Slices": of_slices,
    "Metrics that are no means": of_swaps,
    "Unequal clusters and weights": of_unequal,
    "Training seeds": of_seeds,
    "Ties": of_ties,
    "Nightly alarms": of_nights,
    "Bias": of_bias,
    "Gates": of_gates,
    "Heavy tails and rare classes": of_intervals,
    "Many models": of_families,
    "Tried once": of_checks,
}
"""By the heading under which they stand on the page."""


def confirm(run: Run, only: str | None = None) -> dict[str, list[Line]]:
    """Measure every promise, or those of one heading."""
    found = {}
    for heading, lines in PROMISES.items():
        if only in (None, heading):
            print(f"{heading} ...", file=sys.stderr, flush=True)
            found[heading] = list(lines(run))
    return found
