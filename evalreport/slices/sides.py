"""What a comparison of a slice needs, kept small: values, counts and sums, not the replicates they came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.intervals.choice import leading, table_function
from evalreport.intervals.proportions import quantile
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.label_estimates import table_function as of_margins
from evalreport.metrics.quantities import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.records import Slice
from evalreport.slices.groups import Group, Sampler, sampled_alone
from evalreport.slices.judging import LEAST_EXAMPLES, too_small
from evalreport.slices.limits import Successes
from evalreport.slices.spread import Shares, shares_of_rest, shares_of_whole
from evalreport.texts import Text

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Side:
    """One model's value of one quantity in one slice, and what it is compared with.

    Attributes
    ----------
    whole_value, rest_value
        Over all examples; over those outside the slice (primary metric only).
    estimate
        The slice's; without replicates and derivatives where influence values serve.
    error, df
        Its standard error with the factors of its own units, and their degrees of freedom; None without influence
        values, or with fewer than two units.
    both
        Successes inside and outside the slice, where the value is a binomial proportion.
    with_whole, with_rest
        Sums of influence values.
    small
        Why the slice is too small to be judged; None where it is not.
    """

    name: Slice
    model: str
    quantity: Quantity
    estimate: Estimate | None
    whole_value: float
    rest_value: float
    error: float | None
    df: float | None
    both: Successes | None
    with_whole: Shares | None
    with_rest: Shares | None
    small: Text | None

    @property
    def value(self) -> float:
        """The value in the slice; nan where it is undefined."""
        return float("nan") if self.estimate is None else self.estimate.value

    @property
    def large(self) -> bool:
        """Whether the slice is judged and holds so many examples that its place among the others means something."""
        return self.small is None and self.estimate is not None and self.estimate.n >= LEAST_EXAMPLES

    @property
    def compared(self) -> bool:
        """Whether there is a value that a difference may be taken of."""
        return self.estimate is not None and self.estimate.defined


def sides_of(
    group: Group,
    wholes: Sequence[Sample],
    quantities: Sequence[Quantity],
    predictions: Predictions,
    options: Options,
    sampler: Sampler,
) -> Iterator[Side]:
    """Yield what the comparisons of one slice need, model by model; the primary quantity is the first."""
    primary = quantities[0]
    others = np.setdiff1d(np.arange(predictions.n), group.rows, assume_unique=True)
    rests = sampled_alone(predictions, others, (primary,), sampler, 1) if len(others) else ()
    for whole in wholes:
        for model in whole.predictions.models:
            part = group.sample_of(model.name)
            places = _places(predictions, model.name, group.rows)
            rest = next((s for s in rests if any(m.name == model.name for m in s.predictions.models)), None)
            of_all = whole.estimates[model.name, primary]
            of_slice = None if part is None else part.estimates[model.name, primary]
            here = None if part is None else part.predictions
            margins = of_slice is not None and _both(of_slice, of_all) is not None
            small = too_small(of_slice, here, whole.predictions, by_margins=margins)
            for quantity in quantities:
                side = _side(group.name, part, whole, places, (model.name, quantity), small, options)
                if quantity == primary and rest is not None and part is not None:
                    rest_places = _places(predictions, model.name, others)
                    side = _with_rest(side, part, rest, whole, (places, rest_places), options)
                yield side


def compared_quantities(quantities: Sequence[Quantity], options: Options) -> tuple[Quantity, ...]:
    """Return the quantities whose differences between slices mean something, the primary one first.

    Sums over the examples do not: they depend on how many there are. Single classes only where named.
    """
    kept = [q for q in quantities[1:] if not definition(q).extensive and (q.label is None or options.metrics)]
    return (quantities[0], *kept)


def direction(quantity: Quantity, options: Options) -> int:
    """Return 1 where a greater value is better, -1 where a smaller one is, 0 where neither is."""
    if definition(quantity).greater_is_better is None:
        return 0
    return 1 if greater_is_better(quantity, lower_is_better=options.lower_is_better) else -1


def _places(predictions: Predictions, model: str, rows: Indices) -> Indices:
    """Return where some rows stand among those that a model has; rows that it has not are left out."""
    present = next(m.present for m in predictions.models if m.name == model)
    if present is None:
        return rows
    place = np.cumsum(present) - 1
    return np.asarray(place[rows[present[rows]]], dtype=np.int64)


def _side(
    name: Slice,
    part: Sample | None,
    whole: Sample,
    places: Indices,
    key: tuple[str, Quantity],
    small: Text | None,
    options: Options,
) -> Side:
    of_all = whole.estimates[key]
    nothing = Side(name, *key, None, of_all.value, float("nan"), None, None, None, None, None, small)
    if part is None or not of_all.defined:
        return nothing
    own = part.estimates[key]
    if not own.defined:
        return replace(nothing, estimate=_light(own))
    shares = shares_of_whole(part, whole, places, *key)
    if shares is not None and shares.own == 0:
        shares = _at_the_edge(shares, own, of_all.value, part, options)
    return replace(
        nothing,
        estimate=_light(own) if own.derivative is not None else own,
        error=None if own.derivative is None else own.corrected_error,
        df=own.df,
        both=_both(own, of_all),
        with_whole=shares,
    )


def _with_rest(
    side: Side, part: Sample, rest: Sample, whole: Sample, places: tuple[Indices, Indices], options: Options
) -> Side:
    key = (side.model, side.quantity)
    other = rest.estimates[key]
    if not side.compared or not other.defined:
        return side
    shares = shares_of_rest(part, rest, whole, places, *key)
    if shares is not None and shares.own == 0:
        shares = _at_the_edge(shares, part.estimates[key], other.value, part, options)
    return replace(side, rest_value=other.value, with_rest=shares)


def _both(own: Estimate, of_all: Estimate) -> Successes | None:
    on_another_scale = own.metric.affine_of is not None
    if on_another_scale or own.trials is None or of_all.trials is None:
        return None
    if own.successes is None or of_all.successes is None:
        return None
    return Successes(own.successes, own.trials, of_all.successes - own.successes, of_all.trials - own.trials)


def _light(estimate: Estimate) -> Estimate:
    """Drop what is as long as the data or the replicates."""
    return replace(estimate, derivative=None, counts=None, replicates=None, positive=None, paired=None)


def _at_the_edge(
    shares: Shares, estimate: Estimate, reference: float, part: Sample, options: Options
) -> Shares:
    """Let the slice's recommended interval stand for its spread where nothing varies in it, as at F1 = 0."""
    value_of = None
    if estimate.table is not None:
        value_of = table_function(of_margins(estimate.quantity, part.predictions))
    interval = leading(estimate, options.confidence, value_of)
    if interval.low is None or interval.high is None:
        return shares
    towards = interval.high - estimate.value if reference > estimate.value else estimate.value - interval.low
    error = towards / quantile(options.confidence)
    return replace(shares, own=error**2, shared=0.0)
