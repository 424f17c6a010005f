"""Scores and values of any size: a run does not fail, and what rests on their order does not hang on their scale."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalreport
from evalreport.metrics.predicted_values import SCORE_BINS
from evalreport.numbers import digits_apart, to_digits
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results
from tests.samples.cases import every

from .strategies import Source, ids

N = 48
AFFINE = [
    # scale, offset: between them the scores keep their order exactly
    (1.0, 1e9), (1e-7, 0.5), (2.0**-40, -1.0), (2.0**-1000, 0.0), (2.0**1010, 0.0),
]  # fmt: skip


def scored(scale: float, offset: float) -> Source:
    """Return two models' scores on whole numbers between 0 and 200, scaled and moved."""
    random = np.random.default_rng(6)
    truth = random.integers(0, 2, N)
    source = {}
    for name in "ab":
        score = np.clip(np.round(80 + 40 * truth + 30 * random.normal(size=N)), 0, 200)
        moved = scale * score + offset
        assert np.array_equal(
            np.unique(score, return_inverse=True)[1], np.unique(moved, return_inverse=True)[1]
        )
        source[name] = {"id": ids(N), "y_true": truth.astype(str).tolist(), "score": moved.tolist()}
    return source


def by_order(results: Results) -> list[tuple[Any, ...]]:
    """Return all that rests on the order of the scores alone."""

    def values(record: MetricRecord) -> tuple[Any, ...]:
        limits = tuple((i.method, i.low, i.high) for i in record.intervals)
        return record.model, record.metric, record.value, record.standard_error, limits

    compared = [(c.metric, c.test, c.p_value, c.low, c.high) for c in results.comparisons]
    return [values(record) for record in results.metrics] + compared + [v.text for v in results.verdicts]


@functools.cache
def by_order_unscaled() -> list[tuple[Any, ...]]:
    """Return the same of the scores as they are."""
    return by_order(evalreport.evaluate(scored(1.0, 0.0), resamples=40))


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "offset"), AFFINE)
def test_a_run_does_not_hang_on_the_scale_of_scores(scale: float, offset: float, tmp_path: Path) -> None:
    """Areas, their intervals, tests and verdicts are the same to the last bit, and the page shows the scores apart."""
    results = evalreport.evaluate(scored(scale, offset), resamples=40)
    assert by_order(results) == by_order_unscaled()
    for record in results.score_histograms:
        assert len(record.edges) == len(record.counts) + 1
        assert (np.diff(record.edges) > 0).all()
        # Bins of whole scores are a whole number wide, so there may be fewer.
        assert SCORE_BINS / 2 < len(record.counts) <= SCORE_BINS
        # Not all in one bin, as edges that are rounded too far would have it.
        assert max(record.counts) < record.n
    evalreport.render(results, tmp_path, formats=("html", "json", "md"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    shown = {point.threshold for point in results.operating_points if point.threshold is not None}
    digits = digits_apart(results.score_histograms[0].edges)
    assert len({to_digits(threshold, digits) for threshold in shown}) == len(shown)
    assert all(to_digits(threshold, digits) in page for threshold in shown)


@pytest.mark.parametrize("value", every(3, [0.0, 3.25, -1e9, 1e300, -1.7e308, 5e-324, 0.1 + 0.2]))
def test_scores_that_are_all_equal_have_a_histogram(value: float) -> None:
    """A constant score of any size stands between two edges, and the area is one half."""
    source = {"a": {"id": ids(8), "y_true": ["0", "1"] * 4, "score": [value] * 8}}
    results = evalreport.evaluate(source, resamples=20)
    assert next(m.value for m in results.metrics if m.metric == "roc_auc") == 0.5
    for record in results.score_histograms:
        assert record.edges[0] < value < record.edges[-1]
        assert sum(record.counts) == record.n


@given(
    st.lists(st.integers(-50, 50), min_size=4, max_size=25),
    st.integers(-900, 900),
    st.integers(-(2**20), 2**20),
)
def test_histogram_edges_of_any_scores_rise(scores: list[int], power: int, steps: int) -> None:
    """Whatever whole multiples of one unit the scores are, however far from 0, there are bins with rising edges."""
    from evalreport.metrics.predicted_values import _edges

    edges = _edges(np.ldexp(np.array(scores, dtype=np.float64) + steps, power))
    assert len(edges) >= 2
    assert (np.diff(edges) > 0).all()


@pytest.mark.parametrize(
    ("scale", "offset"), every(2, [(1.0, 1e9), (1e-7, 0.5), (1e-150, 0.0), (1e306, 0.0)])
)
def test_predicted_values_of_any_scale_are_reported(scale: float, offset: float, tmp_path: Path) -> None:
    """A regression far from 0, or of tiny or huge values, is reported, with its examples apart in the chart."""
    random = np.random.default_rng(7)
    truth = random.normal(size=N)
    source = {}
    for name in "ab":
        said = truth + 0.4 * random.normal(size=N)
        source[name] = {"id": ids(N), "y_true": scale * truth + offset, "y_pred": scale * said + offset}
    results = evalreport.evaluate(source, resamples=20, task="regression")
    for record in results.residuals:
        assert len(set(record.predicted)) == N
    evalreport.render(results, tmp_path, formats=("html", "json", "md"))


@pytest.mark.parametrize("unit", [1e-120, 1e-14, 1e-6, 1e100])
def test_errors_of_numbers_are_in_their_unit(unit: float) -> None:
    """Value, standard error and leading limits of RMSE and MSE go with the unit and its square, however small."""
    random = np.random.default_rng(8)
    truth, error = random.normal(size=(2, N))

    def in_units(size: float) -> list[float]:
        columns = {
            "id": ids(N),
            "y_true": (size * truth).tolist(),
            "y_pred": (size * (truth + error)).tolist(),
        }
        records = evalreport.evaluate({"a": columns}, metrics=("rmse", "mse"), resamples=40).metrics
        found: list[float] = []
        for record in records:
            by = size if record.metric == "rmse" else size**2
            numbers = (record.value, record.standard_error, record.intervals[0].low, record.intervals[0].high)
            found += [number / by for number in numbers if number is not None]
        return found

    expected = in_units(1.0)
    assert len(expected) == 8
    assert in_units(unit) == pytest.approx(expected, rel=1e-9)
