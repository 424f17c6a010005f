"""Warnings about what a test or an interval does not hold in this situation, as measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import TESTS, probability
from evalreport.comparisons.test_selection import MEASURED_OF_SEEDS
from evalreport.comparisons.verdicts import adjust
from evalreport.engine.counts import freedom_of_clusters
from evalreport.engine.distributions import chi2_tail, t_tail
from evalreport.engine.draws import stream
from evalreport.engine.parallel import mapped
from evalreport.intervals import recommended
from evalreport.intervals.proportions import Shortfall, shortfall_of, shortfalls
from evalreport.metrics.estimate import Estimate, Floats, Indices
from evalreport.metrics.registry import JUDGED, METRICS, Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.units import FOLDED, POOLED_BY, Parts, Units, parts_by, units_of
from evalreport.options import Options
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.judges import GoldSamplingRecord
from evalreport.schema.warnings import Level, WarningRecord, warning
from evalreport.texts import Message, sentences, shortened

FEW_IN_FOLD = 30
FEW_REPLICATES = 30
FEW_SEEDS = 5
FEW_DATASETS = 6
FEW_CLUSTERS, VERY_FEW_CLUSTERS = 10, 4
"""Effective numbers of clusters: below these intervals rest on few, and on very few, groups."""
FEW_EFFECTIVE = 100
OF_ONE, OF_FEW, OF_SMALL_SAMPLES = 0.1, 0.2, 9.0
"""More than 0.1 + 9/n of the sum in one loss, or 0.2 + 9/n in the largest sqrt(n)/3 of them, is much.

Set by the study of coverage: heavy tails (squares of t with 3 degrees of freedom) are over it in nine of ten samples
from n = 100 on, squares of normal errors in none of ten. Of 30 squares no share tells the two apart.
"""
OF_ONE_PROBABILITY = 0.5
"""Losses of probabilities are nearly 0 on most examples: a few carry much of them where intervals hold, too."""
MOST_IDS = 5
VISIBLE = 0.001
"""An adjusted p-value below this says that the rows with gold were chosen."""
LEAST_EXPECTED = 5.0
"""With fewer expected rows in a cell the chi-squared statistic is judged by random tables."""
TABLES = 49_999
SUITE = ("task", "benchmark")
"""Columns that say which part of a suite a question belongs to."""
NOT_RANDOM = "gold_not_random"


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
    # A fold score is one row, however many examples stand behind it.
    if smallest < FEW_IN_FOLD and predictions.task != "scores":
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
        yield WarningRecord(code="few_seeds", text=said, about=about)
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
    yield WarningRecord(code="unequal_weights", text=said, about=(options.weight,))


def _tenths(effective: float) -> float:
    """Round an effective number down, so that it never looks as large as the limit that it is below."""
    return math.floor(10 * effective) / 10


def _divided_clusters(sample: Sample, cluster: Indices) -> int:
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


def _interleaved(sample: Sample, time: Floats) -> bool:
    """Say whether, going through time, the fold changes much more often than between blocks."""
    parts = sample.rows.layout.fits
    repeat = parts_by(sample.predictions, POOLED_BY[sample.predictions.design]).codes
    first = repeat == 0
    fold = parts.codes[first][np.argsort(time[first], kind="stable")]
    return bool((np.diff(fold) != 0).sum() > 3 * len(np.unique(fold)))


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of some losses: which examples, and what share of the sum they carry."""

    examples: Indices
    share: float
    much: bool


def largest_losses(losses: Floats, n: int, *, of_probabilities: bool = False) -> Largest | None:
    """Return the few largest losses, or the largest alone where that one is already much; None where all are 0.

    Parameters
    ----------
    losses
        One by code of the example, none negative; 0 where an example does not occur.
    n
        How many examples there are.
    of_probabilities
        Whether the losses are those of probabilities.
    """
    total = float(losses.sum())
    if not 0 < total < math.inf:
        return None
    few = math.ceil(math.sqrt(n) / 3)
    # The value alone: which of several equal losses a partition puts first depends on the processor.
    least = np.partition(losses, len(losses) - few)[len(losses) - few]
    largest = np.flatnonzero(losses >= least)
    largest = largest[np.argsort(-losses[largest], kind="stable")][:few]
    alone, together = float(losses[largest[0]]) / total, float(losses[largest].sum()) / total
    if alone > (OF_ONE_PROBABILITY if of_probabilities else OF_ONE + OF_SMALL_SAMPLES / n):
        return Largest(largest[:1], alone, much=True)
    much = together > OF_FEW + OF_SMALL_SAMPLES / n and not of_probabilities
    return Largest(largest, together, much=much)


