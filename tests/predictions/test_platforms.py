"""Columns as platforms name them mean what they mean there: the same arrays as under the standard names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError
from evalreport.options import Options
from evalreport.predictions.platforms import PLATFORMS, names_of
from evalreport.predictions.table import Predictions
from tests.samples.cases import crossed
from tests.samples.same_table import in_form

FORMS = ("csv", "parquet", "jsonl", "pandas")
N = 40
RNG = np.random.default_rng(7)
TRUE = [int(flag) for flag in RNG.random(N) < 0.4]
P1 = [round(float(p), 3) for p in np.clip(RNG.normal(0.3, 0.15, N) + 0.4 * np.array(TRUE), 0.01, 0.99)]
P0 = [round(1 - p, 3) for p in P1]
LABELS = [int(p >= 0.35) for p in P1]
"""Labels at a threshold that is not 0.5: made anew they would be others."""
IDS = [f"r{place:03d}" for place in range(N)]


def words(codes: list[int]) -> list[str]:
    """The codes 0 and 1 as the words No and Yes."""
    return [("No", "Yes")[code] for code in codes]


BY_CODES = {"id": IDS, "y_true": TRUE, "y_pred": LABELS, "p_1": P1, "p_0": P0}
BY_WORDS = {"id": IDS, "y_true": words(TRUE), "y_pred": words(LABELS), "p_Yes": P1, "p_No": P0}
LISTS = [f"[{a}, {b}]" for a, b in zip(P0, P1, strict=True)]

LAYOUTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Azure ML": (
        {"id": IDS, "y_true": words(TRUE), "Scored Labels": words(LABELS), "Scored Probabilities": P1},
        {name: BY_WORDS[name] for name in ("id", "y_true", "y_pred", "p_Yes")},
    ),
    "Azure ML, several classes": (
        {
            "id": IDS,
            "y_true": words(TRUE),
            'Scored Probabilities for Class "No"': P0,
            'Scored Probabilities for Class "Yes"': P1,
            "Scored Labels": words(LABELS),
        },
        BY_WORDS,
    ),
    "caret": ({"pred": words(LABELS), "obs": words(TRUE), "No": P0, "Yes": P1, "rowIndex": IDS}, BY_WORDS),
    "H2O": ({"id": IDS, "y_true": TRUE, "predict": LABELS, "p0": P0, "p1": P1}, BY_CODES),
    "H2O, words": (
        {"id": IDS, "y_true": words(TRUE), "predict": words(LABELS), "No": P0, "Yes": P1},
        BY_WORDS,
    ),
    "KNIME": (
        {
            "id": IDS,
            "churn": words(TRUE),
            "P (churn=No)": P0,
            "P (churn=Yes)": P1,
            "Prediction (churn)": words(LABELS),
        },
        BY_WORDS,
    ),
    "ML.NET": (
        {"id": IDS, "Label": TRUE, "PredictedLabel": LABELS, "Probability": P1},
        {name: BY_CODES[name] for name in ("id", "y_true", "y_pred", "p_1")},
    ),
    "mlr3": (
        {"row_ids": IDS, "truth": words(TRUE), "response": words(LABELS), "prob.No": P0, "prob.Yes": P1},
        BY_WORDS,
    ),
    "OpenML": (
        {"row_id": IDS, "prediction": LABELS, "correct": TRUE, "confidence.0": P0, "confidence.1": P1},
        BY_CODES,
    ),
    "OpenML, words": (
        {
            "row_id": IDS,
            "prediction": words(LABELS),
            "correct": words(TRUE),
            "confidence.No": P0,
            "confidence.Yes": P1,
        },
        BY_WORDS,
    ),
    "RapidMiner": (
        {
            "id": IDS,
            "Survived": words(TRUE),
            "confidence(Yes)": P1,
            "confidence(No)": P0,
            "prediction(Survived)": words(LABELS),
        },
        BY_WORDS,
    ),
    "SageMaker Autopilot": (
        {
            "id": IDS,
            "target": words(TRUE),
            "predicted_label": words(LABELS),
            "probabilities": LISTS,
            "labels": ["['No', 'Yes']"] * N,
        },
        BY_WORDS,
    ),
    "SageMaker linear learner": (
        {"id": IDS, "label": TRUE, "predicted_label": LABELS, "score": LISTS},
        BY_CODES,
    ),
    "SAS": ({"id": IDS, "F_BAD": TRUE, "I_BAD": LABELS, "P_BAD1": P1, "P_BAD0": P0}, BY_CODES),
    "SAS, our labels": ({"id": IDS, "y_true": TRUE, "y_pred": LABELS, "P_BAD1": P1, "P_BAD0": P0}, BY_CODES),
    "Spark ML": (
        {"id": IDS, "label": TRUE, "prediction": [float(code) for code in LABELS], "probability": LISTS},
        BY_CODES,
    ),
    "tidymodels": (
        {
            ".pred_class": words(LABELS),
            ".pred_No": P0,
            ".pred_Yes": P1,
            ".row": IDS,
            "class": words(TRUE),
            ".config": ["pre0_mod0"] * N,
        },
        BY_WORDS,
    ),
    "Kaggle": (
        {"PassengerId": IDS, "y_true": TRUE, "y_pred": LABELS, "probability_1": P1, "probability_0": P0},
        BY_CODES,
    ),
}


def arrays(read: Predictions) -> list[Any]:
    """All that metrics read of the one model."""
    (model,) = read.models
    assert read.y_true is not None
    assert model.y_pred is not None
    assert model.proba is not None
    return [
        read.task,
        read.classes,
        read.positive,
        read.ids.to_pylist(),
        read.y_true.tolist(),
        model.y_pred.tolist(),
        np.round(model.proba, 12).tolist(),
    ]


@pytest.mark.parametrize(("layout", "form"), crossed(LAYOUTS, FORMS))
def test_a_platforms_columns_are_read_as_the_standard_ones(layout: str, form: str, tmp_path: Path) -> None:
    """Labels, probabilities of each class, ids and truth, in every form; and the mapping is said."""
    table, standard = LAYOUTS[layout]
    read = er.load(in_form(form, table, tmp_path))
    assert arrays(read) == arrays(er.load(in_form("pandas", standard, tmp_path)))
    assert any(record.what == "columns" for record in read.found)


def test_every_name_of_the_table_is_read(tmp_path: Path) -> None:
    """Each name of a predicted label, an id and a truth that has no gap, in the spelling of the platform."""
    gaps = {"labels": "y_pred", "ids": "id", "truth": "y_true"}
    for one in PLATFORMS:
        for part, standard in gaps.items():
            for name in getattr(one, part):
                if "<" in name or name.lower() not in (standard, *names_of(standard)):
                    continue
                table = {("y_pred" if n == "y_pred" else n): BY_CODES[n] for n in ("id", "y_true", "y_pred")}
                renamed = {name if header == standard else header: own for header, own in table.items()}
                read = er.load(in_form("csv", renamed, tmp_path))
                assert read.ids.to_pylist() == IDS, name
                assert read.models[0].y_pred is not None, name
                assert read.models[0].y_pred.tolist() == LABELS, name


@pytest.mark.parametrize("column", ["customer_id", "patient_id", "user_id"])
def test_a_customers_number_is_no_id(column: str, tmp_path: Path) -> None:
    """It names a cluster: rows are numbered, and the column is for --cluster."""
    table = {column: ["c1", "c2"] * (N // 2), "y_true": TRUE, "y_pred": LABELS}
    read = er.load(in_form("csv", table, tmp_path))
    assert list(read.metadata) == [column]
    assert len(read.ids) == N


def test_two_columns_that_could_be_the_prediction_are_a_question(refused: Callable[..., InputError]) -> None:
    """Both are named; after the advice that is given the file is read."""
    text = "id,y_true,predicted_label,prediction\na,1,1,0\nb,0,0,1\nc,1,0,1\n"
    error = refused("m.csv", text)
    assert "'prediction' and 'predicted_label' could both be y_pred" in error.problem
    assert "rename the one that is meant y_pred" in (error.remedy or "")


def test_the_advice_about_two_columns_works(loaded: Callable[..., Predictions]) -> None:
    """One of them is renamed y_pred, which counts before every other name."""
    read = loaded("id,y_true,y_pred,prediction\na,1,1,0\nb,0,0,1\nc,1,0,1\n")
    assert read.models[0].y_pred is not None
    assert read.models[0].y_pred.tolist() == [1, 0, 0]


def test_two_columns_that_say_the_same_are_no_question(loaded: Callable[..., Predictions]) -> None:
    """`1` and `1.0` are one label."""
    read = loaded("id,y_true,predicted_label,prediction\na,1,1,1.0\nb,0,0,0.0\nc,1,0,0.0\n")
    assert read.models[0].y_pred is not None
    assert read.models[0].y_pred.tolist() == [1, 0, 0]


def test_correct_that_judges_answers_in_words_is_an_outcome(loaded: Callable[..., Predictions]) -> None:
    """Texts that were judged, without their truth."""
    read = loaded("id,prediction,correct\na,Paris,1\nb,Rome,0\nc,Bern,1\n")
    assert read.task == "outcome"


def test_correct_beside_labels_under_other_names_is_a_note_where_it_agrees(
    loaded: Callable[..., Predictions],
) -> None:
    """The labels are compared: they give F1 as well as accuracy."""
    read = loaded("id,label,prediction,correct\na,1,1,1\nb,0,1,0\nc,1,1,1\nd,0,0,1\n")
    assert read.task == "binary"
    assert list(read.metadata) == ["correct"]


def test_correct_that_contradicts_the_labels_is_a_question(refused: Callable[..., InputError]) -> None:
    """The column, what it may be, and the option that says so."""
    error = refused("m.csv", "id,label,prediction,correct\na,1,1,0\nb,0,1,0\nc,1,1,1\nd,0,0,1\n")
    assert error.column == "correct"
    assert "--outcome correct" in (error.remedy or "")


def test_the_advice_about_correct_works(loaded: Callable[..., Predictions]) -> None:
    """Either way of it."""
    text = "id,label,prediction,{}\na,1,1,0\nb,0,1,0\nc,1,1,1\nd,0,0,1\n"
    assert loaded(text.format("correct"), outcome="correct").task == "outcome"
    assert loaded(text.replace("label,", "other,").format("y_true")).y_true is not None


def test_a_score_beside_numbers_asks_for_the_task(refused: Callable[..., InputError], tmp_path: Path) -> None:
    """ML.NET's regression calls its prediction Score; the option that the message names reads it."""
    text = "id,Label,Score\n0,296.69,282.504\n1,113.34,112.3055\n2,57.4,98.724\n"
    assert "--task regression" in (refused("m.csv", text).remedy or "")
    read = er.load(tmp_path / "m.csv", options=Options(task="regression"))
    assert read.models[0].y_pred is not None
    assert read.models[0].y_pred.tolist() == [282.504, 112.3055, 98.724]


