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
from evalreport.records import ComparisonRecord, WarningRecord, warning
from evalreport.texts import Message, sentences

FEW_IN_FOLD = 30
FEW_REPLICATES = 30
FEW_SEEDS = 5
FEW_DATASETS = 6
FEW_CLUSTERS, VERY_FEW_CLUSTERS = 10, 4
"""Effective numbers of clusters: below these intervals rest on few, and on very few, groups."""
FEW_EFFECTIVE = 100


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
        yield warning("small_folds", n=smallest, enough=FEW_IN_FOLD)
    if predictions.classes and predictions.y_true is not None:
        lacking = _folds_without_a_class(parts, predictions.y_true, len(predictions.classes))
        if lacking:
            yield warning("class_missing_in_fold", lacking=lacking, folds=parts.count)
    naive = dict.fromkeys(r.test for r in rows if r.p_value is not None and not TESTS[r.test].knows_folds)
    if naive:
        # Only a leading test of this kind, or one that was asked for, changes how the verdict is read.
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


def _of_number(sample: Sample) -> Iterator[WarningRecord]:
    """Yield warnings of too few replicates, seeds or data sets."""
    parts, design = sample.rows.layout.fits.count, sample.predictions.design
    if design == "bootstrap" and parts <= FEW_REPLICATES:
        yield warning("few_replicates", n=parts, enough=FEW_REPLICATES)
    models = tuple(m.name for m in sample.predictions.models)
    if design == "seeds" and parts == 1:
        yield warning("one_seed", about=models, models=models)
    elif design == "seeds" and parts < FEW_SEEDS:
        about = models if len(models) == 1 else ()
        whose: dict[str, object] = {"model": models[0]} if about else {}
        said = Message(
            "warning.few_seeds.of_a_model" if about else "warning.few_seeds.of_all",
            n=parts,
            enough=FEW_SEEDS,
            **whose,
        )
        if parts in MEASURED_OF_SEEDS:
            said = sentences(
                said, Message("measured.of_seeds", percent=100 * MEASURED_OF_SEEDS[parts], decimals=1)
            )
        yield WarningRecord("few_seeds", said, about)
    if design == "datasets" and parts < FEW_DATASETS:
        yield warning("few_datasets", n=parts, enough=FEW_DATASETS)


def _of_clusters(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    if options.cluster is None or sample.units.cluster is None:
        return
    effective, sizes = sample.units.clusters_effective or 1.0, sample.units.sizes
    if effective < FEW_CLUSTERS and sizes is not None:
        freedom = freedom_of_clusters(sizes)
        very_few = freedom is None or min(effective, freedom.df) < VERY_FEW_CLUSTERS
        yield warning(
            "few_clusters",
            "very_few" if very_few else "few",
            about=(options.cluster,),
            clusters=int((sizes > 0).sum()),
            column=options.cluster,
            effective=_tenths(effective),
            decimals=1,
            enough=FEW_CLUSTERS,
        )
    if sample.predictions.design in FOLDED:
        divided = _divided_clusters(sample, sample.units.cluster)
        if divided:
            yield warning("cluster_across_folds", about=(options.cluster,), n=divided, column=options.cluster)


def _of_weights(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    effective, n = sample.n_effective, sample.predictions.n_examples
    if options.weight is None or effective is None or not (effective < n / 2 or effective < FEW_EFFECTIVE):
        return
    said = Message(
        "warning.unequal_weights", column=options.weight, n=n, effective=_tenths(effective), decimals=1
    )
    if effective < FEW_EFFECTIVE:
        said = sentences(said, Message("measured.of_weights", enough=FEW_EFFECTIVE))
    yield WarningRecord("unequal_weights", said, (options.weight,))


def _tenths(effective: float) -> float:
    """Round an effective number down, so that it never looks as large as the limit that it is below."""
    return math.floor(10 * effective) / 10


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
        yield warning("random_split_in_time", about=("time",))
    elif options.cluster is None:
        yield warning("time_ordered", about=("time",))


def _interleaved(sample: Sample, time: npt.NDArray[np.float64]) -> bool:
    """Say whether, going through time, the fold changes much more often than between blocks."""
    parts = sample.rows.layout.fits
    repeat = parts_by(sample.predictions, POOLED_BY[sample.predictions.design]).codes
    first = repeat == 0
    fold = parts.codes[first][np.argsort(time[first], kind="stable")]
    return bool((np.diff(fold) != 0).sum() > 3 * len(np.unique(fold)))