def largest_of(sample: Sample, model: str, quantity: Quantity) -> Largest | None:
    """Return the largest of the losses that a metric is made of, times their weights; None where it is made of none.

    An example that is predicted repeatedly has the sum of its losses.
    """
    columns = sample.rows.columns.get((model, quantity))
    if not definition(quantity).losses or columns is None or sample.predictions.design == "datasets":
        return None
    weighted = columns[1] * sample.units.base
    losses = np.bincount(sample.predictions.example, weights=weighted).astype(np.float64)
    of_probabilities = definition(quantity).needs == "probabilities"
    return largest_losses(losses, sample.predictions.n_examples, of_probabilities=of_probabilities)


def of_coverage(sample: Sample, rows: Sequence[ComparisonRecord]) -> Iterator[WarningRecord]:
    """Yield the warnings of this room, in a fixed order.

    Parameters
    ----------
    rows
        Every test of the run.
    """
    yield from _of_losses(sample)
    yield from _of_values(sample)
    yield from _of_differences(sample, rows)


def _of_losses(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models of which few examples carry the sum of squared (absolute ...) losses."""

    def of_model(model: ModelOutputs) -> list[WarningRecord]:
        by_losses: dict[str, list[Quantity]] = {}
        for quantity in sample.quantities:
            if definition(quantity).losses and sample.estimates[model.name, quantity].defined:
                by_losses.setdefault(str(definition(quantity).losses), []).append(quantity)
        largest = [(alike, largest_of(sample, model.name, alike[0])) for alike in by_losses.values()]
        return [
            _few_large(sample, model.name, alike, found)
            for alike, found in largest
            if found is not None and found.much
        ]

    for warnings in mapped(of_model, sample.predictions.models):
        yield from warnings


def _few_large(sample: Sample, model: str, quantities: Sequence[Quantity], found: Largest) -> WarningRecord:
    first, n = definition(quantities[0]), sample.predictions.n_examples
    ids = [str(sample.predictions.ids[code]) for code in found.examples]
    text = Message(
        "warning.few_large_losses",
        n=len(found.examples),
        examples=n,
        losses=first.losses,
        model=model,
        ids=shortened(ids, MOST_IDS),
        share=found.share,
        what=Message("large_losses.metrics", n=len(quantities), metrics=tuple(map(phrase_of, quantities))),
    )
    methods = {q: recommended(sample.estimates[model, q]) for q in quantities}
    measured = [
        row for q in quantities if (row := shortfalls().get(("value", q.spelled, methods[q], "losses")))
    ]
    notes = [Message("large_losses.measured", held=_span(measured))] if measured else []
    if first.less_moved:
        notes.append(Message("large_losses.less_moved", metric=METRICS[first.less_moved].label))
    about = (model, *(q.spelled for q in quantities))
    return WarningRecord(code="few_large_losses", text=sentences(text, *notes), about=about)


def _of_values(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of metrics whose leading intervals were measured to be short on so few examples."""
    n, rarest = sample.predictions.n_examples, _rarest(sample)
    found = [
        (quantity, row)
        for (_, quantity), estimate in sample.estimates.items()
        if estimate.defined and _plain(estimate) and quantity.label is None
        and (row := shortfall_of("value", quantity.spelled, recommended(estimate), n=n, rarest=rarest))
    ]  # fmt: skip
    if found:
        few, held = _few(n, rarest), _by_metric(found)
        yield warning("short_interval", about=_spelled(found), few=few, held=held)


def _of_differences(sample: Sample, rows: Sequence[ComparisonRecord]) -> Iterator[WarningRecord]:
    """Warn of differences whose intervals were measured to be short on so few examples."""
    if not sample.units.plain or sample.predictions.design != "test-set":
        return
    n, rarest = sample.predictions.n_examples, _rarest(sample)
    known = {quantity for quantity in sample.quantities if quantity.label is None}
    here = {model.name for model in sample.predictions.models}
    found = []
    for row in rows:
        quantity = Quantity.of(row)
        beside = row.recommended and {row.a, row.b} <= here and row.low is not None and row.slice is None
        if quantity not in known or not beside or row.interval_method is None:
            continue
        if definition(quantity).family == "contingency":
            continue  # measured by themselves (docs/clustering.md): the row of all other metrics is not about these
        if definition(quantity).family == "judged":
            continue  # a warning of its own, by how many rows people judged
        short = shortfall_of("difference", quantity.spelled, row.interval_method, n=n, rarest=rarest)
        if short is not None:
            found.append((quantity, short))
    if found:
        few, held = _few(n, rarest), _by_metric(found)
        yield warning("short_difference_interval", about=_spelled(found), few=few, held=held)


def _plain(estimate: Estimate) -> bool:
    """Say whether examples are drawn one by one from one test set and weigh the same, as the study drew them.

    What few people say has a warning of its own, by how many rows they judged.
    """
    alone = estimate.judged is None and estimate.fits is None
    return alone and estimate.clusters is None and not estimate.weighted


def _rarest(sample: Sample) -> int | None:
    """Return how many examples the rarest class has that the truth holds; None where there are no classes."""
    predictions = sample.predictions
    if not predictions.classes or predictions.y_true is None:
        return None
    counts = predictions.class_counts
    return int(counts[counts > 0].min())


def _few(n: int, rarest: int | None) -> Message:
    return Message("short.examples", n=n) if rarest is None else Message("short.rarest_class", n=rarest)


Found = Sequence[tuple[Quantity, Shortfall]]


def _by_metric(found: Found) -> tuple[Message, ...]:
    """Say of each metric, once, what its interval was measured to hold; those with the same figures together."""
    by_span: dict[Message, list[Quantity]] = {}
    for quantity, row in dict.fromkeys(found):
        by_span.setdefault(_span([row]), []).append(quantity)
    return tuple(
        Message("short.held", metrics=tuple(map(phrase_of, quantities)), span=span)
        for span, quantities in by_span.items()
    )


def _span(rows: Sequence[Shortfall]) -> Message:
    low, high = round(100 * min(r.lowest for r in rows)), round(100 * max(r.highest for r in rows))
    return Message("short.percent", low=low) if low == high else Message("short.range", low=low, high=high)


def phrase_of(quantity: Quantity) -> str:
    """Name a metric inside a sentence, with its average."""
    return definition(quantity).phrase + (f" ({quantity.average})" if quantity.average else "")


def _spelled(found: Found) -> tuple[str, ...]:
    return tuple(dict.fromkeys(quantity.spelled for quantity, _ in found))


def gold_sampling(predictions: Predictions, options: Options) -> tuple[GoldSamplingRecord, ...]:
    """Test whether having gold depends on the judge's outcome, on the model or on the task; adjusted by Holm.

    The judge's outcomes with and without gold are compared within each model: by Fisher's exact test where they are 0
    and 1, else by ranks, of clusters by the difference over its error from sums over clusters. Models, and tasks, are
    compared by the share of their examples (clusters) with gold: chi-squared, by random tables with the same margins
    where some are small. Models of which people judged nothing are left out.
    """
    models = [model for model in predictions.models if model.gold is not None]
    units = units_of(predictions, cluster=options.cluster, weight=None)
    tests = list(_tests(predictions, models, units, options.seed))
    adjusted = adjust([test.p_value for test in tests], "holm")
    return tuple(replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True))


