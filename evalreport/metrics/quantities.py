"""A quantity is a metric with its average or its class: how the command line spells it and what a run computes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from evalreport.data.predictions import Predictions
from evalreport.errors import UsageError
from evalreport.keys import Task
from evalreport.metrics.registry import METRICS, Average, Metric

PRIMARY: dict[Task, str] = {
    "binary": "accuracy",
    "multiclass": "accuracy",
    "regression": "rmse",
    "outcome": "mean_outcome",
    "scores": "mean_value",
}
"""The primary metric by task, unless one is named."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric, and for several classes its average or the class it is about."""

    metric: str
    average: Average | None = None
    label: str | None = None

    @property
    def spelled(self) -> str:
        """The command line's spelling: ``f1``, ``f1_macro``, ``recall[class=3]``.

        Examples
        --------
        >>> Quantity("f1", average="macro").spelled, Quantity("recall", label="3").spelled
        ('f1_macro', 'recall[class=3]')
        """
        if self.label is not None:
            return f"{self.metric}[class={self.label}]"
        return f"{self.metric}_{self.average}" if self.average else self.metric


def definition(quantity: Quantity) -> Metric:
    """Return the registered metric of a quantity."""
    return METRICS[quantity.metric]


def greater_is_better(quantity: Quantity, *, lower_is_better: bool = False) -> bool:
    """Say whether a larger value is better; ``--lower-is-better`` turns outcomes and values round, nothing else."""
    metric = definition(quantity)
    if lower_is_better and metric.turnable:
        return metric.greater_is_better is False
    return metric.greater_is_better is True


def parse(text: str, task: Task, classes: tuple[str, ...]) -> Quantity:
    """Read a metric as the command line spells it.

    For several classes the bare name of a class-wise metric means its macro average.

    Raises
    ------
    UsageError
        Unknown metric, a metric of another task, an average or class that it does not have.
    """
    match = re.fullmatch(r"(?P<metric>\w+)(?:\[class=(?P<label>.*)\])?", text.strip(), flags=re.DOTALL)
    if match is None:
        raise UsageError(f"{text!r} is not a metric; write f1, f1_macro or recall[class=3]")
    name, label, average = match["metric"], match["label"], None
    if name not in METRICS:
        stem, _, last = name.rpartition("_")
        if last in get_args(Average) and stem in METRICS:
            name, average = stem, last
    metric = METRICS[name]
    if task not in metric.tasks:
        raise UsageError(f"metric {name!r} is for {' or '.join(metric.tasks)} tasks; these data are {task}")
    if label is not None and label not in classes:
        raise UsageError(
            f"metric {text!r}: {label!r} is no class of these data; classes: {', '.join(classes[:20])}"
        )
    if (label is not None or average is not None) and (task != "multiclass" or not metric.averages):
        raise UsageError(
            f"metric {text!r}: {name} has no classes or averages on these {task} data; write {name!r}"
        )
    if average is not None and average not in metric.averages:
        raise UsageError(f"metric {text!r}: {name} has the averages {', '.join(metric.averages)}")
    if task == "multiclass" and metric.averages and label is None:
        return Quantity(name, average or metric.averages[0])
    return Quantity(name, None, label)


def named_criteria(names: Sequence[str], task: Task) -> tuple[Quantity, ...]:
    """Return the criteria of training rows among the names; with no names all that the task has."""
    found = [m.name for m in METRICS.values() if m.family == "training" and task in m.tasks]
    return tuple(Quantity(name) for name in found if not names or name in names)


def available(predictions: Predictions) -> tuple[Quantity, ...]:
    """Return every quantity of the task, in the registry's order: the metric, its averages, its classes."""
    found: list[Quantity] = []
    for metric in METRICS.values():
        if metric.family == "training":
            continue  # criteria of training rows: no quantity of test predictions
        if predictions.task not in metric.tasks or len(predictions.classes) < metric.least_classes:
            continue
        if predictions.task == "multiclass" and metric.averages:
            found += [Quantity(metric.name, average=average) for average in metric.averages]
            found += [Quantity(metric.name, label=label) for label in predictions.classes]
        else:
            found.append(Quantity(metric.name))
    return tuple(found)


def chosen(predictions: Predictions, names: tuple[str, ...]) -> tuple[Quantity, ...]:
    """Return the quantities of a run, the primary one first: those named, else all that the task has."""
    if names:
        named = [parse(name, predictions.task, predictions.classes) for name in names]
        if definition(named[0]).family == "training":
            raise UsageError(
                f"metric {names[0]!r} is a criterion of training rows and compares no test predictions: name a"
                " metric of test predictions first, for the verdict to be about"
            )
        return tuple(q for q in dict.fromkeys(named) if definition(q).family != "training")
    primary = parse(PRIMARY[predictions.task], predictions.task, predictions.classes)
    if predictions.classes and all(m.y_pred is None for m in predictions.models):
        # Bare scores without a threshold: no model has labels, so none has an accuracy.
        primary = Quantity("roc_auc")
    return (primary, *(q for q in available(predictions) if q != primary))
