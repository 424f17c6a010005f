"""Whether people judged a random part of the answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.registry import probability
from evalreport.engine.distributions import chi2_tail, t_tail
from evalreport.engine.draws import stream
from evalreport.metrics.registry import JUDGED
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.judges.records import GoldSamplingRecord
from evalreport.samplings import Sampling, sampling_of
from evalreport.schema.warnings import Level, WarningRecord, warning
from evalreport.texts import Message

LEAST_EXPECTED = 5.0
"""With fewer expected rows in a cell the chi-squared statistic is judged by random tables."""

TABLES = 49_999

SUITE = ("task", "benchmark")
"""Columns that say which part of a suite a question belongs to."""


def gold_sampling(predictions: Predictions, options: Options) -> tuple[GoldSamplingRecord, ...]:
    """Test whether having gold depends on the judge's outcome, on the model or on the task; adjusted by Holm.

    The judge's outcomes with and without gold are compared within each model: by Fisher's exact test where they are 0
    and 1, else by ranks, of clusters by the difference over its error from sums over clusters. Models, and tasks, are
    compared by the share of their examples (clusters) with gold: chi-squared, by random tables with the same margins
    where some are small. Models without human outcomes are left out.
    """
    models = [model for model in predictions.models if model.gold is not None]
    if not models:
        return ()
    units = sampling_of(predictions, cluster=options.cluster, weight=None)
    tests = list(_tests(predictions, models, units, options.seed))
    adjusted = adjust([test.p_value for test in tests], "holm")
    return tuple(replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True))


def _tests(
    predictions: Predictions, models: list[ModelOutputs], units: Sampling, seed: int
) -> Iterator[GoldSamplingRecord]:
    unit = units.unit
    present, given = zip(*(_rows(model) for model in models), strict=True)
    for model, there, gold in zip(models, present, given, strict=True):
        assert model.outcome is not None
        if gold[there].all():
            continue  # nothing was chosen
        test, p = _of_outcomes(model.outcome[there], gold[there], unit[there], plain=units.cluster is None)
        of_gold, of_rest = (float(model.outcome[there & side].mean()) for side in (gold, ~gold))
        yield GoldSamplingRecord(
            about="outcome",
            model=model.name,
            test=test,
            gold=of_gold,
            rest=of_rest,
            p_value=probability(p),
            p_adjusted=1.0,
        )
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
    yield GoldSamplingRecord(
        about=about, model=None, test=test, gold=float(rates.max()), rest=float(rates.min()), p_value=probability(p),
        p_adjusted=1.0, most=names[int(rates.argmax())], least=names[int(rates.argmin())],
    )  # fmt: skip


VISIBLE = 0.001
"""An adjusted p-value below this says that the rows with gold were chosen."""


def gold_warnings(records: Sequence[GoldSamplingRecord], options: Options) -> Iterator[WarningRecord]:
    """Warn of gold that is visibly not a random part: a blocker where the verdict rests on it, unless declared fair."""
    primary = options.metrics[0] if options.metrics else JUDGED
    level: Level = "info" if options.gold_sampled else "blocker" if primary == JUDGED else "caution"
    for about in ("outcome", "model", "task"):
        flagged = [record for record in records if record.about == about and record.p_adjusted < VISIBLE]
        if not flagged:
            continue
        largest = max(flagged, key=lambda record: abs((record.gold or 0.0) - (record.rest or 0.0)))
        key = f"declared_{about}" if options.gold_sampled else about
        facts: dict[str, object] = {"most": largest.most, "least": largest.least}
        if about == "outcome":
            facts = {"model": largest.model, "n": len(flagged)}
        facts |= {"gold": largest.gold, "rest": largest.rest, "p": largest.p_adjusted}
        test = Message(f"gold_test.{largest.test}")
        yield warning("gold_not_random", key, about=("gold",), level=level, test=test, **facts)


def with_gold_checked(predictions: Predictions, options: Options) -> Predictions:
    """Add the warnings that the gold is visibly not a random part of the answers."""
    if not predictions.has_gold:
        return predictions
    raised = tuple(gold_warnings(gold_sampling(predictions, options), options))
    return predictions.noted(warnings=raised) if raised else predictions
