"""Pairs of models with rows of their own: test sets of their own, or the same examples after other training seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalreport.comparisons.pairs import Comparison, compare, model_pairs, why_not
from evalreport.comparisons.registry import Pair
from evalreport.config import Options
from evalreport.metrics.estimate import difference, unpaired_difference
from evalreport.metrics.quantities import Quantity, greater_is_better
from evalreport.metrics.sample import Sample


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
    return [_comparison(by_model, a, b, q, options) for q in quantities for a, b in pairs]


def _comparison(
    samples: Mapping[str, Sample], a: str, b: str, quantity: Quantity, options: Options
) -> Comparison:
    first, second = samples[a].estimates[a, quantity], samples[b].estimates[b, quantity]
    lacking = why_not(first, second)
    if lacking is not None:
        return Comparison(a, b, quantity, None, lacking)
    independent = options.join == "independent"
    pair = Pair(
        first,
        second,
        unpaired_difference(first, second) if independent else difference(first, second),
        design=samples[a].predictions.design,
        independent=independent,
        greater_is_better=greater_is_better(quantity, lower_is_better=options.lower_is_better),
        margin=options.margin,
        seed=options.seed,
    )
    return Comparison(a, b, quantity, pair, None)
