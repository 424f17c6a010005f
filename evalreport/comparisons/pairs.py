"""Every pair of models on every quantity: the input of the tests, and the records of their outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, combinations, product

import numpy as np

from evalreport.comparisons import measured, test_needs, test_selection
from evalreport.comparisons.fits import by_example, ranked_models
from evalreport.comparisons.label_pairs import LabelPairs, label_pairs
from evalreport.comparisons.permutation import swapped_pair
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Ranked, Swapped
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import with_equal_columns
from evalreport.intervals import INTERVALS, IntervalMethod, limits, resolved
from evalreport.intervals.calibration import described_difference
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference, paired_difference, unpaired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import (
    PairedLabels,
    PairedMean,
    PairedProportion,
    PredictionPowered,
    Proportion,
    agreement,
)
from evalreport.metrics.prediction_powered import prediction_powered_difference
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.metrics.views import view
from evalreport.options import Options
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import Interval, limit_fields
from evalreport.texts import Message, Text, parts

DRAWS_IN_TAIL = 40
"""At least this many swaps or replicates times pairs / alpha: their expected number beyond the smallest level."""

MOST_DRAWS = 1_000_000
"""No more swaps or replicates are drawn for a p-value, however small the level of a look is."""

EXPLORATORY = Message("caution.exploratory")


@dataclass(eq=False)
class Comparison:
    """One pair on one quantity.

    Attributes
    ----------
    set_up
        Gives what the tests work on, or says why there is nothing to test, as where a model lacks the quantity.
    untested
        Why the leading test has no p-value, where that is known.
    """

    a: str
    b: str
    quantity: Quantity
    set_up: Callable[[], Pair | Text]
    untested: Text | None = None

    @cached_property
    def found(self) -> Pair | Text:
        """The result of ``set_up``, several times as large as the data."""
        return self.set_up()

    @property
    def pair(self) -> Pair | None:
        """The input of the tests; None where there is nothing to test."""
        return self.found if isinstance(self.found, Pair) else None

    @property
    def reason(self) -> Text | None:
        """Why there is nothing to test, or no p-value."""
        return self.untested if isinstance(self.found, Pair) else self.found

    def forget(self) -> None:
        """Free the input of the tests; it is set up again on the next use."""
        self.__dict__.pop("found", None)

    @cached_property
    def recommended_test(self) -> str:
        """The test that leads for this quantity."""
        return test_selection.recommended_test(self.pair, self.quantity)


def model_pairs(models: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return every pair (a before b by name), or every other model against the baseline."""
    if baseline is not None:
        return [(name, baseline) for name in models if name != baseline]
    return list(combinations(models, 2))


def draws_for(pairs: int, options: Options) -> int:
    """Return the number of Monte Carlo draws for a family of pairs: ``--resamples``, or more where alpha needs it.

    Never more than ``MOST_DRAWS``; where even these could not decide (``out_of_reach``) no more than ``--resamples``.
    """
    alpha = 1 - options.confidence
    if alpha < DRAWS_IN_TAIL / MOST_DRAWS:
        return options.resamples
    return max(options.resamples, min(math.ceil(DRAWS_IN_TAIL * pairs / alpha), MOST_DRAWS))


def compare(sample: Sample, quantities: Sequence[Quantity], options: Options) -> list[Comparison]:
    """Set up every pair on every quantity that can be compared; nothing is tested yet."""
    models = [m.name for m in sample.predictions.models]
    pairs = model_pairs(models, options.baseline)

    ranking = cache(partial(ranked_models, sample, lower_is_better=options.lower_is_better))

    def of_pair(models: tuple[str, str], quantity: Quantity) -> Pair | Text:
        # The family's p-values are multiplied by up to its size: the smallest must still lie far below alpha.
        draws = draws_for(len(pairs), options) if quantity == quantities[0] else options.resamples
        swapped = swapped_pair(sample, models, quantity, n_swaps=draws, seed=options.seed)
        return _pair(sample, models, quantity, swapped, partial(ranking, quantity), options)

    return [Comparison(*pair, q, partial(of_pair, pair, q)) for q, pair in product(quantities, pairs)]


MOST_MODELS = 20
"""Of more models every pair is compared on the primary metric and on those that are named, else pairs with the best;
and the leading test stands alone unless others are named."""
MOST_PAIRS = math.comb(MOST_MODELS, 2)


