"""The warning about models that call few examples positive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.engine.counts import Counts
from evalreport.metrics.evidence import Proportion, Table
from evalreport.metrics.metric import ClassCounts
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check

FEW_FLAGGED = 20
"""With fewer positive predictions precision and F1 may be far off."""


@check("few_flagged", needs=("two_classes", "own_labels", "examples_alone"), of_models=True)
def few_flagged(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models that call few examples positive, where a metric is a share of these."""
    positive = sample.predictions.positive_code
    # Of labels cut at 0.5 nothing is said: nobody chose that threshold.
    named = {model.name for model in sample.predictions.models if model.cut_at_half}
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.table is None or quantity.label is not None or model in named:
            continue
        if not isinstance(estimate.evidence, Proportion | Table):
            continue  # other intervals lead
        flagged = float(estimate.table.counts[:, positive].sum())
        if flagged < FEW_FLAGGED and (_is_f1(quantity) or _is_of_flagged(quantity)):
            named.add(model)
            if flagged:
                yield warning(
                    "few_flagged", "some", about=(model,), model=model, n=int(flagged), enough=FEW_FLAGGED
                )
            else:
                yield warning("few_flagged", "none", about=(model,), model=model)


def _is_f1(quantity: Quantity) -> bool:
    """Return whether a metric is F1 of one class, or another function of its Jaccard index."""
    computation = definition(quantity).computation
    return (
        isinstance(computation, ClassCounts)
        and quantity.average is None
        and computation.monotone_of is not None
    )


def _is_of_flagged(quantity: Quantity) -> bool:
    """Return whether a metric is a share of the positive predictions."""
    metric = definition(quantity)
    if (
        not isinstance(metric.computation, ClassCounts)
        or metric.computation.proportion is None
        or quantity.average is not None
    ):
        return False
    _, trials = metric.computation.proportion(Counts(*np.eye(4)))
    return bool((trials == [1, 1, 0, 0]).all())
