"""Error estimates from bootstrap replicates that predict all examples: B1, out-of-bag, .632 and .632+."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.data.selection import subset
from evalreport.learning.no_information import no_information_rate
from evalreport.learning.optimism import (
    OutOfBag,
    bootstrap_632,
    bootstrap_632plus,
    optimism_by_example,
    out_of_bag,
)
from evalreport.learning.precision import Precision, over_examples
from evalreport.learning.replicates import Replicates, is_mean_of_losses, model_losses
from evalreport.metrics.fits import fit_values
from evalreport.metrics.layout import Layout, Parts
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.row_estimates import RowData
from evalreport.metrics.sample import Sample, lacks
from evalreport.metrics.units import Units
from evalreport.metrics.views import value_range, view
from evalreport.texts import Message, Text

Floats = npt.NDArray[np.float64]
Values = Mapping[tuple[str, Quantity], Floats]

NO_APPARENT = Message("estimator.no_apparent")
NO_WHOLE = Message("estimator.no_whole")
NO_RATE = Message("estimator.no_rate")
INTERPOLATES = Message("estimator.interpolates")
OUT_OF_RANGE = Message("estimator.out_of_range")
NO_SPREAD = Message("estimator.no_spread")
OTHER_SIZE = Message("estimator.other_size")
NEARLY_NONE = 0.1
"""An apparent error below this share of the out-of-bag error is next to none (docs/estimators.md)."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """One estimate: its value or the reason why there is none, its precision, and the numbers that it was made of."""

    value: float
    details: Mapping[str, Any]
    precision: Precision | None = None
    reason: Text | None = None


def bootstrap_estimates(
    predictions: Predictions,
    replicates: Replicates,
    quantities: Sequence[Quantity],
    *,
    cluster: npt.NDArray[np.int64] | None,
    level: float,
) -> dict[tuple[str, Quantity, str], Estimated]:
    """Estimate every quantity of every model in the four ways, and by resubstitution.

    Parameters
    ----------
    predictions
        The whole table, rows in the bag included.
    replicates
        With ``inbag``.
    cluster
        (n,) cluster of each example of the replicates; None: every example is independent.
    level
        Confidence level of the intervals over examples.
    """
    means = [q for q in quantities if is_mean_of_losses(q)]
    others = [q for q in quantities if not is_mean_of_losses(q)]
    found: dict[tuple[str, Quantity, str], Estimated] = {}
    for model in predictions.models:
        for quantity in means:
            if lacks(model, quantity) is None:
                own = _of_losses(predictions, replicates, model, quantity, cluster=cluster, level=level)
                found |= {(model.name, quantity, name): estimate for name, estimate in own.items()}
    values = _values(predictions, replicates, others)
    for model in predictions.models:
        for quantity in others:
            if lacks(model, quantity) is None:
                own = _of_values(predictions, replicates, model, quantity, values)
                found |= {(model.name, quantity, name): estimate for name, estimate in own.items()}
    return found


def _of_losses(
    predictions: Predictions,
    replicates: Replicates,
    model: ModelOutputs,
    quantity: Quantity,
    *,
    cluster: npt.NDArray[np.int64] | None,
    level: float,
) -> dict[str, Estimated]:
    """Estimate a mean of losses: every estimator is then a mean over examples itself, which gives its error."""
    by_row = model_losses(predictions, model, quantity)
    losses = by_row[replicates.rows]
    bag = out_of_bag(losses, replicates.out)
    limits = value_range(definition(quantity), predictions)

    def estimated(by_example: Floats, value: float, **details: Any) -> Estimated:
        reason = _no_limits(quantity, details.get("resubstitution"), bag.value, value, limits)
        if reason is not None:
            return Estimated(value, details, None, reason)
        precision = over_examples(by_example, cluster, level, limits, value)
        without = precision.low is None and not math.isnan(value)
        return Estimated(value, details, precision, NO_SPREAD if without else None)

    found = {"bootstrap_oob": estimated(bag.by_example, bag.value, **_bag_details(bag))}
    if replicates.apparent is None:
        return found | _refused(NO_APPARENT, "bootstrap_optimism", "bootstrap_632", "bootstrap_632plus")
    apparent = by_row[replicates.apparent]
    e_r = float(apparent.mean())
    found["resubstitution"] = Estimated(e_r, {"n": replicates.n})
    if replicates.holds_whole_samples and replicates.inbag is not None:
        optimism = optimism_by_example(losses, replicates.inbag)
        found["bootstrap_optimism"] = estimated(
            apparent + optimism,
            e_r + float(optimism.mean()),
            resubstitution=e_r,
            optimism=float(optimism.mean()),
            n_replicates=replicates.count,
        )
    else:
        found |= _refused(NO_WHOLE, "bootstrap_optimism")
    if replicates.of_another_size:
        return found | _refused(OTHER_SIZE, "bootstrap_632", "bootstrap_632plus")
    gamma = no_information_rate(view(predictions, model).of(replicates.apparent), quantity)
    return found | _mixed(
        apparent, bag, gamma, estimated, better=definition(quantity).greater_is_better is True
    )


def _mixed(
    apparent: Floats, bag: OutOfBag, gamma: float | None, estimated: Callable[..., Estimated], *, better: bool
) -> dict[str, Estimated]:
    """Mix the apparent error (n,) with the out-of-bag error: .632, and .632+ where there is a no-information rate."""
    e_r, lecture = float(apparent.mean()), float(np.nanmean(bag.by_replicate))
    parts = {"resubstitution": e_r, "out_of_bag": bag.value, "n_replicates": len(bag.by_replicate)}
    mixed = estimated(
        bootstrap_632(1.0, 0.0) * apparent + bootstrap_632(0.0, 1.0) * bag.by_example,
        bootstrap_632(e_r, bag.value),
        **parts,
        with_mean_over_replicates=bootstrap_632(e_r, lecture),
    )
    if gamma is None:
        return {"bootstrap_632": mixed} | _refused(NO_RATE, "bootstrap_632plus")
    plus = bootstrap_632plus(e_r, bag.value, gamma, greater_is_better=better)
    # The weight is taken as known, and the cap at gamma as not reached: the error is that of the two means.
    by_weight = estimated(
        (1 - plus.omega) * apparent + plus.omega * bag.by_example,
        plus.value,
        **parts,
        R=plus.relative_overfitting,
        gamma=gamma,
        omega=plus.omega,
        with_mean_over_replicates=bootstrap_632plus(e_r, lecture, gamma, greater_is_better=better).value,
    )
    return {"bootstrap_632": mixed, "bootstrap_632plus": by_weight}


def _no_limits(
    quantity: Quantity,
    apparent: float | None,
    out_of_bag_error: float,
    value: float,
    limits: tuple[float, float],
) -> Message | None:
    """Say why no interval of an estimate would be honest; None where one may be."""
    if apparent is not None and interpolates(quantity, apparent, out_of_bag_error):
        return INTERPOLATES
    outside = not math.isnan(value) and not limits[0] <= value <= limits[1]
    return OUT_OF_RANGE if outside else None


def interpolates(quantity: Quantity, apparent: float, out_of_bag_error: float) -> bool:
    """Say whether a fit errs next to never on its own training rows, measured by how often it errs on others."""
    metric = definition(quantity)
    if metric.greater_is_better:
        if metric.range != (0.0, 1.0):
            return False
        apparent, out_of_bag_error = 1 - apparent, 1 - out_of_bag_error
    return bool(apparent < NEARLY_NONE * out_of_bag_error)


def _bag_details(bag: OutOfBag) -> dict[str, Any]:
    replicates = bag.by_replicate[~np.isnan(bag.by_replicate)]
    return {
        "mean_over_replicates": float(replicates.mean()) if len(replicates) else None,
        "pooled": bag.pooled,
        "never_out_of_bag": bag.never_out,
        "n_replicates": len(bag.by_replicate),
    }


def _refused(reason: Message, *names: str) -> dict[str, Estimated]:
    return {name: Estimated(math.nan, {}, reason=reason) for name in names}


# --- what is no mean over examples: the value of each replicate on its out-of-bag rows, then their mean ---------------


@dataclass(frozen=True, slots=True)
class _Values:
    """By (model, quantity): on all data of the whole fit, and by replicate out of the bag, on all rows, in the bag."""

    apparent: Values
    out: Values
    everywhere: Values
    inside: Values


def _values(predictions: Predictions, replicates: Replicates, quantities: Sequence[Quantity]) -> _Values:
    if not quantities:
        return _Values({}, {}, {}, {})
    given, out = replicates.given, replicates.out
    apparent: Values = {}
    if replicates.apparent is not None:
        apparent = values_by_part(
            predictions, replicates.apparent, np.zeros(replicates.n, np.int64), quantities
        )
    everywhere: Values = {}
    inside: Values = {}
    if replicates.holds_whole_samples and replicates.inbag is not None:
        weights = replicates.inbag[given]
        everywhere = _by_replicate(predictions, replicates, given, quantities)
        inside = _by_replicate(predictions, replicates, given, quantities, weights=weights)
    return _Values(apparent, _by_replicate(predictions, replicates, out, quantities), everywhere, inside)


def _by_replicate(
    predictions: Predictions,
    replicates: Replicates,
    chosen: npt.NDArray[np.bool_],
    quantities: Sequence[Quantity],
    weights: Floats | None = None,
) -> Values:
    codes = np.nonzero(chosen)[0].astype(np.int64)
    return values_by_part(predictions, replicates.rows[chosen], codes, quantities, weights=weights)


def values_by_part(
    predictions: Predictions,
    rows: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    quantities: Sequence[Quantity],
    weights: Floats | None = None,
) -> dict[tuple[str, Quantity], Floats]:
    """Evaluate quantities on parts of the table: (parts,) by (model, quantity), nan where undefined.

    Parameters
    ----------
    rows, codes
        (m,) rows of the table, and the part of each, 0 to the number of parts - 1.
    weights
        (m,) how often each row counts; None: once.
    """
    table = subset(predictions, rows)
    names, codes = np.unique(codes, return_inverse=True)
    parts = Parts(codes.astype(np.int64), tuple((("part", str(name)),) for name in names))
    units = Units(len(rows), weight=weights)
    prepared = RowData(units, Layout(parts, parts, parts), {}, {}, {})
    return fit_values(Sample(table, tuple(quantities), {}, None, prepared), parts)


def _of_values(
    predictions: Predictions, replicates: Replicates, model: ModelOutputs, quantity: Quantity, values: _Values
) -> dict[str, Estimated]:
    key = (model.name, quantity)
    if key not in values.out:
        return {}
    by_replicate = values.out[key]
    defined = ~np.isnan(by_replicate)
    out = float(by_replicate[defined].mean()) if defined.any() else math.nan
    counted = {"n_replicates": replicates.count, "undefined_replicates": int((~defined).sum())}
    found = {"bootstrap_oob": Estimated(out, {"mean_over_replicates": out, **counted}, reason=None)}
    if key not in values.apparent:
        return found | _refused(NO_APPARENT, "bootstrap_optimism", "bootstrap_632", "bootstrap_632plus")
    whole = float(values.apparent[key][0])
    found["resubstitution"] = Estimated(whole, {"n": replicates.n})
    if key in values.inside:
        optimism = float(np.nanmean(values.everywhere[key] - values.inside[key]))
        details = {"resubstitution": whole, "optimism": optimism, **counted}
        found["bootstrap_optimism"] = Estimated(whole + optimism, details)
    else:
        found |= _refused(NO_WHOLE, "bootstrap_optimism")
    if replicates.of_another_size:
        return found | _refused(OTHER_SIZE, "bootstrap_632", "bootstrap_632plus")
    parts = {"resubstitution": whole, "out_of_bag": out, **counted}
    found["bootstrap_632"] = Estimated(bootstrap_632(whole, out), parts)
    assert replicates.apparent is not None
    table = view(predictions, model).of(replicates.apparent)
    gamma = no_information_rate(table, quantity) if definition(quantity).is_auc else None
    if gamma is None:
        return found | _refused(NO_RATE, "bootstrap_632plus")
    plus = bootstrap_632plus(whole, out, gamma, greater_is_better=True)
    details = {**parts, "R": plus.relative_overfitting, "gamma": gamma, "omega": plus.omega}
    return found | {"bootstrap_632plus": Estimated(plus.value, details)}