def with_the_best(
    compared: Sequence[Comparison],
    samples: Sequence[Sample],
    primary: Quantity,
    named: Collection[Quantity],
    options: Options,
) -> list[Comparison]:
    """Leave out, of more than ``MOST_MODELS`` models, the pairs without the best one on metrics that nobody named.

    With a baseline every pair is with it. The best model is that of the best primary value, on ties the first by name.
    """
    values = [sample.estimates[m.name, primary] for sample in samples for m in sample.predictions.models]
    known = [(-oriented(e, e.value, options), e.model) for e in values if not math.isnan(e.value)]
    if len(values) <= MOST_MODELS or options.baseline is not None or not known:
        return list(compared)
    _, best = min(known)
    return [c for c in compared if c.quantity == primary or c.quantity in named or best in (c.a, c.b)]


def comparable(quantities: Sequence[Quantity], named: bool) -> tuple[Quantity, ...]:
    """Return the quantities that tests are run on: overall and averaged ones; the others only where named.

    The others are single classes, and metrics that no test tests for equality. Of these, differences that have an
    interval of their own are described.
    """
    directed = (q for q in quantities if definition(q).scale.greater_is_better is not None)
    kept = {q for q in directed if named or (q.label is None and not definition(q).untested)}
    return tuple(q for q in quantities if q in kept or _described(q))


def _described(quantity: Quantity) -> bool:
    """Say whether a metric has an interval of the difference of its own, and no test of it."""
    metric = definition(quantity)
    own = INTERVALS[metric.inference.difference_interval] if metric.inference.difference_interval else None
    return bool(metric.untested) and own is not None and "of_this_metric" in own.needs


def _pair(
    sample: Sample,
    models: tuple[str, str],
    quantity: Quantity,
    swapped: Callable[[], Swapped | None] | None,
    ranking: Callable[[], Ranked | None],
    options: Options,
) -> Pair | Text:
    first, second = (sample.estimates[name, quantity] for name in models)
    lacking = why_not(first, second)
    if lacking is not None:
        return lacking
    # A mean over tasks is not the mean of the examples' losses.
    one_task = "one_task" in first.sampling.meets
    examples = by_example(sample, models, quantity) if one_task else None
    labels = sample.labels(models) if first.metric.needs == "labels" else None
    counted = None if labels is None else label_pairs(quantity, sample.predictions, labels)
    delta = with_evidence(sample, paired_difference(first, second), examples, counted)
    if isinstance(delta, Message):
        return delta
    return Pair(
        a=first,
        b=second,
        difference=delta,
        by_example=examples if examples is not None else _squared_errors(sample, models, quantity),
        labels=counted,
        swapped=swapped,
        design=sample.predictions.design,
        ranking=ranking,
        greater_is_better=greater_is_better(quantity, lower_is_better=options.lower_is_better),
        margin=options.margin,
        seed=options.seed,
        horizon=options.horizon or 1,
    )


def with_evidence(
    sample: Sample, delta: Difference, examples: CountedRows | None, labels: LabelPairs | None
) -> Difference | Message:
    """Return a difference with the counts or rows that its intervals and tests rest on; why gold allows none.

    Parameters
    ----------
    examples, labels
        Both models' values (m, 2) whose means are compared, and their labels; None where there are none.
    """
    if isinstance(delta.a.evidence, PredictionPowered):
        return prediction_powered_difference(delta, sample.predictions, sample.units, sample.rows.layout)
    if not delta.sampling.alike:
        return delta
    if examples is not None:
        return replace(delta, evidence=_of_examples(delta, examples))
    if labels is not None:
        trials = labels.trials
        within_class = trials.agreement if trials is not None and trials.of_value else None
        return replace(delta, evidence=PairedLabels(labels.cells, within_class))
    return delta


def _squared_errors(sample: Sample, models: tuple[str, str], quantity: Quantity) -> CountedRows | None:
    """Return both models' squared errors, (n, 2), for a metric that is a function of their mean and the truth's spread.

    On the same truth such values are equal just where the mean squared errors are.
    """
    metric, predictions = definition(quantity), sample.predictions
    known = sample.estimates[models[0], quantity].sampling
    if (
        metric.inference.test != "paired_t"
        or metric.per_example is not None
        or known.only_sums
        or "one_task" not in known.meets
    ):
        return None
    outputs = {m.name: m for m in predictions.models}
    errors = [view(predictions, outputs[name]).errors for name in models]
    return CountedRows(with_equal_columns(np.column_stack(errors) ** 2), sample.units.times)


