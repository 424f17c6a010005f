"""Warnings about estimates of algorithms: what makes an estimator, or a decomposition, say less than it seems to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalreport.algorithm_records import DecompositionRecord, ErrorEstimateRecord
from evalreport.learning.bootstrap_errors import INTERPOLATES
from evalreport.records import WarningRecord

FEW_REPLICATES = 30


def algorithm_cautions(fields: Mapping[str, Any], design: str) -> tuple[WarningRecord, ...]:
    """Return the warnings that the fields of ``about_algorithms`` give reason for."""
    estimates = fields.get("error_estimates", ())
    main = [e for e in estimates if e.metric == estimates[0].metric]
    return (
        *_of_estimates(main),
        *_of_decomposition(fields.get("decomposition", ()), design),
    )


def _of_estimates(main: Sequence[ErrorEstimateRecord]) -> Iterator[WarningRecord]:
    fitted = _models(e for e in main if e.estimator == "bootstrap_632" and e.reason == INTERPOLATES)
    if fitted:
        text = f"{', '.join(fitted)}: next to no error on the training rows. Estimates that count them in (B1, .632,"
        text += " .632+) are then too low; read the out-of-bag error or cross-validation."
        yield WarningRecord("interpolating_model", text, fitted)
    lost = _models(e for e in main if e.estimator == "bootstrap_632plus" and e.details.get("R") == 1.0)
    if lost:
        text = f"{', '.join(lost)}: out of the bag no better than if predictions and truths were independent. Nothing"
        text += " that carries over was learned from these examples."
        yield WarningRecord("no_information", text, lost)
    never = _models(
        e for e in main if e.estimator == "bootstrap_oob" and e.details.get("never_out_of_bag", 0) > 0
    )
    if never:
        count = max(e.details["never_out_of_bag"] for e in main if e.estimator == "bootstrap_oob")
        text = f"{count} examples were in the sample of every replicate and have no out-of-bag prediction: too few"
        yield WarningRecord("never_out_of_bag", text + " replicates for all examples to count.", never)


def _models(records: Iterator[ErrorEstimateRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record.model for record in records))


def _of_decomposition(records: Sequence[DecompositionRecord], design: str) -> Iterator[WarningRecord]:
    if not records:
        return
    squared = [r for r in records if r.loss in ("squared", "brier")]
    if squared and all(r.noise is None for r in squared):
        text = "The bias holds the noise of the true values: one truth for each example does not tell them apart. Give"
        text += " its variance with --noise, or name repeated measurements with --same-input."
        yield WarningRecord("noise_in_bias", text, level="info")
    apart = (r for r in records if r.noise is not None)
    below = tuple(dict.fromkeys(r.model for r in apart if r.bias < 0 or (r.bias_unbiased_high or 0) < 0))
    if below:
        text = f"{', '.join(below)}: the noise is larger than bias and noise together are on these examples,"
        text += " so the bias is below 0. Check the level that was given."
        yield WarningRecord("noise_exceeds_bias", text, below)
    few = min(r.n_replicates for r in records)
    # Of a plain table of replicates the layout's own warning says it.
    if few <= FEW_REPLICATES and design != "bootstrap":
        text = f"There are {few} bootstrap replicates; more than {FEW_REPLICATES} are needed for bias and variance,"
        yield WarningRecord("few_replicates", text + " 200 for steady ones.")
