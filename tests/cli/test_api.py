"""The Python API: the same analysis, from the same options, in a notebook."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import UsageError
from evalreport.options import RENDERING, Options, OutputOptions
from evalreport.schema.results import to_json

ROOT = Path(__file__).resolve().parents[2]
TRUTH = [i // 2 % 2 for i in range(60)]
FOREST = [t if i % 10 else 1 - t for i, t in enumerate(TRUTH)]
LOGREG = [t if i % 3 else 1 - t for i, t in enumerate(TRUTH)]
MODELS = {"forest": {"y_pred": FOREST}, "logreg": {"y_pred": LOGREG}}


@pytest.fixture(scope="module")
def several():
    """Two models with probabilities and slices."""
    scores = {
        name: {
            "p_1": [0.1 + 0.8 * p - i % 7 / 100 for i, p in enumerate(labels)],
            "part_of": ["a", "b", "c"] * 20,
        }
        for name, labels in (("forest", FOREST), ("logreg", LOGREG))
    }
    return er.evaluate(scores, truth=TRUTH, resamples=50, slices="part_of")


def test_fields_replace_those_of_the_options():
    """Options can be given whole, field by field, or both."""
    options = er.Options(seed=5, resamples=50)
    results = er.evaluate(MODELS, truth=TRUTH, options=options, resamples=60, metrics="f1")
    assert (results.options["seed"], results.options["resamples"]) == (5, 60)
    assert {row.metric for row in results.metrics} == {"f1"}


@pytest.mark.parametrize(
    "function, keyword, meant",
    [
        (er.evaluate, "confidnce", "confidence"),
        (er.evaluate, "metric", "metrics"),
        (er.evaluate, "Truth", "truth"),
        (er.load, "possitive", "positive"),
        (er.check, "tasks", "task"),
        (er.render, "format", "formats"),
        (er.resample, "job", "jobs"),
        (er.compare_runs, "input", "inputs"),
        (er.verify, "job", "jobs"),
        (er.plan, "halfwidth", "half_width"),
    ],
)
def test_a_misspelt_keyword_is_a_type_error_with_a_suggestion(function, keyword, meant):
    """As for any function of Python, and as for a misspelt option; before anything is read."""
    for kind in (TypeError, UsageError):
        with pytest.raises(kind, match=rf"{function.__name__}\(\): .*did you mean {meant}\b"):
            function(**{keyword: "x"})


def test_a_wrong_value_is_refused():
    """Before anything is read."""
    with pytest.raises(UsageError, match="between 0 and 1"):
        er.evaluate("models", confidence=90)
    with pytest.raises(UsageError, match="power must lie between 0 and 1, not 80"):
        er.plan(difference=0.1, power=80)
    with pytest.raises(UsageError, match="unknown measure 'AUC'; did you mean auc"):
        er.plan(measure="AUC")


def test_the_help_of_a_function_documents_every_keyword_that_it_takes():
    """Those of the options are written from their declarations, in the words of the command line."""
    for function, record, left_out in (
        (er.evaluate, Options, {"truth"}),
        (er.render, OutputOptions, {f.name for f in fields(OutputOptions)} - set(RENDERING)),
    ):
        documented = inspect.getdoc(function).split("Other Parameters")[1].split("\nReturns")[0]
        names = set(re.findall(r"^(\w+) : ", documented, flags=re.MULTILINE))
        assert names == {f.name for f in fields(record)} - left_out
        assert function.__annotations__["return"] in ("Results", "RenderOutcome")
    assert "Confidence level of the intervals" in er.evaluate.__doc__


@pytest.mark.slow
def test_the_keywords_are_typed(tmp_path):
    """Mypy finds a misspelt keyword, a wrong value and a wrong choice, and knows what comes back."""
    file = tmp_path / "use.py"
    file.write_text(
        "import evalreport as er\n"
        "r = er.evaluate({'a': {'y_pred': [1, 0]}}, truth=[1, 0], metrics=['f1'], task='binary', margin=0.1)\n"
        "er.evaluate('models', confidnce=0.9)\n"
        "er.evaluate('models', confidence='high')\n"
        "er.evaluate('models', task='binray')\n"
        "er.render(r, 'out', formats='html', titel='x')\n"
        "er.plots.roc(r).set_title('ROC')\n"
        "n: str = er.plots.roc(r)\n"
        "raise er.errors.InputError('x')\n"
    )
    # A process of its own: mypy raises this one's limit of recursion. What the static checks kept saves seven seconds.
    command = [sys.executable, "-m", "mypy", file]
    out = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT).stdout
    assert [int(line.split(":")[1]) for line in out.splitlines() if ": error: " in line] == [3, 4, 5, 6, 8], (
        out
    )
    assert 'did you mean "confidence"' in out


def test_results_that_are_printed_take_one_screen(several):
    """With the verdict and what to do next, whatever the number of models and the length of their names."""
    shown = repr(several)
    assert "forest" in shown
    assert 'results.to_frame("metrics")' in shown
    many = {f"{'a very long name ' * 9}{i}": {"y_pred": FOREST} for i in range(40)}
    for results in (several, er.evaluate(many, truth=TRUTH, metrics="accuracy", resamples=20)):
        shown = repr(results)
        assert len(shown) <= 4000
        assert len(shown.splitlines()) <= 45
        assert shown.endswith("writes the report.")


def test_results_that_are_printed_say_what_was_guessed():
    """A line each, as the command line says it."""
    graded = {"forest": np.array([[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.9, 0.1]])}
    shown = repr(er.evaluate(graded, truth=[1, 0, 1, 0], metrics="accuracy", resamples=20)).splitlines()
    assert [line.partition(" (")[0] for line in shown[1:6]] == [
        "task: binary",
        "positive class: 1",
        "ids: row numbers",
        "probabilities: y_prob",
        "threshold: forest",
    ]


def test_results_without_models_or_metrics_can_be_printed():
    """Whatever a debugger prints."""
    empty = dict.fromkeys(("signature", "task", "design", "primary_metric"), "x")
    results = er.Results(
        **empty, options={}, n=0, classes=(), positive=None, models=(), baseline=None, inputs=()
    )
    assert repr(results).startswith("Results of 0 models on 0 examples")
    assert results.to_frame("metrics").empty
    assert {"model", "value", "low", "high", "interval_method"} <= set(results.to_frame("metrics").columns)


def test_the_summary_is_that_of_the_report(several, tmp_path):
    """The text of summary.md."""
    er.render(several, tmp_path / "out", formats="md")
    assert several.summary() == (tmp_path / "out" / "summary.md").read_text()


def test_every_list_opens_as_a_flat_frame(several):
    """A value in every cell; metrics have the recommended interval, curves a row for each point."""
    from evalreport.schema.frames import record_lists

    for name in record_lists(er.Results):
        frame = several.to_frame(name)
        cells = [cell for column in frame for cell in frame[column]]
        assert all(cell is None or isinstance(cell, (str, bool, int, float, np.generic)) for cell in cells), (
            name
        )
        assert len(frame) >= len(getattr(several, name)), name
    metrics = several.to_frame("metrics")
    row = metrics[
        (metrics.model == "forest") & (metrics.metric == "accuracy") & metrics.slice_column.isna()
    ].iloc[0]
    record = next(r for r in several.metrics if r.model == "forest" and r.metric == "accuracy")
    first = record.intervals[0]
    assert (row.value, row.low, row.high) == (record.value, first.low, first.high)
    assert row.interval_method == first.method
    curve = next(c for c in several.curves if c.curve == "roc")
    points = several.to_frame("curves").query("curve == 'roc' and model == @curve.model")
    assert tuple(points.x) == curve.x
    assert list(several.to_frame("verdicts")[["a", "b"]].iloc[0]) == list(several.verdicts[0].about)
    assert several.to_frame("warnings").text[0] == str(several.warnings[0].text)
    with pytest.raises(UsageError, match="did you mean metrics"):
        several.to_frame("metric")
    with pytest.raises(UsageError, match="unknown list 'models'"):
        several.to_frame("models")


def test_without_pandas_a_frame_says_what_to_install(several, monkeypatch):
    """Pandas is no requirement of the program."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        several.to_frame("metrics")


