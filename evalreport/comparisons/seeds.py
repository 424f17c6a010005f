"""The test of two models that were trained with several seeds each, on the same examples."""

from __future__ import annotations

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.data.predictions import Predictions
from evalreport.engine.distributions import t_tail


@comparison_test(
    "t over examples and training seeds",
    "seeds",
    null_hypothesis="over training seeds and examples like these the two algorithms have the same mean of the metric",
    assumptions="seeds are a random sample of trainings; examples are independent; for a metric that is no mean over"
    " the examples, its linear approximation",
    source="Searle, Casella and McCulloch (1992), Variance Components, chapter 4; Satterthwaite (1946), Biometrics"
    " Bull 2:110",
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
        reason = (
            "the difference is the same on every example and in every seed: no spread to judge it against"
        )
        return Outcome(None, None, found.df, reason=reason, details=details)
    statistic = delta.value / found.error
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), found.df)), found.df, details=details)


def trained_once(pair: Pair, predictions: Predictions) -> str | None:
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
    if not once:
        return None
    return f"About these trained models: training noise not included ({' and '.join(once)}: one seed)."
