"""Every pair of models on every quantity: what the tests are given, and the records of what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.registry import TESTS, Outcome, Pair
from evalreport.comparisons.swaps import Swapped, swap_distributions
from evalreport.config import Options
from evalreport.intervals import INTERVALS, limits, recommended
from evalreport.intervals.choice import table_function as as_tables
from evalreport.metrics.estimate import Estimate, difference
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.quantities import Quantity, definition, greater_is_better
from evalreport.metrics.registry import weighted_mean
from evalreport.metrics.sample import Sample
from evalreport.results import ComparisonRecord, Interval

Floats = npt.NDArray[np.float64]

EXPLORATORY = "exploratory: not corrected for the number of tests"

RIGHT_OR_WRONG = ("accuracy", "mean_outcome")
"""The metrics that are means of right (1) and wrong (0), so that two models have discordant examples."""

BESIDE: Mapping[str, tuple[str, ...]] = {
    "mcnemar_midp": ("mcnemar_exact", "mcnemar", "mcnemar_corrected", "bootstrap_difference"),
    "delong": ("bootstrap_difference", "permutation"),
    "paired_t": ("bootstrap_difference", "permutation"),
    "permutation": ("bootstrap_difference",),
    "bootstrap_difference": ("permutation",),
}
"""The tests shown beside the recommended one, unless others are named."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pair on one quantity with everything computed: ``pair`` is None where a model lacks the quantity."""

    a: str
    b: str
    quantity: Quantity
    pair: Pair | None
    reason: str | None

    @property
    def recommended_test(self) -> str:
        """The test that leads for this quantity."""
        test = definition(self.quantity).test
        if self.pair is None:
            return test
        delta = self.pair.difference
        if self.pair.swapped is None and TESTS[test].needs == "swaps":
            return "bootstrap_difference"
        if delta.clusters is not None:
            return "permutation" if self.pair.swapped is not None else "bootstrap_difference"
        if delta.weighted:
            return "bootstrap_difference"
        if self.quantity.metric == "mean_outcome":
            test = "mcnemar_midp" if delta.agreement is not None else "paired_t"
        if self.pair.swapped is not None and TESTS[test].function(self.pair).p_value is None:
            return "permutation"  # nothing to estimate a spread from, as for a perfect and a constant ranking
        return test


