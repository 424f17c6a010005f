"""Labels that are the true ones by other names are refused with the likely ones, and no verdict is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from evalreport.errors import InputError
from evalreport.predictions.table import Predictions

N = 60
RNG = np.random.default_rng(3)
TRUE = RNG.integers(0, 3, N).tolist()
PREDICTED = [code if RNG.random() < 0.75 else int(RNG.integers(0, 3)) for code in TRUE]
"""Right in about five of six rows."""


def text_of(true: Sequence[str], predicted: Sequence[str]) -> str:
    """One model's file."""
    rows = [f"{k},{truth},{label}" for k, (truth, label) in enumerate(zip(true, predicted, strict=True))]
    return "\n".join(["id,y_true,y_pred", *rows]) + "\n"


@pytest.mark.parametrize(
    ("true", "predicted", "mapping"),
    [
        (("0", "1", "2"), ("class_0", "class_1", "class_2"), "'class_0' as '0', 'class_1' as '1'"),
        (("neg", "neu", "pos"), ("LABEL_0", "LABEL_1", "LABEL_2"), "'LABEL_0' as 'neg', 'LABEL_1' as 'neu'"),
        (("neg", "neu", "pos"), ("negativ", "neutral", "positiv"), "'negativ' as 'neg', 'neutral' as 'neu'"),
        (("0", "1", "2"), ("neg", "neu", "pos"), "'neg' as '0', 'neu' as '1'"),
        (("1", "2", "3"), ("0", "1", "2"), "'0' as '1', '1' as '2'"),
        (("0", "1", "2"), ("1", "2", "3"), "'1' as '0', '2' as '1'"),
        (("-1", "0", "1"), ("2", "0", "1"), "'2' as '-1'"),
        (("ham", "spam", "scam"), ("ham", "junk", "scam"), "'junk' as 'spam'"),
        (("not spam", "spam", "scam"), ("not_spam", "spam", "scam"), "'not_spam' as 'not spam'"),
    ],
)
def test_the_likely_names_are_told(
    refused: Callable[..., InputError],
    loaded: Callable[..., Predictions],
    true: tuple[str, ...],
    predicted: tuple[str, ...],
    mapping: str,
) -> None:
    """By a prefix, by most of the rows, or by whole numbers that count from another start.

    Written as the message says, the labels give the share of right answers that the codes have.
    """
    labels = [predicted[code] for code in PREDICTED]
    error = refused("m.csv", text_of([true[code] for code in TRUE], labels))
    assert f"write {mapping}" in (error.remedy or "")
    followed = loaded(text_of([true[code] for code in TRUE], [true[code] for code in PREDICTED]))
    y_pred = followed.models[0].y_pred
    assert y_pred is not None
    assert followed.y_true is not None
    right = np.mean([a == b for a, b in zip(TRUE, PREDICTED, strict=True)])
    assert np.mean(y_pred == followed.y_true) == pytest.approx(right)
    as_they_are = loaded(text_of([true[code] for code in TRUE], labels), task="multiclass")
    assert as_they_are.task == "multiclass"


def test_a_label_for_no_answer_is_no_other_name(loaded: Callable[..., Predictions]) -> None:
    """Its rows are of all classes, though one class is never predicted: it is said, and counts as wrong."""
    labels = ["unknown" if k % 4 == 0 else ("a", "b", "a")[code] for k, code in enumerate(TRUE)]
    read = loaded(text_of([("a", "b", "c")[code] for code in TRUE], labels))
    assert {"label_never_true", "class_never_predicted"} <= {w.code for w in read.warnings}


def test_a_few_rows_show_no_other_name(loaded: Callable[..., Predictions]) -> None:
    """Fewer than five of the label."""
    read = loaded("id,y_true,y_pred\n1,a,a\n2,b,b\n3,c,d\n4,c,d\n5,a,b\n")
    assert "label_never_true" in {w.code for w in read.warnings}
