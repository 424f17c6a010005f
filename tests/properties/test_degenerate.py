"""Degenerate test sets never crash and give no NaN; of drawn ones test_invariances.py asks the same."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evalreport
from evalreport.metrics.registry import METRICS
from evalreport.schema.results import to_json
from evalreport.texts import Message
from tests.samples.cases import every

from .soundness import assert_intervals_keep_to_the_range, assert_sound
from .strategies import TASKS, Source, evaluate, ids

FEW_EXAMPLES = settings(
    max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def labels(truth: list[str], said: list[str]) -> Source:
    """Return one label model twice, the second the other way round."""
    return {
        "m0": {"id": ids(len(truth)), "y_true": truth, "y_pred": said},
        "m1": {"id": ids(len(truth)), "y_true": truth, "y_pred": said[::-1]},
    }


def scores(truth: list[str], said: list[float]) -> Source:
    """Return two models with probabilities."""
    return {
        "m0": {"id": ids(len(truth)), "y_true": truth, "p_1": said},
        "m1": {"id": ids(len(truth)), "y_true": truth, "p_1": said[::-1]},
    }


def numbers(truth: list[float], said: list[float]) -> Source:
    """Return two regression models."""
    return {
        "m0": {"id": ids(len(truth)), "y_true": truth, "y_pred": said},
        "m1": {"id": ids(len(truth)), "y_true": truth, "y_pred": said[::-1]},
    }


SHAPES: dict[str, tuple[str, Source]] = {
    "one class": ("binary", scores(["1"] * 8, [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])),
    "one class, never predicted": ("binary", scores(["0"] * 8, [0.9] * 8)),
    "one example": ("binary", scores(["1"], [0.7])),
    "one wrong example": ("binary", scores(["0"], [0.7])),
    "two examples": ("binary", scores(["0", "1"], [0.3, 0.6])),
    "all scores tied": ("binary", scores(["0", "1"] * 6, [0.5] * 12)),
    "probabilities 0 and 1": ("binary", scores(["0", "1"] * 6, [0.0, 1.0] * 6)),
    "probabilities 0 and 1, all wrong": ("binary", scores(["1", "0"] * 6, [0.0, 1.0] * 6)),
    "one positive": ("binary", scores(["1"] + ["0"] * 20, [0.9] + [0.1] * 20)),
    "constant labels": ("multiclass", labels(["a", "b", "c"] * 4, ["a"] * 12)),
    "one class of labels": ("multiclass", labels(["a"] * 6, ["a"] * 6)),
    "one labelled example": ("multiclass", labels(["a"], ["b"])),
    "every example its own class": ("multiclass", labels(list("abcdefgh"), list("hgfedcba"))),
    "one group": ("clustering", labels(["a"] * 6, ["x"] * 6)),
    "one example to group": ("clustering", labels(["a"], ["x"])),
    "every example its own group": ("clustering", labels(list("abcdefgh"), list("hgfedcba"))),
    "the true groups": ("clustering", labels(["a", "b"] * 20, ["x", "y"] * 20)),
    "one value": ("regression", numbers([1.5], [1.0])),
    "two values": ("regression", numbers([1.0, 2.5], [1.0, 2.0])),
    "exact": ("regression", numbers([1.0, 2.5, 4.0], [1.0, 2.5, 4.0])),
    "constant truth": ("regression", numbers([2.5] * 6, [1.0, 2.0, 3.0, 4.0, 5.0, 6.5])),
    "all zero": ("regression", numbers([0.0] * 6, [0.0] * 6)),
    "large and small": ("regression", numbers([1e40, 1e-40, 0.5], [1e-40, 1e40, 0.5])),
    "huge and tiny": ("regression", numbers([1e150, 1e-150, 0.5], [1e-150, 1e150, 0.5])),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_degenerate_shapes(shape: str, capfd: pytest.CaptureFixture[str]) -> None:
    """No crash, no warning on stderr, no NaN; what cannot be had is null with a reason."""
    task, source = SHAPES[shape]
    results = evaluate(source, task, tests=("all",), intervals=("all",))
    assert_sound(results)
    assert_intervals_keep_to_the_range(results, task)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_many_classes_and_models() -> None:
    """26 classes and 14 models: packed into one integer the labels would overflow 64 bits (27 x log2 26)."""
    letters = [chr(97 + i) for i in range(26)]
    truth = letters * 4
    source = {
        f"m{k:02d}": {
            "id": ids(len(truth)),
            "y_true": truth,
            "y_pred": [
                letter if (i + k) % 3 else letters[(i * 7 + k) % 26] for i, letter in enumerate(truth)
            ],
        }
        for k in range(14)
    }
    results = evaluate(source, "multiclass", metrics=("accuracy", "f1_macro"))
    assert_sound(results)
    for record in results.metrics:
        if record.metric == "accuracy":
            said = source[record.model]["y_pred"]
            assert record.value == pytest.approx(sum(a == b for a, b in zip(truth, said, strict=True)) / 104)
    assert len({(v.about) for v in results.verdicts}) == 14 * 13 // 2


@pytest.mark.parametrize("task", every(2, ["binary", "multiclass"]))
@FEW_EXAMPLES
@given(data=st.data())
def test_defined_bounded_values_have_a_recommended_interval(task: str, data: st.DataObject) -> None:
    """A bounded metric with a defined value always has limits in its first interval, around the value."""
    results = evaluate(data.draw(TASKS[task](models=1, least=4)), task)
    if len(results.classes) == 1:
        return  # a table of one class has no place for an error, so nothing can be mapped
    for record in results.metrics:
        if record.value is None or record.reason or not math.isfinite(METRICS[record.metric].scale.range[1]):
            continue
        if METRICS[record.metric].inference.no_interval:
            continue
        if record.metric in {"brier", "complement_mse"}:
            continue  # means of losses: a t interval, which a constant loss does not give
        if record.metric == "calibration_error":
            continue  # far smaller gaps than chance gives: the limits would meet at 0
        first = record.intervals[0]
        if first.reason == Message("interval_needs.one_threshold"):
            assert record.metric == "max_accuracy"
            continue  # a class is missing from the truth: there is no threshold to choose
        assert first.low is not None, record
        assert first.high is not None, record
        assert first.low - 1e-9 <= record.value <= first.high + 1e-9, record


def write(path: Path, columns: dict[str, Any]) -> None:
    """Write columns as a CSV file."""
    lines = [
        ",".join(columns),
        *(",".join(str(v) for v in row) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# Every order but the given one, and more than one thread.
@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    source=TASKS["binary"](models=3, least=5),
    order=st.sampled_from([[1, 2, 0], [2, 1, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1]]),
    jobs=st.integers(2, 4),
)
def test_same_bytes_for_any_order_of_files_and_jobs(
    tmp_path: Path, source: Source, order: list[int], jobs: int
) -> None:
    """results.json has the same bytes for any order of the files and any number of threads."""
    paths = []
    for name, columns in source.items():
        paths.append(tmp_path / f"{name}.csv")
        write(paths[-1], columns)
    options = evalreport.Options(task="binary", positive="1", resamples=100)
    straight = evalreport.evaluate(paths, options=options)
    turned = evalreport.evaluate([paths[i] for i in order], options=options, jobs=jobs)
    assert to_json(straight) == to_json(turned)


def test_a_weighted_average_over_folds_without_examples_is_undefined_and_not_warned_of(tmp_path: Path):
    """Replicates of unequal folds: in some cells there is nothing to divide by; numpy must not say so to the user."""
    columns = {
        "y_true": "1 0 2 1 1 3 0 1",
        "y_pred": "4 1 5 0 0 1 0 1",
        "replicate": "0 1 2 3 0 4 5 6",
        "fold": "0 1 2 3 0 4 2 5",
    }
    rows = zip(*(cells.split() for cells in columns.values()), strict=True)
    (tmp_path / "m.csv").write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    results = evalreport.evaluate(tmp_path / "m.csv", task="multiclass", resamples=20)
    assert results.metrics
