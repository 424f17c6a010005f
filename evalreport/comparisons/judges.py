"""What an automatic judge gains over the few human outcomes, where it errs, and whether it favours a model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.pairs import Comparison, compare
from evalreport.comparisons.registry import probability
from evalreport.engine.distributions import t_quantile, t_tail
from evalreport.intervals import leading, recommended, resolved
from evalreport.intervals.choice import table_function as as_tables
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.judged import LEAST_GOLD, common_gold, fewest_of_a_task, task_weights
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.labels import cohen_kappa
from evalreport.metrics.registry import JUDGED, PRIMARY, Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.metrics.units import Units, within
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.cells import from_numpy, from_texts
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.judges import JudgeAgreementRecord, JudgeBiasRecord, JudgeEstimateRecord
from evalreport.schema.metrics import Interval
from evalreport.texts import Text

Limits = tuple[float | None, float | None]
Fields = dict[str, Any]

GOLD = Quantity(JUDGED)
OUTCOME = Quantity(PRIMARY["outcome"])


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRecords:
    """The lists of the results that are about an automatic judge."""

    estimates: tuple[JudgeEstimateRecord, ...] = ()
    agreement: tuple[JudgeAgreementRecord, ...] = ()
    bias: tuple[JudgeBiasRecord, ...] = ()


def judge_records(
    samples: Sequence[Sample],
    compared: Sequence[Comparison],
    one: Mapping[tuple[str, str], Interval | None],
    options: Options,
) -> JudgeRecords:
    """Return the records about the judge; none without gold.

    Parameters
    ----------
    compared
        All comparisons; those on what people say are shown beside people alone.
    one
        Each pair's one interval, where the verdict is about what people say.
    """
    if not any(sample.predictions.judged for sample in samples):
        return JudgeRecords()
    pairs = [c for c in compared if c.quantity == GOLD]
    estimates = [record for sample in samples for record in _of_models(sample, options)]
    agreements = [record for sample in samples for record in _agreements(sample, options)]
    together = len(samples) == 1
    if together:
        estimates += [_of_pair(samples[0], c, one.get((c.a, c.b)), options) for c in pairs]
    return JudgeRecords(
        estimates=tuple(estimates),
        agreement=tuple(agreements),
        bias=tuple(_biases(samples[0], options)) if together else (),
    )


# --- what the judge gains -------------------------------------------------------------------------------------------


def _of_models(sample: Sample, options: Options) -> Iterator[JudgeEstimateRecord]:
    for model in sample.predictions.models:
        if model.gold is None or model.outcome is None:
            continue
        estimate = sample.estimates.get((model.name, GOLD))
        if estimate is None:
            continue  # other metrics were named
        judge = _mean_of_all(sample, model.outcome)
        if estimate.judged is None and sample.predictions.tasks is not None:
            # A mean over the tasks that people judged is another quantity.
            n = int(np.count_nonzero(~np.isnan(model.gold)))
            found = _without(sample, (model.name, None), judge, n, estimate.reason, options)
            yield replace(found, **_fewest(sample, model.gold))
            continue
        human = _by_people(sample, (model,), options)[0].estimates[model.name, OUTCOME]
        limits = leading(estimate, options.confidence)
        beside = leading(human, options.confidence)
        found = _estimate((model.name, None), judge, human, beside, estimate, limits)
        yield replace(found, **_moments(sample, model.outcome, model.gold))


def _of_pair(
    sample: Sample, comparison: Comparison, one: Interval | None, options: Options
) -> JudgeEstimateRecord:
    """Compare a pair by the judge, by people, and by both, the latter two at the level of the pair's one interval."""
    names = (comparison.a, comparison.b)
    by_name = {model.name: model for model in sample.predictions.models}
    first, second = (by_name[name] for name in names)
    assert first.outcome is not None
    assert second.outcome is not None
    judge = _mean_of_all(sample, first.outcome) - _mean_of_all(sample, second.outcome)
    if comparison.pair is None:
        found = _without(sample, names, judge, _n_common(first, second), comparison.reason, options)
        both = first.gold is not None and second.gold is not None
        return replace(found, **_fewest(sample, common_gold(first, second))) if both else found
    delta = comparison.pair.difference
    level = options.confidence if one is None else one.level
    people, own = _by_people(sample, (first, second), options)
    by_people = compare(people, (OUTCOME,), own)[0].pair
    assert by_people is not None
    human = by_people.difference
    limits = resolved(delta, recommended(delta), level) if one is None else one
    record = _estimate(names, judge, human, resolved(human, recommended(human), level), delta, limits)
    return replace(record, **_moments(sample, first.outcome - second.outcome, common_gold(first, second)))


