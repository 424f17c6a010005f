"""Which quantities a run computes: those named, and those that the data allow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from evalreport.errors import UsageError
from evalreport.metrics.metric import Average, Metric, PredictionPoweredMean, Training
from evalreport.metrics.registry import JUDGED, METRICS, PRIMARY, Quantity, definition
from evalreport.metrics.sums import summed_names
from evalreport.options import Task
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.numbers import SUMS, levels, limits_at, quantile_at, quantiles
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.spelling import is_whole
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.registry import closest_names
from evalreport.texts import Message


def lacks(outputs: ModelOutputs, quantity: Quantity, summed: ScoreSums | None = None) -> Message | None:
    """Say why a model cannot have a quantity, or return None if it can; ``summed``: the known sums of scores."""
    given = {
        "labels": outputs.y_pred,
        "scores": outputs.score,
        "probabilities": outputs.proba,
        "values": outputs.y_pred,
        "outcomes": outputs.outcome,
        "passes": outputs.passes,
        "gold": outputs.gold,
        "groups": outputs.y_pred,
    }
    metric = definition(quantity)
    if outputs.numbers:
        return lacks_numbers(outputs.numbers, metric)
    needs = metric.needs
    if needs not in given or given[needs] is not None:
        return None
    in_sum = needs in ("scores", "probabilities") and summed is not None and outputs.name in summed.models
    return Message("lacks.summed" if in_sum else f"lacks.{needs}")


def available(predictions: Predictions) -> tuple[Quantity, ...]:
    """Return every quantity of the task, in the registry's order: the metric, its averages, its classes."""
    quantities: list[Quantity] = []
    for metric in METRICS.values():
        if isinstance(metric.computation, Training):
            continue  # criteria of training rows: no quantity of test predictions
        if isinstance(metric.computation, PredictionPoweredMean) and not predictions.has_gold:
            continue
        if predictions.task == "intervals" and "intervals" in metric.tasks:
            quantities += _of_intervals(metric, predictions)
            continue
        if (
            metric.lacks_parameter
            or metric.only_named
            or (metric.ordered and not (predictions.labels.in_order and not predictions.outside))
        ):
            continue
        if predictions.task not in metric.tasks or len(predictions.classes) < metric.least_classes:
            continue
        if predictions.task == "sums":
            quantities += _of_sums(metric, predictions)
        elif metric.numbered is not None:
            repeated = any(model.attempts is not None for model in predictions.models)
            quantities += _with_usual_numbers(metric, predictions) if repeated else []
        elif predictions.task == "multiclass" and metric.averages:
            quantities += [Quantity(metric.name, average=average) for average in metric.averages]
            quantities += [Quantity(metric.name, label=label) for label in predictions.classes]
        else:
            quantities.append(Quantity(metric.name))
            if predictions.task == "sets":
                quantities += [Quantity(metric.name, label=label) for label in predictions.classes]
    return tuple(quantities)


def lacks_numbers(numbers: Mapping[str, Floats], metric: Metric) -> Message | None:
    """Say why a model of sums, intervals or sets cannot have a metric, or return None if it can."""
    names = summed_names(numbers)
    if names & set(SUMS):
        lacking = sorted(set(metric.sums) - names)
        return Message("lacks.sums", names=lacking) if lacking else None
    at = None if metric.parameter is None else metric.parameter.value
    if metric.needs == "quantiles":
        known = bool(quantiles(numbers)) if at is None else quantile_at(numbers, at) is not None
        return None if known else Message("lacks.quantiles" if at is None else "lacks.quantile", at=at)
    if metric.needs == "intervals":
        known = bool(levels(numbers)) if at is None else limits_at(numbers, at) is not None
        return None if known else Message("lacks.intervals" if at is None else "lacks.level", at=at)
    return None


def averages_in(metric: Metric, task: Task) -> tuple[Average, ...]:
    """Return the averages of a metric in a task; the first is what the bare name means."""
    if task == "sums":
        return ("micro", "macro")
    return metric.averages if task == "multiclass" else ()


