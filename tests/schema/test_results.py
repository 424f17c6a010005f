"""Results: what they print."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError, OutputError
from tests.samples.labels import FOREST, TRUTH


def test_results_that_are_printed_take_one_screen(several):
    """With the verdict and what to do next, whatever the number of models and the length of their names."""
    shown = repr(several)
    assert "forest" in shown
    assert 'results.to_frame("metrics")' in shown
    many = {f"{'a very long name ' * 9}{i}": {"y_pred": FOREST} for i in range(24)}
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


def test_every_list_of_results_json_is_a_list(several, tmp_path):
    """An empty one is ``[]`` (the contract, From Python), as evaluated, as saved and read, and as a copy."""
    er.render(several, tmp_path / "out", formats="json")
    saved = er.Results.from_json(tmp_path / "out" / "results.json")
    for results in (several, saved, dataclasses.replace(several, warnings=())):
        assert results.gates == results.folds == results.costs == []
        lists = [name for name, value in results.to_dict().items() if isinstance(value, list)]
        assert len(lists) > 40
        assert {name: type(getattr(results, name)) for name in lists} == dict.fromkeys(lists, list)
    assert dataclasses.replace(several, warnings=()).warnings == []


def test_the_summary_is_that_of_the_report(several, tmp_path):
    """The text of summary.md."""
    er.render(several, tmp_path / "out", formats="md")
    assert several.summary() == (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.slow
def test_results_write_themselves_in_every_form(several, tmp_path):
    """The same bytes as a report's files; what was saved, in any form, comes back as the same results."""
    paths = several.save(tmp_path / "out", formats=["html", "json", "md"], time="2026-01-01")
    assert {path.name for path in paths} == {"report.html", "results.json", "summary.md"}
    text = {path.name: path.read_text(encoding="utf-8") for path in paths}
    assert several.to_html(time="2026-01-01") == text["report.html"]
    assert several.to_markdown() == text["summary.md"]
    assert several.to_json() == text["results.json"]
    assert several.to_dict() == json.loads(text["results.json"])
    for saved in (several.to_json(), several.to_json().encode(), tmp_path / "out", str(tmp_path / "out")):
        assert er.Results.from_json(saved).to_json() == several.to_json()
    assert several.to_pdf(tmp_path / "one.pdf").read_bytes().startswith(b"%PDF-")
    assert er.Results.from_json(tmp_path / "one.pdf").to_json() == several.to_json()


@pytest.mark.slow
def test_a_pdf_that_cannot_be_written_is_one_line(several, tmp_path):
    """A folder that is not there: the path and the reason."""
    with pytest.raises(OutputError, match="No such file"):
        several.to_pdf(tmp_path / "none" / "one.pdf")


def test_the_help_of_results_fits_a_screen():
    """It names the way to a frame and to the page."""
    text = er.Results.__doc__
    assert len(text.splitlines()) < 80
    assert "to_frame" in text
    assert "to_html" in text


def test_the_best_model_and_the_pairs():
    """Best is the model that is better than each of the others, and none while a pair is open."""
    truth = [1, 0] * 60
    worse, worst = [1, 0] * 40 + [0, 1] * 20, [0, 1] * 60
    results = er.compare(truth, {"a": truth, "b": worse, "c": worst}, metrics="accuracy", resamples=50)
    assert results.best == "a"
    assert results.verdict == str(results.headline.text)
    pairs = results.pairs
    assert [tuple(row) for row in pairs[["a", "b", "metric", "verdict"]].itertuples(index=False)] == [
        ("a", "b", "accuracy", "better"), ("a", "c", "accuracy", "better"), ("b", "c", "accuracy", "better"),
    ]  # fmt: skip
    assert er.compare(truth, {"a": truth, "b": truth}, metrics="accuracy", resamples=50).best is None
    assert er.compare(truth, {"a": truth}, metrics="accuracy", resamples=50).best is None


def test_arrays_are_compared_by_position():
    """Labels, probabilities of one class or of all, numbers; one index beside arrays plays no part."""
    import pandas as pd

    truth = pd.Series([1, 0, 1, 1, 0, 0] * 10, index=range(60, 0, -1))
    scores = np.linspace(0.01, 0.99, 60)
    results = er.compare(truth, {"s": scores, "t": scores[::-1]}, metrics="roc_auc", resamples=50)
    assert [row.metric for row in results.metrics] == ["roc_auc"] * 2
    by_hand = er.evaluate({"s": {"y_prob": scores}, "t": {"y_prob": scores[::-1]}}, truth=truth.to_numpy(),
                          metrics="roc_auc", resamples=50)  # fmt: skip
    assert [row.value for row in results.metrics] == [row.value for row in by_hand.metrics]
    assert ("ids", "row numbers") in [(record.what, str(record.value)) for record in results.found]
    several = er.compare(
        ["x", "y", "z"] * 10, {"p": np.tile(np.eye(3), (10, 1))}, metrics="accuracy", resamples=50
    )
    assert several.metrics[0].value == 1
    assert (
        er.compare([1.5, 2.5, 3.0], {"r": [1.0, 2.0, 3.5]}, metrics="mae", resamples=50).metrics[0].value
        == 0.5
    )
    with pytest.raises(InputError, match=r"model 'a': an array of shape \(2,\) beside 3 true values"):
        er.compare([1, 0, 1], {"a": [1, 0]})
    with pytest.raises(TypeError, match="did you mean confidence"):
        er.compare([1, 0, 1], {"a": [1, 0, 1]}, confidnce=0.9)


