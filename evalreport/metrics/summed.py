"""Estimates from sums of scores, where the scores themselves are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evalreport.engine.draws import stream
from evalreport.engine.ranks import RankedWeights, steepest_slopes
from evalreport.metrics.estimate import Estimate, undefined, value_range
from evalreport.metrics.evidence import Mean, Ranking, Rows
from evalreport.metrics.metric import Moments
from evalreport.metrics.registry import (
    Quantity,
    definition,
    losses_of_probability,
    of_family,
    slopes_of_ranks,
)
from evalreport.predictions.arrays import Floats, Mask
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.table import Predictions
from evalreport.samplings import Influence, Sums

Key = tuple[str, Quantity]


ROUNDING = 1e-14
"""A variance below this share of a model's is rounding."""


def summed_estimates(
    predictions: Predictions, quantities: Sequence[Quantity], *, n_resamples: int, seed: int
) -> Mapping[tuple[str, Quantity], Estimate]:
    """Estimate what follows from the sums of scores, of every model that gives any; nothing where there are no sums.

    The derivatives of an estimate summarise those of all examples: their products with another model's are the sums
    of the products of these. Its replicates are drawn from the normal distribution with these variances and
    covariances, which is that of the bootstrap's replicates but for what vanishes with the number of examples.
    """
    sums = predictions.scores
    estimates: dict[tuple[str, Quantity], Estimate] = {}
    if sums is None:
        return estimates
    for quantity in of_family(quantities, Moments):
        computation = definition(quantity).computation
        if not (isinstance(computation, Moments) and computation.of_gaps):
            continue
        gaps = {model: sums.gaps(model) for model in sums.models}
        estimates |= {
            (model, quantity): Estimate(
                model=model,
                quantity=quantity,
                value=float(definition(quantity).computation.function(of_model)),
                range=value_range(definition(quantity), predictions),
                sampling=Sums(predictions.n_examples),
                evidence=Rows(),
            )
            for model, of_model in gaps.items()
            if of_model is not None
        }
    ranked, losses = slopes_of_ranks(), losses_of_probability()
    for quantity in quantities:
        scale = definition(quantity).scale.affine_of
        base = definition(quantity) if scale is None else definition(Quantity(scale.of))
        models = [name for name in sums.models if sums.holds(base.name, name)]
        if quantity.label is not None or base.name not in {*ranked, *losses} or not models:
            continue
        if min(sums.class_sizes) == 0:
            undefined_here = definition(quantity).scale.undefined
            estimates |= {
                (m, quantity): undefined(predictions, (m, quantity), undefined_here) for m in models
            }
            continue
        values = np.array([_value(sums, base.name, model) for model in models])
        rows = _rows(sums, base.name, models)
        if scale is not None:
            values, rows = scale.forward(values), rows * scale.slope
        limits = value_range(definition(quantity), predictions)
        replicates = np.clip(values[:, None] + _drawn(rows, base.name, n_resamples, seed), *limits)
        positives = np.arange(rows.shape[1]) >= len(models)
        for k, model in enumerate(models):
            estimates[model, quantity] = Estimate(
                model=model,
                quantity=quantity,
                value=float(values[k]),
                range=limits,
                sampling=Sums(predictions.n_examples),
                evidence=Mean() if base.name in losses else _ranking(sums, base.name, model, positives),
                influence=Influence(rows[k], np.ones(rows.shape[1])),
                replicates=replicates[k] if n_resamples else None,
            )
    return estimates


def _ranking(sums: ScoreSums, metric: str, model: str, positives: Mask) -> Ranking:
    """Return the evidence of a rank metric; where a bin holds several scores none counts as shared."""
    every_score = bool(sums.bins[model].tied.all())
    groups = RankedWeights(*sums.groups[model])
    steepest = steepest_slopes(slopes_of_ranks()[metric], groups) if every_score else None
    return Ranking(positives, sums.class_sizes, float(min(sums.class_sizes)), steepest=steepest)


def _value(sums: ScoreSums, metric: str, model: str) -> float:
    if metric in slopes_of_ranks():
        return float(definition(Quantity(metric)).computation.function(RankedWeights(*sums.groups[model])))
    return sums.total(metric, model) / sum(sums.class_sizes)


def _rows(sums: ScoreSums, metric: str, models: Sequence[str]) -> Floats:
    """Return derivatives (k, m) whose products are the sums of products of those of all examples.

    Of rank metrics those of the negatives come first, then those of the positives, k of each.
    """
    products = sums.products_of(metric, models)
    if metric in slopes_of_ranks():
        return np.concatenate([_root(part) for part in products], axis=1)
    n = sum(sums.class_sizes)
    totals = np.array([sums.total(metric, model) for model in models])
    return _root((products.sum(axis=0) - np.outer(totals, totals) / n) / n**2)


def _root(products: Floats) -> Floats:
    """Return L (k, k) with L L' = products; a direction whose share of the variance is rounding counts as none."""
    scale = np.sqrt(np.diag(products))
    per_unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    variances, directions = np.linalg.eigh(products * np.outer(per_unit, per_unit))
    variances[variances < ROUNDING * len(products)] = 0.0
    return np.asarray(scale[:, None] * directions * np.sqrt(variances))


def _drawn(rows: Floats, metric: str, n_resamples: int, seed: int) -> Floats:
    """Draw deviations (k, B) from the normal distribution with the covariances of the rows' products."""
    return rows @ stream(seed, f"sums of {metric}", 0).standard_normal((rows.shape[1], n_resamples))
