"""The difference of two models' values, of the same examples or of two test sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.engine.ranks import AGREEMENT
from evalreport.metrics import evidence
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.estimate import Estimate, Sampled
from evalreport.metrics.metric import Metric
from evalreport.metrics.registry import Quantity
from evalreport.predictions.arrays import Floats, required
from evalreport.samplings import Influence, TwoTestSets
from evalreport.texts import Message, Text, parts


@dataclass(frozen=True, kw_only=True)
class Difference(Sampled):
    """The difference a - b of two models' values of one quantity."""

    a: Estimate
    b: Estimate

    @property
    def quantity(self) -> Quantity:
        """The quantity that both are values of."""
        return self.a.quantity

    @property
    def metric(self) -> Metric:
        """The registered metric."""
        return self.a.metric

    @property
    def reason(self) -> Text | None:
        """Which of the values stands by convention, and why."""
        reasons = [
            Message("undefined.of_model", model=e.model, reason=e.reason)
            for e in (self.a, self.b)
            if e.reason
        ]
        return parts(*reasons) if reasons else None

    @property
    def defined(self) -> bool:
        """Whether there is a value that intervals may be built around."""
        return not np.isnan(self.value)

    @property
    def rarest(self) -> float | None:
        """Examples of the rarest class in the first model's test set."""
        return self.a.rarest

    @property
    def rows(self) -> CountedRows | None:
        """The differences by fit where there are several fits, else by example where the metric is their mean."""
        if self.fits is not None:
            if np.isnan(self.fits.values).any():
                return None
            sides = (side.fits for side in (self.a, self.b))
            compared = max((float(np.abs(one.values).max()) for one in sides if one is not None), default=0.0)
            return CountedRows(self.fits.values, compared=compared)
        pairing = self.evidence
        if isinstance(pairing, evidence.PairedProportion | evidence.PairedMean):
            return pairing.differences
        return None

    @property
    def agreement(self) -> tuple[float, float, float, float] | None:
        """Of two proportions of the same examples: those on which both are right, only a, only b, neither."""
        return self.evidence.table if isinstance(self.evidence, evidence.PairedProportion) else None

    @property
    def shares(self) -> tuple[float, float, float, float] | None:
        """Of two shares of the same examples, all or those of a class: counts of both, only a, only b, neither."""
        within = self.evidence.within_class if isinstance(self.evidence, evidence.PairedLabels) else None
        return self.agreement or within

    @property
    def sides(self) -> tuple[Sampled, ...]:
        """The values that are subtracted."""
        return self.a, self.b

    @property
    def examples_known(self) -> bool:
        """As of a single value; of two test sets of both."""
        if self.sampling.two_sets:
            return self.a.examples_known and self.b.examples_known
        return super().examples_known

    @property
    def of_base(self) -> Difference:
        """The same on the scale of the metric that this one's is another scale of (``affine_of``), else itself."""
        return self if self.metric.scale.affine_of is None else self._rescaled

    @cached_property
    def _rescaled(self) -> Difference:
        scale = required(self.metric.scale.affine_of)
        in_units = evidence.scaled(self.evidence, 1 / scale.slope)
        return replace(
            self._back(replace(scale, offset=0.0)), a=self.a.of_base, b=self.b.of_base, evidence=in_units
        )


def paired_difference(a: Estimate, b: Estimate) -> Difference:
    """Return a - b on the same examples under the same draws: that is the pairing."""
    (low, high), fits = a.range, None
    if a.fits is not None and b.fits is not None and a.fits.names == b.fits.names:
        fits = replace(a.fits, values=a.fits.values - b.fits.values)
    difference = Difference(
        a=a,
        b=b,
        value=_subtracted_value(a.value, b.value),
        range=(low - high, high - low),
        sampling=a.sampling,
        evidence=_paired_evidence(a, b),
        influence=_subtracted_influence(a, b, by_fit=fits is not None),
        replicates=_replicates(a, b),
        fits=fits,
    )
    return _without_rounding(difference) if fits is None else difference


