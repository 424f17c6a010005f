"""Warnings about a judge: that it favours a model, or that too few of its errors are known."""

from __future__ import annotations

import numpy as np

from tests.samples.judges import answers, favoured, run


def test_a_judge_that_favours_a_model_is_warned_of() -> None:
    """Of the model whose wrong answers pass, by name; a judge that treats all alike is not."""
    (warned,) = [w for w in favoured().warnings if w.code == "judge_favours"]
    assert str(warned.text).startswith("The judge favours liked over ")
    assert all("liked" in (r.a, r.b) for r in favoured().judge_bias if r.flagged)
    fair = run(answers(favour=0.0))
    assert not any(r.flagged for r in fair.judge_bias)
    assert not any(w.code == "judge_favours" for w in fair.warnings)


def test_where_lower_is_better_a_bias_upwards_does_not_favour() -> None:
    """An outcome that counts faults: a model of which the judge sees too many is not the favoured one."""
    turned = run(answers(), lower_is_better=True)
    (warned,) = [w for w in turned.warnings if w.code == "judge_favours"]
    assert " over liked: " in warned.text


def test_a_judge_that_hardly_ever_differs_is_warned_of() -> None:
    """No disagreement on the judged rows says little of the others: the error of the estimate rests on it."""
    source = {"a": answers()["plain"]}
    source["a"]["gold"] = np.where(np.isnan(source["a"]["gold"]), np.nan, source["a"]["outcome"])
    results = run(source)
    (warned,) = [w for w in results.warnings if w.code == "few_judge_errors"]
    assert "differ on only 0 of the 150 answers" in warned.text
    assert results.judge_agreement[0].bias_low is None
