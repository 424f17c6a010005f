"""A score beside labels is checked against them; probabilities are no labels; which class a probability is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import evalreport as er
from evalreport.errors import InputError
from evalreport.predictions.table import ModelOutputs, Predictions
from tests.samples.cases import crossed, every
from tests.samples.prediction_files import Write
from tests.samples.same_table import FORMS, in_form

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
N = 60


def pipeline(seed: int = 0) -> dict[str, list[Any]]:
    """Return what a pipeline of Hugging Face gives: a label, and the confidence in it."""
    rng = np.random.default_rng(seed)
    truth = rng.random(N) < 0.45
    p = 1 / (1 + np.exp(-(rng.normal(0, 1, N) + 2.5 * (2 * truth - 1))))
    named = np.array(["NEGATIVE", "POSITIVE"])
    return {
        "id": [f"e{i}" for i in range(N)],
        "y_true": named[truth.astype(int)].tolist(),
        "y_pred": named[(p >= 0.5).astype(int)].tolist(),
        "score": np.maximum(p, 1 - p).round(6).tolist(),
    }


@pytest.mark.parametrize("form", every(3, FORMS))
def test_confidence_in_the_answer_is_turned_and_said(form: str, tmp_path: Path, codes_of: Any) -> None:
    """1 minus it ranks where the negative class is predicted, in every form; scikit-learn's AUC of the probability."""
    table = pipeline()
    read = er.load(in_form(form, table, tmp_path))
    assert "score_is_confidence" in codes_of(read)
    score = read.models[0].score
    assert score is not None
    positive = np.array(table["y_pred"]) == "POSITIVE"
    wanted = np.where(positive, table["score"], 1 - np.array(table["score"]))
    order = np.argsort(np.array(table["id"]))
    np.testing.assert_allclose(score, wanted[order], rtol=0, atol=1e-15)
    found = er.evaluate(in_form(form, table, tmp_path), metrics=["roc_auc"], resamples=20)
    auc = roc_auc_score(np.array(table["y_true"]) == "POSITIVE", wanted)
    assert found.metrics[0].value == pytest.approx(auc, abs=1e-12)


@pytest.mark.parametrize("name", ["prediction-score", "prob"])
def test_the_case_of_a_pipeline(name: str) -> None:
    """The value 0.9638 is that of the probability of POSITIVE by hand (score where POSITIVE, else 1 - score)."""
    found = er.evaluate(CASES / "confidence" / f"{name}.csv", metrics=["roc_auc"], resamples=20)
    assert found.metrics[0].value == pytest.approx(0.9638009049773756, abs=1e-12)
    assert "score_is_confidence" in [w.code for w in found.warnings]


def test_a_label_of_the_pipeline_under_another_name_is_refused_with_the_rename() -> None:
    """A column ``label`` beside y_true and a confidence is the prediction."""
    with pytest.raises(InputError, match="no column y_pred says which label; 'label' may.*rename"):
        er.load(CASES / "confidence" / "label-score.csv")


def test_confidence_that_wrong_answers_have_as_well_is_refused() -> None:
    """Neither reading fits, so the remedy is named."""
    truth, predicted = ["NEGATIVE", "POSITIVE"] * 4, ["NEGATIVE", "POSITIVE", "POSITIVE", "NEGATIVE"] * 2
    table = {"y_true": truth, "y_pred": predicted, "score": [0.6, 0.7, 0.9, 0.8] * 2}
    with pytest.raises(InputError, match="looks like the confidence in the predicted label.*p_POSITIVE"):
        er.load({"m": table})


@pytest.mark.parametrize("shift, factor", [(0.0, 1.0), (-3.0, 10.0), (0.5, 0.5)])
def test_a_score_of_the_positive_class_is_left_alone(
    shift: float, factor: float, codes_of: Callable[[Predictions], list[str]]
) -> None:
    """Whatever its scale, also within [0.5, 1]: predicted positives have greater ones."""
    table = pipeline()
    positive = np.array(table["y_pred"]) == "POSITIVE"
    p = np.where(positive, table["score"], 1 - np.array(table["score"]))
    read = er.load({"m": {**table, "score": shift + factor * p}})
    assert not {"score_is_confidence", "score_disagrees_with_prediction"} & set(codes_of(read))
    assert read.models[0].score is not None
    assert sorted(read.models[0].score.tolist()) == sorted((shift + factor * p).tolist())