def _without(
    sample: Sample,
    names: tuple[str, str | None],
    judge: float,
    n_gold: int,
    reason: Text | None,
    options: Options,
) -> JudgeEstimateRecord:
    """Return the judge's mean alone, with the reason why there is nothing of people beside it."""
    return JudgeEstimateRecord(
        a=names[0], b=names[1], judge=judge, level=options.confidence, n=sample.predictions.n_examples, n_gold=n_gold,
        reason=reason,
    )  # fmt: skip


def _mean_of_all(sample: Sample, judge: Floats) -> float:
    """Return the mean of the judge's outcomes, of a suite of the tasks' means."""
    if sample.units.task is None:
        return float(judge.mean())
    return float((task_weights(sample.units, sample.rows.layout) * judge).sum())


def _moments(sample: Sample, judge: Floats, gold: Floats) -> Fields:
    """Return the correlation of judge and people on the rows that people judged, and the latter's deviation.

    Of a suite both within its tasks: that one task is harder than another says nothing of single answers.
    """
    given = ~np.isnan(gold)
    task = np.zeros(len(gold), dtype=np.int64) if sample.units.task is None else sample.units.task
    said, told = (within(values[given], np.ones(given.sum()), task[given]) for values in (judge, gold))
    spread = math.sqrt(float((said**2).mean() * (told**2).mean()))
    return {
        "correlation": float((said * told).mean()) / spread if spread else None,
        "sd": math.sqrt(float((told**2).mean())),
        **_fewest(sample, gold),
    }


def _fewest(sample: Sample, gold: Floats) -> Fields:
    """Return of which task of a suite people judged fewest answers; nothing where it is none."""
    fewest = fewest_of_a_task(sample.predictions, gold)
    return {} if fewest is None else dict(zip(("fewest_task", "fewest_gold"), fewest, strict=True))


def _n_common(first: ModelOutputs, second: ModelOutputs) -> int:
    if first.gold is None or second.gold is None:
        return 0
    return int(np.count_nonzero(~np.isnan(common_gold(first, second))))


def _estimate(
    names: tuple[str, str | None],
    judge: float,
    human: Estimate,
    by_people: Interval,
    estimate: Estimate,
    limits: Interval,
) -> JudgeEstimateRecord:
    judged = estimate.judged
    gained, alone = estimate.standard_error, human.standard_error
    return JudgeEstimateRecord(
        a=names[0],
        b=names[1],
        judge=judge,
        human=human.value,
        human_low=by_people.low,
        human_high=by_people.high,
        human_method=by_people.method,
        value=estimate.value if judged is not None else None,
        low=limits.low,
        high=limits.high,
        method=None if limits.low is None else limits.method,
        level=limits.level,
        lam=None if judged is None or math.isnan(judged.weight) else judged.weight,
        n_gold=human.n,
        n=estimate.n,
        gold_effective=human.n * (alone / gained) ** 2 if gained and alone else None,
        reason=estimate.reason or limits.reason,
    )


def _by_people(sample: Sample, models: Sequence[ModelOutputs], options: Options) -> tuple[Sample, Options]:
    """Analyse the rows that people judged of all these models, by what they said, as if there were no judge."""
    given = np.all([~np.isnan(model.gold) for model in models if model.gold is not None], axis=0)
    rows = np.flatnonzero(given).astype(np.int64)
    part = subset(sample.predictions, rows)
    names = {model.name for model in models}
    own = tuple(replace(m, outcome=m.gold, gold=None) for m in part.models if m.name in names)
    used, example = np.unique(part.example, return_inverse=True)
    part = replace(part, models=own, ids=part.ids.take(from_numpy(used)), example=example.astype(np.int64))
    plain = replace(options, metrics=(), intervals=(), tests=(), baseline=None, resamples=1)
    sampled = estimate_all(
        part, (OUTCOME,), units=_within(sample.units, rows), n_resamples=0, seed=options.seed,
        average=options.average,
    )  # fmt: skip
    return sampled, plain


