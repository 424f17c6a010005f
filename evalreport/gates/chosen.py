"""Values of the leader that gates ask for, at the level of a model that was chosen among several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalreport.errors import UsageError
from evalreport.gates.conditions import Gate, Term, cost_of, parse
from evalreport.gates.outcomes import quantity_of, slice_of
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.questions.ranks.chosen import chosen_value, level_among
from evalreport.questions.ranks.records import ChosenValueRecord
from evalreport.questions.slices.slice_estimates import sampled_alone
from evalreport.schema.metrics import Slice
from evalreport.schema.results import Results


def chosen_values(
    results: Results,
    samples: Sequence[Sample],
    predictions: Predictions,
    divisions: Sequence[Division],
    options: Options,
) -> tuple[ChosenValueRecord, ...]:
    """Return the leader's values in gates on ``best``, and on the leader by name; none where no other may be best."""
    if results.chosen is None:
        return ()
    leader, level = results.chosen.model, level_among(results.chosen.among, options)
    asked: dict[tuple[Quantity, Slice | None], None] = {}
    for gate, term in _terms(results, options):
        quantity, within = quantity_of(gate, term, results), slice_of(gate, term, results)
        asked[quantity, within] = None
    values = []
    for quantity, within in asked:
        own: Sequence[Sample] = samples
        if within is not None:
            division = next(d for d in divisions if d.column == within.column)
            rows = np.flatnonzero(division.codes == division.values.index(within.value))
            own = sampled_alone(predictions, rows, [quantity], options)
        if any((leader, quantity) in sample.estimates for sample in own):
            values.append(chosen_value(own, leader, quantity, level, within=within))
    return tuple(values)


def _terms(results: Results, options: Options) -> Iterator[tuple[Gate, Term]]:
    """Yield each gate on the leader against a number, with its term."""
    assert results.chosen is not None
    for text in options.gates:
        try:
            gate = parse(text, models=results.models)
        except UsageError:
            continue  # the gate's decision reports the error
        if len(gate.terms) != 1 or gate.reference is not None or gate.every_night:
            continue
        (term,) = gate.terms
        if cost_of(term.metric) is None and (term.best or term.model == results.chosen.model):
            yield gate, replace(term, model=results.chosen.model, best=False)
