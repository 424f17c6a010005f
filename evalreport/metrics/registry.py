"""The registry of metrics: a metric is one documented function of weighted examples under a decorator.

The decorators of the families stand in ``labels``, ``means``, ``ranking``: each says what the function
is given. Everything else (value, interval, difference, influence values) follows in ``engine``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evalreport.config import Task
from evalreport.registry import Registry

Family = Literal["binary_table", "table", "moments", "ranking"]
Needs = Literal["labels", "scores", "probabilities", "values", "outcomes"]
Average = Literal["macro", "micro", "weighted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One registered metric.

    Attributes
    ----------
    name, label
        The contract's name (``roc_auc``) and how a report writes it (``ROC AUC``).
    summary, formula
        One plain sentence; the definition in one line of text.
    family
        ``binary_table``: function of TP, FP, FN, TN, averaged over classes where there are several;
        ``table``: function of the whole K x K table; ``moments``: function of weighted sums of per-example
        columns; ``ranking``: function of the weights along a model's sorted scores.
    tasks, needs
        Where it is defined; which output of the model it needs.
    range
        Smallest and largest possible value (may be infinite).
    greater_is_better
        None where neither direction is better.
    averages
        For several classes, the averages that are computed; the first is what the bare name means.
    intervals
        Names of the intervals that are honest for it, the recommended one first.
    difference_interval, test
        The recommended interval and test of a paired difference on one test set.
    smooth
        False where influence values do not exist, so no ``normal`` and no BCa interval.
    source
        Paper, equation or page.
    """

    name: str
    label: str
    summary: str
    formula: str
    family: Family
    tasks: tuple[Task, ...]
    needs: Needs
    function: Callable[..., Any]
    range: tuple[float, float]
    greater_is_better: bool | None = True
    averages: tuple[Average, ...] = ()
    intervals: tuple[str, ...] = ()
    difference_interval: str = "bootstrap_bca"
    test: str = "permutation"
    smooth: bool = True
    source: str = ""


METRICS: Registry[Metric] = Registry("metric")
