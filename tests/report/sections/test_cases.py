"""A heading that sets models side by side does not state as a fact what is not decided."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.report.sections.cases import describe as describe_cases
from evalreport.report.view import view_of


@pytest.mark.usefixtures("primary_alone")
@pytest.mark.parametrize("wrong, ending", [((20, 22), "errs on 22 (not decided)"), ((5, 60), "errs on 60")])
def test_a_heading_of_counts_says_that_they_are_not_decided(wrong: tuple[int, int], ending: str) -> None:
    """20 errors against 22 of 200 decide nothing; 5 against 60 do."""
    truth = ["a", "b"] * 70 + ["c"] * 60
    models = {}
    for name, n_wrong, at in zip(("forest", "svm"), wrong, (0, 100), strict=True):
        answers = list(truth)
        for i in range(at, at + n_wrong):
            answers[i] = "c" if truth[i] != "c" else "a"
        models[name] = {"y_pred": answers}
    view = view_of(er.evaluate(models, truth=truth, resamples=50))
    cases = describe_cases(view)
    assert cases is not None
    assert ending.replace("errs on", "svm on") in cases.heading
    assert ("not decided" in cases.heading) == ("not decided" in ending)


@pytest.mark.usefixtures("primary_alone")
def test_a_heading_over_several_fits_counts_no_example_twice() -> None:
    """12 positives in five repeats of two folds are 60 predictions: the heading gives shares."""
    rows: dict[str, list[object]] = {
        name: [] for name in ("id", "model", "repeat", "fold", "y_true", "y_pred")
    }
    for model, missed in (("forest", 3), ("tree", 6)):
        for repeat in range(5):
            for i in range(40):
                truth = int(i < 12)
                values = (f"e{i}", model, repeat, i % 2, truth, 0 if i < missed else truth)
                for name, value in zip(rows, values, strict=True):
                    rows[name].append(value)
    view = view_of(er.evaluate(pd.DataFrame(rows), positive="1", resamples=50))
    cases = describe_cases(view)
    assert cases is not None
    assert cases.heading.startswith("In cases: forest finds 75.0 % of the “1”, tree 50.0 %")
    assert cases.groups == ("“1”: 60 predictions", "others: 140 predictions")


@pytest.mark.usefixtures("primary_alone")
def test_bars_of_found_and_of_false_alarms_are_on_one_scale() -> None:
    """120 of 200 positives found and 50 false alarms: a quarter as long as the positives, and named by its counts."""
    truth = ["1"] * 200 + ["0"] * 800
    predicted = ["1"] * 120 + ["0"] * 80 + ["1"] * 50 + ["0"] * 750
    cases = describe_cases(
        view_of(er.evaluate({"m": {"y_pred": predicted}}, truth=truth, positive="1", resamples=50))
    )
    assert cases is not None
    (row,) = cases.rows
    found, alarms = row.bars
    assert (found.right, found.wrong, alarms.right, alarms.wrong) == (60.0, 40.0, 0.0, 25.0)
    assert (found.text, alarms.text) == ("120 found, 80 missed of 200", "50 false alarms among 800")


@pytest.mark.usefixtures("primary_alone")
def test_mistakes_keep_what_tells_classes_apart() -> None:
    """Of species_012_coleoptera and species_049_lepidoptera the numbers stay, not the beginning they share."""
    classes = [f"species_{i:03d}_{'cole' if i % 2 else 'lepid'}optera" for i in (12, 49, 50)]
    truth = classes * 20
    predicted = [classes[1], *truth[1:]]
    view = view_of(er.evaluate({"m": {"y_pred": predicted}}, truth=truth, resamples=50))
    cases = describe_cases(view)
    assert cases is not None
    assert cases.rows[0].cells[-1] == "“012…” as “049…” (1)"


def rare(**options: object) -> er.Results:
    """Return a run at 2 % prevalence whose probabilities are all below 0.5."""
    truth = np.arange(1000) < 20
    rng = np.random.default_rng(2)
    models = {name: {"p_1": 0.3 * rng.random(1000) + 0.1 * truth} for name in ("a", "b")}
    return er.evaluate(models, truth=truth.astype(int), positive="1", resamples=50, **options)


def test_where_a_half_finds_nobody_counts_are_at_ten_percent_false_alarms() -> None:
    """0.5 finds 0 of 20; at the threshold of 10 % false alarms, by numpy, 98 of 980 or fewer are alarms."""
    results = rare()
    cases = describe_cases(view_of(results))
    assert cases is not None
    assert cases.heading == "In cases, at 10 % false alarms"
    assert "0.5, which nobody chose, finds 0 at most" in cases.note
    points = {p.model: p for p in results.operating_points if (p.criterion, p.at) == ("fixed_fpr", 0.1)}
    for row in cases.rows:
        assert row.cells[0] == str(int(points[row.model.id].tp)) != "0"
        assert int(row.cells[3]) <= 98


def test_counts_are_at_the_threshold_that_was_asked_for() -> None:
    """--what-if-threshold 0.2, or the thresholds of least cost: by name of the option, never 0.5."""
    cases = describe_cases(view_of(rare(what_if_threshold=0.2)))
    assert cases is not None
    assert cases.heading == "In cases, at a threshold of 0.2"
    assert {int(row.cells[0]) + int(row.cells[1]) for row in cases.rows} == {20}
    cases = describe_cases(view_of(rare(cost_ratio=20.0)))
    assert cases is not None
    assert cases.heading == "In cases, at the thresholds of least cost"
    assert "a miss at 20 times a false alarm" in cases.note


@pytest.mark.usefixtures("primary_alone")
def test_weights_are_told_in_shares() -> None:
    """Three positives of weight 2, or one of 2 and one of 4: both models find 6 of 10."""
    truth = [1, 1, 1, 1] + [0] * 40
    weight = [2.0, 2.0, 2.0, 4.0] + [1.0] * 40
    answers = {"svm": [1, 1, 1, 0], "mlp": [0, 0, 1, 1]}
    models = {name: {"y_pred": hits + [0] * 40, "w": weight} for name, hits in answers.items()}
    view = view_of(er.evaluate(models, truth=truth, weight="w", resamples=50))
    cases = describe_cases(view)
    assert cases is not None
    assert "60.0 % of the weight of “1”" in cases.heading  # 6 of 10 for both


@pytest.mark.usefixtures("primary_alone")
def test_of_three_models_the_middle_one_is_named() -> None:
    """Of 20 positives 18, 15 and 12 are found: "the others between" would be one."""
    truth = np.arange(40) % 2
    found = {"ash": 18, "birch": 12, "cedar": 15}
    models = {
        name: {"y_pred": np.where(np.cumsum(truth) <= n, truth, 0)} for name, n in found.items()
    }  # fmt: skip
    cases = describe_cases(view_of(er.evaluate(models, truth=truth, positive="1", resamples=20)))
    assert cases is not None
    assert cases.heading.startswith("In cases: ash finds 18 of the 20 “1”, birch 12, cedar between")


@pytest.mark.usefixtures("primary_alone")
def test_one_false_alarm_is_one() -> None:
    """For a screen reader too; and labels have no threshold."""
    truth, predicted = ["1", "1", "0", "0", "0"] * 8, ["1", "1", "0", "0", "0"] * 8
    predicted[2] = "1"
    cases = describe_cases(
        view_of(er.evaluate({"m": {"y_pred": predicted}}, truth=truth, positive="1", resamples=50))
    )
    assert cases is not None
    assert cases.rows[0].bars[1].text == "1 false alarm among 24"
    assert cases.note.startswith("By each model’s predicted labels. ")
