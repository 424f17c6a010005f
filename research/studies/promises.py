"""The promised error rates, each measured once more with a seed of its own: one line a promise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.studies import (
    audits,
    bars,
    biased,
    cells,
    direct,
    families,
    held,
    led,
    operating,
    seeds,
    sliced,
    ties,
    time_order,
    unequal,
)
from research.studies.judgement import Fact, Line, at_least, at_most, never


@dataclass(frozen=True, slots=True)
class Run:
    """How many data sets every cell has, the seed, and which cells: those whose names contain ``cells``."""

    replications: int
    seed: int
    jobs: int
    cells: str = ""


# --- the promises ---------------------------------------------------------------------------------------------------


def _cells(run: Run, of: Sequence[cells.Cell], counted: cells.Counted) -> list[dict[str, Any]]:
    """Measure cells, each on as many data sets, however few the studies have."""
    chosen = [cell for cell in of if run.cells in cell.name]
    return [
        row
        for cell in chosen
        for row in cells.measure(
            [cell],
            counted,
            replications=-(-1000 * run.replications // cell.data_sets),
            seed=run.seed,
            jobs=run.jobs,
        )
    ]


def of_leaders(run: Run) -> Iterator[Line]:
    """Every leading interval on every population of the study of coverage, values and differences."""
    for row in _cells(run, led.populations(), led.counted):
        for truth in led.population(row["design"]).truths:
            name, n = led.what(truth), row["data_sets"]
            defined = round(row.get(f"{name}: defined", 0) * n)
            if defined:
                held = row.get(f"{name}: held", 0) * n / defined
                yield at_least(f"{row['name']}: {name}", held, led.LEAST, defined)


def of_slices(run: Run) -> Iterator[Line]:
    """No slice is flagged where none differs, and one that differs is found."""
    for row in _cells(run, sliced.CELLS, sliced.counted):
        if row["first"] == sliced.ACCURACY:
            yield at_most("40 slices x 60, none differs: any flagged", row["flagged"], 0.06, row["data_sets"])
        else:
            yield at_least("one slice at 0.6 among 0.9: found", row["found"], 0.8, row["data_sets"])


def of_points(run: Run) -> Iterator[Line]:
    """Equal metrics at unlike operating points are told apart no more often than promised, better ones are."""
    for row in _cells(run, operating.CELLS, operating.leading_alone):
        n, rate, name = row["data_sets"], row["leading"], row["name"]
        if row["kind"] == "power":
            yield at_least(f"power, {name}", rate, row["limit"], n)
            continue
        yield at_most(f"equal {name}: decided", rate, row["limit"], n)
        if row["metric"] == "balanced_accuracy" and row["kind"] == "unlike" and row["n"] == 200:
            yield at_least(f"equal {name}: decided", rate, 0.04, n)


def of_unequal(run: Run) -> Iterator[Line]:
    """Clusters and weights of unequal size: intervals, verdicts, equivalence, gates."""
    for row in _cells(run, unequal.CELLS, unequal.counted):
        n, name = row["data_sets"], row["name"]
        if row["ahead"]:
            yield at_most(f"{name}: called equivalent", row["equivalent"], 0.05, n)
            continue
        yield at_least(f"{name}: the value's interval", 1 - row["missed"], led.LEAST, n)
        yield at_least(f"{name}: the difference's interval", 1 - row["difference missed"], led.LEAST, n)
        yield at_most(f"{name}: the pair is decided", row["decided"], 0.07, n)
        for side in ("passes", "fails"):
            yield at_most(f"{name}: a gate at its bar {side}", row[f"gate {side}"], 0.035, n)


SEEDS: tuple[seeds.Setting, ...] = (
    ("same", 3, True, 0.03), ("same", 5, True, 0.03), ("same", 5, False, 0.03), ("another", 5, True, 0.05),
    ("another", 3, True, 0.05),
)  # fmt: skip


def of_seeds(run: Run) -> Iterator[Line]:
    """The same algorithm trained twice is not told apart from itself."""
    for row in seeds.measure(replications=run.replications, seed=run.seed, jobs=run.jobs, cells=SEEDS):
        second = "the same algorithm" if row["second"] == "same" else "an equally good one"
        kind = "named alike" if row["paired"] else "named unlike"
        name = f"{second}, {row['seeds']} seeds {kind}: decided"
        yield at_most(name, row["seeds_t"], 0.065, run.replications)


def of_ties(run: Run) -> Iterator[Line]:
    """Wilcoxon's test keeps its level with ties at every n to 50."""
    for row in _cells(run, ties.CELLS, ties.counted):
        yield at_most(f"Wilcoxon with ties, n = {row['n']}", row["wilcoxon"], row["limit"], row["data_sets"])


AUDITED: tuple[audits.Setting, ...] = (
    *(s for s in audits.STILL if s.kind == "normal" and s.accepted_n >= 1000),
    *(audits.Setting(accepted=a, sd=0.02, horizon=52) for a in (1, 3, 8)),
    audits.Setting("heavy", sd=0.02),
    audits.Setting("heavy", sd=0.01),
    audits.Setting("heavy", accepted=3, sd=0.02, horizon=52),
    audits.Setting("heavy", accepted=3, sd=0.01, horizon=52),
    *(s for s in audits.STILL if s.kind == "same"),
)
"""Series in which nothing changes. 0.02 is the largest standard deviation for which the alarm promises its rate."""