def test_charts_come_with_the_package_and_name_the_area(several):
    """Axes come back; the legend of ROC has the AUC unless names are given."""
    from matplotlib import pyplot as plt
    from matplotlib.text import Text

    def said(axes):
        return {text.get_text() for text in axes.findobj(Text)}

    both = ["forest", "logreg"]  # those that are clearly behind have no name
    axes = er.plots.roc(several, highlight=both)
    areas = {r.model: r.value for r in several.metrics if r.metric == "roc_auc" and r.slice is None}
    assert {f"{model} (AUC {areas[model]:.3f})" for model in both} <= said(axes)
    given = said(
        er.plots.roc(
            several, plt.figure().add_subplot(), names={"forest": "F", "logreg": "L"}, highlight=both
        )
    )
    assert {"F", "L"} <= given
    assert not any("AUC" in text for text in given)
    plt.close("all")


def test_runs_are_compared_and_verified_from_python(several, tmp_path):
    """Results as they are or as they were written; the inputs of arrays cannot be had again."""
    changed = er.compare_runs(several, er.evaluate(MODELS, truth=TRUTH, metrics="accuracy", resamples=50))
    assert {(v.model, v.difference) for v in changed.values} == {("forest", 0.0), ("logreg", 0.0)}
    er.render(several, tmp_path / "out", formats="json")
    assert er.verify(tmp_path / "out").outcome == er.verify(several).outcome == "cannot be had"


