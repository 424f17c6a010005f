"""Every estimate of an algorithm's error that the files allow, and the needs of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evalreport.metrics.fits import with_fits
from evalreport.metrics.layout import parts_by
from evalreport.metrics.metric import Training
from evalreport.metrics.quantities import lacks, parse
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options, Task
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Predictions
from evalreport.questions.algorithms.error_estimators import (
    NO_APPARENT,
    NO_WHOLE,
    ByEstimator,
    Estimated,
    bootstrap_estimates,
    split_estimates,
    values_by_part,
)
from evalreport.questions.algorithms.records import CriterionChoiceRecord, ErrorEstimateRecord
from evalreport.questions.algorithms.replicates import Replicates, clusters_of, part_is, replicates_of
from evalreport.schema.metrics import MetricRecord, limit_fields
from evalreport.texts import Message


def criterion_choices(records: Sequence[MetricRecord]) -> tuple[CriterionChoiceRecord, ...]:
    """Return, for each criterion, the model of the smallest value and how far the second is.

    Parameters
    ----------
    records
        The criteria of every model; those without a value are left out, and a criterion that fewer than two models
        have chooses nothing.

    References
    ----------
    Structural risk minimisation: Vapnik (1995), section 4.1; for AIC and BIC: Hastie et al. (2009), section 7.5.
    """
    found = []
    for name in dict.fromkeys(record.metric for record in records):
        valued = [(r.value, r.model, r.n) for r in records if r.metric == name and r.value is not None]
        if len(valued) < 2:
            continue
        valued.sort()
        (value, model, n), (second, runner_up, _) = valued[:2]
        models = tuple(sorted(m for _, m, _ in valued))
        found.append(
            CriterionChoiceRecord(
                criterion=name,
                model=model,
                value=value,
                second=runner_up,
                distance=second - value,
                models=models,
                n=n,
            )
        )
    return tuple(found)


OF_REPLICATES = ("bootstrap_optimism", "bootstrap_oob", "bootstrap_632", "bootstrap_632plus")
ESTIMATORS = (
    *("resubstitution", "holdout", "repeated_holdout", "cv", "stratified_cv", "loocv", "nested_cv"),
    *OF_REPLICATES,
)
"""In the order of the report: from the training rows, from splits, from bootstrap replicates."""

MAIN: Mapping[Task, str] = {
    "binary": "error_rate",
    "multiclass": "error_rate",
    "regression": "mse",
    "outcome": "mean_outcome",
}
"""The loss that every estimator is given for."""

BESIDE: Mapping[Task, tuple[str, ...]] = {
    "binary": ("brier", "log_loss", "balanced_accuracy", "f1", "mcc", "roc_auc", "average_precision"),
    "multiclass": ("brier", "log_loss", "balanced_accuracy", "f1_macro", "mcc"),
    "regression": ("mae", "rmse", "r2"),
    "outcome": (),
}
"""The other metrics that are estimated, unless some are named."""

LACKING: Mapping[str, Message] = {
    "resubstitution": Message("estimator.no_training_rows"),
    "holdout": Message("estimator.no_holdout"),
    "repeated_holdout": Message("estimator.no_repeated_holdouts"),
    "cv": Message("estimator.no_folds"),
    "stratified_cv": Message("estimator.no_stratified_folds"),
    "loocv": Message("estimator.no_folds_of_one"),
    "nested_cv": Message("estimator.no_search"),
    **dict.fromkeys(OF_REPLICATES, Message("estimator.no_replicates")),
}
"""Why an estimator is missing; the texts ``estimates.scheme`` name the plans of `evalreport resample` that give it."""


def error_estimate_records(
    whole: Predictions, sample: Sample, options: Options
) -> tuple[ErrorEstimateRecord, ...]:
    """Return the estimates by model, metric and estimator; of the main loss also those that the files do not allow.

    Parameters
    ----------
    whole
        The table as it was loaded, with training rows and rows in the bag.
    sample
        The estimates on its test rows.
    """
    predictions = sample.predictions
    if predictions.task not in MAIN or predictions.design == "datasets":
        return ()
    quantities = estimated_quantities(predictions, options.metrics)
    replicates = replicates_of(whole)
    plain = predictions.design in ("test-set", "seeds") and not part_is(whole, "train").any()
    if plain:
        quantities = quantities[:1]  # one test set: the table of metrics has the others
    estimates = _of_training_rows(whole, quantities, options.weight)
    if replicates is None or replicates.inbag is None:
        estimates |= split_estimates(_with_all(sample, quantities, options), options.confidence)
    else:
        estimates |= _of_replicates(whole, replicates, quantities, options)
    if not plain:
        estimates = _missing(predictions, quantities[0], estimates) | estimates
    order = {model.name: position for position, model in enumerate(predictions.models)}
    places = sorted(estimates, key=lambda k: (order[k[0]], quantities.index(k[1]), ESTIMATORS.index(k[2])))
    return tuple(_record(*place, estimates[place]) for place in places)


def estimated_quantities(predictions: Predictions, names: Sequence[str]) -> tuple[Quantity, ...]:
    """Return the main loss of the task, then the metrics that were named (else the usual ones beside it)."""
    task = predictions.task
    chosen = [parse(MAIN[task], task, predictions.classes)]
    if task == "binary" and all(m.y_pred is None for m in predictions.models):
        chosen = [Quantity("roc_auc")]  # bare scores without a threshold have no errors to count
    for name in names or BESIDE[task]:
        quantity = parse(name, task, predictions.classes)
        if (
            not isinstance(definition(quantity).computation, Training)
            and not definition(quantity).scale.extensive
        ):
            chosen.append(quantity)
    return tuple(dict.fromkeys(chosen))


def _with_all(sample: Sample, quantities: Sequence[Quantity], options: Options) -> Sample:
    """Return a sample of exactly these quantities, reusing the estimates of the run."""
    lacking = [q for q in quantities if q not in sample.quantities]
    estimates = {
        (m.name, q): sample.estimates[m.name, q]
        for m in sample.predictions.models
        for q in quantities
        if q in sample.quantities
    }
    # A mean loss has its limits without replicates.
    means = [q for q in lacking if definition(q).is_mean]
    others = [q for q in lacking if q not in means]
    for some, n_resamples in ((means, 1), (others, options.resamples)):
        if some:
            rest = estimate_all(
                sample.predictions, some, units=sample.units, n_resamples=n_resamples, seed=options.seed
            )
            estimates |= with_fits(rest).estimates
    return Sample(sample.predictions, tuple(quantities), estimates, sample.tables, sample.rows)


# --- from replicates and from training rows --------------------------------------------------------------------------


def _of_replicates(
    whole: Predictions, replicates: Replicates, quantities: Sequence[Quantity], options: Options
) -> ByEstimator:
    if options.weight is not None:
        refused = Estimated(math.nan, {}, reason=Message("estimator.weighted"))
        return {(m.name, quantities[0], name): refused for m in whole.models for name in OF_REPLICATES}
    squares = {q: Quantity(root) for q in quantities if (root := definition(q).root_of)}
    direct = list(dict.fromkeys((*(q for q in quantities if q not in squares), *squares.values())))
    cluster = clusters_of(whole, replicates.first, options)
    made = bootstrap_estimates(whole, replicates, direct, cluster=cluster, level=options.confidence)
    made |= {
        (m, root, name): _root(e, square.metric)
        for root, square in squares.items()
        for (m, q, name), e in made.items()
        if q == square
    }
    return {key: estimate for key, estimate in made.items() if key[1] in quantities}


def _root(estimate: Estimated, of: str) -> Estimated:
    """Take the root of an estimate of a mean of squares; its error by the delta method."""
    if math.isnan(estimate.value) or estimate.value < 0:
        return Estimated(math.nan, {}, reason=estimate.reason)
    if estimate.value == 0:
        return Estimated(0.0, {"root_of": of}, reason=estimate.reason)
    value, precision = math.sqrt(estimate.value), estimate.precision
    if precision is not None and precision.low is not None and precision.high is not None:
        error = None if precision.standard_error is None else precision.standard_error / (2 * value)
        limits = (math.sqrt(max(precision.low, 0.0)), math.sqrt(precision.high))
        precision = type(precision)(error, *limits, precision.method)
    return Estimated(value, {"root_of": of}, precision, estimate.reason)


def _record(model: str, quantity: Quantity, name: str, estimate: Estimated) -> ErrorEstimateRecord:
    precision = estimate.precision
    known = not math.isnan(estimate.value)
    reason = estimate.reason
    if not known and reason in (NO_APPARENT, NO_WHOLE):
        reason = Message("missing_estimate.made_with", why=reason, scheme=Message(f"estimates.scheme.{name}"))
    return ErrorEstimateRecord(
        model=model,
        estimator=name,
        metric=quantity.spelled,
        value=estimate.value if known else None,
        standard_error=None if precision is None else precision.standard_error,
        **limit_fields(precision),
        details=estimate.details,
        reason=reason if known or reason else Message("estimator.undefined"),
        interval_method=None if precision is None or precision.low is None else precision.method,
    )


def _of_training_rows(whole: Predictions, quantities: Sequence[Quantity], weight: str | None) -> ByEstimator:
    """Evaluate each fit on its own training rows: the one fit to all the data, else the mean over the fits."""
    train = part_is(whole, "train")
    held = [name for name in ("repeat", "fold", "replicate", "seed") if name in whole.keys]
    of_whole = train.copy()
    for name in held:
        of_whole &= np.asarray(whole.keys[name].values < 0)
    rows = np.flatnonzero(of_whole if of_whole.any() else train)
    if not len(rows):
        return {}
    codes = np.zeros(len(rows), np.int64) if of_whole.any() else parts_by(whole, held).codes[rows]
    weights = None if weight is None else np.asarray(whole.metadata[weight].values, dtype=np.float64)[rows]
    details = {"n": len(np.unique(whole.example[rows])), "n_fits": len(np.unique(codes))}
    return {
        (*key, "resubstitution"): Estimated(_mean(by_fit), details)
        for key, by_fit in values_by_part(whole, rows, codes, quantities, weights=weights).items()
    }


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


def _missing(predictions: Predictions, quantity: Quantity, found: ByEstimator) -> ByEstimator:
    """Return the estimators of the main loss that the files do not allow, each with its remedy."""
    held = {name for _, _, name in found}
    missing: ByEstimator = {}
    for model in predictions.models:
        for name in ESTIMATORS:
            scheme = Message(f"estimates.scheme.{name}")
            reason = Message("missing_estimate.made_with", why=LACKING[name], scheme=scheme)
            if name in ("cv", "stratified_cv") and "loocv" in held:
                reason = Message("missing_estimate.see_loocv", scheme=scheme)
            elif name in ("cv", "stratified_cv", "loocv") and "nested_cv" in held:
                reason = Message("missing_estimate.see_nested_cv", scheme=scheme)
            elif name == "stratified_cv" and "cv" in held:
                reason = Message("missing_estimate.uneven_classes", scheme=scheme)
            missing[model.name, quantity, name] = Estimated(
                math.nan, {}, reason=lacks(model, quantity) or reason
            )
    return missing