def test_lists_of_scores_that_are_no_probabilities_are_refused(refused: Callable[..., InputError]) -> None:
    """They do not add up to 1."""
    text = 'id,label,predicted_label,score\na,0,0,"[2.1, 0.4]"\nb,1,1,"[0.3, 1.9]"\n'
    error = refused("m.csv", text)
    assert "no probabilities" in error.problem
    assert "p_<label>" in (error.remedy or "")


P2 = [round(float(p), 3) for p in np.random.default_rng(8).random(N)]
OTHER = [1 - code for code in LABELS]

MORE_LAYOUTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Amazon ML": ({"id": IDS, "trueLabel": TRUE, "bestAnswer": LABELS, "p_1": P1, "p_0": P0}, BY_CODES),
    "BigQuery ML": ({"id": IDS, "churn": TRUE, "predicted_churn": LABELS, "p_1": P1, "p_0": P0}, BY_CODES),
    "CatBoost": (
        {
            "SampleId": IDS,
            "Label": TRUE,
            "Probability:Class=0": P0,
            "Probability:Class=1": P1,
            "Class": LABELS,
        },
        BY_CODES,
    ),
    "Dataiku": ({"id": IDS, "target": TRUE, "proba_0": P0, "proba_1": P1, "prediction": LABELS}, BY_CODES),
    "DataRobot": (
        {
            "row_id": IDS,
            "bad": TRUE,
            "bad_1_PREDICTION": P1,
            "bad_0_PREDICTION": P0,
            "bad_PREDICTION": LABELS,
            "THRESHOLD": [0.35] * N,
            "POSITIVE_CLASS": [1] * N,
        },
        BY_CODES,
    ),
    "PyCaret": (
        {
            "id": IDS,
            "target": TRUE,
            "prediction_label": LABELS,
            "prediction_score_0": P0,
            "prediction_score_1": P1,
        },
        BY_CODES,
    ),
    "SPSS": ({"ID": IDS, "target": TRUE, "PRE_1": P1, "PGR_1": LABELS}, BY_CODES),
    "Vertex AI": (
        {"id": IDS, "deposit": TRUE, "y_pred": LABELS, "deposit_1_scores": P1, "deposit_0_scores": P0},
        BY_CODES,
    ),
    "Weights & Biases": (
        {
            "id": IDS,
            "true_label": TRUE,
            "predicted_label": LABELS,
            "p_1": P1,
            "p_0": P0,
            "correct": [a == b for a, b in zip(TRUE, LABELS, strict=True)],
        },
        BY_CODES,
    ),
    "scikit-learn's users": ({"id": IDS, "y_true": TRUE, "y_pred": LABELS, "y_pred_proba": P1}, BY_CODES),
}