def of_audits(run: Run) -> Iterator[Line]:
    """False alarms of a year of runs, by either rule, and the runs until a drop of five points is seen."""
    series = run.replications
    for number, setting in enumerate(AUDITED):
        rate = float((_first_alarms(setting, series, run.seed, number) > 0).mean())
        yield at_most(f"false alarm in {_year(setting)}", rate, 0.05, series)
    falling = (audits.Setting(sd=0.01, drop=0.05), audits.Setting(accepted=1, good=30, sd=0.01, drop=0.05))
    for number, setting in enumerate(falling):
        first = _first_alarms(setting, series, run.seed, 100 + number)
        median = audits.summary(first, setting)["median_days"]
        drop = f"a drop of 5 points, sd 0.01, {setting.accepted} accepted, after {setting.good} good runs"
        yield Fact(
            promise=f"{drop}: seen in",
            asked="a median of 8 runs",
            found=f"{median or 'no'} runs in {series:,}",
            holds=median != "" and median <= 8,
        )


def _first_alarms(setting: audits.Setting, series: int, seed: int, number: int) -> audits.Counts:
    make = audits.same_examples if setting.kind == "same" else audits.new_examples
    return make(setting, series, np.random.default_rng([seed, number]))[0]["alarm"]


def _year(setting: audits.Setting) -> str:
    if setting.kind == "same":
        return f"{setting.horizon} runs on the same {setting.nightly:,} examples, trained anew"
    tails = "heavy tails (t, 4 df), " if setting.kind == "heavy" else ""
    return f"{setting.horizon} runs, {tails}{setting.accepted} of {setting.accepted_n:,} accepted, sd {setting.sd:g}"


def of_bias(run: Run) -> Iterator[Line]:
    """The unbiased squared bias is near the true one, and its interval holds it."""
    for row in _cells(run, biased.CELLS, biased.counted):
        n = row["data_sets"]
        yield at_least("squared bias 0.09 of 30 replicates: its interval", row["held"], 0.93, n)
        error = float(np.sqrt((row["unbiased squared"] - row["unbiased"] ** 2) / n))
        yield Fact(
            promise="squared bias 0.09 of 30 replicates: its mean",
            asked="0.09, within three errors",
            found=f"{row['unbiased']:.4f} ± {error:.4f} (with variance / K {row['plain']:.3f})",
            holds=abs(row["unbiased"] - biased.BIAS**2) < 3 * error,
        )
        yield never("loss = bias + variance: missed", 1 - row["identity"], n)


def of_gates(run: Run) -> Iterator[Line]:
    """Gates exactly at the bar, and never against the verdict."""
    for row in () if run.cells else bars.enumerate_bars():
        for side in ("passes", "fails"):
            yield Fact(
                promise=f"a proportion at the bar {row['bar']:g}, every n to {row['most']}: {side}",
                asked="at most 2.5 %",
                found=f"{100 * row[side]:.2f} %",
                holds=row[side] <= 0.025,
            )
    for row in _cells(run, bars.CELLS, bars.counted):
        n = row["data_sets"]
        for side in ("passes", "fails"):
            yield at_most(f"{row['name']} at the bar: {side}", row[side], 0.035, n)
        if row["name"].startswith("difference"):
            yield never(f"{row['name']}: gate against verdict", row["contradicts"], n)


def of_intervals(run: Run) -> Iterator[Line]:
    """Heavy tails, rare classes and differences: the interval that a reader sees, through the public API."""
    for row in _cells(run, held.CELLS, held.counted):
        whose = "the leading interval" if row["kind"] == "value" else "the verdict's interval"
        yield at_least(f"{row['name']}: {whose}", row["held"], led.LEAST, row["data_sets"])


def of_time(run: Run) -> Iterator[Line]:
    """Examples in order of time: intervals of values and differences by ``--order time``, from 100 examples on."""
    for correlation in time_order.CORRELATIONS:
        for n in time_order.SIZES:
            where = f"AR(1) of {correlation:g}, n = {n}"
            if n < 100 or run.cells not in where:
                continue
            for metric, total in time_order.cell(correlation, n, run.replications, run.seed).items():
                for name, of in ((metric, "value_held"), (f"difference of {metric}", "difference_held")):
                    rate = total[of] / total["sets"]
                    yield at_least(f"{where}: {name}", rate, led.LEAST, total["sets"])


def of_families(run: Run) -> Iterator[Line]:
    """Twelve equally good models: any verdict for one of them."""
    for row in _cells(run, families.CELLS, families.counted):
        yield at_most(f"{row['name']}: any called better", row["any better"], row["limit"], row["data_sets"])


def of_checks(run: Run) -> Iterator[Line]:
    """What is no rate is tried once."""
    for number, check in enumerate(direct.CHECKS.values()):
        said = (check.__doc__ or "").strip().rstrip(".")
        found = check(np.random.default_rng([run.seed, number]))
        yield Fact(promise=said, asked="always", found=found or "yes", holds=found is None)


PROMISES: Mapping[str, Callable[[Run], Iterable[Line]]] = {
    "Leading intervals": of_leaders,
    "Intervals that a reader sees": of_intervals,
    "Tests of equal metrics": of_points,
    "Slices": of_slices,
    "Unequal clusters and weights": of_unequal,
    "Order of time": of_time,
    "Training seeds": of_seeds,
    "Ties": of_ties,
    "Alarms of audits": of_audits,
    "Bias": of_bias,
    "Gates": of_gates,
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