def why_not(first: Estimate, second: Estimate) -> Message | None:
    """Say which of two models lacks the quantity and why; None where both have it."""
    lacking = [
        Message("reason.of_model", model=e.model, why=e.reason) for e in (first, second) if not e.comparable
    ]
    return parts(*lacking) if lacking else None


def _of_examples(delta: Difference, examples: CountedRows) -> PairedProportion | PairedMean:
    """Return the evidence of a mean over examples, from both models' values (m, 2)."""
    values, counts = examples.values, examples.counts
    compared = float(np.abs(values).max(initial=0.0))
    differences = CountedRows(values[:, 0] - values[:, 1], counts, compared)
    if not (isinstance(delta.a.evidence, Proportion) and isinstance(delta.b.evidence, Proportion)):
        return PairedMean(differences)
    scale = delta.metric.scale.affine_of
    right = values if scale is None else scale.back(values)
    return PairedProportion(*agreement(right, counts), differences)


# --- records --------------------------------------------------------------------------------------------------------


def tests_for(comparison: Comparison, named: Sequence[str], *, primary: bool, beside: bool) -> list[str]:
    """Return the tests to run on a comparison, the recommended one first, then those named.

    Parameters
    ----------
    primary
        Whether it is on the primary metric: where no test is named the ones beside the recommended one are run
        there, and tests that are named but lack what they need are kept, to be refused with their reason.
    beside
        Whether tests that nobody named stand beside the recommended one at all.
    """
    first, pair = comparison.recommended_test, comparison.pair
    if pair is None:
        return [first]
    everything = tuple(named) == ("all",)
    others = test_selection.beside(first, pair) if primary and beside and not named else named
    names = list(TESTS) if everything else others
    kept = [name for name in dict.fromkeys(names) if name != first and _of_a_pair(name, pair)]
    refused = primary and bool(named) and not everything
    return [first, *(name for name in kept if refused or test_needs.lacks(pair, name) is None)]


def _of_a_pair(test: str, pair: Pair) -> bool:
    """Say whether a test is one of a pair; with a declared margin equivalence has rows of its own in the family."""
    return TESTS[test].of_a_pair and (TESTS[test].needs != "margin" or pair.margin is None)


def tested_difference(pair: Pair, test: str) -> float:
    """Return the difference that a test is about: the mean over folds where it is of folds, else of the values."""
    of_fits = ("folds", "trained_folds", "halves", "blocks", "few_blocks", "ranked")
    fits = pair.difference.fits
    if fits is None or TESTS[test].needs not in of_fits or np.isnan(fits.values).any():
        return pair.difference.value
    return float(fits.values.mean())


OWN_INTERVAL: Mapping[str, str] = {
    "agreement": "newcombe_paired",
    "mean_losses": "t",
    "folds": "cv_t",
    "trained_folds": "corrected_t",
    "halves": "corrected_t",
}
"""The interval that goes with a test of another name, by what the test needs; else the recommended one."""

NAMED_INSTEAD: Mapping[str, Callable[[IntervalMethod], bool]] = {
    "agreement": lambda method: PairedProportion in method.of,
    "independent": lambda method: method.name == "normal",
    "mean_losses": lambda method: method.name == "t",
}
"""The intervals shown instead where the user names one."""


def interval_for(pair: Pair, test: str, options: Options, level: float) -> Interval:
    """Return the interval shown with a test that does not lead: its own inversion or companion."""
    needs, inverse, delta = TESTS[test].needs, TESTS[test].inverse, pair.difference
    # McNemar's test among the rows of a class has no interval of its own, nor has that of squared errors.
    alone = (needs == "agreement" and delta.agreement is None) or (
        needs == "mean_losses" and delta.metric.per_example is None
    )
    own = None if alone else test if test in INTERVALS else OWN_INTERVAL.get(needs)
    about_examples = needs == "swaps" and (delta.of_folds or delta.of_seeds)
    if needs == "replicates" or about_examples:
        smooth = "bootstrap_bca" if delta.influence is not None else "bootstrap_percentile"
        return resolved(delta, _named(lambda method: method.by_resampling, options) or smooth, level)
    instead = _named(NAMED_INSTEAD[needs], options, but=own) if needs in NAMED_INSTEAD and not alone else None
    if instead is not None:
        return limits(delta, instead, level)
    asked_for = delta.fits is not None or inverse in options.intervals
    if inverse and delta.rows is not None and asked_for:
        return limits(delta, inverse, level)
    return resolved(delta, own or pair.recommended_interval, level)


