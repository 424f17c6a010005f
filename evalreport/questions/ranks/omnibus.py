"""Tests of all models at once, and the average ranks behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalreport.comparisons.fits import by_independent_example, critical_difference, ranked_models
from evalreport.comparisons.registry import OF_ALL, TESTS, Outcome, Ranked, tests_that_need
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.questions.ranks.records import AverageRankRecord, OmnibusRecord
from evalreport.texts import Message


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
    records: list[OmnibusRecord] = []
    for position, quantity in enumerate(quantities):
        if options.tests:
            names = _named(options, tests_that_need(*OF_ALL))
        else:
            names = _by_default(sample, quantity) if position == 0 else ()
        refused = position == 0 and options.tests != ("all",) and bool(options.tests)
        for name in names:
            record = _of_all(sample, quantity, name, options)
            if record.p_value is not None or refused:
                records.append(record)
    return tuple(records)


def _by_default(sample: Sample, quantity: Quantity) -> tuple[str, ...]:
    design = sample.predictions.design
    if design == "datasets":
        return tests_that_need("all_ranks")
    if design != "test-set":
        return ()
    return ("cochran_q",) if _right(sample, quantity)[1] is not None else ("friedman",)


def _of_all(sample: Sample, quantity: Quantity, name: str, options: Options) -> OmnibusRecord:
    test = TESTS[name]
    by, caution = "examples", None
    if test.needs == "all_right":
        models, right = _right(sample, quantity)
        outcome = _refused("test_lacks.answers_of_three") if right is None else test.run(right)
        blocks = None if right is None else right.n
    else:
        ranked = ranked_models(sample, quantity, lower_is_better=options.lower_is_better)
        outcome = _refused("test_lacks.three_models") if ranked is None else test.run(ranked)
        models, blocks = ((), None) if ranked is None else (ranked.models, ranked.blocks)
        if ranked is not None:
            by, caution = ranked.by, _shared(ranked)
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


def _named(options: Options, among: Sequence[str]) -> tuple[str, ...]:
    """Return the tests that the user named, in the order of the registry."""
    everything = options.tests == ("all",)
    return tuple(name for name in among if everything or name in options.tests)


def _refused(why: str) -> Outcome:
    return Outcome(None, None, reason=Message("reason.refused", why=Message(why)))


def _shared(ranked: Ranked) -> Message | None:
    """Return the caution that fits of one data set are not independent blocks."""
    independent = ranked.by in ("examples", "datasets")
    return None if independent else Message(f"caution.shared_by.{ranked.by}")


def _right(sample: Sample, quantity: Quantity) -> tuple[tuple[str, ...], CountedRows | None]:
    """Return the models and on which examples each is right; None for a metric that is not a share of right answers."""
    models = tuple(m.name for m in sample.predictions.models if sample.estimates[m.name, quantity].defined)
    if not definition(quantity).scale.share_of_right or len(models) < 3:
        return models, None
    right = by_independent_example(sample, models, quantity)
    if right is None or not np.isin(right.values, (0, 1)).all():
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
    ranked_by = {r.metric for r in omnibus if r.test in of_ranks and r.p_value is not None}
    records = []
    for quantity in quantities:
        if quantity.spelled not in ranked_by:
            continue
        ranked = ranked_models(samples[0], quantity, lower_is_better=options.lower_is_better)
        assert ranked is not None
        m, k = ranked.blocks, len(ranked.models)
        smallest = critical_difference(k, m, round(1 - options.confidence, 12))
        records += [
            AverageRankRecord(
                metric=quantity.spelled,
                model=name,
                average_rank=float(rank),
                by=ranked.by,
                blocks=m,
                critical_difference=smallest,
                level=options.confidence,
            )
            for name, rank in zip(ranked.models, ranked.mean_ranks, strict=True)
        ]
    return tuple(records)
