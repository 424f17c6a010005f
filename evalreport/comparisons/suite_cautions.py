"""What a reader of a mean over tasks is warned of: tasks whose examples are all alike, so that they add no error."""

from __future__ import annotations

import numpy as np

from evalreport.metrics.judged import task_weights
from evalreport.metrics.sample import Sample
from evalreport.records import WarningRecord, warning

MUCH_ALIKE = 0.1
"""From this share of the weight on, in tasks whose examples are all alike.

In scripts/study_easy_suites.py nominal 95 % intervals held in as few as 78 % of such suites.
"""


def alike_in_tasks(sample: Sample) -> list[WarningRecord]:
    """Warn of models on whose primary metric all examples of some tasks are alike, where these tasks count much."""
    tasks, units = sample.predictions.tasks, sample.units
    if tasks is None or tasks.categories is None or units.task is None or not sample.quantities:
        return []
    share = np.bincount(units.task, weights=task_weights(units, sample.rows.layout))
    found = []
    for model in sample.predictions.models:
        estimate = sample.estimates.get((model.name, sample.quantities[0]))
        if estimate is None or estimate.derivative is None or estimate.tasks is None:
            continue
        # Where nothing varies in any task there is no interval, with its reason.
        if estimate.judged is not None or not estimate.standard_error:
            continue
        spread = np.bincount(estimate.tasks, weights=np.abs(estimate.derivative), minlength=len(share))
        still = np.flatnonzero(spread <= 1e-12 * spread.max())
        if share[still].sum() >= MUCH_ALIKE - 1e-9:
            names = tuple(tasks.categories[t] for t in still)
            found.append(
                warning("alike_in_task", about=(model.name,), model=model.name, tasks=names, n=len(names))
            )
    return found
