"""What studies decide from arrays is what a run decides through the public API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.samplings import Sampling, sampling_by
from research.studies import bars, held, operating, unequal
from research.studies.pair_decision import LEADING, decide_pair
from tests.samples.cases import every

POINTS = {cell.name: cell for cell in operating.CELLS}
UNEQUAL = {cell.name: cell for cell in unequal.CELLS}


def data_of(part: str, name: str) -> tuple[Predictions, Sampling, str]:
    """Return a data set of a cell, its units and its metric."""
    generator = np.random.default_rng(5)
    if part == "unequal":
        return *unequal.draw(UNEQUAL[name], generator), UNEQUAL[name].metric
    cell = POINTS[name]
    return operating.draw(generator, cell), sampling_by(cell.n), cell.metric


@pytest.mark.parametrize(
    ("part", "name"),
    every(
        3,
        [
            ("operating", "f1 0.3, n = 200"),
            ("operating", "precision 0.6, n = 200, flagging 0.58 and 0.05"),
            ("operating", "balanced accuracy, sensitivity .92 and .50"),
            ("operating", "area .85, n = 60, sd 1 and 2"),
            ("unequal", "20 clusters, accuracy, equal"),
            ("unequal", "8 clusters, f1, equal"),
            ("unequal", "weights, f1, equal"),
        ],
    ),
)
def test_a_decision_from_arrays_is_that_of_a_run(part: str, name: str) -> None:
    """Same p-value and same limits of the verdict, to rounding: a run sorts the rows and sums in another order."""
    predictions, units, metric = data_of(part, name)
    options, quantity = Options(resamples=2, seed=1), Quantity(metric)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=2, seed=1)
    decision, p_values = decide_pair(sample, quantity, options)
    assert predictions.y_true is not None
    columns: dict[str, Any] = {
        "id": [f"{i:04d}" for i in range(predictions.n)],
        "y_true": predictions.y_true.tolist(),
    }
    if units.cluster is not None:
        columns["group"] = [f"g{k:02d}" for k in units.cluster]
    if units.weight is not None:
        columns["w"] = units.weight.tolist()
    source = {}
    for model in predictions.models:
        own = {"score": model.score} if model.y_pred is None else {"y_pred": model.y_pred}
        source[model.name] = {
            **columns,
            **{key: values.tolist() for key, values in own.items() if values is not None},
        }
    results = er.evaluate(
        source, metrics=[metric], intervals=["normal"], tests=["sign"], resamples=2, seed=1,
        cluster="group" if "group" in columns else None, weight="w" if "w" in columns else None,
    )  # fmt: skip
    (row,) = (row for row in results.comparisons if row.recommended)
    assert decision.limits is not None
    assert p_values[LEADING] == pytest.approx(row.p_value, rel=1e-9)
    assert decision.limits.low == pytest.approx(results.verdicts[0].low, rel=1e-9)
    assert decision.limits.high == pytest.approx(results.verdicts[0].high, rel=1e-9)


@pytest.mark.parametrize(
    "part", every(4, [operating, held, unequal, bars]), ids=lambda part: part.__name__.rpartition(".")[2]
)
def test_every_cell_counts_events(part: Any) -> None:
    """One data set of each cell says of every event whether it happened."""
    for cell in part.CELLS:
        for happened in part.counted(cell, np.random.default_rng(1), 1).values():
            assert happened in (0, 1)