def _of_sums(metric: Metric, predictions: Predictions) -> list[Quantity]:
    """Return the pooled value, and of several labels the mean over them and that of each."""
    if not any(set(metric.sums) <= summed_names(model.numbers) for model in predictions.models):
        return []
    averages: tuple[Average, ...] = ("micro", "macro") if predictions.classes else ("micro",)
    quantities = [Quantity(metric.name, average=average) for average in averages]
    return quantities + [Quantity(metric.name, label=label) for label in predictions.classes]


def _of_intervals(metric: Metric, predictions: Predictions) -> list[Quantity]:
    """Return a score of intervals at every level, or of every quantile, that the models give."""
    numbers = predictions.models[0].numbers
    named = [metric.name]
    if metric.parameter is not None:
        given = levels(numbers) if metric.needs == "intervals" else quantiles(numbers)
        # The largest level first: it is the one that reports speak of.
        named = [metric.parameter.spelled(x) for x in (given[::-1] if metric.needs == "intervals" else given)]
    elif metric.needs == "intervals" and len(levels(numbers)) < 2 and not quantiles(numbers):
        return []  # of one level it says no more than the interval score
    return [Quantity(name) for name in named if lacks_numbers(numbers, METRICS[name]) is None]


def _with_usual_numbers(metric: Metric, predictions: Predictions) -> list[Quantity]:
    """Return a numbered metric with 1 and the smallest number of attempts at a question."""
    counts = [m.attempts.count for m in predictions.models if m.attempts is not None]
    # A model without a question, which others have on test sets of their own, has no attempt at it.
    fewest = min((int(count[count > 0].min()) for count in counts), default=1)
    return [Quantity(required(metric.numbered).spelled(k)) for k in sorted({1, fewest})]


def _as_named(name: str, predictions: Predictions) -> list[Quantity]:
    """Return the quantities of a name: one, or a numbered metric with its usual numbers."""
    quantity = parse(name, predictions.task, predictions.classes)
    metric = definition(quantity)
    return _with_usual_numbers(metric, predictions) if metric.numbered is not None else [quantity]


def chosen(
    predictions: Predictions, names: tuple[str, ...], in_gates: Iterable[str] = (), default: str | None = None
) -> tuple[Quantity, ...]:
    """Return the quantities of a run, the primary one first: those named, else all of the task.

    Parameters
    ----------
    names
        The metrics that the run was asked for, as the command line spells them.
    in_gates
        The metrics that gates are about, with their classes. Those that no run has by itself are added: the numbered
        ones (``pass^3``), where no metric is named, and those of one class that only has its value where it is named
        (``calibration_slope[class=3]``).
    default
        The primary metric where none is named; None: the usual one of the task.

    Raises
    ------
    UsageError
        A metric that is unknown or of another task, that needs an order which the classes lack, or a criterion of
        training rows that is named first.
    """
    in_gate = [q for q in _only_in_gates(in_gates, predictions) if predictions.task in definition(q).tasks]
    for name in names:
        _require_order(name, predictions)
    if names:
        named = [q for name in names for q in _as_named(name, predictions)]
        if isinstance(definition(named[0]).computation, Training):
            raise UsageError(
                f"metric {names[0]!r} is a criterion of training rows and compares no test predictions: name a"
                " metric of test predictions first, for the verdict to be about"
            )
        named += [
            q
            for q in in_gate
            if definition(q).parameter is not None or q.label is not None or definition(q).only_named
        ]
        return tuple(q for q in dict.fromkeys(named) if not isinstance(definition(q).computation, Training))
    name = default or (JUDGED if predictions.has_gold else PRIMARY[predictions.task])
    primary = parse(name, predictions.task, predictions.classes)
    others = [q for q in available(predictions) if predictions.task in definition(q).tasks]
    return tuple(dict.fromkeys((primary, *others, *in_gate)))


def _require_order(name: str, predictions: Predictions) -> None:
    """Refuse a metric of ordered classes where nothing says their order, or a missing label has no place in it."""
    if name not in METRICS or not METRICS[name].ordered:
        return
    if not (predictions.labels.in_order or all(map(is_whole, predictions.classes))):
        order = ",".join(predictions.classes[:6])
        raise UsageError(
            f"metric {name!r} needs an order of the classes: pass --class-order {order}, the lowest first"
        )
    if predictions.outside:
        raise UsageError(
            f"metric {name!r}: a missing label has no place in the order; pass --missing drop in place of wrong"
        )


