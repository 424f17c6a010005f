"""Warnings about pairs of models, and about too few replicates."""

from __future__ import annotations

from typing import Any

from tests.samples.warnings import evaluate, given


def test_metrics_disagree():
    """A model that finds all positives and one that calls few: each is ahead on something; against itself none is."""
    truth = ["1"] * 100 + ["0"] * 300
    bold = ["1"] * 100 + ["1"] * 120 + ["0"] * 180
    shy = ["1"] * 40 + ["0"] * 60 + ["0"] * 300
    ids = [f"{i:04d}" for i in range(400)]
    models = {
        name: {"id": ids, "y_true": truth, "y_pred": said} for name, said in (("bold", bold), ("shy", shy))
    }
    (warning,) = given(evaluate(models), "metrics_disagree")
    ahead, behind = str(warning.text).split("shy leads on")
    assert "recall" in ahead
    assert "precision" in behind
    assert "Decide first which errors matter" in warning.text
    assert not given(evaluate({"a": models["shy"], "b": models["shy"]}), "metrics_disagree")


def said_of(models: dict[str, Any], **options: Any) -> str:
    """What is said of metrics that disagree, empty where nothing is."""
    return " ".join(str(w.text) for w in given(evaluate(models, **options), "metrics_disagree"))


def test_a_lead_that_empty_answers_make_is_none():
    """60 of 600 left empty and counted as wrong: NPV and markedness, which leave them out, are nobody's lead."""
    truth = ["1", "0"] * 300
    turned = {"1": "0", "0": "1"}
    robust = [y if i % 5 else turned[y] for i, y in enumerate(truth)]  # 0.80 right
    fragile = ["" if i % 10 == 9 else y if i % 20 else turned[y] for i, y in enumerate(truth)]
    ids = [f"{i:04d}" for i in range(600)]
    models = {
        name: {"id": ids, "y_true": truth, "y_pred": labels}
        for name, labels in (("robust", robust), ("fragile", fragile))
    }
    text = said_of(models, missing="wrong")
    assert "NPV" not in text
    assert "markedness" not in text


def test_a_lead_is_not_told_under_two_names():
    """Accuracy is also the micro average of F1, and the error rate another scale of it: it is named once."""
    truth = ["a"] * 700 + ["b"] * 200 + ["c"] * 100
    forest = ["a"] * 690 + ["b"] * 10 + ["b"] * 180 + ["a"] * 20 + ["a"] * 100  # 0.87 right, never c
    linear = ["a"] * 550 + ["c"] * 150 + ["b"] * 160 + ["c"] * 40 + ["c"] * 90 + ["a"] * 10  # 0.80 right
    ids = [f"{i:04d}" for i in range(1000)]
    text = said_of(
        {
            name: {"id": ids, "y_true": truth, "y_pred": labels}
            for name, labels in (("forest", forest), ("linear", linear))
        }
    )
    assert "forest leads on accuracy" in text
    assert "F1 (micro)" not in text
    assert "error rate" not in text
