"""One sentence a code: the first, and of whom else it is true."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.report.cautions import MOST_NAMES, one_of_a_code
from evalreport.schema.warnings import WarningRecord, warning


def constant(*models: str) -> list[WarningRecord]:
    """The same caution about each model."""
    return [warning("constant_scores", about=(m,), model=m) for m in models]


def test_a_caution_about_one_model_stays_as_it_is() -> None:
    """Nothing is added."""
    (only,) = one_of_a_code(constant("a"))
    assert str(only.text) == str(constant("a")[0].text)
    assert only.about == ("a",)


def test_cautions_of_one_code_are_one_sentence_about_all() -> None:
    """In the order of the first of each code, with every model in ``about``."""
    joined = one_of_a_code(constant("a", "b", "c"))
    assert len(joined) == 1
    assert joined[0].about == ("a", "b", "c")
    assert str(joined[0].text) == "a, b and c each give every example the same score."


def test_many_names_are_counted() -> None:
    """Beyond those that a sentence names."""
    (joined,) = one_of_a_code(constant(*(f"m{k}" for k in range(MOST_NAMES + 5))))
    assert f"m{MOST_NAMES + 4}" not in str(joined.text)
    assert "more" in str(joined.text)
    assert len(joined.about) == MOST_NAMES + 5


def _texts(*warnings: WarningRecord) -> list[str]:
    return [str(w.text) for w in one_of_a_code(warnings)]


def _never(model: str, label: str = "quince") -> WarningRecord:
    return warning("class_never_predicted", about=(model, label), model=model, label=label)


def _constant(*models: str) -> Iterator[WarningRecord]:
    for model in models:
        yield warning("constant_model", "prediction", about=(model,), model=model)


def test_models_of_one_class_are_the_subject_of_one_sentence() -> None:
    """Both never predict the class; of another class of a third it is said which."""
    assert _texts(_never("vit"), _never("cnn")) == ["vit and cnn never predict the class 'quince'."]
    (text,) = _texts(_never("vit"), _never("cnn", "plum"))
    assert text == "vit never predicts the class 'quince'. The same goes for class plum of cnn."


def test_a_constant_model_is_said_once() -> None:
    """One answer to every example: no score, class or flag that follows from it is a caution of its own."""
    flat = [warning("few_flagged", "none", about=(m,), model=m) for m in "ab"]
    scores = [warning("constant_scores", about=(m,), model=m) for m in "ab"]
    said = _texts(*flat, *scores, _never("a", "1"), *_constant("a", "b"))
    assert said == ["a and b are constant: each gives the same prediction to every example."]
    assert _texts(*flat, *_constant("a")) == [
        "b predicts the positive class for no example: its precision and F1 are 0/0 or 0.",
        "a is constant: it gives the same prediction to every example.",
    ]


def test_a_model_is_not_said_to_be_like_itself() -> None:
    """Two sums of one model, and one of another: the other one alone is named as alike."""

    def large(model: str, losses: str) -> WarningRecord:
        params = {
            "examples": 500,
            "losses": losses,
            "ids": "c1",
            "share": 0.6,
            "what": "MAE rests on it",
            "n": 1,
        }
        return warning("few_large_losses", about=(model,), model=model, **params)

    (text,) = _texts(
        large("robust", "squared errors"),
        large("robust", "relative errors"),
        large("plain", "squared errors"),
    )
    assert text.endswith("for plain.")
