"""The conditions that checks need, by name: a function whose parameters are facts of a run, as those of a check are.

A condition with the parameter ``model`` holds of single models. Why it does not hold is in the catalogue, under
``[check_lacks]``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache

from evalreport.metrics.layout import FOLDED
from evalreport.metrics.metric import Contingency
from evalreport.metrics.registry import definition
from evalreport.metrics.sample import Sample
from evalreport.predictions.table import ModelOutputs, Predictions

MEMORY = "<memory>"
"""The path of what no file held."""

Facts = Mapping[str, object]
"""What is known of a run, by name; None: it has no such thing."""


@cache
def facts_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of a function's parameters, which are the facts that it asks for."""
    return tuple(inspect.signature(function).parameters)


def is_about_a_model(name: str) -> bool:
    """Say whether a condition holds of single models."""
    return "model" in facts_of(NEEDS[name])


def met(name: str, facts: Facts) -> bool:
    """Say whether a condition holds; one that asks of a missing fact does not."""
    values = {fact: facts.get(fact) for fact in facts_of(NEEDS[name])}
    return all(value is not None for value in values.values()) and NEEDS[name](**values)


def _design(*designs: str) -> Callable[[Predictions], bool]:
    return lambda predictions: predictions.design in designs


def _task(*tasks: str) -> Callable[[Predictions], bool]:
    return lambda predictions: predictions.task in tasks


def _areas(sample: Sample, model: ModelOutputs) -> bool:
    estimates = (
        e for (name, q), e in sample.estimates.items() if name == model.name and definition(q).is_auc
    )
    return any(estimate.defined for estimate in estimates)


def _agreement(family: object) -> bool:
    pairs = [comparison.pair for comparison in family]  # type: ignore[attr-defined]
    return any(pair is not None and pair.difference.agreement is not None for pair in pairs)


def _right_labels(sample: Sample) -> bool:
    metrics = map(definition, sample.quantities)
    return any(metric.scale.share_of_right and metric.needs == "labels" for metric in metrics)


def _groups(sample: Sample) -> bool:
    return any(isinstance(definition(q).computation, Contingency) for q in sample.quantities)


def _training_rows(whole: Predictions) -> bool:
    part = whole.keys.get("part")
    return part is not None and part.categories is not None and "train" in part.categories


NEEDS: dict[str, Callable[..., bool]] = {
    "models": lambda predictions: len(predictions.models) > 1,
    "classes": lambda predictions: bool(predictions.classes) and predictions.y_true is not None,
    "two_classes": _task("binary"),
    "labels": lambda predictions, model: bool(predictions.classes) and model.y_pred is not None,
    "own_labels": lambda predictions, model: (
        bool(predictions.classes) and model.y_pred is not None and not model.cut_at_half
    ),
    "scores": lambda model: model.score is not None,
    "one_scale": lambda sample, model: len(sample.rows.orders.get(model.name, ())) == 1,
    "probabilities": lambda model: model.proba is not None,
    "values": _task("regression"),
    "numbers": lambda predictions, model: predictions.task == "regression" or model.score is not None,
    "intervals": _task("intervals"),
    "sums": _task("sums"),
    "clustering": _groups,
    "scores_of_folds": _task("scores"),
    "test_set": _design("test-set"),
    "folds": _design(*FOLDED),
    "replicates": _design("bootstrap"),
    "seeds": _design("seeds"),
    "datasets": _design("datasets"),
    "clusters": lambda options: options.cluster is not None,
    "weights": lambda options: options.weight is not None,
    "time": lambda predictions: "time" in predictions.keys,
    "order": lambda options: options.order is not None,
    "neighbours": lambda options: options.order is None and options.cluster is None,
    "tasks": lambda predictions: predictions.tasks is not None,
    "training_rows": _training_rows,
    "files": lambda predictions: any(file.path != MEMORY for file in predictions.inputs),
    "truth_file": lambda predictions: any(found.what == "truth" for found in predictions.found),
    "columns": lambda predictions: bool(predictions.metadata),
    "several_pairs": lambda family: len(family) > 1,
    "counts": lambda predictions: predictions.counts is not None,
    "no_task": lambda options: options.task is None,
    "no_positive": lambda options: options.positive is None,
    "left_out": lambda options: options.missing == "drop",
    "taken_as_wrong": lambda options: options.missing == "wrong",
    "losses": lambda sample: any(definition(quantity).losses for quantity in sample.quantities),
    "relative_errors": lambda sample: any(
        definition(quantity).infinite_at == "zero_truth" for quantity in sample.quantities
    ),
    "log_loss": lambda sample: any(
        definition(quantity).infinite_at == "zero_probability" for quantity in sample.quantities
    ),
    "area": _areas,
    "right_or_wrong": _agreement,
    "share_of_right": lambda sample: definition(sample.quantities[0]).scale.share_of_right,
    "right_labels": _right_labels,
    "examples_alone": lambda sample: sample.units.plain,
    "criteria": lambda options: options.criteria is not None,
    "audit": lambda audit: bool(audit),
    "resampling": lambda resampling: bool(resampling),
}
"""By name; rooms add those of their own."""
