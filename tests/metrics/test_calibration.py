"""Calibration: errors by bin, and the calibration line as a metric."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from tests.samples.metrics import binary_rows, estimates_of, ids, truth_and_scores, value

# --- probabilities --------------------------------------------------------------------------------------------------


def test_calibration_bins_are_closed_below() -> None:
    """Probabilities on the edges belong to the upper bin, 1 to the last: by hand, gaps 0.1 and 0.7 of one example each.

    0.1 lies in [0.1, 0.2) and 0.3 in [0.3, 0.4), as text 0.3 though 10 * 0.3 may round below 3.
    """
    rows = {"id": ids(4), "y_true": ["0", "1", "1", "1"], "p_1": [0.1, 0.3, 0.35, 1.0]}
    # bin 1: |0.1 - 0|, bin 3: |0.325 - 1|, bin 9: 0
    assert value("binary", rows, "ece") == pytest.approx((0.1 + 2 * 0.675) / 4, abs=1e-14)
    assert value("binary", rows, "mce") == pytest.approx(0.675, abs=1e-14)


def test_calibration_line_and_its_errors_are_those_of_statsmodels() -> None:
    """Slope, intercept and their robust errors equal statsmodels' logistic GLM with the HC0 sandwich."""
    import statsmodels.api as sm

    rows = binary_rows(4, 150)
    positive, p = truth_and_scores(rows)
    model = sm.GLM(
        positive.astype(float), sm.add_constant(np.log(p / (1 - p))), family=sm.families.Binomial()
    )
    fit = model.fit(cov_type="HC0", tol=1e-14)
    estimates = estimates_of("binary", rows)
    for place, name in enumerate(("calibration_intercept", "calibration_slope")):
        assert estimates[Quantity(name)].value == pytest.approx(fit.params[place], rel=1e-8)
        assert estimates[Quantity(name)].standard_error == pytest.approx(fit.bse[place], rel=1e-7)


@pytest.mark.parametrize(
    "p, reason",
    [
        ([0.6, 0.0, 0.7, 0.3, 0.5, 0.9], "contradicts"),
        ([0.1, 0.6, 0.2, 0.7, 0.3, 0.8], "separate the classes"),
        ([0.1, 0.3, 0.3, 0.7, 0.3, 0.8], "separate the classes"),
        ([0.4] * 6, "all probabilities are equal"),
    ],
)
def test_calibration_line_that_is_not_there(p: list[float], reason: str) -> None:
    """Null with the reason: a probability of 0 for an event, separation (ties at the edge too), one for all."""
    estimates = estimates_of("binary", {"id": ids(6), "y_true": ["0", "1"] * 3, "p_1": p})
    for name in ("calibration_slope", "calibration_intercept"):
        assert np.isnan(estimates[Quantity(name)].value)
        assert reason in (estimates[Quantity(name)].reason or "")


CLASSWISE = (
    "calibration_slope", "calibration_intercept", "calibration_in_the_large", "observed_expected", "calibration_error",
)  # fmt: skip


def test_one_class_of_several_is_the_class_against_the_rest() -> None:
    """Values, limits and gates of a class are those of the two-class task with that class as the positive one."""
    random = np.random.default_rng(3)
    p = random.dirichlet([5, 3, 2], size=400)
    truth = np.array([random.choice(3, p=row) for row in p])
    given = {"id": ids(400), "site": ["a", "b"] * 200}
    several = given | {"y_true": [f"c{code}" for code in truth]}
    several |= {f"p_c{code}": column.tolist() for code, column in enumerate(p.T)}
    two = given | {"y_true": (truth == 2).astype(int).astype(str).tolist(), "p_1": p[:, 2].tolist()}
    # Gates compute the class in the slice, too, although no metric of a class is named.
    of_class = evalreport.evaluate(
        {"m": several},
        metrics=["accuracy"],
        gates=[f"m.{name}[class=c2,site=a] >= 0.5" for name in CLASSWISE],
        resamples=20,
    )
    of_two = evalreport.evaluate({"m": two}, metrics=list(CLASSWISE), slices=["site"], resamples=20)
    for name in CLASSWISE:
        found, expected = (
            [
                (m.value, m.intervals[0].low, m.intervals[0].high)
                for m in results.metrics
                if m.metric == name and m.label == label and (m.slice is None or m.slice.value == "a")
            ]
            for results, label in ((of_class, "c2"), (of_two, None))
        )
        assert len(found) == 2
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_class_needs_a_task_with_several_and_a_known_name() -> None:
    """[class=X] of a binary task, of a metric without classes, and of an unknown class are refused."""
    classes = ("a", "b", "c")
    assert parse("calibration_slope[class=b]", "multiclass", classes) == Quantity(
        "calibration_slope", label="b"
    )
    assert parse("calibration_slope", "multiclass", classes) == Quantity("calibration_slope")
    for text, task in (
        ("calibration_slope[class=d]", "multiclass"), ("ece[class=a]", "multiclass"),
        ("calibration_slope[class=b]", "binary"), ("calibration_slope_macro", "multiclass"),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            parse(text, task, classes)
