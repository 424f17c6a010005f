"""What an automatic judge is worth beside people: estimates of both, agreement, favour, and the scales of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evalreport.comparisons.pairs import Comparison, compare
from evalreport.intervals import leading, recommended, resolved
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PredictionPowered
from evalreport.metrics.layout import task_weights
from evalreport.metrics.prediction_powered import common_gold, fewest_of_a_task, is_pooled
from evalreport.metrics.registry import JUDGED, PRIMARY, Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.cells import from_numpy
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.judges.gold import gold_sampling
from evalreport.questions.judges.judge_errors import agreement_records, bias_records, without_bias
from evalreport.questions.judges.records import (
    JudgeBiasRecord,
    JudgeEstimateRecord,
    JudgeLists,
    JudgeScaleRecord,
)
from evalreport.questions.question import Run, question
from evalreport.samplings import Sampling, sampling_by, within
from evalreport.schema.metrics import Interval, limit_fields
from evalreport.texts import Text

Fields = dict[str, Any]

GOLD = Quantity(JUDGED)
OUTCOME = Quantity(PRIMARY["outcome"])


@question("judges", applies=lambda run: any(s.predictions.has_gold for s in run.samples))
def judges(run: Run) -> JudgeLists:
    """Return the records about the judge; of pairs, and whom it favours, where all models have the same examples."""
    samples, options, limits = run.samples, run.options, run.pairs.limits
    estimates = [record for sample in samples for record in _of_models(sample, options)]
    agreement = [record for sample in samples for record in agreement_records(sample, options)]
    bias: list[JudgeBiasRecord] = []
    if len(samples) == 1:
        pairs = [c for c in run.pairs.compared if c.quantity == GOLD]
        estimates += [_of_pair(samples[0], c, limits.get((c.a, c.b)), options) for c in pairs]
        bias = bias_records(samples[0], options)
    scales = scale_records(samples, options)
    comparable = all(scale.same for scale in scales)
    return JudgeLists(
        judge_estimates=tuple(estimates),
        judge_agreement=tuple(agreement if comparable else map(without_bias, agreement)),
        judge_bias=tuple(bias) if comparable else (),
        judge_scales=scales,
        gold_sampling=tuple(record for s in samples for record in gold_sampling(s.predictions, options)),
    )


def _of_models(sample: Sample, options: Options) -> Iterator[JudgeEstimateRecord]:
    for model in sample.predictions.models:
        if model.gold is None or model.outcome is None:
            continue
        estimate = sample.estimates.get((model.name, GOLD))
        if estimate is None:
            continue  # other metrics were named
        judge = _mean_of_all(sample, model.outcome)
        if not isinstance(estimate.evidence, PredictionPowered) and sample.predictions.tasks is not None:
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
        estimate = _without(sample, names, judge, _n_common(first, second), comparison.reason, options)
        both = first.gold is not None and second.gold is not None
        return replace(estimate, **_fewest(sample, common_gold(first, second))) if both else estimate
    delta = comparison.pair.difference
    level = options.confidence if one is None else one.level
    people, own = _by_people(sample, (first, second), options)
    by_people = required(compare(people, (OUTCOME,), own)[0].pair)
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
    """Return the judge's mean alone, with the reason why people's is missing."""
    return JudgeEstimateRecord(
        a=names[0], b=names[1], judge=judge, level=options.confidence, n=sample.predictions.n_examples, n_gold=n_gold,
        reason=reason,
    )  # fmt: skip


def _mean_of_all(sample: Sample, judge: Floats) -> float:
    """Return the mean of the judge's outcomes; in a suite the mean over the tasks."""
    if sample.units.task is None:
        return float(judge.mean())
    return float((task_weights(sample.units, sample.rows.layout) * judge).sum())


def _moments(sample: Sample, judge: Floats, gold: Floats) -> Fields:
    """Return the correlation of judge and people on the rows that both judged, and the deviation of people's outcomes.

    In a suite both are taken within tasks: harder and easier tasks would correlate on their own.
    """
    given = ~np.isnan(gold)
    task = sample.units.stratum
    judged, human = (within(values[given], np.ones(given.sum()), task[given]) for values in (judge, gold))
    spread = math.sqrt(float((judged**2).mean() * (human**2).mean()))
    return {
        "correlation": float((judged * human).mean()) / spread if spread else None,
        "sd": math.sqrt(float((human**2).mean())),
        **_fewest(sample, gold),
    }


def _fewest(sample: Sample, gold: Floats) -> Fields:
    """Return the task of a suite with the fewest human outcomes, and their number; empty without tasks."""
    fewest = fewest_of_a_task(sample.predictions, gold)
    return {} if fewest is None else dict(zip(("fewest_task", "fewest_gold"), fewest, strict=True))


def _n_common(first: ModelOutputs, second: ModelOutputs) -> int:
    if first.gold is None or second.gold is None:
        return 0
    return int(np.count_nonzero(~np.isnan(common_gold(first, second))))


