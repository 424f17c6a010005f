"""What the lectures print wrongly, or leave out, is right here: one test for each slip that concerns a metric."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.engine.counts import margins_of
from evalreport.engine.ranks import descending_order
from evalreport.metrics.curves import pr
from evalreport.metrics.registry import Quantity
from evalreport.metrics.threshold_counts import count_thresholds
from tests.samples.metrics import Rows, estimates_of, ids, value, value_rows

EXAMPLES = Path(__file__).resolve().parents[1] / "data" / "seed_examples.json"


def example(name: str) -> dict[str, Any]:
    """Return one worked example of the lectures."""
    held = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return next(x for part in held.values() if isinstance(part, list) for x in part if x["id"] == name)


def table(tp: int, fp: int, fn: int, tn: int) -> Rows:
    """Return labels with these counts."""
    cells = [("1", "1")] * tp + [("0", "1")] * fp + [("1", "0")] * fn + [("0", "0")] * tn
    truth, said = (list(column) for column in zip(*cells, strict=True))
    return {"id": ids(len(cells)), "y_true": truth, "y_pred": said}


def test_recall_divides_by_the_positives() -> None:
    """Recall is TP / (TP + FN); divided by FP + FN, as printed, it would be 0.1 here."""
    assert value("binary", table(50, 450, 50, 450), "recall") == 0.5


def test_recall_is_0_and_defined_where_exactly_the_negatives_are_flagged() -> None:
    """All negatives and no positive flagged: recall is 0 without a reason; undefined only without a positive."""
    flagged = estimates_of("binary", table(0, 5, 4, 0))[Quantity("recall")]
    assert (flagged.value, flagged.reason) == (0.0, None)
    without = estimates_of("binary", table(0, 5, 0, 4))[Quantity("recall")]
    assert without.value == 0
    assert without.reason


def test_f1_is_of_precision_and_true_positive_rate() -> None:
    """F1 = 2 P TPR / (P + TPR) = 12/26 for [6, 12; 2, 130]; with the true negative rate it would be 0.491."""
    assert value("binary", table(6, 12, 2, 130), "f1") == pytest.approx(12 / 26, abs=1e-15)


def test_beta_weighs_recall() -> None:
    """A larger beta draws F towards recall: F0.5 < F1 < F2 where recall (3/4) is above precision (1/3)."""
    f = [value("binary", table(6, 12, 2, 130), name) for name in ("precision", "f0_5", "f1", "f2", "recall")]
    assert f == sorted(f)


@pytest.mark.parametrize("classifier", ["classifier1", "classifier2"])
def test_equal_error_rate_of_the_exercise(classifier: str) -> None:
    """EER = FPR = FNR = 1 - TPR, not TPR; the exercise's numbers, and its best accuracy."""
    exercise = example("ru8_exercise1")
    truth = ["1" if label == "+" else "0" for label in exercise["inputs"]["labels"]]
    rows = {"id": ids(8), "y_true": truth, "score": exercise["inputs"][classifier]}
    expected = exercise["computed"][classifier]
    estimates = estimates_of("binary", rows)
    assert estimates[Quantity("eer")].value == expected["eer"]
    assert estimates[Quantity("max_accuracy")].value == expected["best_accuracy"]
    assert estimates[Quantity("roc_auc")].value == expected["auc"]


def test_precision_recall_curve_ends_at_the_prevalence_and_may_fall() -> None:
    """The curve ends at (1, P / (P + N)), not (1, 0), and precision is not monotone in the threshold."""
    positive = np.array([True, False, True, True, False])
    curve = pr(count_thresholds(descending_order(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), positive)))
    assert (curve.x[-1], curve.y[-1]) == (1.0, 0.6)
    steps = np.diff(curve.y)
    assert (steps < 0).any()
    assert (steps > 0).any()


def test_average_precision_is_the_expected_precision_at_a_random_positive() -> None:
    """The mean over the positives of the precision at each one's score."""
    positive = np.array([1, 0, 1, 1, 0, 0, 1])
    scores = np.array([0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.2])
    at_each = [positive[scores >= s].mean() for s in scores[positive == 1]]
    rows = {"id": ids(7), "y_true": [str(p) for p in positive], "p_1": scores.tolist()}
    assert value("binary", rows, "average_precision") == pytest.approx(np.mean(at_each), abs=1e-14)


def test_chance_error_is_one_half_for_two_balanced_classes_only() -> None:
    """Guessing evenly among K classes errs 1 - 1/K of the time: an error rate of 0.6 beats it for four classes."""
    from evalreport.metrics.labels import error_rate

    for k in (2, 4, 10):
        guess = np.outer(np.full(k, 25.0), np.full(k, 1 / k))
        assert float(error_rate(margins_of(guess))) == pytest.approx(1 - 1 / k, abs=1e-14)


def test_root_mean_squared_error_has_its_n_under_the_root() -> None:
    """RMSE = sqrt(mean e^2) of the lecture's numbers: 1, not sqrt(4) / 4."""
    inputs = example("pl_r2")["inputs"]
    rows = {
        "id": ids(4),
        "y_true": [float(o) for o in inputs["o"]],
        "y_pred": [float(p) for p in inputs["p"]],
    }
    assert value("regression", rows, "rmse") == 1.0


def test_r2_may_be_negative_and_is_no_squared_correlation() -> None:
    """The lecture's formula and its words differ: 0.2 and 0.914 on the same four numbers; a bias makes R² negative."""
    computed, inputs = example("pl_r2")["computed"], example("pl_r2")["inputs"]
    rows = {
        "id": ids(4),
        "y_true": [float(o) for o in inputs["o"]],
        "y_pred": [float(p) for p in inputs["p"]],
    }
    assert value("regression", rows, "r2") == pytest.approx(computed["one_minus_sse_sst"], abs=1e-14)
    assert value("regression", rows, "r2_correlation") == pytest.approx(
        computed["squared_correlation"], abs=1e-14
    )
    biased = value_rows(0)
    biased["y_pred"] = [y + 100 for y in biased["y_pred"]]
    assert value("regression", biased, "r2") < 0
