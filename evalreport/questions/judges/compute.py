"""What an automatic judge is worth beside people: estimates of both, agreement, and favour."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from evalreport.comparisons.gold import gold_sampling
from evalreport.comparisons.judges import judge_records
from evalreport.questions.question import Run, question
from evalreport.schema.judges import (
    GoldSamplingRecord,
    JudgeAgreementRecord,
    JudgeBiasRecord,
    JudgeEstimateRecord,
)


@dataclass(frozen=True, kw_only=True)
class Judges:
    """The lists of results.json about an automatic judge."""

    judge_estimates: tuple[JudgeEstimateRecord, ...] = ()
    judge_agreement: tuple[JudgeAgreementRecord, ...] = ()
    judge_bias: tuple[JudgeBiasRecord, ...] = ()
    gold_sampling: tuple[GoldSamplingRecord, ...] = ()


@question("judges", applies=lambda run: any(s.predictions.judged for s in run.samples))
def judges(run: Run) -> Judges:
    """Return the records about the judge."""
    records = judge_records(run.samples, run.pairs.compared, run.pairs.limits, run.options)
    return Judges(
        judge_estimates=records.estimates,
        judge_agreement=records.agreement,
        judge_bias=records.bias,
        gold_sampling=tuple(
            chain.from_iterable(gold_sampling(s.predictions, run.options) for s in run.samples)
        ),
    )
