"""Warnings about folds, seeds, data sets, clusters, weights, time, tasks and the test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.measured import MEASURED_OF_SEEDS
from evalreport.comparisons.registry import TESTS
from evalreport.engine.counts import freedom_of_clusters
from evalreport.engine.distributions import t_quantile
from evalreport.errors import UsageError
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.estimate import Sampled
from evalreport.metrics.evidence import PredictionPowered
from evalreport.metrics.layout import FOLDED, POOLED_BY, Parts, parts_by, task_weights
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.time_order import no_series
from evalreport.samplings import sampling_of
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.warnings import FEW_CLUSTERS, WarningRecord, warning
from evalreport.texts import Message, sentences
from evalreport.warnings.checks import check

FEW_IN_FOLD = 30

FEW_REPLICATES = 30

FEW_SEEDS = 5

FEW_DATASETS = 6

VERY_FEW_CLUSTERS = 4
"""Below this effective number of clusters intervals rest on very few groups."""

FEW_EFFECTIVE = 100

ENOUGH_IN_TIME = 70
"""Independent examples that a series is worth: below, intervals held less often in docs/time-order.csv."""
ENOUGH_IF_ALIKE, ALIKE = 200, 0.8
"""The same of series whose examples tell as much as this share of independent ones at the most."""
HELD_IN_TIME = {ENOUGH_IN_TIME: (81, 96), ENOUGH_IF_ALIKE: (92, 96)}
"""Least and most percent of the intervals there that held."""

WIDER = 1.05
"""Intervals that are less than this many times as wide are no caution: to one decimal they are as wide."""


MANY_MODELS = 10

MOST_IN_PAIRS = 10
"""Of so many models the differences, too, are looked at for dependence in time."""

MUCH_ALIKE = 0.1
"""From this share of the weight on, in tasks whose examples are all alike.

In scripts/study_easy_suites.py nominal 95 % intervals held in as few as 78 % of these suites.
"""


@check("small_folds", "folds_taken_as_independent", needs=("folds",))
@check("class_missing_in_fold", needs=("folds", "classes"))
def folds(sample: Sample, rows: Sequence[ComparisonRecord], options: Options) -> Iterator[WarningRecord]:
    """Warn of small folds, of folds without a class, and of tests that take folds as independent."""
    predictions, parts = sample.predictions, sample.rows.layout.ranked
    smallest = int(np.bincount(parts.codes, minlength=parts.count).min())
    # A fold score is one row for any number of examples.
    if smallest < FEW_IN_FOLD and predictions.task != "scores":
        yield warning("small_folds", n=smallest, enough=FEW_IN_FOLD)
    if predictions.classes and predictions.y_true is not None:
        lacking = _folds_without_a_class(parts, predictions.y_true, len(predictions.classes))
        if lacking:
            yield warning("class_missing_in_fold", lacking=lacking, folds=parts.count)
    naive = dict.fromkeys(
        r.test for r in rows if r.test and r.p_value is not None and not TESTS[r.test].knows_folds
    )
    if naive:
        # Only a leading test of this kind, or a requested one, changes how the verdict is read.
        leads = any(r.recommended and r.test in naive for r in rows)
        level: Literal["info", "caution"] = "caution" if leads or options.tests else "info"
        tests = tuple(TESTS[name].label for name in naive)
        yield warning("folds_taken_as_independent", about=tuple(naive), level=level, tests=tests)


def _folds_without_a_class(parts: Parts, true: npt.NDArray[np.int32], n_classes: int) -> int:
    held = np.unique(parts.codes * n_classes + true)
    used = len(np.unique(true))
    by_fold = np.bincount(held // n_classes, minlength=parts.count)
    # A fold of one example (leave-one-out) holds one class by construction.
    return 0 if int(np.bincount(parts.codes).max()) == 1 else int((by_fold < used).sum())


@check("few_replicates", needs=("replicates",))
@check("one_seed", "few_seeds", needs=("seeds",))
@check("few_datasets", needs=("datasets",))
def number_of_fits(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of few replicates, seeds or data sets."""
    parts = sample.rows.layout.fits.count
    if parts <= FEW_REPLICATES:
        yield warning("few_replicates", n=parts, enough=FEW_REPLICATES)
    models = tuple(m.name for m in sample.predictions.models)
    if parts == 1:
        yield warning("one_seed", about=models, models=models)
    elif parts < FEW_SEEDS:
        about = models if len(models) == 1 else ()
        text = Message("warning.few_seeds.of_all", n=parts, enough=FEW_SEEDS)
        if about:
            text = Message("warning.few_seeds.of_a_model", n=parts, enough=FEW_SEEDS, model=models[0])
        if parts in MEASURED_OF_SEEDS:
            percent = 100 * MEASURED_OF_SEEDS[parts]
            text = sentences(text, Message("measured.of_seeds", percent=percent, decimals=1))
        yield WarningRecord(code="few_seeds", text=text, about=about)
    if parts < FEW_DATASETS:
        yield warning("few_datasets", n=parts, enough=FEW_DATASETS)


