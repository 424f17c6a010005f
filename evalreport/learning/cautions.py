"""Warnings about estimates of algorithms: what makes an estimator, or a decomposition, say less than it seems to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalreport.algorithm_records import SQUARES_OF, DecompositionRecord, ErrorEstimateRecord
from evalreport.learning.bootstrap_errors import INTERPOLATES
from evalreport.records import WarningRecord, warning

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
        yield warning("interpolating_model", about=fitted, models=fitted)
    lost = _models(e for e in main if e.estimator == "bootstrap_632plus" and e.details.get("R") == 1.0)
    if lost:
        yield warning("no_information", about=lost, models=lost)
    never = _models(
        e for e in main if e.estimator == "bootstrap_oob" and e.details.get("never_out_of_bag", 0) > 0
    )
    if never:
        count = max(e.details["never_out_of_bag"] for e in main if e.estimator == "bootstrap_oob")
        yield warning("never_out_of_bag", about=never, n=count)


def _models(records: Iterator[ErrorEstimateRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record.model for record in records))


def _of_decomposition(records: Sequence[DecompositionRecord], design: str) -> Iterator[WarningRecord]:
    if not records:
        return
    squared = [r for r in records if r.loss in SQUARES_OF]
    if squared and all(r.noise is None for r in squared):
        yield warning("noise_in_bias", level="info")
    apart = (r for r in records if r.noise is not None)
    below = tuple(dict.fromkeys(r.model for r in apart if r.bias < 0 or (r.bias_unbiased_high or 0) < 0))
    if below:
        yield warning("noise_exceeds_bias", about=below, models=below)
    few = min(r.n_replicates for r in records)
    # Of a plain table of replicates the layout's own warning says it.
    if few <= FEW_REPLICATES and design != "bootstrap":
        yield warning("few_replicates", n=few, enough=FEW_REPLICATES)
