"""Suites in files: which columns make one, how true values find their examples, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport import Options
from evalreport.errors import EvalreportError, InputError, UsageError
from evalreport.loading.load import load
from evalreport.predictions.possible_analyses import survey
from tests.samples.suites import outcomes, write


def two_tasks(**more: Any) -> dict[str, Any]:
    """Return one model's outcomes on two tasks of four examples, whose ids repeat."""
    return {
        "task": ["x"] * 4 + ["y"] * 4,
        "id": list("1234") * 2,
        "outcome": [1, 0, 1, 1, 0, 1, 0, 0],
        **more,
    }


def test_two_tasks_make_a_suite_and_one_is_metadata() -> None:
    """An example is (task, id); a column with one task, or of scores, is one like any other, by its own name."""
    suite = load({"a": two_tasks()})
    assert suite.n == len(suite.ids) == 8
    assert suite.ids.to_pylist()[0] == "x:1"
    assert suite.tasks is not None
    assert suite.tasks.categories == ("x", "y")
    one = load({"a": {"benchmark": ["x"] * 4, "id": list("1234"), "outcome": [1, 0, 1, 1]}})
    assert one.tasks is None
    assert "benchmark" in one.metadata
    scores = load({"a": {"task": ["x", "y"], "dataset": ["p", "q"], "value": [0.1, 0.2]}})
    assert scores.tasks is None


def test_a_task_may_hold_the_sign_that_joins_it_to_ids() -> None:
    """Tasks 'x' and 'x:1' with the ids '1:2' and '2' stay two examples."""
    columns = {"task": ["x", "x", "x:1", "x:1"], "id": ["1:2", "3", "2", "3"], "outcome": [1, 0, 1, 0]}
    assert load({"a": columns}).n == len(set(load({"a": columns}).ids.to_pylist())) == 4


def test_an_id_that_stands_twice_in_a_task_is_refused_with_its_line(tmp_path: Path) -> None:
    """The same id in two tasks is two examples, twice in one task a mistake."""
    columns = two_tasks()
    columns["id"][1] = "1"
    with pytest.raises(InputError, match="line 3.*appears twice"):
        load(write(tmp_path / "m", {"a": columns}))


def test_true_values_are_found_by_task_and_id() -> None:
    """One id has two truths, by task; a table of true values may bring the tasks, and must where ids repeat."""
    labels = {"task": ["x"] * 2 + ["y"] * 2, "id": ["1", "2"] * 2, "y_pred": ["p", "q", "q", "q"]}
    truth = {"task": ["y", "y", "x", "x"], "id": ["1", "2"] * 2, "y_true": ["q", "p", "p", "q"]}
    found = load({"a": labels}, truth=truth)
    assert found.y_true is not None
    assert [found.classes[c] for c in found.y_true] == ["p", "q", "q", "p"]
    with pytest.raises(InputError, match="in several tasks"):
        load({"a": labels}, truth={"id": ["1", "2"], "y_true": ["p", "q"]})
    brought = load(
        {"a": {"id": list("abcd"), "y_pred": list("pqpq")}},
        truth={"id": list("abcd"), "y_true": list("ppqq"), "task": list("xxyy")},
    )
    assert brought.tasks is not None
    assert brought.tasks.categories == ("x", "y")


def lacking() -> dict[str, Any]:
    """Return two models, of which one lacks the third of three tasks."""
    more: dict[str, Any] = {
        "task": ["x"] * 3 + ["y"] * 3 + ["z"] * 3,
        "id": list("123") * 3,
        "outcome": [1, 0, 1] * 3,
    }
    less = {name: values[:6] for name, values in more.items()}
    return {"a": more, "b": less}


def test_a_model_that_lacks_a_task() -> None:
    """Refused by the task's name; with --join intersect the task is left out for all, and that is said."""
    with pytest.raises(InputError, match="the model 'b' lacks the task 'z'.*--join intersect"):
        load(lacking())
    kept = load(lacking(), options=Options(join="intersect"))
    assert kept.tasks is not None
    assert kept.tasks.categories == ("x", "y")
    (said,) = (r for r in kept.found if r.what == "tasks left out")
    assert str(said.value) == "z"
    assert "b lacks z" in str(said.why)


