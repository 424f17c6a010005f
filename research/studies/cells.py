"""Cells of a study of tests: how often something happened in so many data sets, each drawn from a stream of its own."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

SIZE = 50
"""Data sets of one task of a worker."""


@dataclass(frozen=True)
class Cell:
    """One population and one question; ``name`` tells it from the others of its part and begins its stream.

    Attributes
    ----------
    data_sets
        How many are drawn where a thousand are asked for: cells that cost much have fewer.
    """

    name: str

    @property
    def data_sets(self) -> int:
        """Data sets of a thousand."""
        return 1000


Counted = Callable[[Any, np.random.Generator, int], Mapping[str, float]]
"""(cell, generator, number of the data set) -> what happened in one data set, 0 or 1 by name."""


def measure(
    cells: Sequence[Cell], counted: Counted, *, replications: int, seed: int, jobs: int
) -> list[dict[str, Any]]:
    """Return a row a cell: its fields, how many data sets were drawn, and in which share of them each thing happened.

    A data set's stream depends on (seed, cell, its number) alone, so neither the number of jobs nor another cell
    changes a figure.
    """
    numbers = {cell.name: max(1, round(replications * cell.data_sets / 1000)) for cell in cells}
    tasks = [
        (counted, cell, range(start, min(start + SIZE, numbers[cell.name])), seed)
        for cell in cells
        for start in range(0, numbers[cell.name], SIZE)
    ]
    totals: dict[str, Counter[str]] = {cell.name: Counter() for cell in cells}
    for name, found in _mapped(tasks, jobs):
        totals[name].update(found)
    return [
        {
            **asdict(cell),
            "data_sets": numbers[cell.name],
            **{key: total / numbers[cell.name] for key, total in totals[cell.name].items()},
        }
        for cell in cells
    ]


Task = tuple[Counted, Cell, range, int]


def _mapped(tasks: Sequence[Task], jobs: int) -> Iterable[tuple[str, Counter[str]]]:
    if jobs == 1:
        yield from map(_chunk, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_chunk, tasks)


def _chunk(task: Task) -> tuple[str, Counter[str]]:
    counted, cell, numbers, seed = task
    total: Counter[str] = Counter()
    for number in numbers:
        generator = np.random.default_rng([seed, zlib.crc32(cell.name.encode()), number])
        total.update({key: float(value) for key, value in counted(cell, generator, number).items()})
    return cell.name, total


def error(rate: float, data_sets: int) -> float:
    """Return the Monte Carlo standard error of a share of data sets.

    Examples
    --------
    >>> round(error(0.05, 1000), 4)
    0.0069
    """
    return float((rate * (1 - rate) / data_sets) ** 0.5)