@pytest.mark.parametrize("layout", MORE_LAYOUTS)
def test_further_platforms_columns_are_read_as_the_standard_ones(layout: str, tmp_path: Path) -> None:
    """Names that other columns of the file explain."""
    table, standard = MORE_LAYOUTS[layout]
    assert arrays(er.load(in_form("csv", table, tmp_path))) == arrays(
        er.load(in_form("pandas", standard, tmp_path))
    )


def test_weka_calls_the_confidence_in_the_label_prediction(tmp_path: Path) -> None:
    """It ranks as the probability of the positive class does, once it is turned; AUC by scikit-learn."""
    from sklearn.metrics import roc_auc_score

    confidence = [max(p, 1 - p) for p in P1]
    labels = [int(p >= 0.5) for p in P1]
    table = {
        "inst#": IDS,
        "actual": [f"{code + 1}:{word}" for code, word in zip(TRUE, words(TRUE), strict=True)],
        "predicted": [f"{code + 1}:{word}" for code, word in zip(labels, words(labels), strict=True)],
        "error": ["+" if a != b else "" for a, b in zip(TRUE, labels, strict=True)],
        "prediction": confidence,
    }
    read = er.load(in_form("csv", table, tmp_path))
    score = read.models[0].score
    assert score is not None
    assert roc_auc_score(TRUE, score) == pytest.approx(roc_auc_score(TRUE, P1), abs=1e-12)


