"""Which slices are large enough to be judged, and why the others are not: their values are shown, without a flag."""

from __future__ import annotations

import numpy as np

from evalreport.data.predictions import Predictions
from evalreport.metrics.estimate import Estimate
from evalreport.numbers import count

LEAST_EXAMPLES = 30
LEAST_OF_EACH = 10
"""Right and wrong answers, and examples of each class, that a judgement rests on."""
LEAST_CLUSTERS = 20
LEAST_DATASETS = 6


def too_small(
    estimate: Estimate | None, whole: Estimate, part: Predictions | None, table: Predictions
) -> str | None:
    """Say why a slice is too small to be judged on a quantity; None where it is not.

    Parameters
    ----------
    estimate, whole
        The model's value in the slice and over all examples.
    part, table
        The slice's rows and all rows.
    """
    if estimate is None or part is None:
        return "the model has no example here"
    if estimate.over_datasets or table.design == "datasets":
        datasets = len(np.unique(part.keys["dataset"].values))
        if datasets < LEAST_DATASETS:
            return f"{_few(datasets, 'data set')}, fewer than {LEAST_DATASETS}"
    elif estimate.n < LEAST_EXAMPLES:
        return f"{_few(estimate.n, 'example')}, fewer than {LEAST_EXAMPLES}"
    elif estimate.clusters is not None and estimate.clusters < LEAST_CLUSTERS:
        return f"{_few(estimate.clusters, 'cluster')}, fewer than {LEAST_CLUSTERS}"
    missing = _missing_class(estimate, part, table)
    if missing is not None:
        return missing
    if np.isnan(estimate.value):
        return estimate.reason or "the value is undefined here"
    return _few_of_a_kind(estimate, whole)


def _missing_class(estimate: Estimate, part: Predictions, table: Predictions) -> str | None:
    """Name a class that the slice has no example of, where the value depends on every class."""
    if part.y_true is None or table.y_true is None or not table.classes:
        return None
    if not depends_on_classes(estimate):
        return None
    k = len(table.classes)
    everywhere, here = (np.bincount(p.y_true, minlength=k) for p in (table, part) if p.y_true is not None)
    lacking = [table.classes[c] for c in np.flatnonzero((everywhere > 0) & (here == 0))]
    if estimate.quantity.label is not None:
        lacking = [label for label in lacking if label == estimate.quantity.label]
    if not lacking:
        return None
    more = f" and {len(lacking) - 1} more classes" if len(lacking) > 1 else ""
    return f"no example of class {lacking[0]}{more}"


def depends_on_classes(estimate: Estimate) -> bool:
    """Say whether a value needs examples of every class: not a plain mean or proportion over the examples."""
    metric = estimate.metric
    if metric.family == "moments" or estimate.trials is not None:
        return False
    pooled = metric.family == "table" and metric.proportion is not None
    return not pooled and estimate.quantity.average != "micro" and metric.needs != "values"


def _few_of_a_kind(estimate: Estimate, whole: Estimate) -> str | None:
    """Say where too few answers are right or too few wrong, by what is seen and by what was to be expected."""
    if estimate.rarest is not None and depends_on_classes(estimate) and estimate.rarest < LEAST_OF_EACH:
        return f"{_few(estimate.rarest, 'example')} of a class, fewer than {LEAST_OF_EACH}"
    found, expected = _right_and_wrong(estimate), _right_and_wrong(whole)
    if found is None or expected is None or not sum(expected):
        return None
    # None wrong of many where many were to be expected is a finding, not a want of data.
    least = min(sum(found) * part / sum(expected) for part in expected)
    if min(found) >= LEAST_OF_EACH or least >= LEAST_OF_EACH:
        return None
    which = found.index(min(found))
    kind = ("right answer", "wrong answer") if estimate.trials is None else ("success", "failure")
    if estimate.quantity.metric in ("accuracy", "mean_outcome"):
        kind = ("right answer", "wrong answer")
    return f"{_few(found[which], kind[which])}, fewer than {LEAST_OF_EACH}"


def _right_and_wrong(estimate: Estimate) -> tuple[float, float] | None:
    """Return successes and failures of a proportion, else right and wrong answers; None where there are none."""
    if estimate.trials is not None and estimate.successes is not None:
        return estimate.successes, estimate.trials - estimate.successes
    if estimate.table is None:
        return None
    # Weights say how much an example counts, not how many there are.
    table = estimate.table * (estimate.n / estimate.table.sum() if estimate.table.sum() else 1.0)
    right = float(np.trace(table))
    return right, float(table.sum()) - right


def _few(number: float, noun: str) -> str:
    plural = "" if round(number) == 1 else "es" if noun.endswith("s") else "s"
    return f"{count(round(number))} {noun}{plural}"