def recommended_interval(pair: Pair, test: str, level: float) -> Interval:
    """Return the interval of the leading test, which every table, verdict and gate on the difference shows."""
    delta = pair.difference
    of_one_example = delta.fits is not None and delta.fits.of_one_example
    over_fits = delta.fits is not None and not of_one_example
    if TESTS[test].needs == "interval" or not (
        over_fits or delta.sampling.two_sets or not delta.sampling.alike
    ):
        return pair.limits(level)
    return interval_for(pair, test, Options(), level)


def _named(fits: Callable[[IntervalMethod], bool], options: Options, *, but: str | None = None) -> str | None:
    """Return the first fitting interval that the user named; None where there is none."""
    named = (name for name in options.intervals if name in INTERVALS and name != but)
    return next((name for name in named if fits(INTERVALS[name])), None)


def records(
    comparison: Comparison, options: Options, *, primary: bool = False, beside: bool = True
) -> list[ComparisonRecord]:
    """Run the tests of one comparison; adjusted p-values are filled in later, for the family alone.

    A metric that no test tests for equality has one record without a test.
    """
    if definition(comparison.quantity).untested:
        return [_untested(comparison, options)]
    names = tests_for(comparison, options.tests, primary=primary, beside=beside)
    rows = [_record(comparison, name, options, leading=name == names[0]) for name in names]
    again = _with_named_interval(comparison, rows, options)
    return rows if again is None else [*rows, again]


def _with_named_interval(
    comparison: Comparison, rows: Sequence[ComparisonRecord], options: Options
) -> ComparisonRecord | None:
    """Return the leading test once more with the interval that the user named; None where that is shown already."""
    pair, needs = comparison.pair, TESTS[comparison.recommended_test].needs
    if pair is None or needs not in NAMED_INSTEAD or pair.difference.fits is not None:
        return None
    name = _named(NAMED_INSTEAD[needs], options)
    if name is None and "all" in options.intervals:
        name = {"independent": "normal", "mean_losses": "t"}.get(needs)
    if name is None or (needs == "mean_losses" and pair.difference.metric.per_example is None):
        return None
    named = limits(pair.difference, name, options.confidence)
    if named.method in {row.interval_method for row in rows}:
        return None
    leading = replace(rows[0], low=named.low, high=named.high, interval_method=named.method)
    return replace(leading, recommended=False, caution=EXPLORATORY, reason=rows[0].reason or named.reason)


def exploratory_records(others: Sequence[Comparison], options: Options) -> Iterator[ComparisonRecord]:
    """Test exploratory comparisons, pair by pair, freeing each afterwards; records are in the order given."""

    def of_one(comparison: Comparison) -> list[ComparisonRecord]:
        by_place = records(comparison, options)
        comparison.forget()
        return by_place

    by_pair = sorted(range(len(others)), key=lambda j: (others[j].a, others[j].b))
    by_place = dict(zip(by_pair, mapped(of_one, [others[j] for j in by_pair]), strict=True))
    return chain.from_iterable(by_place[j] for j in range(len(others)))


def leading_record(comparison: Comparison, options: Options) -> ComparisonRecord:
    """Run the recommended test of one comparison, and no other; one record without a test where none leads."""
    if definition(comparison.quantity).untested:
        return _untested(comparison, options)
    return _record(comparison, comparison.recommended_test, options, leading=True)


def _outcome(comparison: Comparison, test: str) -> Outcome:
    if comparison.pair is None:
        return Outcome(None, None, reason=comparison.reason)
    missing = test_needs.lacks(comparison.pair, test)
    if missing is not None:
        return Outcome(None, None, reason=Message("reason.refused", why=missing))
    return TESTS[test].run(comparison.pair)


