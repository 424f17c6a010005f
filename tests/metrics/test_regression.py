"""Regression errors against their definitions, written out the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.samples.metrics import value, value_rows

SEEDS = range(4)


# --- regression -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_relative_regression_errors(seed: int) -> None:
    """RAE, RRSE, the squared correlation, the median and the largest error, written out with numpy and scipy."""
    rows = value_rows(seed, 31 + seed)
    y, f = np.array(rows["y_true"]), np.array(rows["y_pred"])
    e = np.abs(f - y)
    assert value("regression", rows, "rae") == pytest.approx(e.sum() / np.abs(y - y.mean()).sum(), rel=1e-13)
    rrse = np.sqrt((e**2).sum() / ((y - y.mean()) ** 2).sum())
    assert value("regression", rows, "rrse") == pytest.approx(rrse, rel=1e-12)
    assert value("regression", rows, "r2_correlation") == pytest.approx(
        stats.pearsonr(y, f)[0] ** 2, rel=1e-12
    )
    assert value("regression", rows, "medae") == pytest.approx(np.median(e), rel=1e-14)
    assert value("regression", rows, "max_error") == e.max()


def test_two_r2_are_two_things() -> None:
    """A prediction turned round and far off has squared correlation 1 and a strongly negative R²."""
    rows = value_rows(1)
    rows["y_pred"] = [100 - 3 * y for y in rows["y_true"]]
    assert value("regression", rows, "r2_correlation") == pytest.approx(1, abs=1e-12)
    assert value("regression", rows, "r2") < -100
