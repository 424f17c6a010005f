"""Which error estimates the files allow, and what the others lack."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.texts import group_of
from tests.samples.algorithms import estimates, evaluate
from tests.samples.folds import SAID, TRUTH, N, folds

WRONG = np.mean(np.array(TRUTH) != np.array(SAID))


def test_pooled_and_averaged_f1_differ_and_both_stand() -> None:
    """F1 is that of the pooled table; the mean of the folds' F1s stands in the details."""
    from sklearn.metrics import f1_score

    fold_of = [str(i // 2 % 4) for i in range(N)]
    rows = folds(fold_of)
    found = estimates(evaluate(rows, task="binary", positive="1", metrics=("f1",)), "f1")["cv"]
    each = [
        f1_score(
            [TRUTH[i] for i in range(N) if fold_of[i] == k], [SAID[i] for i in range(N) if fold_of[i] == k]
        )
        for k in "0123"
    ]
    assert found.value == pytest.approx(f1_score(TRUTH, SAID), abs=1e-12)
    assert found.details["mean_over_fits"] == pytest.approx(np.mean(each), abs=1e-12)
    assert found.details["aggregation"] == "pooled over folds"


def test_training_rows_of_folds_give_resubstitution() -> None:
    """The mean over the fits of each fit's error on its own training rows."""
    fold_of = [str(i // 2 % 4) for i in range(N)]
    rows = folds(fold_of, part=["test"] * N)
    for k in "0123":
        for i in range(N):
            if fold_of[i] != k:
                answer = TRUTH[i] if i % 3 else 1 - TRUTH[i]
                for name, value in (
                    ("id", f"{i:02d}"), ("model", "m"), ("fold", k), ("y_true", TRUTH[i]), ("y_pred", answer),
                    ("part", "train"),
                ):  # fmt: skip
                    rows[name].append(value)
    results = evaluate(rows, task="binary")
    found = estimates(results, "error_rate")["resubstitution"]
    expected = np.mean([np.mean([i % 3 == 0 for i in range(N) if fold_of[i] != k]) for k in "0123"])
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.details["n_fits"] == 4


def test_a_plain_test_set_is_one_hold_out_and_no_list_of_what_is_missing() -> None:
    """One test set: the hold-out error alone, with Wilson's limits."""
    results = evaluate(
        {name: values for name, values in folds([""] * N).items() if name != "fold"}, task="binary"
    )
    (found,) = results.error_estimates
    assert (found.estimator, found.interval_method) == ("holdout", "wilson")
    assert found.value == pytest.approx(WRONG, abs=1e-15)


def test_every_missing_estimator_names_a_scheme_of_the_command() -> None:
    """The plan that a reason names exists."""
    from evalreport.refit.plans import SCHEMES

    plans = group_of("estimates.scheme")
    assert len(plans) == 11
    for name, plan in plans.items():
        if name != "resubstitution":
            assert plan.removeprefix('scheme "').removesuffix('"') in SCHEMES, name
