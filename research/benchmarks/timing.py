"""Timing: CPU seconds of this process, so that other work on the machine does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, slots=True)
class Timed:
    """One measurement.

    Attributes
    ----------
    seconds
        CPU seconds of the whole work.
    note
        How it was measured where not in full ("3 of 10,000 replicates").
    """

    seconds: float
    note: str = ""

    def __str__(self) -> str:
        return seconds(self.seconds) + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of docs/benchmarks.csv: what was done, beside whom, what it took, and what was aimed at.

    Attributes
    ----------
    evalreport, peer
        A time, a size or an error, in words.
    ratio
        How many times as much the peer takes; None where there is none, or where the goal is about ours alone.
    met
        Whether the goal is met; None where there is none.
    """

    work: str
    against: str
    evalreport: str
    peer: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None

    @property
    def cells(self) -> dict[str, str]:
        """The cells of its line."""
        met = {True: "yes", False: "**no**", None: ""}[self.met]
        ratio = "" if self.ratio is None else number(self.ratio)
        return {**asdict(self), "ratio": ratio, "met": met}


def timed(
    work: str,
    against: str,
    ours: Timed,
    theirs: Timed | None = None,
    *,
    least_ratio: float | None = None,
    most_seconds: float | None = None,
    remark: str = "",
) -> Row:
    """Compare two times; the goal is the peer's time over ours, or a time of ours."""
    ratio, goal, met = None if theirs is None or most_seconds else theirs.seconds / ours.seconds, "", None
    if least_ratio is not None and ratio is not None:
        goal, met = f"≥ {number(least_ratio)}", ratio >= least_ratio
    elif most_seconds is not None:
        goal, met = f"< {seconds(most_seconds)}", ours.seconds <= most_seconds
    named = f"{work} ({remark})" if remark else work
    return Row(named, against, str(ours), "" if theirs is None else str(theirs), ratio, goal, met)


def memory(work: str, against: str, ours: int, theirs: int | None, most: int | None = None) -> Row:
    """Compare the largest memory of two processes, in bytes, libraries included; ``most``: the goal."""
    goal, met = ("", None) if most is None else (f"≤ {size(most)}", ours <= most)
    peer, ratio = ("", None) if theirs is None else (size(theirs), theirs / ours)
    return Row(f"{work} (largest memory)", against, size(ours), peer, ratio, goal, met)


def by_stage(work: str, stages: Mapping[str, float]) -> Row:
    """Say in which stages the time of a run goes."""
    parts = ", ".join(f"{stage} {seconds(each)}" for stage, each in stages.items())
    return Row(f"{work}, by stage", parts, seconds(sum(stages.values())))


def size(of: float) -> str:
    """Write bytes."""
    return f"{of / 1e9:.3g} GB" if of >= 1e9 else f"{of / 1e6:.3g} MB"


def seconds(of: float) -> str:
    """Write a time."""
    return f"{1000 * of:.3g} ms" if of < 1 else f"{number(of)} s"


def number(value: float) -> str:
    """Write three digits, thousands separated."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def best_of(work: Callable[[], object], times: int = 3) -> Timed:
    """Return the shortest of several whole runs, set-up included; what takes no time runs until it takes some."""
    repeats = 1
    while (took := _seconds(work, repeats)) < LEAST_SECONDS and times > 1:
        repeats *= 2 if took > LEAST_SECONDS / 100 else 10
    found = [took, *(_seconds(work, repeats) for _ in range(times - 1))]
    remark = f"best of {times}" + (f", each the mean of {repeats}" if repeats > 1 else "")
    return Timed(min(found) / repeats, remark if times > 1 else "")


def in_turn(*works: Callable[[], Timed], rounds: int = 3) -> list[Timed]:
    """Time several works one after the other, some rounds of all, and return the shortest time of each.

    A machine that others use is slower for minutes on end; so what is compared meets the same of that.
    """
    found = [[work() for work in works] for _ in range(rounds)]
    best = (min(times, key=lambda timed: timed.seconds) for times in zip(*found, strict=True))
    return [
        replace(one, note="; ".join(filter(None, (f"best of {rounds} in turn", one.note)))) for one in best
    ]


LEAST_SECONDS = 0.2
"""A shorter time would be that of cold caches and of the clock's ticks."""


def _seconds(work: Callable[[], object], repeats: int) -> float:
    gc.collect()
    started = time.process_time()
    for _ in range(repeats):
        work()
    return time.process_time() - started


def scaled(replicate: Callable[[], object], measured: int, wanted: int) -> Timed:
    """Time a few replicates of a loop and scale them to all: its time is proportional to their number."""
    replicate()  # the first one also imports and allocates
    gc.collect()
    started = time.process_time()
    for _ in range(measured):
        replicate()
    each = (time.process_time() - started) / measured
    return Timed(each * wanted, f"scaled from {measured} of {wanted:,} replicates")
