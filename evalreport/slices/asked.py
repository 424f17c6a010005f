"""What is sliced by: the columns of ``--slice``, and those that a gate names."""

from __future__ import annotations

from evalreport.conditions import Term, terms_of
from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.data.slicing import Division, divide, divisions, read_slicing
from evalreport.errors import UsageError
from evalreport.metrics.quantities import Quantity, parse

MOST_CLASS_VALUES = 200
"""Single classes are computed within slices, unnamed, up to so many classes times slices of a column."""


def divisions_asked(predictions: Predictions, options: Options) -> tuple[Division, ...]:
    """Divide the rows by every column that ``--slice`` or a gate names.

    Raises
    ------
    UsageError
        A column that cannot be sliced by, or a gate that names one.
    """
    asked = list(divisions(predictions, options.slices))
    for gate, term in _terms(predictions, options):
        names = [column for column, _ in term.slices]
        known = {division.column for division in asked}
        if "*".join(names) in known or "*".join(reversed(names)) in known:
            continue
        cuts = _cuts(predictions, options)
        text = "*".join(cuts.get(name, name) for name in names)
        try:
            asked.append(divide(predictions, text))
        except UsageError as error:
            raise UsageError(f"gate {gate!r}: {error}") from None
    return tuple(asked)


def _terms(predictions: Predictions, options: Options) -> list[tuple[str, Term]]:
    """Return what gates say about slices, each with its gate."""
    models = [model.name for model in predictions.models]
    return [(gate, term) for gate in options.gates for term in terms_of(gate, models=models) if term.slices]


def _cuts(predictions: Predictions, options: Options) -> dict[str, str]:
    """Return how ``--slice`` cuts single columns, so that a gate on two of them means the same bins."""
    columns = {**predictions.keys, **predictions.metadata}
    single = ((text, read_slicing(text, columns)) for text in options.slices)
    return {parts[0].column: text for text, parts in single if len(parts) == 1}


def quantities_within(
    quantities: tuple[Quantity, ...], division: Division, predictions: Predictions, options: Options
) -> tuple[Quantity, ...]:
    """Return the quantities that are computed within slices: single classes where named, or where they are few."""
    if options.metrics or len(predictions.classes) * len(division.values) <= MOST_CLASS_VALUES:
        return quantities
    named = set()
    for _, term in _terms(predictions, options):
        try:
            named.add(parse(term.spelling, predictions.task, predictions.classes))
        except UsageError:
            continue  # the gate's decision says what is wrong with it
    return tuple(q for q in quantities if q.label is None or q in named)
