"""All models at once, or one alone: ranking, omnibus tests, average ranks, variances, and how ROC curves cross."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from string import ascii_letters

import numpy as np

from evalreport.comparisons.example_tests import AgainstRate
from evalreport.comparisons.fits import by_independent_example, critical_difference, ranked_models
from evalreport.comparisons.pairs import EXPLORATORY
from evalreport.comparisons.registry import OF_ALL, TESTS, Outcome, Ranked, tests_that_need
from evalreport.engine.parallel import mapped
from evalreport.intervals import limits
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.estimate import Estimate, Floats
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.metrics.threshold_counts import ThresholdCounts
from evalreport.numbers import to_digits
from evalreport.options import Options
from evalreport.schema.comparisons import (
    AverageRankRecord,
    ComparisonRecord,
    OmnibusRecord,
    RankingRecord,
    VarianceRecord,
)
from evalreport.schema.curves import DominanceRecord, Relation
from evalreport.texts import Message, Value, parts, sentences, shortened

LETTERS = ascii_letters + "αβγδεζηθικλμνξοπρστυφχψω"
FIRST_FURTHER = 0x3400
"""After those: a long run of characters that Unicode counts as letters."""


def rank(
    estimates: Mapping[str, Estimate],
    compared: Collection[frozenset[str]],
    decided: Collection[frozenset[str]],
    *,
    lower_is_better: bool = False,
) -> tuple[RankingRecord, ...]:
    """Rank models by their value, best first; equal values share the better rank, missing ones come last.

    Parameters
    ----------
    estimates
        The primary metric's estimate by model.
    compared
        The pairs of models in the decision table. Where two models that have a value were not compared (only
        a baseline's pairs were), nobody has a letter: a shared one would say what was never tested.
    decided
        The pairs that the decision table tells apart.
    lower_is_better
        The user's word on outcomes and values.
    """

    def badness(name: str) -> float:
        estimate = estimates[name]
        if not estimate.comparable:
            return float("inf")
        if estimate.metric.greater_is_better is None:
            return 0.0  # a bias of -5 is no better than one of +1: nobody is ahead
        greater = greater_is_better(estimate.quantity, lower_is_better=lower_is_better)
        return -estimate.value if greater else estimate.value

    order = sorted(estimates, key=lambda name: (badness(name), name))
    valued = [name for name in order if estimates[name].comparable]
    every = all(frozenset(pair) in compared for pair in combinations(valued, 2))
    letters = compact_letters(valued, decided) if every else {}
    return tuple(
        RankingRecord(
            model=name,
            metric=estimates[name].quantity.spelled,
            value=estimates[name].value if estimates[name].comparable else None,
            rank=1 + sum(badness(other) < badness(name) for other in order),
            letters=letters.get(name, ""),
        )
        for name in order
    )


def compact_letters(models: Sequence[str], decided: Collection[frozenset[str]]) -> dict[str, str]:
    """Give models letters so that two share one exactly if they are not told apart.

    Insert and absorb (Piepho 2004, J Comput Graph Stat 13:456): begin with one group of all; split every group
    that holds a pair told apart; drop groups inside others. Letters run from the best-placed group on.

    Parameters
    ----------
    models
        In the order of their ranks.

    Examples
    --------
    >>> compact_letters(["A", "B", "C"], {frozenset("AC")})
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    groups: list[frozenset[str]] = [frozenset(models)]
    for pair in sorted(decided, key=sorted):
        split: list[frozenset[str]] = []
        for group in groups:
            split += [group - {name} for name in sorted(pair)] if pair <= group else [group]
        unique = list(dict.fromkeys(split))
        groups = [g for g in unique if not any(g < other for other in unique)]
    place = {name: j for j, name in enumerate(models)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    return {name: "".join(_letter(j) for j, group in enumerate(groups) if name in group) for name in models}


def _letter(index: int) -> str:
    """Return a ... z, A ... Z, Greek, then others: always one character, so that none holds another."""
    return LETTERS[index] if index < len(LETTERS) else chr(FIRST_FURTHER + index - len(LETTERS))


CLEAR = 0.05
"""Curves cross clearly where each is higher than the other by so much somewhere."""

MOST_POINTS = 20_000
"""Two curves are compared at their own corners, or at so many of them."""

MOST_CROSSINGS = 50
MOST_NAMED = 3
ZERO = 1e-12


@dataclass(frozen=True, slots=True)
class Drawn:
    """A ranking with its pointwise band: false positive rates (T,) and limits (T,); None without one."""

    ladder: ThresholdCounts
    band: tuple[Floats, Floats, Floats] | None = None


def dominance(drawn: Sequence[Drawn], *, baseline: str | None = None) -> tuple[DominanceRecord, ...]:
    """Return how the ROC curves of every pair of rankings lie to each other; of several classes none."""
    pairs = list(combinations([one for one in drawn if one.ladder.label is None], 2))
    if baseline is not None:
        pairs = [pair for pair in pairs if baseline in (pair[0].ladder.model, pair[1].ladder.model)]
    most = MOST_POINTS if len(pairs) <= 200 else MOST_POINTS // 10
    return tuple(mapped(lambda pair: _of_pair(*pair, most), pairs))


def _of_pair(a: Drawn, b: Drawn, most: int) -> DominanceRecord:
    place, gap = _gaps(a.ladder, b.ladder, most)
    up, down = (float(max(side.max(), 0.0)) for side in (gap, -gap))
    relation: Relation = "crosses" if up and down else "above" if up else "below" if down else "same"
    record = DominanceRecord(
        a=a.ladder.model,
        b=b.ladder.model,
        curve="roc",
        relation=relation,
        crossings=tuple(_crossings(place, gap)[:MOST_CROSSINGS]),
        a_most=up,
        a_most_at=float(place[gap.argmax()]) if up else None,
        b_most=down,
        b_most_at=float(place[gap.argmin()]) if down else None,
        clear=min(up, down) >= CLEAR,
    )
    if record.clear:
        beyond = [_beyond(one, other, place, side) for one, other, side in ((a, b, gap), (b, a, -gap))]
        record = replace(
            record,
            clear_crossings=tuple(_clear_crossings(place, gap)[:MOST_CROSSINGS]),
            beyond_bands=None if None in beyond else all(beyond),
        )
    return replace(record, text=_text(record))


def _beyond(upper: Drawn, lower: Drawn, place: Floats, gap: Floats) -> bool | None:
    """Say whether one curve is clearly higher somewhere, outside the other's band and the other outside its own."""
    if upper.band is None or lower.band is None:
        return None
    high = np.interp(place, lower.band[0], lower.band[2])
    low = np.interp(place, upper.band[0], upper.band[1])
    tpr_upper, tpr_lower = (_upper(one.ladder.fpr, one.ladder.tpr, place) for one in (upper, lower))
    return bool(((gap >= CLEAR) & (tpr_upper > high) & (tpr_lower < low)).any())


def _gaps(a: ThresholdCounts, b: ThresholdCounts, most: int) -> tuple[Floats, Floats]:
    """Return false positive rates, twice each, and the difference of the polygons just before and at each."""
    places = np.union1d(*(_some(one.fpr, most // 2) for one in (a, b)))
    before, at = (
        function(a.fpr, a.tpr, places) - function(b.fpr, b.tpr, places) for function in (_lower, _upper)
    )
    gap = np.stack([before, at], axis=1).ravel()
    gap[np.abs(gap) <= ZERO] = 0.0
    return np.repeat(places, 2), gap


def _some(rates: Floats, most: int) -> Floats:
    if len(rates) <= most:
        return rates
    return rates[np.linspace(0, len(rates) - 1, most).round().astype(np.int64)]


def _upper(x: Floats, y: Floats, places: Floats) -> Floats:
    """Return the upper end where the polygon rises straight up."""
    return np.interp(places, x, y)


def _lower(x: Floats, y: Floats, places: Floats) -> Floats:
    """Return the lower end where the polygon rises straight up."""
    first = np.minimum(np.searchsorted(x, places, side="left"), len(x) - 1)
    return np.where(x[first] == places, y[first], np.interp(places, x, y))


def _crossings(place: Floats, gap: Floats) -> list[float]:
    """Return where the sign of a piecewise straight difference changes."""
    held = np.flatnonzero(gap)
    turns = np.flatnonzero(np.sign(gap[held[1:]]) != np.sign(gap[held[:-1]]))
    found = []
    for i, j in zip(held[turns], held[turns + 1], strict=True):
        if j > i + 1:
            found.append(float(place[i + 1]))  # the curves meet here before they part again
        else:
            share = gap[i] / (gap[i] - gap[j])
            found.append(float(place[i] + share * (place[j] - place[i])))
    return found


def _clear_crossings(place: Floats, gap: Floats) -> list[float]:
    """Return a crossing for every change from a stretch where one is clearly higher to one where the other is."""
    held = np.flatnonzero(np.abs(gap) >= CLEAR)
    turns = np.flatnonzero(np.sign(gap[held[1:]]) != np.sign(gap[held[:-1]]))
    found = []
    for i, j in zip(held[turns], held[turns + 1], strict=True):
        between = _crossings(place[i : j + 1], gap[i : j + 1])
        found.append(between[len(between) // 2])
    return found


def _text(record: DominanceRecord) -> Message:
    a, b = record.a, record.b
    up, down = (record.a_most, record.a_most_at), (record.b_most, record.b_most_at)
    if record.relation == "same":
        return Message("roc_curves.same", a=a, b=b)
    if record.relation != "crosses":
        upper, lower, most = (a, b, up) if record.relation == "above" else (b, a, down)
        return Message("roc_curves.above", upper=upper, lower=lower, lead=_lead(most))
    if not record.clear:
        higher, most, other, least = (a, up, b, down) if up[0] >= down[0] else (b, down, a, up)
        return Message(
            "roc_curves.cross_hardly",
            a=a,
            b=b,
            rates=_rates(record.crossings),
            higher=higher,
            lead=_lead(most),
            other=other,
            least=least[0],
        )
    rates = _rates(record.clear_crossings)
    text = Message("roc_curves.cross", a=a, b=b, rates=rates, lead_of_a=_lead(up), lead_of_b=_lead(down))
    return text if record.beyond_bands else sentences(text, Message("roc_curves.within_bands"))


def crossing_sentence(record: DominanceRecord, *, settled: bool) -> Message:
    """Say beside a verdict on an area that the curves cross clearly."""
    rates = _rates(record.clear_crossings)
    key = "verdict.not_at_every_point" if settled else "verdict.no_overall_winner"
    return Message(key, rates=rates)


def _lead(most: tuple[float, float | None]) -> Message:
    return Message("roc_curves.lead", most=most[0], rate=most[1])


def _rates(crossings: Sequence[float]) -> Value:
    return shortened([to_digits(one) for one in crossings], MOST_NAMED)


# --- models that give labels only are points -------------------------------------------------------------------------


def point_dominance(sample: Sample, ladders: Sequence[ThresholdCounts]) -> Iterator[DominanceRecord]:
    """Yield how the points of models that give labels only lie to the curves of the others, and to each other."""
    ranked = {one.model: one for one in ladders if one.label is None}
    predictions = sample.predictions
    if predictions.task != "binary" or sample.tables is None or predictions.positive is None:
        return
    if predictions.design != "test-set":
        return
    code, points = predictions.positive_code, {}
    for name, table in zip(sample.label_models, sample.tables.tables, strict=True):
        rows = table.sum(axis=1)
        if name not in ranked and rows.min() > 0:
            points[name] = (
                float(table[1 - code, code] / rows[1 - code]),
                float(table[code, code] / rows[code]),
            )
    for name, (fpr, tpr) in points.items():
        for other in ranked.values():
            gap = tpr - float(np.interp(fpr, other.fpr, other.tpr))
            yield _point(name, other.model, gap, fpr)
    for (a, (fpr_a, tpr_a)), (b, (fpr_b, tpr_b)) in combinations(points.items(), 2):
        better, worse = (fpr_a <= fpr_b and tpr_a >= tpr_b), (fpr_a >= fpr_b and tpr_a <= tpr_b)
        if better != worse:
            upper, lower = (a, b) if better else (b, a)
            text = Message("roc_points.no_worse", upper=upper, lower=lower)
            gap = tpr_a - tpr_b
            relation: Relation = "above" if better else "below"
            up, down = max(gap, 0.0), max(-gap, 0.0)
            yield DominanceRecord(
                a=a, b=b, curve="points", relation=relation, a_most=up, b_most=down, text=text
            )


def _point(a: str, b: str, gap: float, fpr: float) -> DominanceRecord:
    gap = 0.0 if abs(gap) <= ZERO else gap
    relation: Relation = "above" if gap > 0 else "below" if gap < 0 else "same"
    lead: dict[str, Value] = {"gap": abs(gap)} if gap else {}
    text = Message(f"roc_points.{relation}", a=a, b=b, rate=fpr, **lead)
    up, down = max(gap, 0.0), max(-gap, 0.0)
    return DominanceRecord(
        a=a,
        b=b,
        curve="roc_point",
        relation=relation,
        a_most=up,
        a_most_at=fpr if up else None,
        b_most=down,
        b_most_at=fpr if down else None,
        text=text,
    )


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


def _refused(why: str) -> Outcome:
    return Outcome(None, None, reason=Message("reason.refused", why=Message(why)))


def _shared(ranked: Ranked) -> Message | None:
    """Say that fits of one data set are no independent blocks."""
    independent = ranked.by in ("examples", "datasets")
    return None if independent else Message(f"caution.shared_by.{ranked.by}")


def _right(sample: Sample, quantity: Quantity) -> tuple[tuple[str, ...], CountedRows | None]:
    """Return the models and who was right where; None where that is no matter of right and wrong."""
    models = tuple(m.name for m in sample.predictions.models if sample.estimates[m.name, quantity].defined)
    if not definition(quantity).share_of_right or len(models) < 3:
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
    found = []
    for quantity in quantities:
        if quantity.spelled not in ranked_by:
            continue
        ranked = ranked_models(samples[0], quantity, lower_is_better=options.lower_is_better)
        assert ranked is not None
        m, k = ranked.blocks, len(ranked.models)
        smallest = critical_difference(k, m, round(1 - options.confidence, 12))
        found += [
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
    outcome = _refused("test_lacks.accuracy")
    names = [m.name for sample in samples for m in sample.predictions.models]
    return tuple(_one_sample(name, primary, outcome, options) for name in names)


def _against_rate(sample: Sample, model: str, estimate: Estimate, options: Options) -> ComparisonRecord:
    assert estimate.trials is not None
    assert estimate.successes is not None
    rate, key = options.against, "caution.against_value"
    if rate is None:
        held = sample.predictions.class_counts
        rate = float(held.max() / held.sum())
        key = "caution.against_majority"
    outcome = TESTS["binomial_exact"].run(AgainstRate(estimate.successes, estimate.trials, rate))
    found = _one_sample(model, estimate.quantity, outcome, options)
    exact = limits(estimate, "clopper_pearson", options.confidence)
    low, high = (None if limit is None else limit - rate for limit in (exact.low, exact.high))
    caution = parts(EXPLORATORY, Message(key, rate=rate))
    difference, method = estimate.value - rate, "clopper_pearson"
    return replace(found, difference=difference, low=low, high=high, interval_method=method, caution=caution)


def _one_sample(model: str, quantity: Quantity, outcome: Outcome, options: Options) -> ComparisonRecord:
    return ComparisonRecord(
        a=model,
        b=None,
        **quantity.fields,
        test="binomial_exact",
        statistic=outcome.statistic,
        df=outcome.df,
        p_value=outcome.p_value,
        level=options.confidence,
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
    return tuple(record for estimate in sample.estimates.values() for record in _variances(estimate))


def _variances(estimate: Estimate) -> Iterator[VarianceRecord]:
    fits, quantity = estimate.fits, estimate.quantity
    if fits is None or fits.kind not in ("seeds", "replicates") or quantity.label is not None:
        return
    record = partial(VarianceRecord, model=estimate.model, metric=quantity.spelled)
    values = fits.values[~np.isnan(fits.values)]
    if len(values) > 1:
        yield record(source=fits.kind, value=float(values.var(ddof=1)), n=len(values))
    if estimate.defined and estimate.corrected_error is not None:
        yield record(source="test set", value=estimate.corrected_error**2, n=estimate.n_units)
