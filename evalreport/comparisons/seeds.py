"""The test of two models that were trained with several seeds each, on the same examples."""

from __future__ import annotations

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.data.predictions import Predictions
from evalreport.engine.distributions import t_tail
from evalreport.texts import Message


@comparison_test(
    "t over examples and training seeds",
    "seeds",
    beside=("permutation",),
)
def seeds_t(pair: Pair) -> Outcome:
    """Difference of the means over seeds by its error over other examples and training again."""
    delta = pair.difference
    found = delta.crossed
    assert found is not None
    names = ("between_seeds",) if len(found.terms) == 1 else ("between_seeds_a", "between_seeds_b")
    details = {
        name: term.between_seeds for name, term in zip(names, found.terms, strict=True) if term is not None
    }
    if delta.value == 0 and found.error == 0:
        return Outcome(0.0, 1.0, found.df, details=details)
    if found.error <= 1e-12 * abs(delta.value):
        reason = Message("reason.no_spread_of_seeds")
        return Outcome(None, None, found.df, reason=reason, details=details)
    statistic = delta.value / found.error
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), found.df)), found.df, details=details)


def trained_once(pair: Pair, predictions: Predictions) -> Message | None:
    """Say whose training noise a verdict leaves out, where the files name seeds and a model has one; else None.

    Parameters
    ----------
    predictions
        Those of the run, whose models may have a column ``seed`` with one value each.
    """
    sides = (pair.a, pair.b)
    if predictions.design == "seeds":
        once = [side.model for side in sides if side.fits is not None and len(side.fits.values) == 1]
    elif predictions.design == "test-set":
        models = {model.name: model for model in predictions.models}
        named = [{*predictions.keys, *models[side.model].columns} for side in sides]
        once = [side.model for side, columns in zip(sides, named, strict=True) if "seed" in columns]
    else:
        return None
    return Message("verdict.trained_with_one_seed", models=tuple(once)) if once else None