def test_a_score_that_contradicts_its_labels_is_said(codes_of: Callable[[Predictions], list[str]]) -> None:
    """With how many rows are on the other side of the best threshold."""
    labels, score = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.9, 0.3, 0.8, 0.95]
    read = er.load({"m": {"y_true": labels, "y_pred": labels, "score": score}})
    (text,) = [str(w.text) for w in read.warnings if w.code == "score_disagrees_with_prediction"]
    assert "1 of 6 rows" in text


@pytest.mark.parametrize(("form", "truth"), crossed(FORMS, [[0, 1], [-1, 1], [False, True], ["0", "1"]]))
def test_probabilities_under_y_pred_are_refused_with_the_rename(
    form: str, truth: list[Any], tmp_path: Path
) -> None:
    """``predict_proba(X)[:, 1]``, or what ``predict`` of XGBoost and LightGBM gives."""
    table = {"id": list("abcdefgh"), "y_true": truth * 4, "y_pred": [0.25, 0.75, 0.0, 1.0] * 2}
    models = in_form(form, table, tmp_path)
    with pytest.raises(InputError, match="gives numbers between 0 and 1.*rename the column y_prob"):
        er.load(models)
    renamed = {("y_prob" if name == "y_pred" else name): values for name, values in table.items()}
    assert er.load({"m": renamed}).models[0].proba is not None


def test_probabilities_are_numbers_where_a_regression_is_asked_for() -> None:
    """Then 0 and 1 are amounts."""
    table = {"y_true": [0, 1] * 4, "y_pred": [0.25, 0.75] * 4}
    assert er.load({"m": table}, task="regression").task == "regression"


def test_labels_of_one_model_against_probabilities_of_another_are_refused(write: Write) -> None:
    """The file of the probabilities is named."""
    write("models/labels.csv", "id,y_true,y_pred\na,1,1\nb,0,1\n")
    folder = write("models/chances.csv", "id,y_true,y_pred\na,1,0.75\nb,0,0.5\n").parent
    with pytest.raises(InputError, match=r"chances.csv, line 2, column 'y_pred': the model 'chances' gives"):
        er.load(folder)


def test_probabilities_name_the_positive_class(
    model_of: Callable[[Predictions, str], ModelOutputs], codes_of: Callable[[Predictions], list[str]]
) -> None:
    """``p_default`` is about default, though paid is the last in order; of a usual pair it is the usual one."""
    p = [0.75, 0.25] * 4
    read = er.load({"m": {"y_true": ["default", "paid"] * 4, "p_default": p}})
    assert read.positive == "default"
    assert "positive_class_guessed" not in codes_of(read)
    assert (
        er.load({"m": {"y_true": ["default", "paid"] * 4, "p_default": p}}, positive="paid").positive
        == "paid"
    )
    assert er.load({"m": {"y_true": [1, 0] * 4, "p_0": p}}).positive == "1"
    both = {"y_true": ["default", "paid"] * 4, "p_default": p, "p_paid": [1 - x for x in p]}
    assert er.load({"m": both}).positive == "paid"


def test_a_frame_is_read_as_its_columns_say() -> None:
    """``DataFrame(proba, columns=model.classes_)``, and a frame without names as an array is."""
    truth = np.array(["dog", "cat"] * 4)
    first = np.linspace(0.1, 0.8, 8)
    named = pd.DataFrame({"dog": first, "cat": 1 - first})
    for given in (named, {"y_prob": named}, {"p_dog": first, "p_cat": 1 - first}):
        proba = er.load({"m": given}, truth=truth).models[0].proba
        assert proba is not None
        np.testing.assert_allclose(proba[:, 1], first, atol=1e-15)
    bare = er.load({"m": pd.DataFrame(np.column_stack([first, 1 - first]))}, truth=truth).models[0].proba
    assert bare is not None
    np.testing.assert_allclose(bare[:, 0], first, atol=1e-15)
