"""Warnings about repeated answers: so few attempts that no question can be decided, shares near 0 or 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.questions.attempts.compute import Attempts
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message
from evalreport.warnings.checks import check
from evalreport.warnings.needs import NEEDS

NEEDS["attempts"] = lambda attempts: attempts is not None
NEEDS["questions_alone"] = lambda attempts: bool(attempts.questions)


@check("few_attempts", needs=("models", "questions_alone"))
def undecidable(attempts: Attempts) -> Iterator[WarningRecord]:
    """Warn of pairs with so few attempts that none of their questions could be decided."""
    yield from attempts.few


FEW_PASSES = 8
"""With fewer passes or failures, in questions, Student's t over questions may be short.

In scripts/study_attempts.py nominal 95 % intervals held in as few as 74 % below this number, in 92 to 96 % above it.
"""


@check("few_passes", needs=("attempts",), of_models=True)
def few_passes(sample: Sample) -> list[WarningRecord]:
    """Warn of shares over repeated answers so near 0 or 1 that their t interval over questions is short."""
    attempted = [m.name for m in sample.predictions.models if m.attempts is not None]
    near = [
        estimate
        for quantity in sample.quantities
        for name in attempted
        if _is_near_an_end(estimate := sample.estimates[name, quantity])
    ]
    if not near:
        return []
    primary = any(estimate.quantity == sample.quantities[0] for estimate in near)
    few = tuple(
        Message("attempts.of_model", metric=e.metric.display.phrase, model=e.model, value=e.value, decimals=3)
        for e in near
    )
    models = tuple(dict.fromkeys(estimate.model for estimate in near))
    level: Literal["info", "caution"] = "caution" if primary else "info"
    return [warning("few_passes", level=level, about=models, found=few, few=FEW_PASSES)]


@check("no_value_over_attempts", needs=("attempts",))
def without_value(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    """Say why a metric that was asked for, such as pass@5, has no value of any model."""
    if not options.metrics:
        return
    attempted = [m.name for m in sample.predictions.models if m.attempts is not None]
    for quantity in sample.quantities:
        estimates = [sample.estimates[name, quantity] for name in attempted]
        why = next((e.reason for e in estimates if e.reason is not None), None)
        if why is not None and not any(e.defined for e in estimates):
            yield warning(
                "no_value_over_attempts", about=(quantity.spelled,), metric=quantity.spelled, why=why
            )


def _is_near_an_end(estimate: Estimate) -> bool:
    if not estimate.defined or estimate.range != (0.0, 1.0) or isinstance(estimate.evidence, Proportion):
        return False
    return 0 < min(estimate.value, 1 - estimate.value) * estimate.sampling.n_examples < FEW_PASSES
