"""What is estimated, from the options and the design."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.questions.estimand import section
from evalreport.report.view import view_of

pytestmark = pytest.mark.usefixtures("primary_alone")

TRUTH = np.arange(60) % 2


def models(**columns: object) -> dict[str, dict[str, object]]:
    """Return two models on sixty examples."""
    rng = np.random.default_rng(3)
    return {
        name: {"y_pred": np.where(rng.random(60) < 0.8, TRUTH, 1 - TRUTH), **columns} for name in ("a", "b")
    }


def test_the_estimand_of_a_test_set() -> None:
    """Examples are drawn, the models are fixed, one pair is tested, nothing was declared."""
    results = er.evaluate(models(), truth=TRUTH, positive="1", metrics="accuracy", resamples=50)
    found = results.estimand
    assert found is not None
    assert (str(found.unit), found.metric) == ("example", "accuracy")
    assert "60 examples" in str(found.population)
    assert str(found.fixed) == "the models as they were fitted, and their thresholds"
    assert str(found.missing) == "every model answers every example"
    assert str(found.family) == "one pair on accuracy"
    assert str(found.declared).endswith("exploratory")
    shown = section.describe(view_of(results))
    assert shown is not None
    assert [row.label for row in shown.tables[0].rows][:2] == ["Population", "Unit drawn"]


def test_clusters_are_the_unit_by_the_name_of_their_column() -> None:
    """--cluster patient: patients are drawn."""
    patients = [f"p{i // 3}" for i in range(60)]
    results = er.evaluate(
        models(patient=patients), truth=TRUTH, positive="1", cluster="patient", resamples=50
    )
    assert str(results.estimand.unit) == "cluster of patient"


def test_what_became_of_missing_answers() -> None:
    """--missing wrong is part of what is estimated."""
    given = models()
    given["b"]["y_pred"] = [None, *given["b"]["y_pred"][1:].tolist()]
    results = er.evaluate(given, truth=TRUTH, positive="1", missing="wrong", resamples=50)
    assert str(results.estimand.missing) == "a missing answer counts as wrong"


def test_of_folds_the_algorithms_are_fixed_and_the_training_data_vary() -> None:
    """Five folds: the models were trained again."""
    frame = pd.DataFrame(
        {
            "id": [f"e{i}" for i in range(60)] * 2,
            "model": ["a"] * 60 + ["b"] * 60,
            "fold": [i % 5 for i in range(60)] * 2,
            "y_true": np.tile(TRUTH, 2),
            "y_pred": np.concatenate([m["y_pred"] for m in models().values()]),
        }
    )
    found = er.evaluate(frame, positive="1", resamples=50).estimand
    assert str(found.fixed) == "the algorithms and their settings"
    assert str(found.varies).startswith("the training data")


def test_the_metric_of_a_family_is_named_in_words() -> None:
    """``f1_macro`` is a spelling of the command line; a reader is told F1 (macro)."""
    truth = [("x", "y", "z")[i % 3] for i in range(60)]
    answers = {name: {"y_pred": truth[first:] + truth[:first]} for name, first in (("a", 0), ("b", 4))}
    results = er.evaluate(answers, truth=truth, metrics="f1_macro", resamples=50)
    assert results.estimand is not None
    assert str(results.estimand.family) == "one pair on F1 (macro)"
