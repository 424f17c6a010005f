"""Empty outcomes and predictions: refused, left out for every model, or counted as wrong, and how many is said."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import evalreport as er
from evalreport.errors import InputError, InputErrors, UsageError
from evalreport.report.sections.confusion import describe_confusion
from evalreport.report.view import view_of
from evalreport.schema.results import Results

N = 120


def drawn(classes: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return true labels, and two models' predictions, one with ten gaps."""
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, N).astype(str)
    models = {
        name: np.where(rng.random(N) < share, truth, rng.integers(0, classes, N).astype(str)).astype(object)
        for name, share in (("a", 0.8), ("b", 0.6))
    }
    models["a"][rng.choice(N, 10, replace=False)] = None
    return truth, models


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA])
def test_a_gap_is_refused_unless_it_is_said_what_it_means(gap: Any) -> None:
    """Every model with gaps is named, with the first and how many there are."""
    values = pd.Series([1.5, gap, 2.5, gap], dtype=object)
    models = {"a": {"y_pred": values}, "b": {"y_pred": [1.5, 2, 2.5, gap]}, "c": {"y_pred": [1.0, 2, 3, 4]}}
    with pytest.raises(InputErrors, match="2 errors") as caught:
        er.load(models, truth=[1.25, 2, 2, 3])
    said = str(caught.value)
    assert "row 2: the cell is empty, though the model 'a'" in said
    assert "(the first of 2 such rows)" in said
    assert "row 4: the cell is empty, though the model 'b'" in said
    assert "--missing drop" in said


def test_drop_leaves_the_example_out_for_every_model() -> None:
    """The rest is what it would be without these rows, also where the true value is missing; how many is said."""
    truth = np.arange(40.0) / 4
    a, b = truth + 0.5, truth - np.arange(40) % 3
    gapped = a.copy()
    gapped[[3, 7]] = np.nan
    known = truth.copy()
    known[5] = np.nan
    found = er.load({"a": gapped, "b": b}, truth=known, missing="drop")
    (warning,) = [w for w in found.warnings if w.code == "missing_left_out"]
    assert "3 of 40 examples" in str(warning.text)
    left = np.setdiff1d(np.arange(40), [3, 5, 7])
    assert found.ids.to_pylist() == [f"{i:02d}" for i in left]
    assert found.y_true is not None
    assert found.y_true.tolist() == truth[left].tolist()
    assert [m.y_pred.tolist() for m in found.models if m.y_pred is not None] == [
        a[left].tolist(),
        b[left].tolist(),
    ]


def test_drop_takes_an_example_out_of_every_fold() -> None:
    """A gap in one repeat leaves no other repeat unbalanced."""
    rows = [(i, r, i % 2, (i + r) % 2) for r in range(2) for i in range(8)]
    frame = pd.DataFrame(rows, columns=["id", "repeat", "y_true", "y_pred"]).astype({"y_pred": object})
    frame.loc[3, "y_pred"] = None
    found = er.load({"m": frame}, missing="drop")
    assert found.n == 14
    assert "3" not in found.ids.to_pylist()


@pytest.mark.parametrize("missing, n, mean", [("drop", 30, 2 / 3), ("wrong", 40, 0.5)])
def test_an_outcome_that_nobody_judged(missing: str, n: int, mean: float) -> None:
    """Left out, or 0."""
    models = {"a": {"outcome": [1, 0, None, 1] * 10}, "b": {"outcome": [1, 1, 0, 1] * 10}}
    results = er.evaluate(models, missing=missing, resamples=100, metrics=["mean_outcome"])
    assert results.n == n
    assert next(m.value for m in results.metrics if m.model == "a") == pytest.approx(mean, abs=1e-12)


