"""The Python API: the same analysis, from the same options, in a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalreport as er
from evalreport.errors import UsageError
from evalreport.schema.results import to_json
from tests.samples.labels import MODELS, TRUTH


def test_fields_replace_those_of_the_options():
    """Options can be given whole, field by field, or both."""
    options = er.Options(seed=5, resamples=50)
    results = er.evaluate(MODELS, truth=TRUTH, options=options, resamples=60, metrics="f1")
    assert (results.options["seed"], results.options["resamples"]) == (5, 60)
    assert {row.metric for row in results.metrics} == {"f1"}


def test_a_wrong_value_is_refused():
    """Before anything is read."""
    with pytest.raises(UsageError, match="between 0 and 1"):
        er.evaluate("models", confidence=90)
    with pytest.raises(UsageError, match="power must lie between 0 and 1, not 80"):
        er.plan(difference=0.1, power=80)
    with pytest.raises(UsageError, match="unknown measure 'AUC'; did you mean auc"):
        er.plan(measure="AUC")


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