RIVALS: dict[str, tuple[dict[str, Any], str, str]] = {
    "outcomes": ({"id": IDS, "correct": TRUE, "passed": LABELS}, "outcome", "passed"),
    "scores": ({"id": IDS, "y_true": TRUE, "y_score": P1, "decision": P2}, "score", "decision"),
    "models": (
        {"id": IDS, "y_true": TRUE, "y_pred": LABELS, "algorithm": ["a"] * N, "system": ["linux"] * N},
        "model",
        "algorithm",
    ),
    "probabilities": ({"id": IDS, "y_true": TRUE, "proba": P1, "probability": P2}, "p_1", "probability"),
    "of a class": ({"id": IDS, "y_true": TRUE, "prob_1": P1, "proba_1": P2}, "p_1", "proba_1"),
    "by platforms": ({"id": IDS, "y_true": TRUE, "prob.1": P1, "probability_1": P2}, "p_1", "prob.1"),
    "true values": ({"id": IDS, "target": TRUE, "label": OTHER, "y_pred": LABELS}, "y_true", "target"),
    "ids": ({"row_id": IDS, "index": list(range(N)), "y_true": TRUE, "y_pred": LABELS}, "id", "row_id"),
    "predictions": ({"id": IDS, "y_true": TRUE, "predicted": LABELS, "yhat": OTHER}, "y_pred", "predicted"),
}


@pytest.mark.parametrize("kind", RIVALS)
def test_two_columns_that_could_be_one_are_refused_and_both_are_named(kind: str, tmp_path: Path) -> None:
    """Whatever the column is; once the right one has its standard name, the file is read."""
    table, standard, right = RIVALS[kind]
    with pytest.raises(InputError) as caught:
        er.load(in_form("csv", table, tmp_path))
    assert "could both be" in caught.value.problem
    assert f"'{right}'" in caught.value.problem
    er.load(
        in_form("csv", {standard if name == right else name: own for name, own in table.items()}, tmp_path)
    )


def test_rivals_that_say_the_same_are_no_question(tmp_path: Path) -> None:
    """True is 1, and a probability given twice is one."""
    judged = {"id": IDS, "correct": TRUE, "passed": [bool(code) for code in TRUE]}
    assert er.load(in_form("csv", judged, tmp_path)).task == "outcome"
    twice = {"id": IDS, "y_true": TRUE, "proba": P1, "probability": P1}
    assert er.load(in_form("csv", twice, tmp_path)).models[0].proba is not None