def _within(units: Units, rows: Indices) -> Units:
    """Return the units of some rows."""
    task = None if units.task is None else units.task[rows]
    if units.cluster is None:
        return Units(len(rows), task=task)
    cluster = np.unique(units.cluster[rows], return_inverse=True)[1].astype(np.int64)
    return Units(len(rows), cluster, task=task)


# --- whether judge and people agree ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rows:
    """Judged rows: the judge's outcomes, people's, and the unit of each; ``plain``: each row is one of its own."""

    judge: Floats
    gold: Floats
    unit: Indices
    plain: bool

    @property
    def binary(self) -> bool:
        return bool(np.isin(self.judge, (0, 1)).all() and np.isin(self.gold, (0, 1)).all())


def _judged_rows(sample: Sample, model: ModelOutputs) -> _Rows:
    assert model.outcome is not None
    assert model.gold is not None
    given = ~np.isnan(model.gold)
    unit = np.arange(sample.predictions.n) if sample.units.cluster is None else sample.units.cluster
    return _Rows(model.outcome[given], model.gold[given], unit[given], sample.units.cluster is None)


def _agreements(sample: Sample, options: Options) -> Iterator[JudgeAgreementRecord]:
    """Yield how judge and people agree on each model's answers, then on those of all models."""
    judged = {m.name: _judged_rows(sample, m) for m in sample.predictions.models if m.gold is not None}
    for name, rows in judged.items():
        yield _agreement(name, rows, options)
    if len(judged) > 1:
        parts = [
            np.concatenate([getattr(r, name) for r in judged.values()]) for name in ("judge", "gold", "unit")
        ]
        # Answers of several models to one question are alike.
        yield _agreement(None, _Rows(parts[0], parts[1], parts[2], plain=False), options)


def _agreement(model: str | None, rows: _Rows, options: Options) -> JudgeAgreementRecord:
    judge, gold = rows.judge, rows.gold
    cells: dict[str, int | None] = dict.fromkeys(("both", "judge_only", "human_only", "neither"))
    kappa: Interval | None = None
    value = None
    if rows.binary:
        said = ((judge, gold), (judge, 1 - gold), (1 - judge, gold), (1 - judge, 1 - gold))
        cells = {name: int((a * b).sum()) for name, (a, b) in zip(cells, said, strict=True)}
        value, kappa = _kappa(rows, options)
    bias = _mean(judge - gold, rows)
    low, high = bias.limits(options.confidence)
    return JudgeAgreementRecord(
        model=model,
        n_gold=len(gold),
        clusters=None if rows.plain or model is None else len(np.unique(rows.unit)),
        agreement=float((judge == gold).mean()) if rows.binary else None,
        **cells,
        kappa=value,
        kappa_low=None if kappa is None else kappa.low,
        kappa_high=None if kappa is None else kappa.high,
        kappa_method=None if kappa is None else kappa.method,
        bias=bias.value,
        bias_low=low,
        bias_high=high,
        level=options.confidence,
        reason=None if kappa is None else kappa.reason,
    )


def _kappa(rows: _Rows, options: Options) -> tuple[float | None, Interval]:
    """Return Cohen's kappa of judge and people with its interval, taking people's outcomes for the truth."""
    n = len(rows.gold)
    answers = ModelOutputs("judge", y_pred=rows.judge.astype(np.int32))
    table = Predictions(
        task="binary",
        design="test-set",
        ids=from_texts([str(i) for i in range(n)]),
        example=np.arange(n),
        y_true=rows.gold.astype(np.int32),
        models=(answers,),
        classes=("0", "1"),
        positive="1",
    )
    units = (
        Units(n) if rows.plain else Units(n, np.unique(rows.unit, return_inverse=True)[1].astype(np.int64))
    )
    quantity = Quantity(cohen_kappa.__name__)
    sample = estimate_all(table, (quantity,), units=units, n_resamples=options.resamples, seed=options.seed)
    found = sample.estimates[answers.name, quantity]
    limits = leading(found, options.confidence, as_tables(table_function(quantity, table)))
    return (found.value if found.defined else None), limits


