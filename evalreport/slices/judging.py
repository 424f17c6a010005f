"""Which slices are large enough to be judged, and why the others are not: their values are shown, without a flag.

What is asked of a slice is its size, never what was found in it: slices that entered the family by their own outcome
would be flagged far too often. Of proportions of independent examples the margins of their tables say enough
(``disparities.large_enough``); of everything else the number of examples, of each class, of clusters or of data sets.
"""

from __future__ import annotations

import numpy as np

from evalreport.data.predictions import Predictions
from evalreport.metrics.estimate import Estimate
from evalreport.texts import Message, Text

LEAST_EXAMPLES = 30
LEAST_OF_EACH = 10
"""Examples of each class, of values that are made from ranks."""
LEAST_CLUSTERS = 8
LEAST_DATASETS = 6


def too_small(
    estimate: Estimate | None, part: Predictions | None, table: Predictions, *, by_margins: bool
) -> Text | None:
    """Say why a slice is too small to be judged on a quantity, by its size alone; None where it is not.

    Parameters
    ----------
    estimate
        The model's value in the slice.
    part, table
        The slice's rows and all rows.
    by_margins
        Whether the margins of a table of successes are what decides, so that no number of examples is asked for.
    """
    if estimate is None or part is None:
        return Message("too_small.no_example")
    if estimate.over_datasets or table.design == "datasets":
        datasets = len(np.unique(part.keys["dataset"].values))
        if datasets < LEAST_DATASETS:
            return Message("too_small.datasets", n=datasets, least=LEAST_DATASETS)
    elif estimate.n < LEAST_EXAMPLES and not by_margins:
        return Message("too_small.examples", n=estimate.n, least=LEAST_EXAMPLES)
    elif estimate.clusters is not None and estimate.clusters < LEAST_CLUSTERS:
        return Message("too_small.clusters", n=estimate.clusters, least=LEAST_CLUSTERS)
    missing = _missing_class(estimate, part, table)
    if missing is not None:
        return missing
    if np.isnan(estimate.value):
        return estimate.reason or Message("too_small.undefined")
    if estimate.rarest is not None and depends_on_classes(estimate) and estimate.rarest < LEAST_OF_EACH:
        return Message("too_small.rarest", n=round(estimate.rarest), least=LEAST_OF_EACH)
    return None


def _missing_class(estimate: Estimate, part: Predictions, table: Predictions) -> Message | None:
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
    if len(lacking) > 1:
        return Message("too_small.missing_several", name=lacking[0], n=len(lacking) - 1)
    return Message("too_small.missing", name=lacking[0])


def depends_on_classes(estimate: Estimate) -> bool:
    """Say whether a value needs examples of every class: not a plain mean or proportion over the examples."""
    metric = estimate.metric
    if metric.family == "moments" or estimate.trials is not None:
        return False
    pooled = metric.family == "table" and metric.proportion is not None
    return not pooled and estimate.quantity.average != "micro" and metric.needs != "values"
