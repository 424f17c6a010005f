"""Refuse data and options that cannot be analysed, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.errors import UsageError
from evalreport.metrics.estimate import value_range
from evalreport.metrics.registry import JUDGED, PRIMARY, Quantity, definition
from evalreport.options import Options
from evalreport.predictions.possible_analyses import why_not_analysed
from evalreport.predictions.table import Predictions
from evalreport.predictions.time_order import no_series, rows_in_time
from evalreport.registry import unknown_name


def require_analysable(predictions: Predictions, options: Options) -> None:
    """Refuse data and options that this version cannot analyse; no option or column is silently ignored.

    Raises
    ------
    UsageError
        A design, a task or an option that is not served yet, or a baseline that is no model.
    """
    names = [m.name for m in predictions.models]
    if options.baseline is not None and options.baseline not in names:
        raise UsageError(unknown_name("baseline", options.baseline, names))
    end = "lower" if options.lower_is_better else "higher" if options.higher_is_better else None
    if end is not None and predictions.task not in ("outcome", "scores"):
        raise UsageError(
            f"--{end}-is-better is about outcomes and values; these data are {predictions.task}, whose metrics have a"
            " direction of their own: leave it out"
        )
    if options.average == "examples" and predictions.design == "datasets":
        raise UsageError(
            "--average examples is about a suite (column task); these are data sets (column dataset), whose values are"
            " averaged: leave it out, or rename the column to task if exactly these are of interest"
        )
    if predictions.task == "scores" and options.join == "independent":
        raise UsageError(
            "--join independent is about separate test sets of examples; these are scores on data sets, which are only"
            " comparable data set by data set: leave it out, or use --join intersect for those that all models have"
        )
    if options.weight is not None and predictions.has_gold and JUDGED in (options.metrics or (JUDGED,)):
        raise UsageError(
            f"--weight and the column gold: {JUDGED} is for answers that count the same; leave --weight out, or name"
            f" other metrics, such as --metric {PRIMARY[predictions.task]}"
        )
    if predictions.task == "clustering":
        require_one_clustering(predictions, options)
    if options.order is not None:
        require_ordered(predictions)
    require_decomposable(predictions, options)
    why_not = why_not_analysed(predictions)
    if why_not is not None:
        raise UsageError(
            f"{why_not}: this version reads and checks such data, but analyses one test set only (one prediction"
            " for each example and model); `evalreport check` says what was found"
        )


def require_swappable(quantities: Sequence[Quantity], options: Options) -> None:
    """Refuse the permutation test of a rank metric, which scores of two models on scales of their own do not allow.

    Raises
    ------
    UsageError
        It is named, and so is a rank metric, or the primary metric is one.
    """
    if "permutation" not in options.tests:
        return
    for quantity in quantities if options.metrics else quantities[:1]:
        if definition(quantity).by_ranks:
            raise UsageError(
                f"--test permutation: {quantity.spelled} ranks examples by score, and the scores of two models have no"
                " common scale to be swapped on; use --test delong (ROC AUC) or bootstrap_difference"
            )


def require_telling_margin(primary: Quantity, predictions: Predictions, options: Options) -> None:
    """Refuse a margin within which any two models are, such as 1 where 0.01 was meant.

    Raises
    ------
    UsageError
        With the range of the metric.
    """
    low, high = value_range(definition(primary), predictions)
    if options.margin is not None and options.margin >= high - low:
        percent = " (one percentage point is 0.01)" if (low, high) == (0, 1) else ""
        raise UsageError(
            f"--margin {options.margin:g}: {primary.spelled} lies between {low:g} and {high:g}, so every difference is"
            f" within it, whatever the models are; name a smaller one{percent}"
        )


def require_ordered(predictions: Predictions) -> None:
    """Refuse ``--order time`` for data that are no single series of examples.

    Raises
    ------
    UsageError
        No column ``time``; several fits, tasks, attempts or data sets; or counts in place of examples.
    """
    why_not = no_series(predictions)
    if why_not is not None:
        raise UsageError(f"--order time: {why_not}")
    rows_in_time(predictions)


def require_one_clustering(predictions: Predictions, options: Options) -> None:
    """Refuse weights and several fits of a model, for which the agreement of groups is not defined.

    Raises
    ------
    UsageError
        With the reason.
    """
    if options.weight is not None:
        raise UsageError(
            "--weight: the agreement of groups counts pairs of examples, and no pair has a weight; leave it out"
        )
    if predictions.design != "test-set":
        raise UsageError(
            f"--task clustering: the design is {predictions.design} ({', '.join(predictions.keys)}), but groups of"
            " several fits have no names in common; give one grouping of all examples for each model (name the fits"
            " in the column model to compare them)"
        )


def require_decomposable(whole: Predictions, options: Options) -> None:
    """Refuse options of the decomposition that would change nothing.

    Raises
    ------
    UsageError
        A noise level without replicates of a regression, or Kohavi and Wolpert's split without replicates of labels;
        either beside weights.
    """
    replicated = options.weight is None and (whole.design == "bootstrap" or "replicate" in whole.keys)
    if options.noise is not None and not (replicated and whole.task == "regression"):
        raise UsageError(
            "--noise is about the bias and variance of regression replicates, and these files hold none: leave it out"
        )
    if options.kohavi_wolpert and not (replicated and whole.classes):
        raise UsageError(
            "--kohavi-wolpert is about replicates of predicted labels, and these files hold none: leave it out"
        )
