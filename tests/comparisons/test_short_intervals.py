"""Short BCa intervals of differences are warned of, where the study measured them to be short."""

import numpy as np
import pytest

import evalreport


@pytest.mark.parametrize("n, metric, warned", [(60, "f1", True), (60, "accuracy", False), (400, "f1", False)])
def test_few_examples_and_an_interval_by_bca(n: int, metric: str, warned: bool) -> None:
    """Few examples and a BCa interval of the primary metric's differences give the warning, nothing else does."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, n)
    source = {name: {"y_pred": np.where(random.random(n) < 0.8, truth, 1 - truth)} for name in ("a", "b")}
    results = evalreport.evaluate(source, truth=truth, metrics=[metric], resamples=200)
    assert ("short_difference_interval" in {w.code for w in results.warnings}) == warned