REFUSED: Mapping[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no task in some row": (two_tasks(task=["x"] * 4 + ["y"] * 3 + [None]), {}, "names no task"),
    "a task of one example": (
        {"task": ["x", "x", "y"], "id": list("121"), "outcome": [1, 0, 1]}, {}, "the task 'y' has a single example",
    ),
    "a task of one cluster": (
        two_tasks(g=list("aabbcccc")), {"cluster": "g"}, "the task 'y' has a single cluster of g",
    ),
    "weights": (two_tasks(w=[1.0] * 8), {"weight": "w"}, "--weight w"),
    "tasks as clusters": (two_tasks(), {"cluster": "task"}, "--cluster task"),
    "test sets apart": (two_tasks(), {"join": "independent"}, "--join independent"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    """What has no honest meaning for a suite is refused, and said plainly."""
    columns, options, message = REFUSED[case]
    with pytest.raises(EvalreportError, match=message):
        load({"a": columns}, options=Options(**options))


def test_one_task_in_common_is_one() -> None:
    """What is left by --join intersect is counted in words that fit."""
    models = lacking()
    models["b"] = {name: values[:3] for name, values in models["b"].items()}
    with pytest.raises(InputError, match="on the one task that all models have"):
        load(models)


def test_a_suite_of_several_fits_is_refused() -> None:
    """Folds or seeds within a suite are no design that is analysed: it is said what is."""
    columns = {"task": ["x"] * 4 + ["y"] * 4, "id": list("1122") * 2, "seed": list("12") * 4}
    models = {name: {**columns, "outcome": [1, 0, 1, 1, 0, 1, 0, 0]} for name in "ab"}
    with pytest.raises(UsageError, match="column task"):
        evalreport.evaluate(models, resamples=20)


def test_clusters_across_tasks_are_warned_of() -> None:
    """A passage that two tasks ask about is drawn in each by itself: the error may be too small, and that is said."""
    models = {name: two_tasks(g=list("aabbaacc")) for name in "ab"}
    results = evalreport.evaluate(models, cluster="g", resamples=20)
    (found,) = (w for w in results.warnings if w.code == "clusters_across_tasks")
    assert found.level == "caution"
    assert str(found.text).startswith("One group of g")


def test_classes_that_a_task_lacks_are_warned_of() -> None:
    """A macro average counts a class as 0 in a task without it: the task that has fewest is named."""
    columns = {
        "task": list("xxxxyyyy"),
        "id": list("12341234"),
        "y_true": list("pqrpppqq"),
        "y_pred": list("pqrqppqp"),
    }
    (found,) = (w for w in load({"a": columns}).warnings if w.code == "classes_differ_by_task")
    assert "y has 2" in str(found.text)
    whole = {**columns, "y_true": list("pqrppqrq")}
    assert not [w for w in load({"a": whole}).warnings if w.code == "classes_differ_by_task"]


def test_check_tells_data_sets_from_tasks() -> None:
    """With data sets it says what the column task would mean; with both columns, which one to leave out."""
    sets = {**two_tasks(), "dataset": list("ppppqqqq")}
    only = {name: column for name, column in sets.items() if name != "task"}
    for columns, said in ((only, "rename the column to task"), (sets, "leave out dataset")):
        (suite,) = (p for p in survey(load({"a": columns})) if "suite" in str(p.analysis))
        assert not suite.possible
        assert said in str(suite.remedy)


def test_an_average_over_examples_is_no_option_for_data_sets() -> None:
    """Data sets are a sample: --average examples would turn them into something else, and is refused."""
    columns = {"dataset": list("xxyy"), "id": list("1234"), "outcome": [1, 0, 1, 0]}
    with pytest.raises(UsageError, match="--average examples"):
        evalreport.evaluate({"a": columns, "b": columns}, average="examples", resamples=20)


def test_the_task_is_a_column_to_slice_by_too() -> None:
    """--slice task holds the tasks against each other, and adds no second row of their values."""
    results = evalreport.evaluate(outcomes(), slices=["task"], resamples=20)
    assert {d.slice.column for d in results.disparities} == {"task"}
    of_tasks = [(r.model, r.metric, r.slice) for r in results.metrics if r.slice is not None]
    assert len(of_tasks) == len(set(of_tasks))