def _tests(
    predictions: Predictions, models: list[ModelOutputs], units: Units, seed: int
) -> Iterator[GoldSamplingRecord]:
    unit = np.arange(predictions.n) if units.cluster is None else units.cluster
    present, given = zip(*(_rows(model) for model in models), strict=True)
    for model, there, gold in zip(models, present, given, strict=True):
        assert model.outcome is not None
        if gold[there].all():
            continue  # nothing was chosen
        test, p = _of_outcomes(model.outcome[there], gold[there], unit[there], plain=units.cluster is None)
        of_gold, of_rest = (float(model.outcome[there & side].mean()) for side in (gold, ~gold))
        yield _record("outcome", test, p, model=model.name, gold=of_gold, rest=of_rest)
    if len(models) > 1:
        sizes, counts = (np.array([len(np.unique(unit[rows])) for rows in side]) for side in (present, given))
        yield from _of_parts("model", [m.name for m in models], sizes, counts, seed)
    anywhere, judged = np.any(present, axis=0), np.any(given, axis=0)
    column = next((c for name in SUITE if (c := _column(predictions, name)) is not None), None)
    if column is not None:
        codes, names = column
        _, first = np.unique(unit, return_index=True)
        known = anywhere[first] & (codes[first] >= 0)
        with_gold = np.isin(unit[first], unit[judged])
        sizes = np.bincount(codes[first][known], minlength=len(names))
        counts = np.bincount(codes[first][known & with_gold], minlength=len(names))
        held = sizes > 0
        yield from _of_parts("task", np.array(names)[held].tolist(), sizes[held], counts[held], seed)


