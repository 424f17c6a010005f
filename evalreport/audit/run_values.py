"""A model's value on the examples that are new in a run, as it is computed and as the history keeps it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.audit.past import evidence_kept, units_of
from evalreport.errors import UsageError
from evalreport.history.store import Run
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.fits import each_apart
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.arrays import Mask
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Predictions
from evalreport.schema.audit import EvidenceRecord
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text

LEAST_NEW = 10
"""New examples below which a run has no value of its own."""
DIVISIBLE = frozenset({"test-set", "seeds"})
"""Designs whose new examples can be analysed without the others; in other designs a run is new as a whole or not."""


@dataclass(frozen=True, slots=True)
class RunValue:
    """A metric's value on the new examples of one run, its standard error (0: unknown), and their number."""

    value: float
    error: float
    n: int


def value_on_new(
    predictions: Predictions, model: str, quantity: Quantity, options: Options, new: Mask
) -> RunValue | Text:
    """Return a model's value on the units that are new, or the reason why it has none."""
    if not new.all() and predictions.design not in DIVISIBLE:
        return Message("night.indivisible", design=predictions.design)
    outputs = next((m for m in predictions.models if m.name == model), None)
    if outputs is None:
        return Message("night.no_model", model=model)
    _, unit = units_of(predictions, options)
    inside = new[unit] if outputs.present is None else new[unit] & outputs.present
    n = len(np.unique(unit[inside]))
    if n < LEAST_NEW:
        return Message("night.too_few", n=n, least=LEAST_NEW)
    part = each_apart(subset(replace(predictions, models=(outputs,)), np.flatnonzero(inside)))[0]
    try:
        # A value and its standard error need no replicates; 1 is the smallest number allowed.
        sample = estimate_table(part, [quantity], replace(options, resamples=1), seed=options.seed)
    except UsageError as error:
        return Message("night.refused", why=str(error))
    estimate = sample.estimates[model, quantity]
    if not math.isfinite(estimate.value):
        return estimate.reason or Message("night.undefined", metric=quantity.spelled)
    return RunValue(float(estimate.value), estimate.standard_error or 0.0, n)


def kept_value(run: Run, model: str, quantity: Quantity) -> RunValue | None:
    """Return the value on new examples that a run kept of a model; None where it had none."""
    found = evidence_kept(run).get("models", {}).get(model)
    return None if found is None or found[0] != quantity.spelled else RunValue(*found[1:])


def to_keep(records: Sequence[EvidenceRecord]) -> JsonObject:
    """Return the part of a run's evidence that its summary keeps for later runs."""
    if not records:
        return {}
    first = records[0]
    models = {r.model: [r.metric, r.value, r.standard_error or 0.0, r.n_new] for r in records if r.n_new}
    return {
        "look": first.look,
        "accepted": list(first.accepted),
        "ids": list(first.id_sample),
        "models": models,
    }