def _record(comparison: Comparison, test: str, options: Options, *, leading: bool) -> ComparisonRecord:
    pair, outcome = comparison.pair, _outcome(comparison, test)
    interval = None
    if pair is not None:
        shown = recommended_interval(pair, test, options.confidence) if leading else None
        interval = shown or interval_for(pair, test, options, options.confidence)
    known = None if pair is None else measured.caution(pair, test)
    return ComparisonRecord(
        a=comparison.a,
        b=comparison.b,
        **comparison.quantity.fields,
        test=test,
        **outcome.fields,
        difference=None if pair is None else tested_difference(pair, test),
        level=options.confidence,
        **limit_fields(interval),
        interval_method=None if interval is None else interval.method,
        recommended=leading,
        caution=parts(EXPLORATORY, known) if known else EXPLORATORY,
        reason=outcome.reason or _floor(outcome, options) or _why_none(pair, interval),
    )


def _untested(comparison: Comparison, options: Options) -> ComparisonRecord:
    """Return the difference on a metric that no test tests for equality, with its interval if it has one."""
    pair = comparison.pair
    interval = (
        None if pair is None else resolved(pair.difference, pair.recommended_interval, options.confidence)
    )
    return ComparisonRecord(
        a=comparison.a,
        b=comparison.b,
        **comparison.quantity.fields,
        test=None,
        **Outcome(None, None).fields,
        difference=None if pair is None else described_difference(pair.difference),
        level=options.confidence,
        **limit_fields(interval),
        interval_method=None if interval is None or interval.low is None else interval.method,
        recommended=False,
        reason=definition(comparison.quantity).untested if pair is not None else comparison.reason,
    )


def _why_none(pair: Pair | None, interval: Interval | None) -> Text | None:
    """Say why there is no interval, or which value stands by convention."""
    return None if pair is None or interval is None else interval.reason or pair.difference.reason


def _floor(outcome: Outcome, options: Options) -> Message | None:
    """Return the reason if too few examples differ for any swap to reach the level."""
    discordant = outcome.details.get("discordant")
    if discordant is None or 2 ** (1 - discordant) <= 1 - options.confidence:
        return None
    return Message("reason.few_swaps", examples=int(discordant), p=min(2 ** (1 - discordant), 1))


def family_caution(comparison: Comparison) -> Message | None:
    """Return the known caution about the recommended test; in the family nothing is exploratory."""
    return None if comparison.pair is None else measured.caution(comparison.pair, comparison.recommended_test)


def oriented(estimate: Estimate | Difference, value: float, options: Options) -> float:
    """Turn a difference so that positive favours the first model."""
    greater = greater_is_better(estimate.quantity, lower_is_better=options.lower_is_better)
    return value if greater else -value


def compare_all(
    samples: Sequence[Sample], quantities: Sequence[Quantity], options: Options
) -> list[Comparison]:
    """Set up every pair on every quantity: of one sample of all models, or of one sample a model."""
    together = len(samples) == 1
    return (
        compare(samples[0], quantities, options) if together else compare_apart(samples, quantities, options)
    )


def compare_apart(
    samples: Sequence[Sample], quantities: Sequence[Quantity], options: Options
) -> list[Comparison]:
    """Set up every pair on every quantity; nothing is tested yet.

    Parameters
    ----------
    samples
        One a model, each on a test set of its own (``--join independent``), or with training seeds of its own.
    """
    by_model = {sample.predictions.models[0].name: sample for sample in samples}
    pairs = model_pairs(list(by_model), options.baseline)
    return [
        Comparison(a, b, q, partial(_independent_pair, by_model, a, b, q, options))
        for q in quantities
        for a, b in pairs
    ]


def _independent_pair(
    samples: Mapping[str, Sample], a: str, b: str, quantity: Quantity, options: Options
) -> Pair | Text:
    first, second = samples[a].estimates[a, quantity], samples[b].estimates[b, quantity]
    lacking = why_not(first, second)
    if lacking is not None:
        return lacking
    subtract = unpaired_difference if options.join == "independent" else paired_difference
    return Pair(
        a=first,
        b=second,
        difference=subtract(first, second),
        design=samples[a].predictions.design,
        greater_is_better=greater_is_better(quantity, lower_is_better=options.lower_is_better),
        margin=options.margin,
        seed=options.seed,
        horizon=options.horizon or 1,
    )
