"""The decision on one pair of models on one metric, made from arrays by the functions of a run."""

from __future__ import annotations

from collections.abc import Mapping

from evalreport.comparisons.decisions import Decision, decisions_of
from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import TESTS
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options

LEADING = "leading"


def decide_pair(
    sample: Sample, quantity: Quantity, options: Options, *, beside: str = ""
) -> tuple[Decision, Mapping[str, float | None]]:
    """Return the decision on the two models of a sample, and p-values of the leading test and of one ``beside``."""
    (comparison,) = compare(sample, [quantity], options)
    pair, p_values = comparison.pair, {}
    for key, test in ((LEADING, comparison.recommended_test), (beside, beside)):
        if key:
            p_values[key] = None if pair is None else TESTS[test].function(pair).p_value
    (decision,) = decisions_of([comparison], [p_values[LEADING]], options)
    return decision, p_values
