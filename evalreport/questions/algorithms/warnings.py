"""Warnings about error estimates of algorithms and their bias and variance."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.predictions.table import Predictions
from evalreport.questions.algorithms.error_estimators import INTERPOLATES
from evalreport.questions.algorithms.records import SQUARES_OF, AlgorithmLists, ErrorEstimateRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check
from evalreport.warnings.needs import NEEDS

NEEDS["decomposed"] = lambda algorithms: bool(algorithms.decomposition)
NEEDS["out_of_bag"] = lambda algorithms: any(
    e.estimator == "bootstrap_oob" for e in algorithms.error_estimates
)
NEEDS["points"] = lambda algorithms: bool(algorithms.learning_curves)

FEW_REPLICATES = 30


@check("interpolating_model", "no_information", "never_out_of_bag", needs=("out_of_bag",))
def error_estimates(algorithms: AlgorithmLists) -> Iterator[WarningRecord]:
    """Warn of models that interpolate, that learnt nothing, and of examples that were never out of the bag."""
    estimates = algorithms.error_estimates
    main = [e for e in estimates if e.metric == estimates[0].metric]
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


@check("noise_in_bias", "noise_exceeds_bias", "few_replicates", needs=("decomposed",))
def decomposition(algorithms: AlgorithmLists, predictions: Predictions) -> Iterator[WarningRecord]:
    """Warn of bias that holds noise, of more noise than there is bias, and of few replicates."""
    records = algorithms.decomposition
    squared = [r for r in records if r.loss in SQUARES_OF]
    if squared and all(r.noise is None for r in squared):
        yield warning("noise_in_bias")
    apart = (r for r in records if r.noise is not None)
    below = tuple(dict.fromkeys(r.model for r in apart if r.bias < 0 or (r.bias_unbiased_high or 0) < 0))
    if below:
        yield warning("noise_exceeds_bias", about=below, models=below)
    few = min(r.n_replicates for r in records)
    # Of a plain table of replicates the layout's own warning says it.
    if few <= FEW_REPLICATES and predictions.design != "bootstrap":
        yield warning("few_replicates", n=few, enough=FEW_REPLICATES)
