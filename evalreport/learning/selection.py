"""Which model each penalised criterion chooses among models that were fitted to the same training rows."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.algorithm_records import CriterionChoiceRecord
from evalreport.records import MetricRecord


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
        found.append(CriterionChoiceRecord(name, model, value, runner_up, second - value, models, n))
    return tuple(found)
