"""Warnings about models that call few examples positive, or err on few of a class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.comparisons.measured import measured_of_few, measured_of_rare_errors
from evalreport.engine.counts import Counts, margins_of
from evalreport.metrics.evidence import F1Counts, Proportion
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.metric import ClassCounts
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message
from evalreport.warnings.coverage import phrase_of

FEW_FLAGGED = 20
"""With fewer positive predictions studentised swaps of precision and F1 reject too often (docs/tests.md)."""

FEW_OF_CALLED = 5
"""With fewer right or fewer wrong of those that a share is of, its swaps do so however many those are."""


def few_flagged(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models that call few examples positive, or hardly any of one class rightly or wrongly.

    A share of those that is nearly 0 or 1 has next to no error of its own, so that chance looks like a difference.
    """
    if not sample.predictions.classes or sample.predictions.task != "binary":
        return
    positive, named = sample.predictions.positive_code, set()
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.table is None or quantity.label is not None or model in named:
            continue
        counts, of_f1 = estimate.table.counts, isinstance(estimate.evidence, F1Counts)
        flagged, called = float(counts[:, positive].sum()), _predictions_counted(quantity)
        about: tuple[str, ...] = (model,)
        if not isinstance(estimate.evidence, Proportion | F1Counts):
            continue  # clusters and weights: other tests lead
        if flagged < FEW_FLAGGED and (called == "positive" or of_f1):
            params: dict[str, object] = {"n": int(flagged), "enough": FEW_FLAGGED}
            kind = "compared" if len(sample.label_models) > 1 else "alone"
        elif called is not None and len(sample.label_models) > 1 and sample.predictions.design == "test-set":
            code = positive if called == "positive" else 1 - positive
            of_them, right = float(counts[:, code].sum()), float(counts[code, code])
            rarer, rare = min((of_them - right, "wrong"), (right, "right"))
            if rarer >= FEW_OF_CALLED or not of_them:
                continue
            kind, about = f"{rare}_of_{called}", (model, quantity.spelled)
            params = {
                "n": int(rarer),
                "called": int(of_them),
                "enough": FEW_OF_CALLED,
                "metric": quantity.metric,
            }
        else:
            continue
        named.add(model)
        if kind != "alone":
            params["measured"] = measured_of_few()
        text = Message(f"warning.few_flagged.{kind}", model=model, **params)
        yield WarningRecord(code="few_flagged", text=text, about=about)


def _predictions_counted(quantity: Quantity) -> str | None:
    """Return of which predictions a metric is a share: ``positive``, ``negative``, or None."""
    metric = definition(quantity)
    if (
        not isinstance(metric.computation, ClassCounts)
        or metric.computation.proportion is None
        or quantity.average is not None
    ):
        return None
    _, trials = metric.computation.proportion(Counts(*np.array([1.0, 2.0, 4.0, 8.0])))
    return {3.0: "positive", 12.0: "negative"}.get(float(trials))


FEW_ERRORS = 3
"""With fewer errors of a model on a rare class, swaps of a mean of the class recalls reject too often."""


def few_errors_of_a_class(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models that hardly err on a rare class, where a metric gives all classes the same weight.

    Rare is a class that holds less than half of an even share: each of its errors then counts as several others do.
    """
    if len(sample.label_models) < 2 or not sample.units.plain or sample.predictions.design != "test-set":
        return  # other tests lead
    classes, named = sample.predictions.classes, set()
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.table is None or not _weighs_classes_alike(quantity, sample):
            continue
        held = estimate.table.counts.sum(axis=1)
        wrong = held - np.diag(estimate.table.counts)
        for code in np.flatnonzero(
            (held > 0) & (held < held.sum() / (2 * len(classes))) & (wrong < FEW_ERRORS)
        ):
            if (model, code) in named:
                continue
            named.add((model, code))
            yield warning(
                "few_errors_of_a_class",
                about=(model, classes[code], quantity.spelled),
                model=model,
                label=classes[code],
                wrong=int(wrong[code]),
                examples=int(held[code]),
                enough=FEW_ERRORS,
                metric=phrase_of(quantity),
                measured=measured_of_rare_errors(),
            )


def _weighs_classes_alike(quantity: Quantity, sample: Sample) -> bool:
    """Return whether a metric depends on the class recalls alone, all with the same weight, by made-up counts.

    Its value does not change where a class has more examples with the same recall, nor where classes are exchanged.
    """
    if quantity.label is not None or definition(quantity).scale.greater_is_better is None:
        return False
    k = len(sample.predictions.classes)
    counts = np.arange(1.0, k * k + 1).reshape(k, k)
    larger = counts * np.arange(1, k + 1)[:, None]
    function = table_function(quantity, sample.predictions)
    return bool(
        np.ptp([function(margins_of(table)) for table in (counts, larger, counts[::-1, ::-1])]) < 1e-12
    )
