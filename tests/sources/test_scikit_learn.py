"""What scikit-learn's cross-validation and searches return, taken as scores of folds."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
import evalreport.metrics
from evalreport.errors import InputError, InputErrors
from evalreport.loading.load import load

N = 40

ROWS = np.arange(100, 100 + N)

TRUTH = pd.Series(np.arange(N) % 2, index=ROWS)


# --- what is no prediction --------------------------------------------------------------------------------------------


def test_fitted_estimators_are_refused_with_the_lines_that_predict() -> None:
    """Nothing is run: every model in the mapping gets its own line."""
    line = SimpleNamespace(predict=lambda _: pytest.fail("a model was run"))
    tree = SimpleNamespace(predict=line.predict, predict_proba=line.predict)
    with pytest.raises(InputErrors) as caught:
        load({"line": line, "tree": tree}, truth=TRUTH)
    said = str(caught.value)
    assert (
        "models = {'line': {'y_pred': line.predict(X_test)}}; evalreport.evaluate(models, truth=y_test)"
        in said
    )
    assert (
        "'y_prob': tree.predict_proba(X_test)}}; evalreport.evaluate(models, truth=y_test, classes=tree.classes_)"
        in said
    )


# --- scores of folds --------------------------------------------------------------------------------------------------

FOLDS = [
    (np.arange(N)[np.arange(N) % 4 != fold], np.flatnonzero(np.arange(N) % 4 == fold)) for fold in range(4)
]

INDICES = {"train": [train for train, _ in FOLDS], "test": [test for _, test in FOLDS]}


def validated(values: list[float], **more: Any) -> dict[str, Any]:
    """Return what cross_validate returns."""
    return {
        "fit_time": np.ones(4),
        "score_time": np.ones(4),
        "test_score": np.array(values),
        "indices": INDICES,
    } | more


def test_cross_validate_gives_fold_values_with_their_sizes() -> None:
    """The corrected t of Nadeau and Bengio by hand: variance of the differences times 1/4 + 10/30."""
    a, b = [0.9, 0.8, 0.7, 0.9], [0.8, 0.6, 0.7, 0.6]
    results = er.evaluate({"a": validated(a), "b": validated(b)}, resamples=200)
    (row,) = [row for row in results.comparisons if row.recommended]
    difference = np.subtract(a, b)
    statistic = difference.mean() / np.sqrt((1 / 4 + 10 / 30) * difference.var(ddof=1))
    assert (results.task, results.design, row.test) == ("scores", "cross-validation", "corrected_resampled_t")
    assert row.statistic == pytest.approx(statistic, rel=1e-12)
    assert "fold_sizes_assumed" not in [w.code for w in results.warnings]
    shown = repr(results)
    assert "'test_score'" in shown
    assert not re.search(r"\d examples?\b", shown)  # nothing is known of the examples
    assert not re.search(r"\d examples?\b", results.summary().partition("<details>")[0])


def test_repeated_splits_are_told_from_shuffled_ones() -> None:
    """Two divisions are two repeats; test sets that overlap are hold-outs."""
    twice = {key: [*rows, *rows] for key, rows in INDICES.items()}
    found = load({"a": validated([0.5] * 8, indices=twice)})
    assert (found.design, found.keys["repeat"].categories) == ("cross-validation", ("0", "1"))
    apart = {key: [*rows[:3], rows[0]] for key, rows in INDICES.items()}
    assert load({"a": validated([0.5] * 4, indices=apart)}).design == "repeated-holdout"


@pytest.mark.parametrize(
    "models, options, words",
    [
        ({"a": validated([1] * 4, test_f1=np.ones(4))}, {}, "several scorers: test_f1, test_score.*value='test_f1'"),
        ({"a": validated([1] * 4)}, {"value": "test_auc"}, "no scorer 'test_auc': test_score"),
        ({"a": validated([1] * 4), "b": validated([1] * 4, indices={k: v[::-1] for k, v in INDICES.items()})}, {},
         "folds are not those of 'a'"),
        ({"a": validated([1] * 4), "b": {("test_f1" if k == "test_score" else k): v
                                         for k, v in validated([1] * 4).items()}}, {},
         "not of one scorer: test_score of 'a', test_f1 of 'b'"),
    ],
)  # fmt: skip
def test_scores_that_cannot_be_compared_fold_by_fold_are_refused(
    models: Any, options: Any, words: str
) -> None:
    """Sizes, scorer and folds must be known and the same."""
    with pytest.raises(InputError, match=words):
        er.load(models, **options)


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_candidates_of_a_search_are_models(make: Callable[[Any], Any]) -> None:
    """Each is named by its parameters; what the sizes of the folds are taken for is said."""
    results = make(
        {
            "params": [{"C": 1, "kernel": "rbf"}, {"C": 10, "kernel": "rbf"}],
            "split0_test_f1": [0.1, 0.2], "split1_test_f1": [0.3, 0.5],
            "split0_test_auc": [0.6, 0.7], "split1_test_auc": [0.8, 0.9], "mean_test_f1": [0.2, 0.35],
        }
    )  # fmt: skip
    found = er.load(results, value="test_auc")
    assert [(m.name, m.outcome.tolist()) for m in found.models if m.outcome is not None] == [
        ("C=1, kernel=rbf", [0.6, 0.8]),
        ("C=10, kernel=rbf", [0.7, 0.9]),
    ]
    assert "fold_sizes_assumed" in [w.code for w in found.warnings]


def test_a_fold_without_a_score_is_left_out_for_all_by_the_advice_of_the_message() -> None:
    """The means of the other three folds, by hand; it is said how many folds are left out."""
    models = {"a": validated([0.9, np.nan, 0.7, 0.8]), "b": validated([0.8, 0.1, 0.6, 0.7])}
    with pytest.raises(InputError, match="leave its fold or data set out .* --missing drop"):
        er.load(models)
    found = er.load(models, missing="drop")
    assert [m.outcome.tolist() for m in found.models if m.outcome is not None] == [
        [0.9, 0.7, 0.8],
        [0.8, 0.6, 0.7],
    ]
    (note,) = [str(w.text) for w in found.warnings if w.code == "scores_left_out"]
    assert note.startswith("One of 4 folds is left out for every model")


def search(**more: Any) -> dict[str, Any]:
    """What a search over three depths returned, the first of which could not be fitted."""
    return {
        "params": [{"depth": -1}, {"depth": 2}, {"depth": 6}],
        "split0_test_score": [np.nan, 0.7, 0.8], "split1_test_score": [np.nan, 0.9, 0.6],
    } | more  # fmt: skip


def test_a_candidate_that_could_not_be_fitted_is_left_out_and_said() -> None:
    """The others are compared; where none could be fitted, that is the message."""
    found = er.load(search())
    assert [m.name for m in found.models] == ["depth=2", "depth=6"]
    assert any("depth=-1" in str(record.why) for record in found.found if record.what == "candidates")
    empty = {"split0_test_score": [np.nan] * 3, "split1_test_score": [np.nan] * 3}
    with pytest.raises(InputError, match="no candidate of the search has a score"):
        er.load(search(**empty))


def test_of_a_halving_search_the_last_iteration_is_taken_and_said() -> None:
    """Candidates of earlier iterations were scored on fewer rows: they are no models to compare fold by fold."""
    halving = search(
        params=[{"depth": 1}, {"depth": 2}, {"depth": 2}, {"depth": 6}],
        split0_test_score=[0.5, 0.6, 0.7, 0.8], split1_test_score=[0.5, 0.7, 0.9, 0.6],
        iter=[0, 0, 1, 1], n_resources=[10, 10, 30, 30],
    )  # fmt: skip
    found = er.load(halving)
    assert [(m.name, m.outcome.tolist()) for m in found.models if m.outcome is not None] == [
        ("depth=2", [0.7, 0.9]),
        ("depth=6", [0.8, 0.6]),
    ]
    (record,) = [record for record in found.found if record.what == "candidates"]
    assert "iter 1" in str(record.why)
    assert "2 of 4" in str(record.why)


def test_halving_searches_of_scikit_learn_itself() -> None:
    """The names and shapes that it writes."""
    import sklearn.experimental.enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    search = HalvingGridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4]}, cv=3, random_state=0
    )
    results = search.fit(x, (x[:, 0] > 0).astype(int)).cv_results_
    last = np.asarray(results["iter"]) == max(results["iter"])
    assert len(er.load(results).models) == last.sum() < len(last)
