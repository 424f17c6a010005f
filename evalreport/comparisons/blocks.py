"""All models on the same blocks: their ranks, and the sign flips of their differences over data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.ranks import DECIMALS
from evalreport.comparisons.registry import TESTS, Ranked, Swapped
from evalreport.comparisons.swaps import Distribution, Key, swap_patterns
from evalreport.engine.portable import weighted_sums
from evalreport.engine.ranks import mid_ranks_of_rows
from evalreport.metrics.quantities import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.metrics.units import Units

Floats = npt.NDArray[np.float64]

FEWEST_MODELS = 3


def ranked_models(sample: Sample, quantity: Quantity, *, lower_is_better: bool) -> Ranked | None:
    """Rank all models that have the quantity within every data set, fold or example; None for fewer than three."""
    models = tuple(m.name for m in sample.predictions.models if sample.estimates[m.name, quantity].defined)
    if len(models) < FEWEST_MODELS:
        return None
    values, by = _by_fit(sample, models, quantity), "examples"
    if values is None:
        values = by_independent_example(sample, models, quantity)
    else:
        fits = sample.estimates[models[0], quantity].fits
        by = "folds" if fits is None else fits.kind
    if values is None or np.isnan(values).any():
        return None
    rounded = np.round(values, DECIMALS)
    greater = greater_is_better(quantity, lower_is_better=lower_is_better)
    return Ranked(models, mid_ranks_of_rows(-rounded if greater else rounded), by)


def _by_fit(sample: Sample, models: Sequence[str], quantity: Quantity) -> Floats | None:
    """Return the values (J, k) on the single fits; None where there are none."""
    columns = []
    for name in models:
        fits = sample.estimates[name, quantity].fits
        if fits is None:
            return None
        columns.append(fits.values)
    return np.column_stack(columns)


def by_example(sample: Sample, models: Sequence[str], quantity: Quantity) -> Floats | None:
    """Return per-example numbers (n, k) whose mean the quantity is, where it is tested by them; else None."""
    if not TESTS[definition(quantity).test].by_example:
        return None
    columns = [found for name in models if (found := sample.per_example(name, quantity)) is not None]
    return np.column_stack(columns) if len(columns) == len(models) else None


def by_independent_example(sample: Sample, models: Sequence[str], quantity: Quantity) -> Floats | None:
    """Return per-example numbers (n, k) on one test set of independent examples; else None."""
    if not sample.units.plain or sample.predictions.design != "test-set":
        return None
    return by_example(sample, models, quantity)


def sign_flips(
    sample: Sample,
    pairs: Sequence[tuple[str, str]],
    quantities: Sequence[Quantity],
    *,
    n_swaps: Callable[[Quantity], int],
    seed: int,
) -> dict[Key, Distribution]:
    """Return what computes the mean differences after the two models were swapped on whole data sets."""
    found: dict[Key, Distribution] = {}
    for quantity in quantities:
        for a, b in pairs:
            first, second = (sample.estimates[name, quantity].fits for name in (a, b))
            if first is None or second is None:
                continue
            x = first.values - second.values
            if not np.isnan(x).any():
                found[a, b, quantity] = partial(_flipped, x, n_swaps(quantity), seed)
    return found


def _flipped(x: Floats, n_swaps: int, seed: int) -> Swapped:
    discordant = x != 0
    patterns, weights = swap_patterns(Units(len(x)), n_swaps, seed, discordant)
    means = [weighted_sums(1 - 2 * flipped, x) / len(x) for flipped in patterns]
    return Swapped(np.concatenate(means), None, weights, int(discordant.sum()))
