"""Records about all models at once, or about one alone: omnibus tests, average ranks, rates to beat, variances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparisons.blocks import by_independent_example, ranked_models
from evalreport.comparisons.omnibus import critical_difference
from evalreport.comparisons.pairs import EXPLORATORY
from evalreport.comparisons.proportions import AgainstRate
from evalreport.comparisons.registry import OF_ALL, TESTS, Outcome, Ranked, tests_that_need
from evalreport.config import Options
from evalreport.intervals import limits
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.records import AverageRankRecord, ComparisonRecord, OmnibusRecord, VarianceRecord
from evalreport.texts import Message, parts


def _named(options: Options, among: Sequence[str]) -> tuple[str, ...]:
    """Return which of the tests the user named, in the order of the registry."""
    everything = options.tests == ("all",)
    return tuple(name for name in among if everything or name in options.tests)


# --- all models at once ---------------------------------------------------------------------------------------------


def omnibus_records(
    samples: Sequence[Sample], quantities: Sequence[Quantity], options: Options
) -> tuple[OmnibusRecord, ...]:
    """Test all models at once: on the primary metric by default, on every metric where tests are named.

    Parameters
    ----------
    samples
        One of all models; one a model on test sets of their own, where nothing compares them all at once.
    quantities
        Those that are compared, the primary one first.
    """
    sample = samples[0]
    found: list[OmnibusRecord] = []
    for place, quantity in enumerate(quantities):
        if options.tests:
            names = _named(options, tests_that_need(*OF_ALL))
        else:
            names = _by_default(sample, quantity) if place == 0 else ()
        refused = place == 0 and options.tests != ("all",) and bool(options.tests)
        for name in names:
            record = _of_all(sample, quantity, name, options)
            if record.p_value is not None or refused:
                found.append(record)
    return tuple(found)


def _by_default(sample: Sample, quantity: Quantity) -> tuple[str, ...]:
    design = sample.predictions.design
    if design == "datasets":
        return tests_that_need("all_ranks")
    if design != "test-set":
        return ()
    return ("cochran_q",) if _right(sample, quantity)[1] is not None else ("friedman",)


def _of_all(sample: Sample, quantity: Quantity, name: str, options: Options) -> OmnibusRecord:
    caution = None
    if TESTS[name].needs == "all_right":
        models, right = _right(sample, quantity)
        outcome = Outcome(None, None, reason=_refused("test_lacks.answers_of_three"))
        by, blocks = "examples", None if right is None else len(right)
        if right is not None:
            outcome = TESTS[name].function(right)
    else:
        ranked = ranked_models(sample, quantity, lower_is_better=options.lower_is_better)
        outcome = Outcome(None, None, reason=_refused("test_lacks.three_models"))
        models, by, blocks = (), "examples", None
        if ranked is not None:
            outcome = TESTS[name].function(ranked)
            models, by, blocks = ranked.models, ranked.by, len(ranked.ranks)
            caution = _shared(ranked)
    return OmnibusRecord(
        metric=quantity.spelled,
        test=name,
        statistic=outcome.statistic,
        df=outcome.df,
        p_value=outcome.p_value,
        models=models,
        df2=outcome.details.get("df2"),
        by=by,
        blocks=blocks,
        caution=caution,
        reason=outcome.reason,
    )


def _refused(why: str) -> Message:
    return Message("reason.refused", why=Message(why))


def _shared(ranked: Ranked) -> Message | None:
    """Say that fits of one data set are no independent blocks."""
    independent = ranked.by in ("examples", "datasets")
    return None if independent else Message(f"caution.shared_by.{ranked.by}")


def _right(
    sample: Sample, quantity: Quantity
) -> tuple[tuple[str, ...], np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None]:
    """Return the models and (n, k) who was right where; None where that is no matter of right and wrong."""
    models = tuple(m.name for m in sample.predictions.models if sample.estimates[m.name, quantity].defined)
    if not definition(quantity).share_of_right or len(models) < 3:
        return models, None
    right = by_independent_example(sample, models, quantity)
    if right is None or not np.isin(right, (0, 1)).all():
        return models, None
    return models, right


def average_rank_records(
    samples: Sequence[Sample],
    omnibus: Sequence[OmnibusRecord],
    quantities: Sequence[Quantity],
    options: Options,
) -> tuple[AverageRankRecord, ...]:
    """Return the average ranks behind every Friedman test, with Nemenyi's critical difference at the run's level."""
    of_ranks = tests_that_need("all_ranks")
    ranked_by = {
        record.metric for record in omnibus if record.test in of_ranks and record.p_value is not None
    }
    found = []
    for quantity in quantities:
        ranked = None
        if quantity.spelled in ranked_by:
            ranked = ranked_models(samples[0], quantity, lower_is_better=options.lower_is_better)
        if ranked is None:
            continue
        m, k = ranked.ranks.shape
        smallest = critical_difference(k, m, round(1 - options.confidence, 12))
        found += [
            AverageRankRecord(quantity.spelled, name, float(rank), ranked.by, m, smallest, options.confidence)
            for name, rank in zip(ranked.models, ranked.mean_ranks, strict=True)
        ]
    return tuple(found)


# --- one model alone ------------------------------------------------------------------------------------------------


def one_sample_records(
    samples: Sequence[Sample], primary: Quantity, options: Options
) -> tuple[ComparisonRecord, ...]:
    """Test each model's accuracy against the no-information rate, where that test is named.

    Parameters
    ----------
    samples
        One of all models, or one a model on its own test set.
    """
    if not _named(options, tests_that_need("one_model")):
        return ()
    found: list[ComparisonRecord] = []
    for sample in samples:
        for (model, quantity), estimate in sample.estimates.items():
            metric = definition(quantity)
            if metric.share_of_right and metric.needs == "labels" and estimate.trials is not None:
                found.append(_against_rate(sample, model, estimate, options))
    if found or options.tests == ("all",):
        return tuple(found)
    outcome = Outcome(None, None, reason=_refused("test_lacks.accuracy"))
    names = [m.name for sample in samples for m in sample.predictions.models]
    return tuple(_one_sample(name, primary, outcome, options) for name in names)


def _against_rate(sample: Sample, model: str, estimate: Estimate, options: Options) -> ComparisonRecord:
    assert sample.predictions.y_true is not None
    assert estimate.trials is not None
    assert estimate.successes is not None
    rate, key = options.against, "caution.against_value"
    if rate is None:
        rate = float(np.bincount(sample.predictions.y_true).max()) / sample.predictions.n
        key = "caution.against_majority"
    outcome = TESTS["binomial_exact"].function(AgainstRate(estimate.successes, estimate.trials, rate))
    found = _one_sample(model, estimate.quantity, outcome, options)
    exact = limits(estimate, "clopper_pearson", options.confidence)
    return _with_limits(found, estimate.value - rate, rate, exact.low, exact.high, Message(key, rate=rate))


def _with_limits(
    record: ComparisonRecord,
    difference: float,
    rate: float,
    low: float | None,
    high: float | None,
    against: Message,
) -> ComparisonRecord:
    return replace(
        record,
        difference=difference,
        low=None if low is None else low - rate,
        high=None if high is None else high - rate,
        interval_method="clopper_pearson",
        caution=parts(EXPLORATORY, against),
    )


def _one_sample(model: str, quantity: Quantity, outcome: Outcome, options: Options) -> ComparisonRecord:
    return ComparisonRecord(
        a=model,
        b=None,
        metric=quantity.metric,
        average=quantity.average,
        label=quantity.label,
        slice=None,
        test="binomial_exact",
        statistic=outcome.statistic,
        df=outcome.df,
        p_value=outcome.p_value,
        p_adjusted=None,
        correction=None,
        difference=None,
        level=options.confidence,
        low=None,
        high=None,
        interval_method=None,
        effect=outcome.effect,
        effect_size=outcome.effect_size,
        recommended=False,
        caution=EXPLORATORY,
        reason=outcome.reason,
        details=outcome.details,
    )


# --- variances ------------------------------------------------------------------------------------------------------


def variance_records(sample: Sample) -> tuple[VarianceRecord, ...]:
    """Return how much values vary between training seeds or replicates, apart from how much with the test set."""
    return tuple(record for key in sample.estimates for record in _variances(sample.estimates[key]))


def _variances(estimate: Estimate) -> Iterator[VarianceRecord]:
    fits, quantity = estimate.fits, estimate.quantity
    if fits is None or fits.kind not in ("seeds", "replicates") or quantity.label is not None:
        return
    values = fits.values[~np.isnan(fits.values)]
    if len(values) > 1:
        between = float(values.var(ddof=1))
        yield VarianceRecord(estimate.model, quantity.spelled, fits.kind, between, len(values))
    if estimate.defined and estimate.corrected_error is not None:
        of_test_set = estimate.corrected_error**2
        yield VarianceRecord(estimate.model, quantity.spelled, "test set", of_test_set, estimate.n_units)
