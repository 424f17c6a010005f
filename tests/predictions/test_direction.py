"""Which model is the better one: the metric's direction, or the user's word on outcomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport
from evalreport.cli import main
from evalreport.errors import UsageError
from evalreport.metrics.registry import METRICS
from evalreport.predictions.direction import is_loss
from tests.samples.cases import quick
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


LESS = pytest.mark.parametrize(
    ("column", "less"),
    [
        ("rmse", True),
        ("Test_Log_Loss", True),
        ("error_rate", True),
        ("val loss", True),
        ("eval/loss", True),
        ("wer", True),
        ("f1_macro", False),
        ("value", False),
        ("cost_saving", False),
        ("neg_log_loss", False),
        ("test_neg_mean_squared_error", False),
    ],
)


@LESS
@pytest.mark.parametrize("column_of", quick(["value", "outcome"], ["value"]))
def test_a_column_named_after_a_loss_is_read_as_less_is_better_and_said(
    tmp_path: Path, column: str, less: bool, column_of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values of data sets and outcomes alike; ``a`` has the smaller values, and is ahead where less is better."""
    key = "dataset" if column_of == "value" else "id"
    rows = [f"d{k},{model},{0.1 * k + (model == 'b')}" for k in range(20) for model in "ab"]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join([f"{key},model,{column}", *rows]) + "\n")
    results = run_of(file, **{column_of: column})
    assert [f.code for f in results.found if f.what == "direction"] == ["less_is_better_by_name"] * less
    assert results.options["lower_is_better"] is less
    assert results.best == ("a" if less else "b")
    turned = run_of(file, **{column_of: column}, higher_is_better=True)
    assert not any(f.code for f in turned.found)
    assert turned.best == "b"
    capsys.readouterr()
    assert main(["check", str(file), f"--{column_of}", column]) == 0
    assert ("direction: less is better" in capsys.readouterr().out) is less


def run_of(file: Path, **options: object) -> evalreport.Results:
    """Compare the models of a file with few resamples."""
    return evalreport.evaluate(file, resamples=100, **options)


@pytest.mark.parametrize(("values", "best"), [([-2.0, -1.0], "b"), ([-2.0, 0.0], "b"), ([-2.0, 1.0], "a")])
def test_losses_of_which_none_is_above_zero_are_scores(
    tmp_path: Path, values: list[float], best: str
) -> None:
    """scikit-learn's scores are losses turned round; one value above 0 shows that these are losses as they are."""
    rows = [f"d{k},{model},{values['ab'.index(model)] - 0.001 * k}" for k in range(12) for model in "ab"]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(["dataset,model,rmse", *rows]) + "\n")
    assert run_of(file).best == best


def test_columns_of_two_directions_are_refused(tmp_path: Path) -> None:
    """One model's errors beside the other's scores: the message names both columns and both options."""
    for model, column in (("a", "rmse"), ("b", "r2")):
        lines = [f"dataset,{column}", *(f"d{k},{0.1 * k + 0.2}" for k in range(6))]
        (tmp_path / f"{model}.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError, match=r"'rmse'.*'r2'.*--lower-is-better or --higher-is-better"):
        run_of(tmp_path)
    assert run_of(tmp_path, lower_is_better=True).options["lower_is_better"]


@pytest.mark.parametrize("name", [m.name for m in METRICS.values() if m.scale.greater_is_better is False])
def test_every_registered_loss_is_a_loss_by_its_name(name: str) -> None:
    """Add the metric's name to ``LOSSES`` of evalreport/predictions/direction.py where this fails."""
    assert is_loss(name)


def test_a_model_of_a_wide_table_is_no_loss_by_its_name(tmp_path: Path) -> None:
    """The header of a wide column is the name of a model, which says nothing about the values."""
    file = tmp_path / "wide.csv"
    file.write_text("dataset,loss,rmse\n" + "".join(f"d{k},{0.1 * k},{0.1 * k + 1}\n" for k in range(12)))
    assert run_of(file, wide=True).best == "rmse"


@pytest.mark.parametrize("asked", [False, True])
def test_a_report_of_a_loss_by_name_is_verified(tmp_path: Path, asked: bool) -> None:
    """The recorded options have the direction; recomputed they give the same figures and the same fact.

    With --lower-is-better it is the user's word, and no name decided anything.
    """
    rows = [f"d{k},{model},{0.1 * k + (model == 'b')}" for k in range(8) for model in "ab"]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(["dataset,model,rmse", *rows]) + "\n")
    out = tmp_path / "out"
    given = ["--lower-is-better"] * asked
    assert main(["run", str(file), "-o", str(out), "-f", "json", "--resamples", "100", "-q", *given]) == 0
    results = evalreport.Results.from_json(out)
    assert [f.code for f in results.found if f.code] == ["less_is_better_by_name"] * (not asked)
    assert results.options["lower_is_better"] is True
    assert main(["verify", str(out), "--inputs", str(tmp_path)]) == 0
