"""Draw many test sets from a design, estimate as a run does, and tally what every interval holds."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

import numpy as np

from evalreport.comparisons.label_pairs import paired_trials
from evalreport.comparisons.pairs import with_evidence
from evalreport.intervals import INTERVALS, leading, limits, recommended, resolved
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.table import Predictions
from evalreport.texts import Message
from evalreport.warnings.coverage import largest_of
from research.studies.designs import Design, Truth, every_design
from research.studies.tally import LEADING, Tally, one

LEVEL = 0.95
CHUNK = 100
"""Data sets of one task of a worker."""


@dataclass(slots=True)
class Measured:
    """What was measured of one truth at one size: a tally by method, and how often each method led.

    ``warned`` counts the data sets whose run says that few large losses carry the sum; ``rarest`` adds up how many
    examples the rarest class has, where there are classes.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    leaders: Counter[str] = field(default_factory=Counter)
    undefined: int = 0
    warned: int = 0
    rarest: float = 0.0

    def add(self, other: Measured) -> None:
        """Add what another chunk measured."""
        for method, tally in other.tallies.items():
            self.tallies[method] = self.tallies.get(method, Tally()) + tally
        self.leaders += other.leaders
        self.undefined += other.undefined
        self.warned += other.warned
        self.rarest += other.rarest


Cell = tuple[int, int]
"""Position in ``every_design()`` and size."""
Found = dict[Truth, Measured]


def simulate(
    *,
    replications: int,
    n_resamples: int,
    seed: int,
    jobs: int,
    progress: Callable[[int, int], None],
    only: str = "",
) -> dict[Cell, Found]:
    """Simulate every design at every size; ``only``: those whose names begin so.

    A data set's stream depends on (seed, design, size, number of the data set) alone, so neither the number of
    jobs nor another design changes a figure.
    """
    designs = [(i, design) for i, design in enumerate(every_design()) if design.name.startswith(only)]
    cells = [(i, size) for i, design in designs for size in design.sizes]
    # The largest test sets first, so that no worker is left alone with them at the end.
    tasks = [
        (cell, start, min(start + CHUNK, replications), n_resamples, seed)
        for cell in sorted(cells, key=lambda cell: -cell[1])
        for start in range(0, replications, CHUNK)
    ]
    found: dict[Cell, Found] = {cell: {} for cell in cells}
    for done, (cell, part) in enumerate(_results(tasks, jobs), start=1):
        for truth, measured in part.items():
            found[cell].setdefault(truth, Measured()).add(measured)
        progress(done, len(tasks))
    return found


Task = tuple[Cell, int, int, int, int]


def _results(tasks: list[Task], jobs: int) -> Iterable[tuple[Cell, Found]]:
    if jobs == 1:
        yield from map(_chunk, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(_chunk, task) for task in tasks]):
            yield future.result()


_DESIGNS: list[Design] = []
"""Made once in each process: the true values cost an integral each."""


def _chunk(task: Task) -> tuple[Cell, Found]:
    cell, start, stop, n_resamples, seed = task
    if not _DESIGNS:
        _DESIGNS.extend(every_design())
    design, size = _DESIGNS[cell[0]], cell[1]
    found: Found = {truth: Measured() for truth in design.truths}
    for number in range(start, stop):
        generator = np.random.default_rng([seed, zlib.crc32(design.name.encode()), size, number])
        predictions, units = design.draw(generator, size)
        sample = estimate_all(
            predictions,
            design.quantities,
            units=units,
            n_resamples=n_resamples,
            seed=int(generator.integers(2**62)),
        )
        for truth, value in design.truths.items():
            found[truth].add(measure(sample, truth, value))
    return cell, found


def measure(sample: Sample, truth: Truth, value: float) -> Measured:
    """Compute every interval of one estimate and say what holds the true value."""
    kind, model, quantity = truth
    estimate: Estimate | Difference = sample.estimates[model, quantity]
    if kind == "difference":
        estimate = difference_of(sample, quantity)
    rarest = _rarest(sample.predictions)
    if not estimate.defined:
        return Measured(undefined=1, rarest=rarest)
    first = (
        leading(estimate, LEVEL)
        if isinstance(estimate, Estimate)
        else resolved(estimate, recommended(estimate), LEVEL)
    )
    tallies = {LEADING: one(value, first.low, first.high)}
    for name in INTERVALS:
        found = limits(estimate, name, LEVEL)
        tally = one(value, found.low, found.high)
        tallies[name] = tally
    models = ("a", "b") if kind == "difference" else (model,)
    largest = [largest_of(sample, name, quantity) for name in models]
    warned = any(found is not None and found.much for found in largest)
    return Measured(tallies, Counter([first.method]), warned=int(warned), rarest=rarest)


def _rarest(predictions: Predictions) -> float:
    if not predictions.classes or predictions.y_true is None:
        return 0.0
    return float(np.bincount(predictions.y_true, minlength=len(predictions.classes)).min())


def difference_of(sample: Sample, quantity: Quantity) -> Estimate | Difference:
    """Return a - b as a comparison sets it up."""
    first, second = (sample.estimates[name, quantity] for name in ("a", "b"))
    if not (first.defined and second.defined):
        return replace(first, value=np.nan)
    names = ("a", "b")
    examples = None if first.sampling.tasks is not None else sample.by_example(names, quantity)
    labels = sample.labels(names) if first.metric.needs == "labels" else None
    trials = None if labels is None else paired_trials(quantity, sample.predictions, labels)
    delta = with_evidence(sample, paired_difference(first, second), examples, labels, trials)
    return replace(first, value=np.nan) if isinstance(delta, Message) else delta