def _subtracted_value(a: float, b: float) -> float:
    """Return a - b, and 0 of two values that only rounding tells apart: the sums of one column in two orders."""
    return 0.0 if abs(a - b) <= AGREEMENT * max(abs(a), abs(b)) else a - b


def _without_rounding(difference: Difference) -> Difference:
    """Return a difference of 0 without error where value and influence values are rounding; else it as it is.

    Intervals y - 0.7 to y + 0.5 and y - 0.5 to y + 0.7 have one width, and their numbers differ in the last bit.
    """
    influence, replicates = difference.influence, difference.replicates
    size = AGREEMENT * max(abs(difference.a.value), abs(difference.b.value))
    if influence is None or not abs(difference.value) <= size or not len(influence.values):
        return difference
    largest = float(np.abs(influence.values).max()) * float(influence.counts.sum())
    if not largest <= size or largest == 0 == difference.value:
        return difference
    return replace(
        difference,
        value=0.0,
        influence=influence.scaled(0.0),
        replicates=None if replicates is None else np.zeros_like(replicates),
    )


PAIRED: Mapping[type, Callable[..., evidence.OfDifference]] = {
    evidence.RankedClasses: evidence.PairedClasses,
    evidence.Ranking: evidence.PairedRanking,
    Risks: evidence.PairedRisks,
    evidence.Scores: evidence.PairedScores,
    evidence.SumsByUnit: evidence.PairedSums,
}
"""The evidence of a difference, by that of both values; else there is none beside theirs."""


def _paired_evidence(a: Estimate, b: Estimate) -> evidence.OfDifference:
    kind, other = type(a.evidence), type(b.evidence)
    return PAIRED[kind](a.evidence, b.evidence) if kind is other and kind in PAIRED else evidence.Paired()


def _subtracted_influence(a: Estimate, b: Estimate, *, by_fit: bool) -> Influence | None:
    one, other = a.influence, b.influence
    if one is None or other is None:
        return None
    return Influence(
        cache(lambda: _subtracted(one.values, other.values)),
        one.counts,
        _of_both(one.by_fit, other.by_fit) if by_fit else None,
        # Models trained with seeds of their own do not have the same rows.
        _of_both(one.by_example, other.by_example) if by_fit or a.fits is None else None,
    )


def _of_both(
    first: Callable[[], Floats] | None, second: Callable[[], Floats] | None
) -> Callable[[], Floats] | None:
    return None if first is None or second is None else lambda: _subtracted(first(), second())


def _replicates(a: Estimate, b: Estimate) -> Floats | None:
    return None if a.replicates is None or b.replicates is None else a.replicates - b.replicates


def _subtracted(a: Floats, b: Floats) -> Floats:
    """Return a - b; influences that cancel up to rounding cancel: a model against itself has no error at all."""
    difference = a - b
    return np.where(np.abs(difference) <= 1e-12 * np.abs(a), 0.0, difference)


def unpaired_difference(a: Estimate, b: Estimate) -> Difference:
    """Return a - b on two independent test sets: variances add, and the replicates must come from separate draws."""
    low, high = a.range
    influence = None
    if a.influence is not None and b.influence is not None:
        influence = Influence(
            np.concatenate([a.influence.values, -b.influence.values]),
            np.concatenate([a.influence.counts, b.influence.counts]),
        )
    first, second = a.evidence, b.evidence
    both: evidence.Evidence = evidence.TwoSets()
    if (
        isinstance(first, evidence.Proportion)
        and isinstance(second, evidence.Proportion)
        and first.trials
        and second.trials
    ):
        both = evidence.TwoProportions(first, second)
    elif isinstance(first, evidence.PredictionPowered) and isinstance(second, evidence.PredictionPowered):
        both = evidence.PredictionPowered(min(first.gold, second.gold), min(first.rest, second.rest), np.nan)
    return Difference(
        a=a,
        b=b,
        value=_subtracted_value(a.value, b.value),
        range=(low - high, high - low),
        sampling=TwoTestSets.of(a.sampling, b.sampling),
        evidence=both,
        influence=influence,
        replicates=_replicates(a, b),
    )