# --- whether the judge favours a model ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean with its error and degrees of freedom; no error of a single unit."""

    value: float
    error: float | None
    df: float

    def limits(self, level: float) -> Limits:
        """Return Student's limits; none where nothing varies, which says nothing of how far the mean may be."""
        if not self.error:
            return None, None
        half = t_quantile((1 + level) / 2, self.df) * self.error
        return self.value - half, self.value + half

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of a mean of 0."""
        if not self.error:
            return 1.0 if self.value == 0 else None
        return probability(2 * t_tail(abs(self.value) / self.error, self.df))


def _mean(values: Floats, rows: _Rows) -> _Mean:
    """Return a mean with Student's error, of clusters from sums over them with the factor G / (G - 1)."""
    mean = float(values.mean())
    unit = np.arange(len(values)) if rows.plain else np.unique(rows.unit, return_inverse=True)[1]
    sums = np.bincount(unit, weights=values - mean) / len(values)
    units = len(sums)
    if units < 2:
        return _Mean(mean, None, 0)
    error = math.sqrt(units / (units - 1) * float((sums**2).sum()))
    return _Mean(mean, error if error > 1e-12 * max(abs(mean), 1.0) else 0.0, units - 1)


def _biases(sample: Sample, options: Options) -> list[JudgeBiasRecord]:
    """Compare the judge's bias between the models of every pair, adjusted by Holm over the pairs."""
    judged = [m for m in sample.predictions.models if m.gold is not None]
    found: list[tuple[ModelOutputs, ModelOutputs, _Mean, int]] = []
    for place, first in enumerate(judged):
        for second in judged[place + 1 :]:
            bias, n = _bias_between(sample, first, second)
            found.append((first, second, bias, n))
    p_values = [bias.p_value for _, _, bias, _ in found]
    adjusted = iter(adjust([p for p in p_values if p is not None], "holm"))
    records = []
    for first, second, bias, n in found:
        low, high = bias.limits(options.confidence)
        p = bias.p_value
        p_adjusted = None if p is None else next(adjusted)
        records.append(
            JudgeBiasRecord(
                a=first.name, b=second.name, difference=bias.value, low=low, high=high, level=options.confidence,
                p_value=p, p_adjusted=p_adjusted, correction="holm", n_gold=n,
                flagged=p_adjusted is not None and p_adjusted <= 1 - options.confidence,
            )
        )  # fmt: skip
    return records


def _bias_between(sample: Sample, first: ModelOutputs, second: ModelOutputs) -> tuple[_Mean, int]:
    """Return the judge's bias on one model less that on another: on the same questions, else by Welch."""
    one, other = _judged_rows(sample, first), _judged_rows(sample, second)
    common = ~np.isnan(common_gold(first, second))
    if int(common.sum()) < LEAST_GOLD:
        a, b = _mean(one.judge - one.gold, one), _mean(other.judge - other.gold, other)
        squares = [(m.error or 0.0) ** 2 for m in (a, b)]
        total, n = sum(squares), min(len(one.gold), len(other.gold))
        if not total:
            return _Mean(a.value - b.value, 0.0, 1), n
        spread = sum(v**2 / m.df for v, m in zip(squares, (a, b), strict=True) if v)
        return _Mean(a.value - b.value, math.sqrt(total), total**2 / spread), n
    assert first.outcome is not None
    assert second.outcome is not None
    bias = (first.outcome - second.outcome)[common] - common_gold(first, second)[common]
    unit = np.arange(len(common)) if sample.units.cluster is None else sample.units.cluster
    rows = _Rows(bias, bias, unit[common], sample.units.cluster is None)
    return _mean(bias, rows), int(common.sum())
