"""Which model is the better one: the metric's direction, or the user's word on outcomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport
from evalreport.cli import main
from evalreport.errors import UsageError
from tests.samples.pairs import labels, outcomes, row, run, values

SMALL, LARGE = np.linspace(0.1, 0.9, 80), np.linspace(0.1, 0.9, 80) + np.tile([0.9, 1.1], 40)


@pytest.mark.parametrize("lower", [False, True])
def test_lower_outcomes_are_better_where_the_user_says_so(lower: bool) -> None:
    """With --lower-is-better the model with the smaller mean outcome wins: verdict, rank and letters agree.

    The expectation is by construction: b's outcomes are one larger than a's, nearly without noise.
    """
    results = run(outcomes(a=SMALL, b=LARGE), lower_is_better=lower)
    (verdict,) = results.verdicts
    assert verdict.verdict == ("better" if lower else "worse")
    assert [r.model for r in results.ranking] == (["a", "b"] if lower else ["b", "a"])
    assert row(results, "paired_t").difference == pytest.approx(-1)


def test_lower_is_better_is_refused_where_metrics_have_a_direction() -> None:
    """An option that would change nothing is refused by name, not silently ignored."""
    with pytest.raises(UsageError, match="lower-is-better"):
        run(labels([0, 1, 1], a=[0, 1, 0]), lower_is_better=True)


@pytest.mark.parametrize("swapped", [False, True])
def test_advantage_on_a_loss_is_written_as_positive(swapped: bool) -> None:
    """`better by` is followed by the size of the advantage, on a loss too: never `better by -1`.

    By construction the mean absolute errors are 1 and 2, so the advantage is 1 whichever comes first.
    """
    truth = np.arange(60.0)
    noise = np.tile([-0.1, 0.1], 30)
    good, bad = truth + 1 + noise, truth - 2 + noise[::-1] * 2
    source = values(truth, a=bad, b=good) if swapped else values(truth, a=good, b=bad)
    (verdict,) = run(source, metrics=("mae",)).verdicts
    assert verdict.verdict == ("worse" if swapped else "better")
    assert verdict.text.code == f"verdict.{verdict.verdict}.at_all"
    assert "MAE by +1.0" in verdict.text


def test_simultaneous_is_said_of_several_pairs_only() -> None:
    """The limits of one pair, or without a correction, are plain limits at --confidence and are called so."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 100)
    said = {name: np.where(random.random(100) < 0.3, 1 - truth, truth) for name in "abc"}
    texts = {
        "one pair": [
            v.text for v in run(labels(truth, a=said["a"], b=said["b"]), metrics=("accuracy",)).verdicts
        ],
        "none": [
            v.text for v in run(labels(truth, **said), metrics=("accuracy",), correction="none").verdicts
        ],
        "holm": [v.text for v in run(labels(truth, **said), metrics=("accuracy",)).verdicts],
    }
    assert [any("simultaneous" in text for text in texts[name]) for name in texts] == [False, False, True]


@pytest.mark.parametrize(
    ("column", "lower", "doubted"),
    [
        ("rmse", False, True),
        ("Test_Log_Loss", False, True),
        ("error_rate", False, True),
        ("loss", False, True),
        ("rmse", True, False),
        ("f1_macro", False, False),
        ("value", False, False),
        ("neg_log_loss", False, False),
    ],
)
def test_values_named_after_a_loss_are_not_ranked_by_the_greatest_in_silence(
    tmp_path: Path, column: str, lower: bool, doubted: bool
) -> None:
    """A column that has a loss's name is cautioned of, by the registry's direction, unless the user gave one."""
    rows = [f"d{k},{model},{0.1 * k + (model == 'b')}" for k in range(6) for model in "ab"]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join([f"dataset,model,{column}", *rows]) + "\n")
    options = evalreport.Options(resamples=100, value=column, lower_is_better=lower)
    results = evalreport.evaluate(file, options=options)
    found = [w for w in results.warnings if w.code == "named_like_a_loss"]
    assert [w.about for w in found] == ([(column,)] if doubted else [])
    assert all(w.level == "caution" and "--lower-is-better" in str(w.text) for w in found)
    assert main(["check", str(file), "--value", column, *(["--lower-is-better"] if lower else [])]) == 0