def _estimate(
    names: tuple[str, str | None],
    judge: float,
    human: Estimate | Difference,
    by_people: Interval,
    estimate: Estimate | Difference,
    limits: Interval,
) -> JudgeEstimateRecord:
    judged = estimate.evidence if isinstance(estimate.evidence, PredictionPowered) else None
    gained, alone = estimate.standard_error, human.standard_error
    return JudgeEstimateRecord(
        a=names[0],
        b=names[1],
        judge=judge,
        human=human.value,
        **limit_fields(by_people, "human_"),
        human_method=by_people.method,
        value=estimate.value if judged is not None else None,
        **limit_fields(limits),
        method=None if limits.low is None else limits.method,
        level=limits.level,
        lam=None if judged is None or math.isnan(judged.weight) else judged.weight,
        n_gold=human.sampling.n_examples,
        n=estimate.sampling.n_examples,
        gold_effective=human.sampling.n_examples * (alone / gained) ** 2 if gained and alone else None,
        reason=estimate.reason or limits.reason,
    )


def _by_people(sample: Sample, models: Sequence[ModelOutputs], options: Options) -> tuple[Sample, Options]:
    """Estimate the rows on which people judged all these models, from their outcomes alone."""
    given = np.all([~np.isnan(model.gold) for model in models if model.gold is not None], axis=0)
    rows = np.flatnonzero(given).astype(np.int64)
    part = subset(sample.predictions, rows)
    names = {model.name for model in models}
    own = tuple(
        replace(
            m,
            outcome=m.gold if m.by_people is None else m.by_people,
            gold=None,
            by_people=None,
            by_judge=None,
            attempts=m.attempts if m.by_people is None else None,
            answers=m.answers if m.by_people is None else None,
        )
        for m in part.models
        if m.name in names
    )
    used, example = np.unique(part.example, return_inverse=True)
    part = replace(part, models=own, ids=part.ids.take(from_numpy(used)), example=example.astype(np.int64))
    plain = replace(options, metrics=(), intervals=(), tests=(), baseline=None, resamples=1)
    pooled = any(m.gold is not None and is_pooled(sample.predictions, m.gold) for m in models)
    pooled |= is_pooled(sample.predictions, np.where(given, 0.0, np.nan))
    task = None if pooled or sample.units.task is None else sample.units.task[rows]
    units = sampling_by(len(rows), _clusters(sample.units, rows), task=task)
    sampled = estimate_all(
        part, (OUTCOME,), units=units, n_resamples=0, seed=options.seed,
        average="examples" if pooled else options.average,
    )  # fmt: skip
    return sampled, plain


def _clusters(units: Sampling, rows: Indices) -> Indices | None:
    if units.cluster is None:
        return None
    return np.unique(units.cluster[rows], return_inverse=True)[1].astype(np.int64)


AS_WIDE = 1.5
"""A scale that is so many times as wide as the other is another one."""


def scale_records(samples: Sequence[Sample], options: Options) -> tuple[JudgeScaleRecord, ...]:
    """Return the range of the judge's outcomes of all models and of people's, and whether both are on one scale."""
    models = [
        m for s in samples for m in s.predictions.models if m.gold is not None and m.outcome is not None
    ]
    if not models:
        return ()
    judge = np.concatenate([m.outcome for m in models if m.outcome is not None])
    grades = [m.gold if m.by_people is None else m.by_people for m in models]
    people = np.concatenate([own[~np.isnan(own)] for own in grades if own is not None])
    if not len(people):
        return ()
    declared = options.judge_scale is not None
    return (
        JudgeScaleRecord(
            judge_low=float(judge.min()),
            judge_high=float(judge.max()),
            human_low=float(people.min()),
            human_high=float(people.max()),
            same=declared or one_scale(judge, people),
            declared=declared,
        ),
    )


def one_scale(judge: Floats, people: Floats) -> bool:
    """Return whether two sets of grades may be on one scale, of which either may leave grades unused.

    A scale begins at 0 or 1 (below, at its least grade) and ends at its greatest grade. Two differ where one is at
    least 1.5 times as wide, or begins and ends higher. All within [0, 1] is one scale.

    Examples
    --------
    >>> one_scale(np.array([2, 6, 9]), np.array([1, 3, 5])), one_scale(np.array([3, 4, 5]), np.array([1, 3, 4]))
    (False, True)
    >>> one_scale(np.array([0, 2, 4]), np.array([1, 3, 5])), one_scale(np.array([0.2, 0.4]), np.array([0, 1]))
    (False, True)
    """
    if min(judge.min(), people.min()) >= 0 and max(judge.max(), people.max()) <= 1:
        return True
    lows = [
        min(0.0, float(np.floor(grades.min()))) if grades.min() < 1 else 1.0 for grades in (judge, people)
    ]
    highs = [float(grades.max()) for grades in (judge, people)]
    widths = [high - low for low, high in zip(lows, highs, strict=True)]
    if max(widths) >= AS_WIDE * min(widths):
        return False
    return not (np.sign(lows[0] - lows[1]) * np.sign(highs[0] - highs[1]) > 0)
