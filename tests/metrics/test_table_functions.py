"""Label quantities as functions of margins: their derivatives, and what quantities share."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.engine.counts import margins_of
from evalreport.engine.distributions import gradient, zero_where_undefined
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.quantities import available
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.table_functions import TableFunctions, table_function
from evalreport.predictions.table import Labels, Predictions

TABLE = np.array([[30.0, 5, 2, 1], [4, 20, 3, 0], [1, 2, 9, 2], [0, 1, 1, 3]])
EMPTY = np.array([[30.0, 5, 0, 0], [4, 20, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
PREDICTIONS = Predictions(
    task="multiclass",
    design="test-set",
    ids=np.arange(1),
    example=np.arange(1),
    y_true=np.zeros(1, np.int32),
    models=(),
    labels=Labels(classes=tuple("abcd")),
)
QUANTITIES = [
    q for q in available(PREDICTIONS) if isinstance(definition(q).computation, ClassCounts | Margins)
]


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda q: q.spelled)
def test_slopes_are_the_derivatives_of_the_value(quantity: Quantity) -> None:
    """Derivatives by four counts, and of many tables at once, are those of the complex step by every margin.

    Of a full table, of one with empty classes, and of weights. Both round: to 1e-12 of the largest derivative.
    """
    for table in (TABLE, EMPTY, TABLE / 3):
        margins = margins_of(table)
        function = table_function(quantity, PREDICTIONS)
        expected = gradient(lambda m, function=function: zero_where_undefined(function(m)), margins)
        found = TableFunctions(margins, PREDICTIONS).slopes(quantity)
        assert found == pytest.approx(expected, abs=1e-12 * np.abs(expected).max(initial=1e-3))


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if isinstance(m.computation, Margins)])
def test_slopes_are_those_of_central_differences(name: str) -> None:
    """By each margin; a function in which the complex step loses its imaginary part would have no slope."""
    margins, step = margins_of(TABLE / 3), 1e-4
    function = METRICS[name].of(Margins).function
    found = TableFunctions(margins, PREDICTIONS).slopes(Quantity(name))
    for index in np.ndindex(margins.shape):
        moved = np.zeros_like(margins)
        moved[index] = step
        expected = (function(margins + moved) - function(margins - moved)) / (2 * step)
        # Differences of second order, and rounding over the step.
        assert found[index] == pytest.approx(float(expected), abs=1e-8)


def test_one_class_is_that_of_the_collapsed_table() -> None:
    """The class against the rest in a table of two classes has the value and the derivatives of the whole table."""
    whole = TableFunctions(margins_of(TABLE), PREDICTIONS)
    rest = TABLE.sum() - TABLE[0].sum() - TABLE[1:, 0].sum()
    two = np.array([[TABLE[0, 0], TABLE[0, 1:].sum()], [TABLE[1:, 0].sum(), rest]])
    collapsed = TableFunctions(margins_of(two), PREDICTIONS, collapsed=True)
    for name, metric in METRICS.items():
        if isinstance(metric.computation, ClassCounts) and "multiclass" in metric.tasks:
            quantity = Quantity(name, label="a")
            assert collapsed.value(quantity) == pytest.approx(whole.value(quantity), rel=1e-13)
            assert collapsed.by_count(quantity) == pytest.approx(whole.by_count(quantity), rel=1e-12)


def test_many_margins_at_once_have_the_values_of_each_by_itself() -> None:
    """Values and derivatives, up to the order of sums."""
    rng = np.random.default_rng(1)
    tables = rng.multinomial(20, TABLE.ravel() / TABLE.sum(), size=2000).reshape(-1, 4, 4) * 1.0
    margins = np.stack([margins_of(table) for table in tables])
    together = TableFunctions(margins, PREDICTIONS)
    for quantity in QUANTITIES:
        value, slopes = together.value(quantity), together.slopes(quantity)
        for row in range(0, 2000, 400):
            alone = TableFunctions(margins[row], PREDICTIONS)
            assert value[row] == pytest.approx(alone.value(quantity), rel=1e-12, nan_ok=True)
            assert slopes[row] == pytest.approx(alone.slopes(quantity), rel=1e-9, abs=1e-15)
