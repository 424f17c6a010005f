"""Warnings about results that may mislead a reader.

A warning is a function that yields ``warning(CODE, ...)``, in the module of its theme, and its call in ``warnings_of``.
Loading and slices raise their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.algorithms.records import AlgorithmRecords
from evalreport.comparisons.judges import JudgeRecords
from evalreport.comparisons.pairs import Comparison
from evalreport.intervals.curves import Curves
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.curves import DominanceRecord
from evalreport.schema.warnings import WarningRecord
from evalreport.warnings import coverage, layout, pairs, rare_outcomes, thresholds, values
from evalreport.warnings.algorithms import algorithm_warnings
from evalreport.warnings.direction import named_like_a_loss
from evalreport.warnings.judges import judge_warnings


def warnings_of(
    predictions: Predictions,
    samples: Sequence[Sample],
    family: Sequence[Comparison],
    rows: Sequence[ComparisonRecord],
    curves: Sequence[Curves],
    dominance: Sequence[DominanceRecord],
    algorithms: AlgorithmRecords,
    judge: JudgeRecords,
    options: Options,
) -> tuple[WarningRecord, ...]:
    """Return all warnings of a run but those about slices, each once.

    Parameters
    ----------
    predictions
        Its warnings of loading come first.
    samples, curves
        One of all models; one a model where each has examples of its own.
    family
        The primary metric's comparisons.
    rows
        Every test of the run.
    """
    points = [point for one in curves for point in one.operating_points]
    raised = [*predictions.warnings, *named_like_a_loss(predictions, options)]
    for position, sample in enumerate(samples):
        of_sample = (
            *values.class_sizes(sample),
            *values.undefined_values(sample),
            *values.groups_without_interval(sample),
            *rare_outcomes.few_flagged(sample),
            *values.scores(sample),
            *values.regression(sample),
            *pairs.without_a_test(family if position == 0 else ()),
            *pairs.discordant_pairs(family if position == 0 else (), rows, options),
            *pairs.too_few_replicates(sample, family if position == 0 else (), rows, options),
            *coverage.large_losses(sample),
            *coverage.short_intervals(sample),
            *coverage.short_difference_intervals(sample, rows),
            *coverage.gaps_may_be_larger(sample, rows),
            *coverage.many_small_classes(sample),
            *layout.folds(sample, rows, options),
            *layout.number_of_fits(sample),
            *layout.clusters(sample, options),
            *layout.weights(sample, options),
            *layout.time_order(sample, options),
            *layout.calibration_in_time(sample, options),
            *pairs.metrics_disagree(sample, rows, options),
            *thresholds.curves_cross(dominance),
            *thresholds.thresholds_chosen_here(points, options),
            *thresholds.suspicious_thresholds(sample),
            *layout.one_test_set(sample),
        )
        # Those that may change how the verdict is read come first.
        raised += sorted(of_sample, key=lambda one: one.level == "info")
        raised += coverage.few_passes(sample)
        raised += layout.tasks_without_spread(sample)
    raised += algorithm_warnings(algorithms, predictions.design)
    raised += judge_warnings(judge, options)
    return tuple(dict.fromkeys(raised))
