"""What models say is taken as given; what they do not say is derived by a rule that is said, or stays absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions

Loaded = Callable[..., Predictions]

ModelOf = Callable[[Predictions, str], ModelOutputs]

CodesOf = Callable[[Predictions], list[str]]


def only(predictions: Predictions) -> ModelOutputs:
    """Return the one model."""
    (model,) = predictions.models
    return model


def test_labels_come_from_the_threshold_where_they_are_not_given(loaded: Loaded) -> None:
    """Positive where p >= 0.5: the threshold itself is positive, and the default is said."""
    predictions = loaded("id,y_true,p_1\na,1,0.5\nb,0,0.49\nc,1,0.9\n")
    assert only(predictions).y_pred is not None
    assert only(predictions).y_pred.tolist() == [1, 0, 1]
    (said,) = [record for record in predictions.found if record.what == "threshold"]
    assert "at least 0.5, the default" in said.why


def test_a_threshold_can_be_given(loaded: Loaded) -> None:
    """--threshold replaces 0.5; 0 is a threshold."""
    content = "id,y_true,p_1\na,1,0.5\nb,0,0.1\n"
    for threshold, labels in ((0.05, [1, 1]), (0.6, [0, 0]), (0.0, [1, 1])):
        model = only(loaded(content, threshold=threshold))
        assert model.y_pred is not None
        assert model.y_pred.tolist() == labels


def test_bare_scores_have_no_threshold_by_default(loaded: Loaded) -> None:
    """A decision value has no scale: without --threshold there are no labels, and that is said."""
    content = "id,y_true,score\na,1,3\nb,0,-2\n"
    predictions = loaded(content)
    assert only(predictions).y_pred is None
    assert only(predictions).proba is None
    assert [r for r in predictions.found if r.what == "threshold" and "no labels" in r.why]
    given = only(loaded(content, threshold=0.0))
    assert given.y_pred is not None
    assert given.y_pred.tolist() == [1, 0]


def test_the_threshold_is_on_the_positive_class(loaded: Loaded) -> None:
    """One column for the negative class is enough: the other is its complement."""
    model = only(loaded("id,y_true,p_no\na,yes,0.25\nb,no,1\n"))
    assert model.score is not None
    assert model.proba is not None
    assert model.y_pred is not None
    assert model.score.tolist() == [0.75, 0]
    assert model.proba.tolist() == [[0.25, 0.75], [1, 0]]
    assert model.y_pred.tolist() == [1, 0]


def test_score_wins_over_probabilities_for_ranking(loaded: Loaded) -> None:
    """Where both stand, ranking uses score; probabilities stay as they are."""
    model = only(loaded("id,y_true,score,p_1\na,1,7,0.5\nb,0,3,0.6\n"))
    assert model.score is not None
    assert model.proba is not None
    assert model.score.tolist() == [7, 3]
    assert model.proba[:, 1].tolist() == [0.5, 0.6]


def test_probabilities_are_not_renormalised(loaded: Loaded) -> None:
    """Within 1e-3 of 1 they are used as given."""
    model = only(loaded("id,y_true,p_0,p_1\na,1,0.3333,0.6662\nb,0,.5,.5\n"))
    assert model.proba is not None
    assert model.proba[0].tolist() == [0.3333, 0.6662]


def test_some_probabilities_of_several_classes_are_no_distribution(loaded: Loaded, codes_of: CodesOf) -> None:
    """With one of three classes missing nothing is known about its probability: that is a warning."""
    predictions = loaded("id,y_true,y_pred,p_a,p_b\n1,a,a,.5,.25\n2,c,a,.5,.25\n3,b,c,.1,.2\n")
    assert only(predictions).proba is None
    assert only(predictions).score is None
    assert "probabilities_incomplete" in codes_of(predictions)


def test_the_largest_probability_decides_between_several_classes(loaded: Loaded) -> None:
    """Ties go to the first class in order, and their number is said."""
    predictions = loaded("id,y_true,p_c,p_a,p_b\n1,a,.4,.4,.2\n2,c,.5,.25,.25\n3,b,.1,.2,.7\n")
    assert only(predictions).y_pred is not None
    assert only(predictions).y_pred.tolist() == [0, 2, 1]
    assert only(predictions).proba is not None
    assert only(predictions).proba[1].tolist() == [0.25, 0.25, 0.5]
    (said,) = [record for record in predictions.found if record.what == "labels"]
    assert "1 tie goes" in said.why


def test_y_pred_wins_and_disagreement_is_said(loaded: Loaded) -> None:
    """Labels of the file are kept; how often the probabilities say otherwise is a warning."""
    predictions = loaded("id,y_true,y_pred,p_1\na,1,1,.2\nb,0,0,.3\nc,1,0,.9\nd,1,0,.5\n")
    assert only(predictions).y_pred is not None
    assert only(predictions).y_pred.tolist() == [1, 0, 0, 0]
    (odd,) = [w for w in predictions.warnings if w.code == "prediction_disagrees_with_probability"]
    assert str(odd.text).startswith("In 2 of 4 rows")
    assert odd.about == ("model",)


def test_disagreement_of_several_classes_allows_ties(loaded: Loaded) -> None:
    """Any of the classes that share the largest probability is right."""
    predictions = loaded("id,y_true,y_pred,p_a,p_b,p_c\n1,a,b,.4,.4,.2\n2,b,a,.1,.8,.1\n3,c,c,0,0,1\n")
    (odd,) = [w for w in predictions.warnings if w.code == "prediction_disagrees_with_probability"]
    assert str(odd.text).startswith("In 1 of 3 rows")


def test_models_with_different_outputs_stand_side_by_side(loaded: Loaded, model_of: ModelOf) -> None:
    """Empty cells mean not given: labels only, scores only and probabilities in one file."""
    rows = ["id,model,y_true,y_pred,score,p_1"]
    for i, truth in enumerate((1, 0, 1)):
        rows += [
            f"{i},labels,{truth},1,,",
            f"{i},scores,{truth},,{i},",
            f"{i},probabilities,{truth},,,0.{i + 1}",
        ]
    predictions = loaded("\n".join(rows) + "\n")
    labels, scores = model_of(predictions, "labels"), model_of(predictions, "scores")
    probabilities = model_of(predictions, "probabilities")
    assert (labels.score, labels.proba, scores.y_pred, scores.proba) == (None, None, None, None)
    assert scores.score is not None
    assert scores.score.tolist() == [0, 1, 2]
    assert probabilities.proba is not None
    assert probabilities.score is not None
    assert probabilities.y_pred is not None
    np.testing.assert_array_equal(probabilities.score, probabilities.proba[:, 1])


def test_a_real_file_with_a_model_of_decision_values() -> None:
    """breast_cancer_test.csv: svm_rbf has a decision value and empty probabilities, the others have both."""
    predictions = load(Path(__file__).parents[1] / "data" / "predictions" / "breast_cancer_test.csv")
    without = [m.name for m in predictions.models if m.proba is None]
    assert without == ["svm_rbf"]
    assert all(m.score is not None and m.y_pred is not None for m in predictions.models)


def test_scores_of_several_classes_are_not_used(loaded: Loaded, codes_of: CodesOf) -> None:
    """A bare score ranks for one class only: with three classes it is said to be unused."""
    predictions = loaded("id,y_true,y_pred,score\n1,a,a,.5\n2,b,a,.25\n3,c,c,1\n")
    assert only(predictions).score is None
    assert "unused_column" in codes_of(predictions)


def test_regression_values_are_exact(loaded: Loaded) -> None:
    """Every digit of the file is kept."""
    predictions = loaded("id,y_true,y_pred\na,0.1,1e-300\nb,123456789.123456789,-0.30000000000000004\n")
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [0.1, 123456789.123456789]
    assert only(predictions).y_pred is not None
    assert only(predictions).y_pred.tolist() == [1e-300, -0.30000000000000004]


@pytest.mark.parametrize("columns", [("p_yes",), ("p_no",), ("p_no", "p_yes")])
def test_a_threshold_cuts_alike_whichever_class_a_probability_is_given_of(
    loaded: Loaded, columns: tuple[str, ...]
) -> None:
    """By hand: p(yes) = .1 is at .1, though 1 - .9 is below it in floating point; .43 and .57 are as sure."""
    yes = {"a": ".1", "b": ".2", "c": ".43", "d": ".57"}
    given = {"p_yes": yes, "p_no": {"a": ".9", "b": ".8", "c": ".57", "d": ".43"}}
    rows = [f"{x},{'yes' if x in 'bd' else 'no'},{','.join(given[c][x] for c in columns)}\n" for x in yes]
    content = f"id,y_true,{','.join(columns)}\n{''.join(rows)}"
    for threshold, labels in ((0.1, [1, 1, 1, 1]), (0.2, [0, 1, 1, 1]), (0.43, [0, 0, 1, 1])):
        model = only(loaded(content, threshold=threshold))
        assert model.y_pred is not None
        assert model.proba is not None
        assert model.y_pred.tolist() == labels, threshold
        assert model.proba.tolist() == [[0.9, 0.1], [0.8, 0.2], [0.57, 0.43], [0.43, 0.57]]


def test_single_precision_is_read_as_a_text_file_spells_it(tmp_path: Path) -> None:
    """0.7 is at a threshold of 0.7, and the true values are those of the other model's text file."""
    p = np.array([0.7, 0.2, 0.7, 0.6])
    frame = pd.DataFrame({"id": list("abcd"), "y_true": [0.1, 0.3, 0.1, 0.3], "p_0.3": p})
    for folder, positive, labels in (("kept", "0.3", [1, 0, 1, 0]), ("turned", "0.1", [0, 0, 0, 0])):
        (tmp_path / folder).mkdir()
        frame.to_csv(tmp_path / folder / "double.csv", index=False)
        frame.astype({"y_true": "float32", "p_0.3": "float32"}).to_parquet(
            tmp_path / folder / "single.parquet"
        )
        options = Options(task="binary", threshold=0.7, positive=positive)
        double, single = load(tmp_path / folder, options=options).models
        for model in (double, single):
            assert model.y_pred is not None
            assert model.proba is not None
            assert model.proba[:, 1].tolist() == p.tolist()
        assert double.y_pred.tolist() == single.y_pred.tolist()  # type: ignore[union-attr]
        if folder == "kept":
            assert double.y_pred.tolist() == labels  # type: ignore[union-attr]
