"""Warnings about what is unusual in predictions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalreport.predictions.table import Predictions
from tests.samples.warnings import answers, evaluate, given

pytestmark = pytest.mark.usefixtures("primary_alone")

Loaded = Callable[..., Predictions]

CodesOf = Callable[[Predictions], list[str]]

WARNINGS = {
    "one_example": "a,1,1\n",
    "few_examples": "".join(f"{i},{i % 2},{i % 2}\n" for i in range(29)),
    "one_class": "a,1,1\nb,1,0\n",
    "constant_model": "a,1,1\nb,0,1\n",
    "class_never_predicted": "a,1,1\nb,0,1\n",
    "label_never_true": "a,x,x\nb,y,y\nc,x,z\n",
    "positive_class_guessed": "a,x,x\nb,y,y\n",
}


@pytest.mark.parametrize("code", WARNINGS)
def test_what_is_odd_is_warned_of(loaded: Loaded, codes_of: CodesOf, code: str) -> None:
    """Each oddity of the contract has its stable code."""
    assert code in codes_of(loaded("id,y_true,y_pred\n" + WARNINGS[code]))


def test_an_ordinary_file_has_no_warning(loaded: Loaded, codes_of: CodesOf) -> None:
    """Thirty examples of two classes, both predicted, give none."""
    rows = "".join(f"{i},{i % 2},{(i // 2) % 2}\n" for i in range(30))
    assert codes_of(loaded("id,y_true,y_pred\n" + rows)) == []


def test_a_constant_score_or_value_is_constant_too(loaded: Loaded, codes_of: CodesOf) -> None:
    """Scores, regressions and outcomes can be constant as labels can."""
    assert "constant_model" in codes_of(loaded("id,y_true,score\na,1,3\nb,0,3\n"))
    assert "constant_model" in codes_of(loaded("id,y_true,y_pred\na,1.5,3\nb,0,3\n"))
    assert "constant_model" in codes_of(loaded("id,outcome\na,1\nb,1\n"))


def test_trained_on_test_takes_the_verdict():
    """Examples of both parts are a blocker: numbers without verdict and letters; other training rows are none."""
    part = ["train"] * 50 + ["test"] * 100
    leaking = answers(150, id=[f"{i:03d}" for i in [*range(50), *range(40, 140)]], part=part)
    results = evaluate(leaking)
    (blocker,) = given(results, "trained_on_test")
    assert blocker.level == "blocker"
    assert "10 examples" in blocker.text
    assert results.verdicts == []
    assert {r.letters for r in results.ranking} == {""}
    assert results.metrics[0].value is not None
    apart = answers(150, id=[f"{i:03d}" for i in range(150)], part=part)
    assert not given(evaluate(apart), "trained_on_test")
    assert evaluate(apart).verdicts