def test_a_text_in_p_does_not_hide_the_probability(tmp_path: Path) -> None:
    """Of several names the one is taken whose values are probabilities."""
    table = {"id": IDS, "y_true": TRUE, "p": ["north"] * N, "probability": P1}
    read = er.load(in_form("csv", table, tmp_path))
    assert read.models[0].proba is not None
    assert read.models[0].proba[:, 1].tolist() == P1


def test_labels_under_an_unknown_name_beside_probabilities_are_not_made_anew(tmp_path: Path) -> None:
    """They follow the probabilities, at another threshold than 0.5: renamed as advised, they are used."""
    table = {"id": IDS, "y_true": TRUE, "p_1": P1, "final_result": LABELS}
    with pytest.raises(InputError) as caught:
        er.load(in_form("csv", table, tmp_path))
    assert "rename 'final_result' y_pred" in (caught.value.remedy or "")
    followed = er.load(
        in_form("csv", {"y_pred" if n == "final_result" else n: v for n, v in table.items()}, tmp_path)
    )
    assert followed.models[0].y_pred is not None
    assert followed.models[0].y_pred.tolist() == LABELS
    other = er.load(in_form("csv", table, tmp_path), options=Options(threshold=0.5))
    assert other.models[0].y_pred is not None
    assert other.models[0].y_pred.tolist() == [int(p >= 0.5) for p in P1]


def test_a_flag_that_follows_the_probabilities_is_said(tmp_path: Path) -> None:
    """Under a name that says nothing it may be the user's own."""
    read = er.load(in_form("csv", {"id": IDS, "y_true": TRUE, "p_1": P1, "high_risk": LABELS}, tmp_path))
    (said,) = [w for w in read.warnings if w.code == "look_alike_column"]
    assert said.about == ("high_risk",)
    assert "name it y_pred" in str(said.text)
    assert list(read.metadata) == ["high_risk"]


def test_a_column_that_does_not_follow_them_is_metadata(tmp_path: Path) -> None:
    """Codes of another kind, and the truth itself once more."""
    flags = [k % 2 for k in range(N)]
    table = {
        "id": IDS,
        "y_true": TRUE,
        "p_1": [0.1 + 0.8 * code + 0.01 * (k % 7) for k, code in enumerate(TRUE)],
    }
    read = er.load(in_form("csv", {**table, "class_flag": flags, "class_again": TRUE}, tmp_path))
    assert "look_alike_column" not in {w.code for w in read.warnings}
    assert set(read.metadata) == {"class_flag", "class_again"}


def test_a_column_that_is_called_like_a_probability_is_named(tmp_path: Path) -> None:
    """Never silently metadata; a problem is no probability."""
    table = {"id": IDS, "y_true": TRUE, "y_pred": LABELS, "model_prob": P1, "problem": P2}
    read = er.load(in_form("csv", table, tmp_path))
    (said,) = [w for w in read.warnings if w.code == "look_alike_column"]
    assert said.about == ("model_prob",)
    assert "p_<label>" in str(said.text)


def test_a_judgement_called_otherwise_is_asked_about(
    refused: Callable[..., InputError], tmp_path: Path
) -> None:
    """Beside answers without true labels; the option that the message names reads it."""
    error = refused("m.csv", "id,prediction,is_correct\na,Paris,1\nb,Rome,0\nc,Bern,1\n")
    assert "pass --outcome is_correct" in (error.remedy or "")
    assert er.load(tmp_path / "m.csv", options=Options(outcome="is_correct")).task == "outcome"


@pytest.mark.parametrize(
    "header, nearest",
    [
        ("id,y_true,guess", "rename 'guess' y_pred"),
        ("id,y_true,region,predicton", "rename 'predicton' y_pred"),
        ("id,y_true,age,amount", "rename the column of the predictions y_pred"),
        ("feature,importance", "or take the file away if it holds none"),
    ],
)
def test_a_file_without_predictions_is_answered_in_four_lines(
    header: str, nearest: str, refused: Callable[..., InputError], tmp_path: Path
) -> None:
    """What was expected, what is there, the column that is meant perhaps, and the page that has every name."""
    error = refused("m.csv", f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    assert nearest in (error.remedy or "")
    assert "docs/columns.md" in str(error)
    assert len(str(error)) - len(str(tmp_path)) <= 4 * 110
