"""Comparisons outside the family keep nothing that is as long as the data."""

from __future__ import annotations

import gc
import weakref

from evalreport.comparisons.pairs import comparable, compare_all, exploratory_records
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.quantities import chosen
from evalreport.options import Options
from research.benchmarks.data import binary_models


def test_nothing_of_a_tested_pair_is_kept() -> None:
    """Its difference goes with the last use, without the collector of cycles; asked for again it is the same."""
    options = Options(resamples=50)
    predictions = binary_models(300, count=2)
    quantities = chosen(predictions, options.metrics)
    samples = estimate_models(predictions, quantities, options)
    compared = compare_all(samples, comparable(quantities, named=False), options)
    first = [c.pair.difference for c in compared if c.pair is not None]
    values, held = [d.value for d in first], [weakref.ref(d) for d in first]
    del first
    assert len(held) > 10
    gc.disable()
    try:
        rows = list(exploratory_records(compared, options))
        alive = [one() for one in held if one() is not None]
    finally:
        gc.enable()
    assert len(rows) >= len(compared)
    assert alive == []
    assert [c.pair.difference.value for c in compared if c.pair is not None] == values