@check("few_clusters", needs=("clusters",))
@check("cluster_across_folds", needs=("clusters", "folds"))
def clusters(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    """Warn of few clusters, and of clusters that are tested in several folds of one repeat."""
    if options.cluster is None or sample.units.cluster is None:
        return
    effective, sizes = sample.units.clusters_effective or 1.0, sample.units.sizes
    if effective < FEW_CLUSTERS and sizes is not None:
        text = _few_clusters(options.cluster, sizes, effective, weighted=sample.units.weighted)
        yield WarningRecord(code="few_clusters", text=text, about=(options.cluster,))
    if sample.predictions.design in FOLDED:
        divided = _divided_clusters(sample, sample.units.cluster)
        if divided:
            yield warning("cluster_across_folds", about=(options.cluster,), n=divided, column=options.cluster)


def _few_clusters(column: str, sizes: Floats, effective: float, *, weighted: bool) -> Message:
    clusters = int((sizes > 0).sum())
    if clusters == 1:
        return Message("warning.one_cluster", column=column)
    freedom = freedom_of_clusters(sizes)
    very_few = freedom is None or min(effective, freedom.df) < VERY_FEW_CLUSTERS
    return sentences(
        Message(
            "warning.few_clusters",
            clusters=clusters,
            column=column,
            effective=_tenths(effective, FEW_CLUSTERS),
            decimals=1,
            enough=FEW_CLUSTERS,
        ),
        *([] if weighted else [Message("measured.of_clusters")]),
        *([Message("measured.few_clusters_carry")] if very_few else []),
    )


def _divided_clusters(sample: Sample, cluster: Indices) -> int:
    """Count the clusters that some repeat tests in more than one fold, or (hold-out) only in part."""
    predictions = sample.predictions
    repeat = parts_by(predictions, POOLED_BY[predictions.design]).codes
    if predictions.design == "repeated-holdout":
        tested = np.unique(np.stack([cluster, repeat, predictions.example]), axis=1)
        in_repeat, sizes = np.unique(tested[:2], axis=1, return_counts=True)
        whole = np.bincount(np.unique(np.stack([cluster, predictions.example]), axis=1)[0])
        return len(np.unique(in_repeat[0][sizes < whole[in_repeat[0]]]))
    tested = np.unique(np.stack([cluster, repeat, sample.rows.layout.fits.codes]), axis=1)
    in_repeat, folds = np.unique(tested[:2], axis=1, return_counts=True)
    return len(np.unique(in_repeat[0][folds > 1]))


@check("unequal_weights", needs=("weights",))
def weights(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    """Warn of weights so unequal that they are worth few examples."""
    column, effective, n = options.weight, sample.n_effective, sample.predictions.n_examples
    if column is None or effective is None or not (effective < n / 2 or effective < FEW_EFFECTIVE):
        return
    shown = _tenths(effective, FEW_EFFECTIVE)
    text = Message("warning.unequal_weights", column=column, n=n, effective=shown, decimals=1)
    if effective < FEW_EFFECTIVE:
        text = sentences(text, Message("measured.of_weights", enough=FEW_EFFECTIVE))
    yield WarningRecord(code="unequal_weights", text=text, about=(column,))


def _tenths(effective: float, limit: int) -> float:
    """Round an effective number; one below the limit never looks as large as that."""
    shown = round(effective, 1)
    return limit - 0.1 if effective < limit <= shown else shown


@check("random_split_in_time", needs=("time", "folds"))
@check("time_ordered", needs=("time", "neighbours"))
def time_order(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    """Warn of examples in time that are split at random, or taken as independent."""
    time = np.asarray(sample.predictions.keys["time"].values)
    if sample.predictions.design in FOLDED and _interleaved(sample, time):
        yield warning("random_split_in_time", about=("time",))
    elif options.cluster is None and options.order is None:
        ratio = widening(sample, options)
        if ratio is None:
            yield warning("time_ordered", "unknown", about=("time",))
        else:
            wider = ratio >= WIDER
            yield warning(
                "time_ordered", "wider" if wider else "alike", about=("time",), level="caution" if wider else "info",
                ratio=ratio if wider else max(ratio, 1.0), decimals=1,
            )  # fmt: skip


@check("few_in_time", needs=("order",))
def few_in_time(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of a series so short, or so alike, that it is worth few independent examples."""
    effective, n = effective_in_time(sample), sample.predictions.n_examples
    if effective is None:
        return
    enough = ENOUGH_IN_TIME if effective < ENOUGH_IN_TIME or effective > ALIKE * n else ENOUGH_IF_ALIKE
    if effective < enough:
        low, high = HELD_IN_TIME[enough]
        yield warning(
            "few_in_time", about=("time",), n=n, effective=max(effective, 1.0), decimals=0, enough=enough, low=low,
            high=high,
        )  # fmt: skip


def effective_in_time(sample: Sample) -> float | None:
    """Return how many independent examples would tell the primary metric as well; None where that is not known.

    n times the variance of independent examples over that in order of time: the least of the models' values and their
    differences.
    """
    effective = []
    for value in _values_and_pairs(sample):
        independent = value.error_by(1.0)
        if value.student is not None and value.student.error and independent:
            effective.append(sample.predictions.n_examples * (independent / value.student.error) ** 2)
    return min(effective, default=None)


def _values_and_pairs(sample: Sample) -> list[Sampled]:
    """Return every model's value of the primary metric, and the differences of the first models."""
    values = [sample.estimates[m.name, q] for q in sample.quantities[:1] for m in sample.predictions.models]
    return [*values, *(paired_difference(a, b) for a, b in combinations(values[:MOST_IN_PAIRS], 2))]


def widening(sample: Sample, options: Options) -> float | None:
    """Return how many times as wide the primary metric's intervals would be that allow for the order in time.

    The largest ratio among the models' values and their differences; None where it cannot be computed.
    """
    predictions = sample.predictions
    if not sample.units.plain or not sample.quantities or no_series(predictions) is not None:
        return None
    try:
        units = sampling_of(predictions, cluster=None, weight=None, order="time")
    except UsageError:
        return None
    ordered = estimate_all(predictions, sample.quantities[:1], units=units, n_resamples=1, seed=options.seed)
    widths = zip(_widths(sample, options.confidence), _widths(ordered, options.confidence), strict=True)
    return max((after / before for before, after in widths if before and after), default=None)


def _widths(sample: Sample, level: float) -> list[float | None]:
    """Return half the width of Student's interval of every model's value, and of every pair's difference."""
    students = [value.student for value in _values_and_pairs(sample)]
    return [None if one is None else t_quantile((1 + level) / 2, one.df) * one.error for one in students]


def _interleaved(sample: Sample, time: Floats) -> bool:
    """Say whether, going through time, the fold changes much more often than between blocks."""
    parts = sample.rows.layout.fits
    repeat = parts_by(sample.predictions, POOLED_BY[sample.predictions.design]).codes
    first = repeat == 0
    fold = parts.codes[first][np.argsort(time[first], kind="stable")]
    return bool((np.diff(fold) != 0).sum() > 3 * len(np.unique(fold)))


@check("prevalence_of_this_set", needs=("two_classes", "classes"))
@check("overlap_is_no_test", "reused_test_set", needs=("models",))
def one_test_set(sample: Sample) -> Iterator[WarningRecord]:
    """Say what one test set cannot show: other prevalences, earlier use, and how to read two intervals."""
    predictions = sample.predictions
    models = len(predictions.models)
    if predictions.task == "binary" and predictions.y_true is not None:
        held = predictions.class_counts
        share = float(held[predictions.positive_code] / held.sum())
        yield warning("prevalence_of_this_set", share=share)
    if models > 1:
        yield warning("overlap_is_no_test")
    if models >= MANY_MODELS:
        yield warning("reused_test_set", models=models)


@check("alike_in_task", needs=("tasks",), of_models=True)
def tasks_without_spread(sample: Sample) -> list[WarningRecord]:
    """Warn of tasks with much weight on whose examples a model has the same value of the primary metric throughout."""
    tasks, units = sample.predictions.tasks, sample.units
    if tasks is None or tasks.categories is None or units.task is None or not sample.quantities:
        return []
    share = np.bincount(units.task, weights=task_weights(units, sample.rows.layout))
    found = []
    for model in sample.predictions.models:
        estimate = sample.estimates.get((model.name, sample.quantities[0]))
        if estimate is None or estimate.derivative is None or estimate.sampling.tasks is None:
            continue
        # Where nothing varies in any task there is no interval, with its reason.
        if isinstance(estimate.evidence, PredictionPowered) or not estimate.standard_error:
            continue
        influence = np.abs(estimate.derivative)
        spread = np.bincount(estimate.sampling.tasks, weights=influence, minlength=len(share))
        still = np.flatnonzero(spread <= 1e-12 * spread.max())
        if share[still].sum() >= MUCH_ALIKE - 1e-9:
            names, about = tuple(tasks.categories[t] for t in still), (model.name,)
            found.append(warning("alike_in_task", about=about, model=model.name, tasks=names, n=len(names)))
    return found
