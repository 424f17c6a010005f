"""What an automatic judge is worth beside people: estimates of both, agreement, and favour."""

from __future__ import annotations

from itertools import chain

from evalreport.questions.judges.estimates import judge_records
from evalreport.questions.judges.gold import gold_sampling
from evalreport.questions.judges.judge_errors import without_bias
from evalreport.questions.judges.records import JudgeLists
from evalreport.questions.judges.scales import scale_records
from evalreport.questions.question import Run, question


@question("judges", applies=lambda run: any(s.predictions.judged for s in run.samples))
def judges(run: Run) -> JudgeLists:
    """Return the records about the judge."""
    records = judge_records(run.samples, run.pairs.compared, run.pairs.limits, run.options)
    scales = scale_records(run.samples, run.options)
    comparable = all(scale.same for scale in scales)
    return JudgeLists(
        judge_estimates=records.estimates,
        judge_agreement=records.agreement if comparable else tuple(map(without_bias, records.agreement)),
        judge_bias=records.bias if comparable else (),
        judge_scales=scales,
        gold_sampling=tuple(
            chain.from_iterable(gold_sampling(s.predictions, run.options) for s in run.samples)
        ),
    )
