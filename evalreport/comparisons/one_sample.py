"""One model's accuracy against a rate: the no-information rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalreport.comparisons.example_tests import AgainstRate
from evalreport.comparisons.pairs import EXPLORATORY
from evalreport.comparisons.registry import TESTS, Outcome, tests_that_need
from evalreport.intervals import limits
from evalreport.intervals.registry import evidence_of
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.texts import Message, parts


def one_sample_records(
    samples: Sequence[Sample], primary: Quantity, options: Options
) -> tuple[ComparisonRecord, ...]:
    """Test each model's accuracy against the no-information rate, where that test is named.

    Parameters
    ----------
    samples
        One of all models, or one a model on its own test set.
    """
    if options.tests != ("all",) and not set(options.tests).intersection(tests_that_need("one_model")):
        return ()
    records: list[ComparisonRecord] = []
    for sample in samples:
        for (model, quantity), estimate in sample.estimates.items():
            metric = definition(quantity)
            if (
                metric.scale.share_of_right
                and metric.needs == "labels"
                and isinstance(estimate.evidence, Proportion)
            ):
                records.append(_against_rate(sample, model, estimate, options))
    if records or options.tests == ("all",):
        return tuple(records)
    outcome = Outcome(None, None, reason=Message("reason.refused", why=Message("test_lacks.accuracy")))
    names = [m.name for sample in samples for m in sample.predictions.models]
    return tuple(_one_sample(name, primary, outcome, options) for name in names)


def _against_rate(sample: Sample, model: str, estimate: Estimate, options: Options) -> ComparisonRecord:
    share = evidence_of(estimate, Proportion)
    counts = sample.predictions.class_counts
    rate = float(counts.max() / counts.sum())
    outcome = TESTS["binomial_exact"].run(AgainstRate(share.successes, share.trials, rate))
    record = _one_sample(model, estimate.quantity, outcome, options)
    exact = limits(estimate, "clopper_pearson", options.confidence)
    low, high = (None if limit is None else limit - rate for limit in (exact.low, exact.high))
    caution = parts(EXPLORATORY, Message("caution.against_majority", rate=rate))
    difference, method = estimate.value - rate, "clopper_pearson"
    return replace(record, difference=difference, low=low, high=high, interval_method=method, caution=caution)


def _one_sample(model: str, quantity: Quantity, outcome: Outcome, options: Options) -> ComparisonRecord:
    return ComparisonRecord(
        a=model,
        b=None,
        **quantity.fields,
        test="binomial_exact",
        **outcome.fields,
        level=options.confidence,
        recommended=False,
        caution=EXPLORATORY,
        reason=outcome.reason,
    )