def _rows(model: ModelOutputs) -> tuple[Mask, Mask]:
    """Return the rows that a model has, and those of them that people judged."""
    assert model.gold is not None
    present = np.ones(len(model.gold), dtype=bool) if model.present is None else model.present
    return present, present & ~np.isnan(model.gold)


def _column(predictions: Predictions, name: str) -> tuple[Indices, tuple[str, ...]] | None:
    column = predictions.keys.get(name) or predictions.metadata.get(name)
    if column is None or column.categories is None:
        return None
    return column.values.astype(np.int64), column.categories


def _record(
    about: str,
    test: str,
    p: float,
    *,
    model: str | None = None,
    gold: float | None = None,
    rest: float | None = None,
) -> GoldSamplingRecord:
    return GoldSamplingRecord(
        about=about, model=model, test=test, gold=gold, rest=rest, p_value=probability(p), p_adjusted=1.0
    )


def _of_outcomes(outcome: Floats, gold: Mask, unit: Indices, *, plain: bool) -> tuple[str, float]:
    """Return which test compares the judge's outcomes with and without gold, and its p-value."""
    from scipy import stats

    if (outcome == outcome[0]).all():
        return "fisher_exact", 1.0
    if not plain:
        scores = np.bincount(unit, weights=(gold - gold.mean()) * (outcome - outcome.mean()))
        error, clusters = math.sqrt(float((scores**2).sum())), len(np.unique(unit))
        if clusters < 2 or error == 0:
            return "cluster_t", 1.0
        return "cluster_t", 2 * t_tail(abs(float(scores.sum())) / error, clusters - 1)
    if np.isin(outcome, (0, 1)).all():
        table = [
            [int(np.count_nonzero(outcome[side] == value)) for value in (0, 1)] for side in (gold, ~gold)
        ]
        return "fisher_exact", float(stats.fisher_exact(table).pvalue)
    return "mann_whitney", float(
        stats.mannwhitneyu(outcome[gold], outcome[~gold], method="asymptotic").pvalue
    )


def _of_parts(
    about: str, names: list[str], sizes: Indices, counts: Indices, seed: int
) -> Iterator[GoldSamplingRecord]:
    """Compare the shares with gold of models or tasks; nothing where there is one, or all or none have gold."""
    if len(sizes) < 2 or counts.sum() in (0, sizes.sum()):
        return
    share = counts.sum() / sizes.sum()
    expected = sizes * share
    statistic = float(((counts - expected) ** 2 / (expected * (1 - share))).sum())
    if min(expected.min(), (sizes - expected).min()) >= LEAST_EXPECTED:
        test, p = "chi_squared", chi2_tail(statistic, len(sizes) - 1)
    else:
        draws = stream(seed, "gold", len(sizes)).multivariate_hypergeometric(sizes, counts.sum(), size=TABLES)
        drawn = ((draws - expected) ** 2 / (expected * (1 - share))).sum(axis=1)
        test, p = "random_tables", (1 + int((drawn >= statistic * (1 - 1e-9)).sum())) / (TABLES + 1)
    rates = counts / sizes
    record = _record(about, test, p, gold=float(rates.max()), rest=float(rates.min()))
    yield replace(record, most=names[int(rates.argmax())], least=names[int(rates.argmin())])


def gold_warnings(records: Sequence[GoldSamplingRecord], options: Options) -> Iterator[WarningRecord]:
    """Warn of gold that is visibly no random part: a blocker where the verdict rests on it, unless declared fair."""
    primary = options.metrics[0] if options.metrics else JUDGED
    level: Level = "info" if options.gold_sampled else "blocker" if primary == JUDGED else "caution"
    for about in ("outcome", "model", "task"):
        flagged = [record for record in records if record.about == about and record.p_adjusted < VISIBLE]
        if not flagged:
            continue
        found = max(flagged, key=lambda record: abs((record.gold or 0.0) - (record.rest or 0.0)))
        key = f"declared_{about}" if options.gold_sampled else about
        facts: dict[str, object] = {"most": found.most, "least": found.least}
        if about == "outcome":
            facts = {"model": found.model, "n": len(flagged)}
        facts |= {"gold": found.gold, "rest": found.rest, "p": found.p_adjusted}
        test = Message(f"gold_test.{found.test}")
        yield warning("gold_not_random", key, about=("gold",), level=level, test=test, **facts)


def with_gold_checked(predictions: Predictions, options: Options) -> Predictions:
    """Add the warnings of gold that is visibly no random part of the answers."""
    if not predictions.judged:
        return predictions
    raised = tuple(gold_warnings(gold_sampling(predictions, options), options))
    return replace(predictions, warnings=(*predictions.warnings, *raised)) if raised else predictions