def _only_in_gates(spelled: Iterable[str], predictions: Predictions) -> Iterator[Quantity]:
    """Yield the quantities of gates that a run does not have by itself; what is misspelt is refused with its gate."""
    for text in spelled:
        name, _, label = text.removesuffix("]").partition("[class=")
        if METRICS.with_number(text) or (text in METRICS and METRICS[text].only_named):
            yield Quantity(METRICS[text].name)
        elif label in predictions.classes and name in METRICS and METRICS[name].by_class:
            yield Quantity(name, label=label)


def parse(text: str, task: Task, classes: Sequence[str]) -> Quantity:
    """Read a metric as the command line spells it.

    For several classes the bare name of a class-wise metric means its macro average.

    Raises
    ------
    UsageError
        Unknown metric, a metric of another task, an average or class that it does not have.
    """
    match = re.fullmatch(
        r"(?P<metric>\w+(?:[@^]\d+|\[(?:at(?:_\w+)?|level|q)=[^\]]*\])?)(?:\[class=(?P<label>.*)\])?",
        text.strip(),
        flags=re.DOTALL,
    )
    if match is None:
        raise UsageError(unknown_metric(text))
    name, label, average = match["metric"], match["label"], None
    if name not in METRICS:
        stem, _, last = name.rpartition("_")
        if last in get_args(Average) and stem in METRICS:
            name, average = stem, last
        else:
            raise UsageError(unknown_metric(name))
    metric = METRICS[name]
    if metric.lacks_parameter and metric.parameter is not None:
        example = metric.parameter.spelled(metric.parameter.example)
        raise UsageError(f"metric {name!r} needs a number between 0 and 1: write {example!r}")
    name = metric.name if metric.parameter is not None else name
    if task not in metric.tasks:
        raise UsageError(f"metric {name!r} is for {' or '.join(metric.tasks)} tasks; these data are {task}")
    if label is not None and label not in classes:
        raise UsageError(
            f"metric {text!r}: {label!r} is not a class of these data; classes: {', '.join(classes[:20])}"
        )
    averages = averages_in(metric, task)
    has_class = bool(averages) or (task in ("multiclass", "sets") and metric.by_class)
    if task == "sums" and average == "macro" and not classes:
        raise UsageError(f"metric {text!r}: the mean over labels needs the column label; write {name!r}")
    if (label is not None and not has_class) or (average is not None and not averages):
        raise UsageError(
            f"metric {text!r}: {name} has no classes or averages on these {task} data; write {name!r}"
        )
    if average is not None and average not in averages:
        raise UsageError(f"metric {text!r}: {name} has the averages {', '.join(averages)}")
    if averages and label is None:
        return Quantity(name, average or averages[0])
    return Quantity(name, None, label)


def unknown_metric(text: str) -> str:
    """Say that a metric is unknown, with three that are close, or how one with a number is written.

    Examples
    --------
    >>> unknown_metric("acuracy")
    "unknown metric 'acuracy'; did you mean accuracy, max_accuracy or top_5_accuracy? `evalreport list metrics` has all"
    """
    parameters = [m.parameter for m in METRICS.values() if m.parameter is not None]
    begins = text.partition("[")[0]
    for parameter in parameters:
        if "[" in text and parameter.begins == begins and f"[{parameter.name}=" in text:
            return f"metric {text!r} needs a number between 0 and 1: write {parameter.spelled(parameter.example)!r}"
    known = [*spelled_metrics(), *(parameter.spelled(parameter.example) for parameter in parameters)]
    first, second, third = closest_names(text, known)
    return f"unknown metric {text!r}; did you mean {first}, {second} or {third}? `evalreport list metrics` has all"


def spelled_metrics() -> list[str]:
    """Return what a metric can be called: each name, also with its averages."""
    return [
        spelled
        for name, metric in METRICS.items()
        for spelled in (name, *(f"{name}_{average}" for average in metric.averages))
    ]


def named_criteria(names: Sequence[str], task: Task) -> tuple[Quantity, ...]:
    """Return the criteria of training rows among the names; with no names all that the task has."""
    found = [m.name for m in METRICS.values() if isinstance(m.computation, Training) and task in m.tasks]
    return tuple(Quantity(name) for name in found if not names or name in names)