def model_pairs(models: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return every pair (a before b by name), or every other model against the baseline."""
    if baseline is not None:
        return [(name, baseline) for name in models if name != baseline]
    return list(combinations(models, 2))


def compare(sample: Sample, quantities: Sequence[Quantity], options: Options) -> list[Comparison]:
    """Set up every pair on every quantity that can be compared; nothing is tested yet."""
    models = [m.name for m in sample.predictions.models]
    pairs = model_pairs(models, options.baseline)
    swaps = swap_distributions(sample, pairs, quantities, n_resamples=options.resamples, seed=options.seed)
    return [_comparison(sample, a, b, quantity, swaps) for quantity in quantities for a, b in pairs]


def comparable(quantities: Sequence[Quantity], named: bool) -> tuple[Quantity, ...]:
    """Return the quantities that tests are run on: overall and averaged ones; single classes only where named."""
    return tuple(
        q for q in quantities if definition(q).greater_is_better is not None and (named or q.label is None)
    )


def _comparison(
    sample: Sample, a: str, b: str, quantity: Quantity, swaps: Mapping[tuple[str, str, Quantity], Swapped]
) -> Comparison:
    first, second = sample.estimates[a, quantity], sample.estimates[b, quantity]
    lacking = [f"{e.model}: {e.reason}" for e in (first, second) if not e.defined]
    if lacking:
        return Comparison(a, b, quantity, None, "; ".join(lacking))
    delta = difference(first, second)
    if first.table is not None:
        delta = replace(delta, value_of=as_tables(table_function(quantity, sample.predictions)))
    losses = _losses(sample, a, b, quantity)
    right_or_wrong = quantity.metric in RIGHT_OR_WRONG and first.trials is not None
    if right_or_wrong and second.trials is not None:
        assert losses is not None
        delta = replace(delta, agreement=agreement(losses))
    swapped = swaps.get((a, b, quantity))
    pair = Pair(
        first,
        second,
        delta,
        losses,
        None if swapped is None else swapped.differences,
        None if swapped is None else swapped.weights,
    )
    return Comparison(a, b, quantity, pair, None)


def agreement(right: Floats) -> tuple[float, float, float, float]:
    """Count the examples on which both (first, second), only the first, only the second, neither is right: (n, 2)."""
    first, second = right[:, 0] == 1, right[:, 1] == 1
    counts = (first & second, first & ~second, ~first & second, ~first & ~second)
    both, only_first, only_second, neither = (float(c.sum()) for c in counts)
    return both, only_first, only_second, neither


def _losses(sample: Sample, a: str, b: str, quantity: Quantity) -> Floats | None:
    """Return (n, 2) per-example values where the quantity is their mean: losses, outcomes, or right and wrong."""
    if quantity.metric == "accuracy":
        outputs = {m.name: m.y_pred for m in sample.predictions.models}
        return np.column_stack([outputs[name] == sample.predictions.y_true for name in (a, b)]).astype(
            np.float64
        )
    if definition(quantity).function is not weighted_mean:
        return None
    return np.column_stack([sample.rows.columns[name, quantity][:, 1] for name in (a, b)])


# --- records --------------------------------------------------------------------------------------------------------


def tests_for(comparison: Comparison, named: Sequence[str]) -> list[str]:
    """Return the tests to run on a comparison, the recommended one first: those named, or the ones beside it."""
    first = comparison.recommended_test
    if tuple(named) == ("all",):
        names: Sequence[str] = list(TESTS)
    else:
        names = named or BESIDE.get(first, ())
    return [first, *(name for name in dict.fromkeys(names) if name != first and _carries(comparison, name))]


def _carries(comparison: Comparison, name: str) -> bool:
    """Say whether a quantity can carry a test at all."""
    pair, needs = comparison.pair, TESTS[name].needs
    if pair is None:
        return False
    return {
        "agreement": comparison.quantity.metric in RIGHT_OR_WRONG,
        "losses": pair.losses is not None,
        "placements": comparison.quantity.metric == "roc_auc",
        "replicates": True,
        "swaps": pair.swapped is not None,
    }[needs]


def _refusal(pair: Pair, test: str) -> str | None:
    """Say why a test that the metric could carry is refused on these examples; None if it is not."""
    needs, delta = TESTS[test].needs, pair.difference
    if needs in ("agreement", "placements"):
        if delta.clusters is not None:
            return "refused: the test assumes independent examples; here whole clusters are drawn"
        if delta.weighted:
            return "refused: the test assumes that every example counts the same; here examples have weights"
    if needs == "agreement" and delta.agreement is None:
        return "refused: the outcomes are not all 0 or 1"
    return None


def interval_for(pair: Pair, test: str, options: Options, level: float) -> Interval:
    """Return the interval that stands beside a test: its own inversion or companion."""
    needs = TESTS[test].needs
    own = {"agreement": "newcombe_paired", "losses": "t", "placements": "delong"}
    if needs == "agreement" and "tango" in options.intervals:
        return limits(pair.difference, "tango", level)
    if needs == "replicates":
        named = [
            name for name in options.intervals if name in INTERVALS and INTERVALS[name].kind == "bootstrap"
        ]
        smooth = "bootstrap_bca" if pair.difference.derivative is not None else "bootstrap_percentile"
        return limits(pair.difference, named[0] if named else smooth, level)
    return limits(pair.difference, own.get(needs, recommended(pair.difference)), level)


def records(comparison: Comparison, options: Options) -> list[ComparisonRecord]:
    """Run the tests of one comparison; adjusted p-values are filled in later, for the family alone."""
    names = tests_for(comparison, options.tests)
    return [_record(comparison, name, options, leading=name == names[0]) for name in names]


def _record(comparison: Comparison, test: str, options: Options, *, leading: bool) -> ComparisonRecord:
    pair = comparison.pair
    refusal = comparison.reason if pair is None else _refusal(pair, test)
    outcome = Outcome(None, None, reason=refusal)
    interval = None
    if pair is not None and refusal is None:
        outcome = TESTS[test].function(pair)
        interval = interval_for(pair, test, options, options.confidence)
    return ComparisonRecord(
        a=comparison.a,
        b=comparison.b,
        metric=comparison.quantity.metric,
        average=comparison.quantity.average,
        label=comparison.quantity.label,
        slice=None,
        test=test,
        statistic=outcome.statistic,
        df=outcome.df,
        p_value=outcome.p_value,
        p_adjusted=None,
        correction=None,
        difference=None if pair is None else pair.difference.value,
        level=options.confidence,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        interval_method=None if interval is None else interval.method,
        effect=outcome.effect,
        effect_size=outcome.effect_size,
        recommended=leading,
        caution=EXPLORATORY,
        reason=outcome.reason or (None if interval is None else interval.reason),
    )


def oriented(estimate: Estimate, value: float, options: Options) -> float:
    """Turn a difference so that positive favours the first model."""
    greater = greater_is_better(estimate.quantity, lower_is_better=options.lower_is_better)
    return value if greater else -value
