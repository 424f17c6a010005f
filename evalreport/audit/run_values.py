"""A model's value on the examples that are new in a run, as it is computed and as the history keeps it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.audit.past import evidence_kept
from evalreport.audit.run_alarm import Scale
from evalreport.errors import UsageError
from evalreport.history.store import Run
from evalreport.intervals import INTERVALS, leading, recommended
from evalreport.intervals.proportions import quantile
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.fits import each_apart
from evalreport.metrics.probabilities import SQUARES
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Column, Predictions
from evalreport.schema.audit import EvidenceRecord
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text

LEAST_NEW = 10
"""New examples below which a run has no value of its own."""
LEAST_ACCEPTED = 5
"""The same of an accepted run: with fewer examples accepted nothing is an alarm."""
NEGLIGIBLE = 1e-12
"""A weight this near to 1 is 1."""
LEVEL = 0.95
"""Level of the interval that the one-run alarm takes a value's standard error from."""
DIVISIBLE = frozenset({"test-set", "seeds"})
"""Designs whose new examples can be analysed without the others; in other designs a run is new as a whole or not."""

Shares = Mapping[str, float]
"""The share of each class, by its label."""


@dataclass(frozen=True, slots=True)
class RunValue:
    """A metric's value on the new examples of one run, its standard error (0: unknown), and their number.

    ``at_shares``: value and standard error with the classes weighted as they were in the accepted runs; None: no
    classes, or the same shares.
    """

    value: float
    error: float
    n: int
    at_shares: tuple[float, float] | None = None

    @property
    def compared(self) -> tuple[float, float]:
        """The value and the standard error that alarms compare."""
        return self.at_shares or (self.value, self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A metric's value on some rows of one run, with what the one-run alarm needs.

    Attributes
    ----------
    value
        The value with the standard error of its influence values, and the number of units.
    from_interval
        The standard error by the recommended interval, (high - low) / (2 z), which is never 0; None: no interval.
    below, above
        The distances of the value from the limits of that interval over z: the standard errors of an accepted value on
        the side of a fall and of a rise (``from_interval`` where the value lies at its limit).
    strata
        Of a share of examples that count the same, (k, 2): those that count and all, by true class where it is a share
        of all rows; None: other metrics.
    least_n
        The number of units; of a metric of classes the number of rows of the rarest class.
    scale
        What values of the metric mean on these rows.
    """

    value: RunValue
    from_interval: float | None
    below: float
    above: float
    strata: Floats | None
    least_n: int
    scale: Scale

    @property
    def stretch(self) -> float:
        """How much larger the standard error is at the accepted shares of the classes."""
        error, own = self.value.compared[1], self.value.error
        return error / own if error > 0 and own > 0 else 1.0

    @property
    def error_now(self) -> float:
        """The standard error of a run that is compared; 0: it has no interval."""
        return (self.from_interval or 0.0) * self.stretch

    def accepted_error(self, *, rise: bool) -> float:
        """Return the standard error as an accepted value, on the side on which another value lies."""
        return max(self.value.compared[1], (self.above if rise else self.below) * self.stretch)


def value_on_new(
    predictions: Predictions,
    model: str,
    quantity: Quantity,
    options: Options,
    new: Mask,
    *,
    within: Mask | None = None,
    least: int = LEAST_NEW,
    shares: Shares | None,
) -> Measured | Text:
    """Return a model's value on the examples that are new, or the reason why it has none.

    Parameters
    ----------
    new
        (examples,) which examples are new.
    within
        (n,) the rows of a slice; None: all rows.
    least
        New examples below which there is no value.
    shares
        The shares of the classes at which runs are compared; None: as they are.
    """
    if not new.all() and predictions.design not in DIVISIBLE:
        return Message("night.indivisible", design=predictions.design)
    outputs = next((m for m in predictions.models if m.name == model), None)
    if outputs is None:
        return Message("night.no_model", model=model)
    own = new[predictions.example]
    inside = own if outputs.present is None else own & outputs.present
    if within is not None:
        inside = inside & within
    n = len(np.unique(_units(predictions, options)[inside]))
    if n < least:
        return Message("night.too_few", n=n, least=least)
    part = each_apart(subset(replace(predictions, models=(outputs,)), np.flatnonzero(inside)))[0]
    try:
        estimate = _estimate(part, model, quantity, options)
    except UsageError as error:
        return Message("night.refused", why=str(error))
    if not math.isfinite(estimate.value):
        return estimate.reason or Message("night.undefined", metric=quantity.spelled)
    limits = leading(estimate, LEVEL)
    low, high = limits.low or 0.0, limits.high or 0.0
    half = (high - low) / 2 / quantile(LEVEL)
    sides = (estimate.value - low, high - estimate.value)
    below, above = (side / quantile(LEVEL) if side > 0 else half for side in sides)
    at_shares = None if shares is None else _at_shares(part, model, quantity, options, shares)
    return Measured(
        value=RunValue(float(estimate.value), estimate.standard_error or 0.0, n, at_shares),
        from_interval=half or None,
        below=below,
        above=above,
        strata=_strata(estimate),
        least_n=_least_n(part, quantity, n),
        scale=_scale(estimate, quantity, options),
    )


def _units(predictions: Predictions, options: Options) -> Indices:
    """Return the independent unit of each row: its example, or its cluster."""
    if options.cluster is None:
        return predictions.example
    column = predictions.metadata.get(options.cluster) or predictions.keys.get(options.cluster)
    if column is None:
        return predictions.example  # the earlier run did not keep it
    return np.unique(column.values, return_inverse=True)[1].astype(np.int64)


def _estimate(part: Predictions, model: str, quantity: Quantity, options: Options) -> Estimate:
    """Estimate a value; replicates are drawn only where its interval needs them."""
    for resamples in (1, options.resamples):
        sample = estimate_table(part, [quantity], replace(options, resamples=resamples), seed=options.seed)
        estimate = sample.estimates[model, quantity]
        if not INTERVALS[recommended(estimate)].by_resampling:
            break
    return estimate


CLASS_WEIGHTS = "weights of the classes at the accepted shares"
"""The column of the weights, beside those of the run."""


def class_shares(runs: Sequence[tuple[Predictions, Mask]], options: Options) -> Shares | None:
    """Return the share of each class in all rows of some runs, by weight; None: no classes.

    Parameters
    ----------
    runs
        Predictions, and which of their rows count.
    """
    totals: dict[str, float] = {}
    for predictions, rows in runs:
        if predictions.y_true is None or not predictions.classes:
            return None
        inside = rows & (predictions.y_true >= 0)
        weights = _row_weights(predictions, options)
        sums = np.bincount(predictions.y_true[inside], None if weights is None else weights[inside])
        for code in np.flatnonzero(sums):
            label = predictions.classes[int(code)]
            totals[label] = totals.get(label, 0.0) + float(sums[code])
    whole = math.fsum(totals.values())
    return {label: total / whole for label, total in totals.items()} if whole > 0 else None


def _row_weights(predictions: Predictions, options: Options) -> Floats | None:
    column = None if options.weight is None else predictions.metadata.get(options.weight)
    return None if column is None else np.asarray(column.values, dtype=np.float64)


def _at_shares(
    part: Predictions, model: str, quantity: Quantity, options: Options, shares: Shares
) -> tuple[float, float] | None:
    """Return a value and its standard error with the classes weighted to given shares; None: nothing to weight.

    Classes that the shares don't have are left out; of those that this run doesn't have the others take the place.
    """
    own = class_shares([(part, np.ones(part.n, dtype=bool))], options)
    there = None if own is None else math.fsum(shares.get(label, 0.0) for label in own)
    if own is None or part.y_true is None or not there:
        return None
    factors = {label: shares.get(label, 0.0) / there / share for label, share in own.items()}
    if all(abs(factor - 1) < NEGLIGIBLE for factor in factors.values()):
        return None
    by_code = np.array([factors.get(label, 0.0) for label in part.classes])
    weights = np.where(part.y_true >= 0, by_code[part.y_true], 0.0)
    before = _row_weights(part, options)
    column = Column(weights if before is None else weights * before)
    weighted = subset(
        replace(part, metadata={**part.metadata, CLASS_WEIGHTS: column}), np.flatnonzero(weights > 0)
    )
    plain = replace(options, weight=CLASS_WEIGHTS, fixed_class_counts=False, resamples=1)
    try:
        sample = estimate_table(weighted, [quantity], plain, seed=options.seed)
    except UsageError:
        return None
    estimate = sample.estimates[model, quantity]
    error = estimate.standard_error
    return (float(estimate.value), error) if math.isfinite(estimate.value) and error is not None else None


def _least_n(part: Predictions, quantity: Quantity, n: int) -> int:
    metric = definition(quantity)
    if metric.is_mean or part.y_true is None or not part.classes:
        return n
    counts = np.bincount(part.y_true[part.y_true >= 0])
    return min(n, int(counts[counts > 0].min()))


def _strata(estimate: Estimate) -> Floats | None:
    """Return the examples of a share that count, and all, (k, 2): of all rows by their true class."""
    evidence = estimate.evidence
    if not isinstance(evidence, Proportion) or estimate.metric.scale.affine_of is not None:
        return None
    whole = np.array([[evidence.successes, evidence.trials]])
    if evidence.table is None or evidence.trials != evidence.table.counts.sum():
        return whole
    counts = evidence.table.counts
    right = np.diag(counts)
    if evidence.successes != right.sum():  # an error rate
        right = counts.sum(axis=1) - right
    return np.column_stack([right, counts.sum(axis=1)]) if right.sum() == evidence.successes else whole


def _scale(estimate: Estimate, quantity: Quantity, options: Options) -> Scale:
    metric = definition(quantity)
    least, greatest = estimate.range
    without_direction = metric.scale.greater_is_better is None
    spread = None
    if metric.is_mean and estimate.influence is not None and not math.isfinite(least):
        rows = estimate.value + estimate.influence.values * len(estimate.influence.values)
        spread = float(rows.std()) if rows.min() < 0 < rows.max() else None
    better = greater_is_better(quantity, lower_is_better=options.lower_is_better)
    return Scale(
        greater_is_better=None if without_direction else better,
        least=float(least),
        greatest=float(greatest),
        squared=metric.is_mean and metric.losses == SQUARES,
        sd_of_rows=spread,
    )


def kept_value(run: Run, model: str, quantity: Quantity) -> RunValue | None:
    """Return the value on new examples that a run kept of a model; None where it had none."""
    evidence = evidence_kept(run)
    kept = evidence.get("models", {}).get(model)
    if kept is None or kept[0] != quantity.spelled:
        return None
    at_shares = (evidence.get("at_shares") or {}).get(model)
    _, value, error, n = kept
    return RunValue(value, error, n, None if at_shares is None else (at_shares[0], at_shares[1]))


def to_keep(records: Sequence[EvidenceRecord]) -> JsonObject:
    """Return the part of a run's evidence that its summary keeps for later runs."""
    if not records:
        return {}
    first = records[0]
    models = {r.model: [r.metric, r.value, r.standard_error or 0.0, r.n_new] for r in records if r.n_new}
    at_shares = {r.model: list(r.at_shares) for r in records if r.at_shares}
    facts = {name: getattr(first, name) for name in ("look", "compared", "horizon", "answers")}
    lists = {"accepted": list(first.accepted), "ids": list(first.id_sample)}
    return {**facts, **lists, "models": models, "at_shares": at_shares}
