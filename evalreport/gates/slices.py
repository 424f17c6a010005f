"""The slices and the quantities within them that the gates of a run name."""

from __future__ import annotations

from contextlib import suppress

from evalreport.errors import UsageError
from evalreport.gates.conditions import Term, cost_of, parsed
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.questions.slices.slice_estimates import all_divisions


def gate_terms(predictions: Predictions, options: Options) -> tuple[tuple[str, Term], ...]:
    """Return the terms of all gates that can be read, each with its gate's text."""
    models = [model.name for model in predictions.models]
    return tuple((gate.text, term) for gate in parsed(options.gates, models) for term in gate.terms)


def divisions_of_run(predictions: Predictions, options: Options) -> tuple[Division, ...]:
    """Divide the rows by every column that ``--slice`` or a gate names.

    Raises
    ------
    UsageError
        A column that cannot be sliced by, or a gate that names one.
    """
    in_gates: dict[tuple[str, ...], str] = {}
    for gate, term in gate_terms(predictions, options):
        if term.slices:
            in_gates.setdefault(tuple(column for column, _ in term.slices), gate)
    return all_divisions(predictions, options.slices, in_gates)


def quantities_in_gates(predictions: Predictions, options: Options) -> frozenset[Quantity]:
    """Return the quantities that gates ask for over all examples."""
    return _quantities(predictions, options, within=False)


def quantities_in_slices(predictions: Predictions, options: Options) -> frozenset[Quantity]:
    """Return the quantities that gates ask for within slices."""
    return _quantities(predictions, options, within=True)


def _quantities(predictions: Predictions, options: Options, *, within: bool) -> frozenset[Quantity]:
    quantities = set()
    for _, term in gate_terms(predictions, options):
        if bool(term.slices) == within and cost_of(term.metric) is None:
            with suppress(UsageError):  # the gate's decision reports the error
                quantities.add(parse(term.spelling, predictions.task, predictions.classes))
    return frozenset(quantities)
