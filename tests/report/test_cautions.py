"""One sentence a code: the first, and of whom else it is true."""

from __future__ import annotations

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
    assert str(joined[0].text).endswith("The same goes for b and c.")


def test_many_names_are_counted() -> None:
    """Beyond those that a sentence names."""
    (joined,) = one_of_a_code(constant(*(f"m{k}" for k in range(MOST_NAMES + 5))))
    assert f"m{MOST_NAMES + 4}" not in str(joined.text)
    assert "more" in str(joined.text)
    assert len(joined.about) == MOST_NAMES + 5
