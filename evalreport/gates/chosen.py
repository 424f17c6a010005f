"""Values of the leader that gates ask for, at the level of a model that was chosen among several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalreport.gates.conditions import cost_of, parsed
from evalreport.gates.outcomes import quantity_of, slice_of
from evalreport.gates.ratios import samples_within
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.questions.ranks.chosen import chosen_value, level_among
from evalreport.questions.ranks.records import ChosenValueRecord
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
    for gate in parsed(options.gates, results.models):
        if len(gate.terms) != 1 or gate.reference is not None or gate.every_night:
            continue
        (term,) = gate.terms
        if cost_of(term.metric) is None and (term.best or term.model == leader):
            term = replace(term, model=leader, best=False)
            asked[quantity_of(gate, term, results), slice_of(gate, term, results)] = None
    values = []
    for quantity, within in asked:
        own = samples_within(within, quantity, samples, predictions, divisions, options)
        if any((leader, quantity) in sample.estimates for sample in own):
            values.append(chosen_value(own, leader, quantity, level, within=within))
    return tuple(values)