def test_arrays_whose_index_is_in_another_order_are_refused():
    """By position a shuffled series of right answers is right by chance alone; pandas would align it (trap AG)."""
    import pandas as pd

    truth = pd.Series([1, 0, 1, 1, 0, 0] * 5, index=range(100, 130))
    shuffled, counted = truth.sample(frac=1, random_state=1), truth.reset_index(drop=True)
    options = {"metrics": "accuracy", "resamples": 20}
    for same in (truth, truth.to_frame(), truth.to_numpy(), counted):
        assert er.compare(truth, {"a": same}, **options).metrics[0].value == 1
    for first, models, of in (
        (truth, {"a": truth, "b": shuffled}, "'b': its index is not that of the true values"),
        (
            counted,
            {"b": counted.sample(frac=1, random_state=1)},
            "'b': its index is not that of the true values",
        ),
        (list(truth), {"a": truth, "b": shuffled}, "'b': its index is not that of model 'a'"),
        (truth, {"b": truth.set_axis(range(200, 230))}, "'b': its index is not that of the true values"),
    ):
        with pytest.raises(InputError, match=of):
            er.compare(first, models, **options)
    aligned = er.compare(truth, {"b": shuffled.loc[truth.index]}, **options)
    assert aligned.metrics[0].value == 1


def test_a_single_column_is_an_array_and_gaps_do_not_make_labels_of_probabilities():
    """Columns as scikit-learn and Keras return them; a gap is refused as a gap."""
    truth, scores = np.array([1, 0, 1, 0] * 10), np.linspace(0.01, 0.99, 40)
    column = er.compare(truth.reshape(-1, 1), {"a": scores.reshape(-1, 1)}, metrics="roc_auc", resamples=50)
    row = er.compare(truth, {"a": scores}, metrics="roc_auc", resamples=50)
    assert column.metrics[0].value == row.metrics[0].value
    scores[3] = np.nan
    with pytest.raises(InputError, match=r"column 'y_prob': row 4: the cell is empty"):
        er.compare(truth, {"a": scores})
    missing = np.where(np.arange(40) == 5, np.nan, truth)
    with pytest.raises(InputError, match=r"row 6: the id .05. has no true value"):
        er.compare(missing, {"a": np.linspace(0.01, 0.99, 40)})


@pytest.mark.parametrize(
    ("truth", "predictions", "message"),
    [
        ([1, 0], [[1, 0], [0, 0]], "the predictions are a list; expected a mapping of each model's name"),
        ([1, 0], {}, "the predictions are an empty mapping"),
        ([], {"a": []}, r"the true values are an array of shape \(0,\)"),
        (None, {"a": [1]}, "the true values are a NoneType"),
        ([1, 0], {"a": {"y_pred": [1, 0]}}, r"model 'a': a dict beside 2 .* columns go to evaluate\(\)"),
        ([1, 0], {"a": None}, "model 'a': a NoneType beside 2 true values"),
    ],
)
def test_what_is_no_array_is_refused_with_what_to_write(truth, predictions, message):
    """One line, which names what came."""
    with pytest.raises(InputError, match=message):
        er.compare(truth, predictions)


def test_results_draw_their_board_pairs_and_calibration():
    """A figure each; one panel of calibration for each model, and one message where there are no probabilities."""
    truth = [1, 0, 1, 1, 0, 0] * 10
    scores = {"a": [0.9, 0.2, 0.6, 0.7, 0.4, 0.1] * 10, "b": [0.8, 0.4, 0.5, 0.6, 0.6, 0.3] * 10}
    results = er.compare(truth, scores, metrics=["roc_auc", "brier"], resamples=100)
    (board,), (pairs,) = results.board().axes, results.plot_pairs().axes
    assert board.get_xlabel() == "ROC AUC"
    assert pairs.get_xlabel() == "Difference in ROC AUC"
    assert [axes.get_title(loc="left") for axes in results.plot_calibration().axes] == ["a", "b"]
    labels = er.compare([1, 0] * 20, {"a": [1, 0] * 20, "b": [1, 1] * 20}, metrics="accuracy", resamples=20)
    with pytest.raises(
        er.errors.UsageError, match="there is no calibration curve: it needs probabilities of classes"
    ):
        labels.plot_calibration()