@pytest.fixture(scope="module", params=[2, 3])
def counted(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, Results]:
    """Evaluate labels with gaps that count as wrong, by slices too."""
    truth, models = drawn(request.param)
    group = np.where(np.arange(N) < N // 2, "x", "y")
    given = {name: {"y_pred": list(labels), "group": group} for name, labels in models.items()}
    results = er.evaluate(given, truth=truth, missing="wrong", slices=["group"], resamples=200)
    return truth, np.where(models["a"] == None, "(missing)", models["a"]).astype(str), results  # noqa: E711


def eval_of(formula: str | None) -> float:
    """Return the value of a quotient of a count by two, as a record writes it: 8 / (8 + 2)."""
    match = re.fullmatch(r"(\d+) / \((\d+) \+ (\d+)\)", formula or "")
    assert match is not None
    above, one, other = (int(part) for part in match.groups())
    return above / (one + other)


def test_a_missing_label_is_a_prediction_outside_all_classes(
    counted: tuple[np.ndarray, np.ndarray, Results],
) -> None:
    """scikit-learn's values with a label more among the predictions, and averages over the true classes."""
    truth, said, results = counted
    found = {
        (m.metric, m.average, m.label): m.value for m in results.metrics if m.model == "a" and m.slice is None
    }
    labels = list(results.classes)
    assert "(missing)" not in labels
    wanted: dict[tuple[str, str | None, str | None], float] = {
        ("accuracy", None, None): metrics.accuracy_score(truth, said),
        ("mcc", None, None): metrics.matthews_corrcoef(truth, said),
        ("cohen_kappa", None, None): metrics.cohen_kappa_score(truth, said),
    }
    if len(labels) > 2:
        wanted["f1", "macro", None] = metrics.f1_score(truth, said, labels=labels, average="macro")
        wanted["f1", "weighted", None] = metrics.f1_score(truth, said, labels=labels, average="weighted")
    else:
        wanted["f1", None, None] = metrics.f1_score(truth, said, labels=["1"], average="macro")
        # Recall and precision of the other class; what has no answer is none of its answers, and none of its hits.
        wanted["specificity", None, None] = metrics.recall_score(truth, said, labels=["0"], average="macro")
        wanted["npv", None, None] = metrics.precision_score(truth, said, labels=["0"], average="macro")
        wanted["recall", None, None] = metrics.recall_score(truth, said, labels=["1"], average="macro")
        wanted["precision", None, None] = metrics.precision_score(truth, said, labels=["1"], average="macro")
        wanted["fpr", None, None] = 1 - wanted["specificity", None, None]
        of = {name: wanted[name, None, None] for name in ("recall", "specificity", "precision", "npv")}
        wanted["informedness", None, None] = of["recall"] + of["specificity"] - 1
        wanted["markedness", None, None] = of["precision"] + of["npv"] - 1
        (filled,) = (
            m.formula for m in results.metrics if (m.model, m.metric, m.slice) == ("a", "specificity", None)
        )
        assert eval_of(filled) == pytest.approx(wanted["specificity", None, None])
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, rel=1e-12)
    gone = sum(c.count for c in results.confusion if c.model == "a" and c.predicted == "(missing)")
    assert gone == 10
    assert sum(said[truth == "0"] == "(missing)") > 0, "or nothing is tested of true negatives"
    assert "10 empty cells" in str(next(w.text for w in results.warnings if w.code == "missing_is_wrong"))


def test_the_remedy_of_a_gap_is_one_that_works() -> None:
    """A missing number of a regression is not to be counted as wrong, which would be refused; a missing label is."""
    for truth, said, wrong in (
        ([1.25, 2, 3.5], [1.5, None, 2], False),
        (["x", "y", "y"], ["x", None, "y"], True),
    ):
        with pytest.raises(InputError) as caught:
            er.load({"m": said}, truth=truth)
        assert ("--missing wrong" in (caught.value.remedy or "")) == wrong
        assert "--missing drop" in (caught.value.remedy or "")


def test_missing_labels_are_a_column_of_the_confusion_table(
    counted: tuple[np.ndarray, np.ndarray, Results],
) -> None:
    """The report's rows then add up to the examples of the class."""
    truth, said, results = counted
    shown = describe_confusion(view_of(results))
    assert shown is not None
    table = next(table for model, table in shown.matrices if model.id == "a")
    assert table.headings[:-1] == (*results.classes, "(missing)")
    for label, row in zip(results.classes, table.rows, strict=True):
        *answers, total = row.cells
        assert len(answers) == len(table.headings) - 1
        assert total == str(int((truth == label).sum()))
        assert answers[-1].value == str(int(((truth == label) & (said == "(missing)")).sum()))


@pytest.mark.slow
def test_a_slope_of_a_macro_average_leaves_the_missing_label_out(
    counted: tuple[np.ndarray, np.ndarray, Results],
) -> None:
    """The standard error of F1 is near the spread of its bootstrap: the derivative is that of the value."""
    truth, said, results = counted
    labels = list(results.classes)
    average = "macro" if len(labels) > 2 else None
    (row,) = [
        m
        for m in results.metrics
        if (m.model, m.metric, m.average, m.label, m.slice) == ("a", "f1", average, None, None)
    ]
    labels = labels if average else ["1"]
    rng = np.random.default_rng(1)
    draws = [rng.integers(0, N, N) for _ in range(400)]
    values = [metrics.f1_score(truth[d], said[d], labels=labels, average="macro") for d in draws]
    assert row.standard_error == pytest.approx(np.std(values), rel=0.15)  # 400 draws: 3.5 % each way


def test_what_cannot_be_wrong_is_refused() -> None:
    """A number is not just wrong, nor is a label whose probabilities are there."""
    gap = {"y_pred": [1.5, None, 2.5]}
    with pytest.raises(UsageError, match="the task is regression"):
        er.load({"m": gap}, truth=[1.25, 2, 3], missing="wrong")
    graded = {"y_pred": ["x", None, "y"], "p_y": [0.1, 0.5, 0.9]}
    with pytest.raises(UsageError, match="p_y"):
        er.load({"m": graded}, truth=["x", "y", "y"], missing="wrong")
    with pytest.raises(UsageError, match="go beyond 0 and 1"):
        er.load({"m": {"outcome": [1.5, None, 1]}}, missing="wrong")
    with pytest.raises(InputError, match="no true value"):
        er.load({"m": [1.5, 2]}, truth=[1.25, None], missing="wrong")
