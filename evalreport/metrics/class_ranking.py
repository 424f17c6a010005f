"""Areas under the ROC curve of several classes: each class against the rest, and every class against every other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.class_ranks import Areas, ClassRanks, class_ranks, placements
from evalreport.engine.derivative import ratio
from evalreport.metrics.registry import Chosen, rows
from evalreport.metrics.views import ModelView
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]


def _ranks(view: ModelView) -> ClassRanks:
    assert view.proba is not None
    assert view.true is not None
    return class_ranks(view.true, view.proba)


RANKED: dict[str, Any] = {
    "prepare": _ranks,
    "tasks": ("multiclass",),
    "needs": "probabilities",
    "test": "bootstrap_difference",
    "shown_with": "scores",
}


def _averaged(areas: Areas, chosen: Chosen) -> Floats:
    if chosen.code is not None:
        return areas.rest[:, chosen.code]
    if chosen.average == "macro":
        return np.asarray(areas.rest.mean(axis=1))
    return np.asarray((areas.rest * areas.totals).sum(axis=1) / areas.totals.sum(axis=1))


def _against_rest_derivative(chosen: Chosen, weights: Floats) -> Floats:
    """Placements, centred, class by class; a weighted mean also moves with the classes' shares."""
    state: ClassRanks = chosen.state
    areas = state.areas(weights[None, :])
    totals, rest = areas.totals[0], areas.rest[0]
    n = totals.sum()
    slopes, unit = np.zeros(len(weights)), np.ones(len(weights))
    for k, column in state.held():
        share = {"macro": 1 / state.n_classes, "weighted": totals[k] / n}.get(
            chosen.average or "", float(k == chosen.code)
        )
        if share:
            p, others = totals[k], n - totals[k]
            won, lost = placements(column, weights, unit)
            slopes[column.positives] += share * (won / others - rest[k]) / p
            slopes[column.negatives] += share * (lost / p - rest[k]) / others
    if chosen.average == "weighted":
        slopes += (rest[state.true] - float(_averaged(areas, chosen)[0])) / n
    return slopes


@rows(
    "ROC AUC, one vs rest",
    "P(p_k of an example of class k > p_k of another) + P(tie) / 2, averaged over classes",
    averages=("macro", "weighted"),
    headline=True,
    derivative=_against_rest_derivative,
    undefined=Message("undefined.auc_ovr"),
    source="Provost and Domingos (2001), CeDER working paper IS-00-04; Fawcett (2006), section 9.2",
    **RANKED,
)
def roc_auc_ovr(chosen: Chosen, weights: Floats) -> Floats:
    """Probability that an example of a class gets more probability of it than one of another class, by class.

    Averaged over all classes evenly (macro) or by how often they occur (weighted); ties count one half.
    Undefined where the truth lacks a class; such bootstrap replicates are left out.
    """
    state: ClassRanks = chosen.state
    return _averaged(state.areas(weights), chosen)


def _against_each_derivative(state: ClassRanks, weights: Floats) -> Floats:
    """Sum over ordered pairs of the centred placements of the area of k against j."""
    areas = state.areas(weights[None, :])
    totals = areas.totals[0]
    slopes, scale = np.zeros(len(weights)), ratio(np.ones(len(weights)), totals[state.true])
    others = state.n_classes - 1
    for k, column in state.held():
        won, lost = placements(column, weights, scale)
        slopes[column.positives] += (won - areas.others[0, k] * others) / totals[k]
        lost = lost / totals[k]
        of_class = state.true[column.negatives]
        pair = np.bincount(of_class, weights=lost * weights[column.negatives], minlength=state.n_classes)
        slopes[column.negatives] += lost - ratio(pair, totals)[of_class]
    return np.asarray(slopes / (state.n_classes * others))


@rows(
    "ROC AUC, one vs one",
    "mean over ordered pairs (k, j) of P(p_k of class k > p_k of class j) + P(tie) / 2",
    derivative=_against_each_derivative,
    undefined=Message("undefined.auc_ovo"),
    source="Hand and Till (2001), Mach Learn 45:171, equation 7",
    **RANKED,
)
def roc_auc_ovo(state: ClassRanks, weights: Floats) -> Floats:
    """Area under the ROC curve, averaged evenly over all ordered pairs of classes: class shares do not matter.

    Ties count one half. Undefined where the truth lacks a class; such bootstrap replicates are left out.
    """
    return np.asarray(state.areas(weights).others.mean(axis=1))
