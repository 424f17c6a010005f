"""The warning that so few true values lie outside intervals that their score is not known."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.metrics.registry import definition
from evalreport.metrics.sample import Sample
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check

HELD = ((0.5, 10, 25), (1, 34, 42), (2, 59, 76), (3, 77, 87), (5, 88, 97))
"""Up to how many expected misses 95 % intervals of the interval score held in how many percent: least and most.

Over normal errors and t errors with 4 degrees of freedom at levels from 0.5 to 0.99 (docs/interval-scores.csv).
"""


@check("few_misses", needs=("intervals", "examples_alone"))
def few_misses(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of interval scores of so few examples that hardly any true value lies outside."""
    n = sample.predictions.n_examples
    for quantity in sample.quantities:
        parameter = definition(quantity).parameter
        if parameter is None or parameter.begins != "interval_score" or parameter.value is None:
            continue
        expected = n * (1 - parameter.value)
        held = next((band for band in HELD if expected < band[0] - 1e-9), None)
        if held is not None:
            yield warning(
                "few_misses",
                about=(quantity.spelled,),
                n=n,
                expected=expected,
                share=parameter.value,
                low=held[1],
                high=held[2],
            )
