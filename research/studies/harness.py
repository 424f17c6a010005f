"""The harness of all studies: a design draws data sets, a statistic counts what happens, a limit judges the share.

A study is a list of cells, a function that counts what happened in one data set, and the promises about the shares:

    STUDY = Study("Many models", CELLS, counted, limits({"any better": ("at most", 0.05)}))

A figure is 0 or 1, another number, or the ``Tally`` of an interval; the harness adds it up over the data sets. A data
set's stream depends on (seed, cell, its number) alone, so neither the number of jobs nor another cell changes a figure.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from research.studies.judgement import Line, Side, judged

CHUNK = 50
"""Data sets of one task of a worker."""


@dataclass(frozen=True)
class Cell:
    """One population and one question; its fields are what differs between the cells of a study.

    Attributes
    ----------
    data_sets
        Drawn where a thousand are asked for: fewer where each takes long.
    at_once
        Data sets that are drawn from one stream; 0: all of the cell.
    stream
        Numbers that tell the cell's stream from those of other cells; by default those of its name.
    """

    name: str
    data_sets: int = field(default=1000, kw_only=True)
    at_once: int = field(default=1, kw_only=True)
    stream: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stream", self.stream or named(self.name))


def named(*words: object) -> tuple[int, ...]:
    """Return the number of a stream that is told by words."""
    return (zlib.crc32("/".join(map(str, words)).encode()),)


Statistic = Callable[[Any, np.random.Generator, int], Mapping[Any, Any]]
"""(cell, generator, number of the data set, or how many are drawn at once) -> what happened, by name."""


@dataclass(frozen=True, slots=True)
class Run:
    """Data sets of a cell, seed, processes, and a word: only cells whose names contain it are measured."""

    replications: int
    seed: int
    jobs: int = 1
    only: str = ""
    n_resamples: int = 500


@dataclass(frozen=True, slots=True)
class Table:
    """A study's module, what tells the rows of its file apart, and how it is run.

    Attributes
    ----------
    seed
        None: it has to be given.
    columns
        Of the tallies, where the rows are those of ``held``; else the module's function ``rows`` yields them.
    file
        Below docs/; by default named after the study.
    """

    module: str
    key: tuple[str, ...]
    replications: int
    seed: int | None = 0
    columns: tuple[str, ...] = ()
    rows: str = "rows"
    file: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A cell, the data sets drawn, and the sum of each figure over them; ``result[figure]`` is its mean."""

    cell: Any
    data_sets: int
    totals: Mapping[Any, Any]

    def __getitem__(self, figure: Hashable) -> float:
        return float(self.totals.get(figure, 0.0) / self.data_sets)


def measure(cells: Sequence[Cell], counted: Statistic, run: Run, *, equally: bool = False) -> list[Result]:
    """Return the result of every cell; ``equally``: the same number of data sets for each, however slow."""
    chosen = [cell for cell in cells if run.only in cell.name]
    sizes = [
        run.replications if equally else max(1, round(run.replications * cell.data_sets / 1000))
        for cell in chosen
    ]
    tasks = [
        (counted, place, cell, range(start, min(start + chunk, size)), run.seed)
        for place, (cell, size) in enumerate(zip(chosen, sizes, strict=True))
        for chunk in (max(CHUNK // cell.at_once, 1) * cell.at_once if cell.at_once else size,)
        for start in range(0, size, chunk)
    ]
    totals: list[dict[Any, Any]] = [{} for _ in chosen]
    for place, total in _mapped(tasks, run.jobs):
        add(totals[place], total)
    return [Result(cell, size, total) for cell, size, total in zip(chosen, sizes, totals, strict=True)]


Task = tuple[Statistic, int, Cell, range, int]


def add(total: dict[Any, Any], figures: Mapping[Any, Any]) -> None:
    """Add the figures of a data set, or of several, to those before."""
    for figure, value in figures.items():
        total[figure] = total[figure] + value if figure in total else value


def _mapped(tasks: Sequence[Task], jobs: int) -> Iterable[tuple[int, dict[Any, Any]]]:
    if jobs == 1:
        yield from map(_chunk, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_chunk, tasks)


def _chunk(task: Task) -> tuple[int, dict[Any, Any]]:
    counted, place, cell, numbers, seed = task
    if not cell.at_once:
        return place, dict(counted(cell, np.random.default_rng([seed, *cell.stream]), len(numbers)))
    total: dict[Any, Any] = {}
    for number in numbers[:: cell.at_once]:
        generator = np.random.default_rng([seed, *cell.stream, number])
        several = min(cell.at_once, numbers.stop - number)
        add(total, counted(cell, generator, number if cell.at_once == 1 else several))
    return place, total


def held(cells: Sequence[Cell], counted: Statistic, run: Run, table: Table) -> Iterator[dict[str, object]]:
    """Yield a row for each cell and figure, of which ``counted`` returns the tallies.

    What the key of the table names is an attribute of the cell, or else a part of the figure, in order.
    """
    for result in measure(cells, counted, run):
        for figure, tally in result.totals.items():
            if tally.given:
                parts = iter(figure if isinstance(figure, tuple) else (figure,))
                of_cell = {name: getattr(result.cell, name, None) for name in table.key}
                names = {
                    name: spelled(next(parts) if value is None else value) for name, value in of_cell.items()
                }
                yield {**names, **tally.shares(table.columns), "seed": run.seed}


def spelled(value: object) -> object:
    """Write a number that is not whole with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else value


Promised = Callable[[Result], Iterable[Line]]


@dataclass(frozen=True, slots=True)
class Study:
    """Cells, the statistic, and the promises about its shares; ``heading`` groups them in docs/promises.csv."""

    heading: str
    cells: Sequence[Cell] | Callable[[], Sequence[Cell]]
    counted: Statistic
    promised: Promised

    def confirm(self, run: Run) -> Iterator[Line]:
        """Measure every cell on the same number of data sets and judge its promises."""
        cells = self.cells() if callable(self.cells) else self.cells
        for result in measure(cells, self.counted, run, equally=True):
            yield from self.promised(result)


def limits(by_figure: Mapping[str, tuple[Side, float]]) -> Promised:
    """Return promises of the shares of some figures, the same for every cell, named after cell and figure."""

    def promised(result: Result) -> Iterator[Line]:
        for figure, (side, limit) in by_figure.items():
            name = f"{result.cell.name}: {figure}"
            yield judged(name, side, limit, result[figure], result.data_sets)

    return promised


def error(rate: float, data_sets: int) -> float:
    """Return the Monte Carlo standard error of a share of data sets.

    Examples
    --------
    >>> round(error(0.05, 1000), 4)
    0.0069
    """
    return float((rate * (1 - rate) / data_sets) ** 0.5)