def test_a_plan_prints_as_a_table():
    """Wilson's interval for 0.9: 868 examples for +- 0.02 (the same as the command prints)."""
    (answer,) = er.plan(half_width=0.02, expected=0.9)
    assert "868" in str(answer)
    assert "formula:" in str(answer)


def test_gates_are_decided_in_the_api_as_well():
    """54 of 60 right is Wilson's [0.80, 0.95] (closed form): above 0.7; n is 60."""
    gates = ["forest.accuracy >= 0.7", "n >= 61"]
    results = er.evaluate(MODELS, truth=np.array(TRUTH), resamples=50, gates=gates)
    assert [gate.outcome for gate in results.gates] == ["pass", "fail"]


def test_the_records_open_as_data_frames():
    """A list of records is a table: pandas takes dataclasses, polars their dictionaries."""
    import pandas as pd
    import polars as pl

    results = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    frame = pd.DataFrame(results.metrics)
    assert list(frame[frame.metric == "accuracy"].value) == [54 / 60, 40 / 60]
    assert "model" in pl.DataFrame([asdict(row) for row in results.confusion]).columns


def test_files_and_frames_give_the_same_figures(tmp_path):
    """The truth as a file or as an array; the columns from a file or from memory."""
    ids = [f"{i:02}" for i in range(60)]
    (tmp_path / "models").mkdir()
    for name, labels in (("forest", FOREST), ("logreg", LOGREG)):
        rows = "".join(f"{i},{label}\n" for i, label in zip(ids, labels, strict=True))
        (tmp_path / "models" / f"{name}.csv").write_text("id,y_pred\n" + rows)
    truth = "".join(f"{i},{label}\n" for i, label in zip(ids, TRUTH, strict=True))
    (tmp_path / "true.csv").write_text("id,y_true\n" + truth)
    by_file = er.evaluate(tmp_path / "models", truth=tmp_path / "true.csv", resamples=50)
    in_memory = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    assert by_file.metrics == in_memory.metrics
    assert by_file.comparisons == in_memory.comparisons


def test_render_writes_what_the_command_line_would(tmp_path):
    """results.json holds exactly the results; a folder as text or as a path."""
    results = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    outcome = er.render(results, str(tmp_path / "out"), formats="json")
    assert [Path(path).name for path in outcome.paths] == ["results.json"]
    assert (tmp_path / "out" / "results.json").read_bytes() == to_json(results)


def test_load_and_check_say_what_there_is():
    """Labels of two classes allow label metrics, and no ranking ones."""
    assert er.load(MODELS, truth=TRUTH).task == "binary"
    survey = {row.analysis: row.possible for row in er.check(MODELS, truth=TRUTH)}
    assert survey["label metrics"]
    assert not survey["ranking metrics and curves"]


def test_names_that_are_not_there_are_an_attribute_error():
    """As for any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        er.nonsense  # noqa: B018 - the lookup is what is tested
    assert set(er.__all__) <= set(dir(er))
    assert all(getattr(er, name) is not None for name in er.__all__)
