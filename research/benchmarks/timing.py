"""Timing: CPU seconds of this process, so that other work on the machine does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace


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


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: what was done, by whom, how long it took, and what was aimed at.

    Attributes
    ----------
    least_ratio
        The goal where it is a ratio: peer's time over ours.
    most_seconds
        The goal where it is a time of ours.
    """

    work: str
    peer: str
    ours: Timed
    theirs: Timed | None
    least_ratio: float | None = None
    most_seconds: float | None = None
    remark: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as long the peer takes; None where the goal is a time and the peer a mark to read it by."""
        if self.theirs is None or self.most_seconds is not None:
            return None
        return self.theirs.seconds / self.ours.seconds

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.least_ratio is not None and self.ratio is not None:
            return self.ratio >= self.least_ratio
        return None if self.most_seconds is None else self.ours.seconds <= self.most_seconds


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One measurement of an error, in standard errors of what is estimated: not a time, so there is no ratio."""

    work: str
    peer: str
    error: float
    most: float
    remark: str = ""

    @property
    def met(self) -> bool:
        """Whether the error is at most what was aimed at."""
        return self.error <= self.most


@dataclass(frozen=True, slots=True)
class Memory:
    """The largest memory of a process of ours and of a peer's, in bytes, libraries included; ``most``: the goal."""

    work: str
    peer: str
    ours: int
    theirs: int | None
    most: int | None = None

    @property
    def ratio(self) -> float | None:
        """How many times as much the peer takes."""
        return None if self.theirs is None else self.theirs / self.ours

    @property
    def met(self) -> bool | None:
        """Whether it is at most what was aimed at; None where nothing was."""
        return None if self.most is None else self.ours <= self.most


@dataclass(frozen=True, slots=True)
class Exponent:
    """How the cost of a run grows with one number: as its power, by the least and the greatest of some sizes.

    Attributes
    ----------
    of
        What grows: the classes, the models, the rows, the slices.
    seconds
        By size, ascending.
    """

    of: str
    seconds: tuple[tuple[int, float], ...]
    power: float
    most: float

    @property
    def met(self) -> bool:
        """Whether it grows no faster than in proportion, but for a margin."""
        return self.power <= self.most


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of one default run, by stage."""

    n: int
    models: int
    stages: Mapping[str, float]

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(self.stages.values())


@dataclass(frozen=True, slots=True)
class Course:
    """Seconds by the clock of one run of the program, by stage."""

    formats: str
    stages: Mapping[str, float]

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(self.stages.values())


def best_of(work: Callable[[], object], times: int = 3) -> Timed:
    """Return the shortest of several whole runs, set-up included; what takes no time runs until it takes some."""
    repeats = 1
    while (seconds := _seconds(work, repeats)) < LEAST_SECONDS and times > 1:
        repeats *= 2 if seconds > LEAST_SECONDS / 100 else 10
    found = [seconds, *(_seconds(work, repeats) for _ in range(times - 1))]
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
