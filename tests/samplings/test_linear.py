"""The error of a mean from its rows' values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import Sampling, sampling_by
from evalreport.samplings.linear import error_of_mean
from tests.samplings.test_sampling import SAMPLINGS, VALUES, N

NAMES = ("examples", "weighted", "clusters", "weighted clusters", "in order")
OF_ONE_TEST_SET = {name: SAMPLINGS[name] for name in NAMES}


@pytest.mark.parametrize("sampling", OF_ONE_TEST_SET.values(), ids=OF_ONE_TEST_SET)
def test_it_is_that_of_the_metric_which_is_their_mean(sampling: Sampling) -> None:
    """The mean outcome of a run has the same value, error and degrees of freedom: decision curves rest on this."""
    predictions = Predictions(
        task="outcome",
        design="test-set",
        ids=np.arange(N).astype(str),
        example=np.arange(N),
        y_true=None,
        models=(ModelOutputs("a", outcome=VALUES),),
    )
    quantity = Quantity("mean_outcome")
    sample = estimate_all(predictions, [quantity], units=sampling, n_resamples=1, seed=0)
    estimate = sample.estimates["a", quantity]
    mean, student = error_of_mean(VALUES, sampling)
    assert student is not None
    assert estimate.student is not None
    assert mean == pytest.approx(estimate.value, rel=1e-12)
    assert student.error == pytest.approx(estimate.student.error, rel=1e-9)
    assert student.df == pytest.approx(estimate.student.df, rel=1e-12)


def test_of_independent_rows_it_is_the_standard_error_of_the_mean() -> None:
    """By scipy; a single row has none."""
    _, student = error_of_mean(VALUES, sampling_by(N))
    assert student is not None
    assert student.error == pytest.approx(stats.sem(VALUES), rel=1e-12)
    assert student.df == N - 1
    assert error_of_mean(VALUES[:1], sampling_by(1))[1] is None
