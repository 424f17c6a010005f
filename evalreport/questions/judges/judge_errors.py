"""The errors of an automatic judge: its agreement with people, and whether it favours a model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.registry import probability
from evalreport.engine.distributions import t_quantile, t_tail
from evalreport.intervals import leading
from evalreport.metrics.labels import cohen_kappa
from evalreport.metrics.prediction_powered import LEAST_GOLD, common_gold
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.cells import from_texts
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.questions.judges.records import JudgeAgreementRecord, JudgeBiasRecord
from evalreport.samplings import sampling_by
from evalreport.schema.metrics import Interval, limit_fields
from evalreport.texts import Message

Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows that people judged: both outcomes and the unit of each row; ``plain``: every row is a unit of its own."""

    judge: Floats
    gold: Floats
    unit: Indices
    plain: bool

    @property
    def binary(self) -> bool:
        """Whether judge and people say 0 or 1 of every row."""
        return bool(np.isin(self.judge, (0, 1)).all() and np.isin(self.gold, (0, 1)).all())


def _judged_rows(sample: Sample, model: ModelOutputs) -> _Rows:
    assert model.gold is not None
    given = ~np.isnan(model.gold)
    unit = sample.units.unit
    judge = required(model.outcome) if model.by_judge is None else model.by_judge
    people = model.gold if model.by_people is None else model.by_people
    return _Rows(judge[given], people[given], unit[given], sample.units.cluster is None)


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean with its error and degrees of freedom; a single unit has no error."""

    value: float
    error: float | None
    df: float

    def limits(self, level: float) -> Limits:
        """Return Student's limits; none where nothing varies, as the spread is then unknown."""
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
    """Return a mean with Student's error; with clusters from the sums over them, with the factor G / (G - 1)."""
    mean = float(values.mean())
    unit = np.arange(len(values)) if rows.plain else np.unique(rows.unit, return_inverse=True)[1]
    sums = np.bincount(unit, weights=values - mean) / len(values)
    units = len(sums)
    if units < 2:
        return _Mean(mean, None, 0)
    error = math.sqrt(units / (units - 1) * float((sums**2).sum()))
    return _Mean(mean, error if error > 1e-12 * float(np.abs(values).max()) else 0.0, units - 1)


def agreement_records(sample: Sample, options: Options) -> Iterator[JudgeAgreementRecord]:
    """Yield the agreement of judge and people on each model's answers, then on those of all models."""
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
        products = ((judge, gold), (judge, 1 - gold), (1 - judge, gold), (1 - judge, 1 - gold))
        cells = {name: int((a * b).sum()) for name, (a, b) in zip(cells, products, strict=True)}
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
        **limit_fields(kappa, "kappa_"),
        kappa_method=None if kappa is None else kappa.method,
        bias=bias.value,
        bias_low=low,
        bias_high=high,
        level=options.confidence,
        reason=None if kappa is None else kappa.reason,
    )


def without_bias(record: JudgeAgreementRecord) -> JudgeAgreementRecord:
    """Return the agreement without what compares outcomes on two scales."""
    return replace(
        record, bias=None, bias_low=None, bias_high=None, reason=record.reason or Message("judge.two_scales")
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
        labels=Labels(classes=("0", "1"), positive="1"),
    )
    clusters = None if rows.plain else np.unique(rows.unit, return_inverse=True)[1].astype(np.int64)
    units = sampling_by(n, clusters)
    quantity = Quantity(cohen_kappa.__name__)
    sample = estimate_all(table, (quantity,), units=units, n_resamples=options.resamples, seed=options.seed)
    estimate = sample.estimates[answers.name, quantity]
    limits = leading(estimate, options.confidence)
    return (estimate.value if estimate.defined else None), limits


def bias_records(sample: Sample, options: Options) -> list[JudgeBiasRecord]:
    """Compare the judge's bias between the models of every pair, adjusted by Holm over the pairs."""
    judged = [m for m in sample.predictions.models if m.gold is not None]
    found = [(a.name, b.name, *_bias_between(sample, a, b)) for a, b in combinations(judged, 2)]
    known = [bias.p_value for _, _, bias, _ in found if bias.p_value is not None]
    adjusted = iter(adjust(known, "holm"))
    records = []
    for a, b, bias, n in found:
        low, high = bias.limits(options.confidence)
        p_adjusted = None if bias.p_value is None else next(adjusted)
        records.append(
            JudgeBiasRecord(
                a=a, b=b, difference=bias.value, low=low, high=high, level=options.confidence,
                p_value=bias.p_value, p_adjusted=p_adjusted, correction="holm", n_gold=n,
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
    bias = (required(first.outcome) - required(second.outcome))[common] - common_gold(first, second)[common]
    unit = sample.units.unit
    rows = _Rows(bias, bias, unit[common], sample.units.cluster is None)
    return _mean(bias, rows), int(common.sum())
