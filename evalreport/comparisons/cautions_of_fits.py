"""Warnings about how models were fitted and tested: folds, replicates, seeds, data sets, clusters, time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.measured import MEASURED_OF_SEEDS
from evalreport.comparisons.registry import TESTS
from evalreport.config import Options
from evalreport.engine.effective import freedom_of_clusters
from evalreport.metrics.layout import FOLDED, POOLED_BY, Parts, parts_by
from evalreport.metrics.sample import Sample
from evalreport.numbers import count, number
from evalreport.records import ComparisonRecord, WarningRecord

FEW_IN_FOLD = 30
FEW_REPLICATES = 30
FEW_SEEDS = 5
FEW_DATASETS = 6
FEW_CLUSTERS, VERY_FEW_CLUSTERS = 10, 4
"""Effective numbers of clusters: below these intervals rest on few, and on very few, groups."""
FEW_EFFECTIVE = 100
KNOWS_FOLDS = frozenset({"corrected_resampled_t", "5x2cv_t", "5x2cv_f", "bayes_correlated_t"})
"""Tests that were made for fits that share training data; every other one takes what it is given as independent."""


def of_fits(sample: Sample, rows: Sequence[ComparisonRecord], options: Options) -> Iterator[WarningRecord]:
    """Yield the warnings of this room, in a fixed order."""
    if sample.predictions.design in FOLDED:
        yield from _of_folds(sample, rows, options)
    yield from _of_number(sample)
    yield from _of_clusters(sample, options)
    yield from _of_weights(sample, options)
    yield from _of_time(sample, options)


def _of_folds(sample: Sample, rows: Sequence[ComparisonRecord], options: Options) -> Iterator[WarningRecord]:
    predictions, parts = sample.predictions, sample.rows.layout.ranked
    smallest = int(np.bincount(parts.codes, minlength=parts.count).min())
    if smallest < FEW_IN_FOLD:
        text = f"The smallest fold tests {count(smallest)} example{'s' if smallest > 1 else ''}, fewer than"
        text += f" {FEW_IN_FOLD}: values of single folds are unstable; counts are pooled over folds where they can be."
        yield WarningRecord("small_folds", text)
    if predictions.classes and predictions.y_true is not None:
        lacking = _folds_without_a_class(parts, predictions.y_true, len(predictions.classes))
        if lacking:
            text = (
                f"{count(lacking)} of {count(parts.count)} folds lack a class: what needs it (AUC, recall) is"
            )
            yield WarningRecord("class_missing_in_fold", text + " undefined there; stratify the folds.")
    naive = dict.fromkeys(r.test for r in rows if r.p_value is not None and r.test not in KNOWS_FOLDS)
    if naive:
        names = ", ".join(TESTS[name].label for name in naive)
        text = f"{names}: made for independent values, but folds share training data. Such tests reject a true null"
        text += (
            " hypothesis more often than they say; where the rate was measured, it stands beside the p-value."
        )
        # Only a leading test of this kind, or one that was asked for, changes how the verdict is read.
        leads = any(r.recommended and r.test in naive for r in rows)
        level: Literal["info", "warning"] = "warning" if leads or options.tests else "info"
        yield WarningRecord("folds_taken_as_independent", text, tuple(naive), level)


def _folds_without_a_class(parts: Parts, true: npt.NDArray[np.int32], n_classes: int) -> int:
    held = np.unique(parts.codes * n_classes + true)
    used = len(np.unique(true))
    by_fold = np.bincount(held // n_classes, minlength=parts.count)
    # A fold of one example (leave-one-out) holds one class by construction.
    return 0 if int(np.bincount(parts.codes).max()) == 1 else int((by_fold < used).sum())


def _of_number(sample: Sample) -> Iterator[WarningRecord]:
    """Yield warnings of too few replicates, seeds or data sets."""
    parts, design = sample.rows.layout.fits.count, sample.predictions.design
    if design == "bootstrap" and parts <= FEW_REPLICATES:
        text = f"There are {parts} bootstrap replicates; more than {FEW_REPLICATES} are needed for bias and variance,"
        yield WarningRecord("few_replicates", text + " 200 for steady ones.")
    models = tuple(m.name for m in sample.predictions.models)
    if design == "seeds" and parts == 1:
        text = f"{', '.join(models)}: trained with one seed. What is said of it is about this trained model: training"
        yield WarningRecord(
            "one_seed", text + " noise is not included in its intervals and comparisons.", models
        )
    elif design == "seeds" and parts < FEW_SEEDS:
        whose = f"{models[0]} has" if len(models) == 1 else "There are"
        text = f"{whose} {parts} training seeds: fewer than {FEW_SEEDS} leave the variance between seeds uncertain, and"
        text += " intervals are wide."
        if parts in MEASURED_OF_SEEDS:
            text += " Between two equally good algorithms a test at 0.05 was measured to find a difference in"
            text += f" {100 * MEASURED_OF_SEEDS[parts]:.1f} %."
        yield WarningRecord("few_seeds", text, models if len(models) == 1 else ())
    if design == "datasets" and parts < FEW_DATASETS:
        text = f"There are {parts} data sets: a signed-rank test over fewer than {FEW_DATASETS} cannot reach p = 0.05."
        yield WarningRecord("few_datasets", text)


def _of_clusters(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    if options.cluster is None or sample.units.cluster is None:
        return
    effective, sizes = sample.units.clusters_effective or 1.0, sample.units.sizes
    if effective < FEW_CLUSTERS and sizes is not None:
        text = f"The {count(int((sizes > 0).sum()))} clusters of {options.cluster!r} count as {_tenths(effective)}"
        text += f" of equal size (effective number of clusters), fewer than {FEW_CLUSTERS}: what is known rests on so"
        text += " few, whatever the number of examples. Where a few of them differ much from the rest, 95 % intervals"
        text += " of single values were measured to hold 90 %, those of differences 92 to 96 %."
        freedom = freedom_of_clusters(sizes)
        if freedom is None or min(effective, freedom.df) < VERY_FEW_CLUSTERS:
            text += " A few groups carry the result."
        yield WarningRecord("few_clusters", text, (options.cluster,))
    if sample.predictions.design in FOLDED:
        divided = _divided_clusters(sample, sample.units.cluster)
        if divided:
            text = f"{count(divided)} clusters of {options.cluster!r} are divided between folds: models were tested on"
            text += (
                " clusters that they had partly seen, which flatters them. Keep whole clusters in one fold."
            )
            yield WarningRecord("cluster_across_folds", text, (options.cluster,))


def _of_weights(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    effective, n = sample.n_effective, sample.predictions.n_examples
    if options.weight is None or effective is None or not (effective < n / 2 or effective < FEW_EFFECTIVE):
        return
    text = f"With the weights of {options.weight!r} the {count(n)} examples count as {_tenths(effective)} of equal"
    text += " weight (Kish's effective number): intervals are as wide as those of so few examples."
    if effective < FEW_EFFECTIVE:
        text += f" With fewer than {FEW_EFFECTIVE} they are rough: those of F1 and MCC were measured to hold 92 % where"
        text += " 95 % are meant."
    yield WarningRecord("unequal_weights", text, (options.weight,))


def _tenths(effective: float) -> str:
    """Write an effective number rounded down, so that it never looks as large as the limit that it is below."""
    return number(math.floor(10 * effective) / 10, 1)


def _divided_clusters(sample: Sample, cluster: npt.NDArray[np.int64]) -> int:
    """Count the clusters that some repeat tests in more than one fold, or (hold-out) only in part."""
    predictions = sample.predictions
    repeat = parts_by(predictions, POOLED_BY[predictions.design]).codes
    if predictions.design == "repeated-holdout":
        tested = np.unique(np.stack([cluster, repeat, predictions.example]), axis=1)
        in_repeat, sizes = np.unique(tested[:2], axis=1, return_counts=True)
        whole = np.bincount(np.unique(np.stack([cluster, predictions.example]), axis=1)[0])
        return len(np.unique(in_repeat[0][sizes < whole[in_repeat[0]]]))
    places = np.unique(np.stack([cluster, repeat, sample.rows.layout.fits.codes]), axis=1)
    in_repeat, folds = np.unique(places[:2], axis=1, return_counts=True)
    return len(np.unique(in_repeat[0][folds > 1]))


def _of_time(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    time = sample.predictions.keys.get("time")
    if time is None:
        return
    if sample.predictions.design in FOLDED and _interleaved(sample, np.asarray(time.values)):
        text = "The folds are mixed in time: models were trained on examples from after those that they were tested"
        text += " on. Use blocks of time as folds where the future is to be predicted."
        yield WarningRecord("random_split_in_time", text, ("time",))
    elif options.cluster is None:
        text = "There is a column time: neighbours in time are often alike, and then intervals that take examples as"
        text += " independent are too narrow. Name blocks of time with --cluster."
        yield WarningRecord("time_ordered", text, ("time",))


def _interleaved(sample: Sample, time: npt.NDArray[np.float64]) -> bool:
    """Say whether, going through time, the fold changes much more often than between blocks."""
    parts = sample.rows.layout.fits
    repeat = parts_by(sample.predictions, POOLED_BY[sample.predictions.design]).codes
    first = repeat == 0
    fold = parts.codes[first][np.argsort(time[first], kind="stable")]
    return bool((np.diff(fold) != 0).sum() > 3 * len(np.unique(fold)))
