"""Draw many test sets from a design, estimate as a run does, and tally what every interval holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.comparisons.label_pairs import label_pairs
from evalreport.comparisons.pairs import with_evidence
from evalreport.intervals import INTERVALS, leading, limits, recommended, resolved
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.table import Predictions
from evalreport.samplings import Sampling, sampling_by
from evalreport.schema.metrics import Interval
from evalreport.texts import Message
from evalreport.warnings.coverage import largest_of
from research.studies.designs import Design, Truth
from research.studies.harness import Cell, named
from research.studies.populations import population
from research.studies.tally import LEADING, Tally, one

LEVEL = 0.95


@dataclass(frozen=True)
class Sized(Cell):
    """A population, and the examples (or clusters) of a test set."""

    design: str
    n: int
    n_resamples: int


def cells(designs: Sequence[Design], n_resamples: int) -> tuple[Sized, ...]:
    """Return every population at every size."""
    return tuple(
        Sized(f"{design.name}, n = {n}", design.name, n, n_resamples, stream=(*named(design.name), n))
        for design in designs
        for n in design.sizes
    )


def counted(cell: Sized, generator: np.random.Generator, _number: int) -> Mapping[Any, Any]:
    """Estimate as a run does, and say what every interval holds, by truth and method; and which of them leads."""
    design = population(cell.design)
    predictions, units = design.draw(generator, cell.n)
    sample = estimate_all(
        predictions, design.quantities, units=units, n_resamples=cell.n_resamples,
        seed=int(generator.integers(2**62)),
    )  # fmt: skip
    figures: dict[Any, Any] = {"rarest": _rarest(predictions)}
    for truth, value in design.truths.items():
        kind, model, quantity = truth
        estimate = estimate_of(sample, truth)
        if not estimate.defined:
            continue
        first = led(estimate)
        largest = [
            largest_of(sample, name, quantity) for name in ("ab" if kind == "difference" else (model,))
        ]
        warned = any(found is not None and found[-1] for found in largest)
        tally = replace(one(value, first.low, first.high), warned=float(warned))
        figures |= {(truth, LEADING): tally, (truth, "leads", first.method): 1}
        for name in INTERVALS:
            interval = limits(estimate, name, LEVEL)
            figures[truth, name] = one(value, interval.low, interval.high)
    return figures


def _rarest(predictions: Predictions) -> float:
    """Return how many examples the rarest class has; 0 where there are no classes."""
    if not predictions.classes or predictions.y_true is None:
        return 0.0
    return float(np.bincount(predictions.y_true, minlength=len(predictions.classes)).min())


def estimate_of(sample: Sample, truth: Truth) -> Estimate | Difference:
    """Return what is estimated: a model's value, or a - b."""
    kind, model, quantity = truth
    return difference_of(sample, quantity) if kind == "difference" else sample.estimates[model, quantity]


def led(estimate: Estimate | Difference) -> Interval:
    """Return the interval that leads."""
    if isinstance(estimate, Estimate):
        return leading(estimate, LEVEL)
    return resolved(estimate, recommended(estimate), LEVEL)


def tallied(sample: Sample, truths: Mapping[Truth, float]) -> dict[Truth, Tally]:
    """Return what the leading intervals hold of the true values of all that is defined."""
    estimates = {truth: estimate_of(sample, truth) for truth in truths}
    intervals = {truth: led(estimate) for truth, estimate in estimates.items() if estimate.defined}
    return {truth: one(truths[truth], found.low, found.high) for truth, found in intervals.items()}


def held_of(
    predictions: Predictions, truths: Mapping[Truth, float], units: Sampling | None = None
) -> dict[tuple[str, str], Tally]:
    """Return what the leading intervals of a test set hold, by kind and metric; without units, of single examples."""
    quantities = list(dict.fromkeys(quantity for _, _, quantity in truths))
    sample = estimate_all(
        predictions, quantities, units=units or sampling_by(predictions.n), n_resamples=2, seed=0
    )
    return {(kind, quantity.spelled): tally for (kind, _, quantity), tally in tallied(sample, truths).items()}


def difference_of(sample: Sample, quantity: Quantity) -> Estimate | Difference:
    """Return a - b as a comparison sets it up."""
    first, second = (sample.estimates[name, quantity] for name in ("a", "b"))
    if not (first.defined and second.defined):
        return replace(first, value=np.nan)
    names = ("a", "b")
    examples = None if first.sampling.tasks is not None else sample.by_example(names, quantity)
    labels = sample.labels(names) if first.metric.needs == "labels" else None
    counted = None if labels is None else label_pairs(quantity, sample.predictions, labels)
    delta = with_evidence(sample, paired_difference(first, second), examples, counted)
    return replace(first, value=np.nan) if isinstance(delta, Message) else delta
