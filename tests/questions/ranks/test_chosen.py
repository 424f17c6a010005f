"""The value of a model that was chosen among several that may be best (METHODS 7C)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.cli import main
from evalreport.errors import UsageError

TRUTH = [1, 0] * 150


def labels(**right: int) -> Mapping[str, Mapping[str, list[int]]]:
    """Return predictions of models that are right on so many of 300 examples, on other ones each."""
    models = {}
    for place, (name, number) in enumerate(right.items()):
        order = np.random.default_rng(place).permutation(300)
        correct = np.zeros(300, bool)
        correct[order[:number]] = True
        models[name] = {"y_pred": [t if c else 1 - t for t, c in zip(TRUTH, correct, strict=True)]}
    return models


def run(models: Mapping[str, Mapping[str, list[int]]], **options: object) -> evalreport.Results:
    """Compare the models on accuracy."""
    options = {"metrics": ["accuracy"], **options}
    return evalreport.evaluate(models, truth=TRUTH, resamples=50, **options)


def exact(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's limits by scipy."""
    interval = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return interval.low, interval.high


THREE = labels(a=240, b=250, c=252, d=150)


def test_the_leader_has_the_limits_of_one_chosen_among_those_that_may_be_best() -> None:
    """a, b and c may be best, d is decided to be behind: exact limits at 1 - 0.05/3 (scipy's binomtest)."""
    chosen = run(THREE).chosen
    assert chosen is not None
    assert (chosen.model, chosen.metric, chosen.among, chosen.models) == ("c", "accuracy", 3, ("a", "b", "c"))
    assert chosen.level == pytest.approx(1 - 0.05 / 3, rel=1e-12)
    low, high = exact(252, 300, 1 - 0.05 / 3)
    assert (chosen.low, chosen.high) == pytest.approx((low, high), rel=1e-9)
    assert f"chosen among the 3 that may be best: at least {low:.3f}" in str(chosen.text)


def test_a_leader_that_alone_may_be_best_was_not_chosen() -> None:
    """Its lead is decided, so that its own interval says what it is worth."""
    results = run(labels(a=290, b=150))
    assert results.chosen is None
    assert results.chosen_values == []


def test_two_models_have_no_rank_sets_and_count_where_the_leader_is_not_decided() -> None:
    """Without rank sets K is the number of models that are not decidedly behind the leader."""
    results = run(labels(a=240, b=250))
    assert results.rank_sets == []
    assert results.chosen is not None
    assert results.chosen.models == ("a", "b")


def test_with_a_baseline_models_that_were_not_compared_with_the_leader_may_be_best() -> None:
    """Pairs with the baseline say nothing of the others: a decided d is out only where it was compared."""
    results = run(THREE, baseline="d")
    assert results.chosen is not None
    assert results.chosen.models == ("a", "b", "c")
    other = run(THREE, baseline="a").chosen
    assert other is not None
    assert other.models == ("a", "b", "c", "d")
    # d is behind a, so not all four may be best, though d was not compared with c.
    assert "c, chosen among the 3 that may be best: at least" in str(results.chosen.text)
    assert "c, chosen among 4 models: at least" in str(other.text)
    gated = run(THREE, baseline="a", gates=["best.accuracy >= 0.5"])
    assert str(gated.gates[0].text).startswith("c leads, chosen among 4 models")


def test_of_a_loss_the_upper_limit_is_said() -> None:
    """A smaller RMSE is better: at most U, by the interval that leads for RMSE, at 1 - 0.05/2."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=200)
    models = {name: {"y_pred": (truth + rng.normal(size=200)).tolist()} for name in "ab"}
    results = evalreport.evaluate(models, truth=truth.tolist(), metrics=["rmse"], resamples=50)
    wider = evalreport.evaluate(
        models, truth=truth.tolist(), metrics=["rmse"], resamples=50, confidence=0.975
    )
    chosen = results.chosen
    assert chosen is not None
    row = next(r for r in wider.metrics if r.model == chosen.model)
    assert (chosen.low, chosen.high) == (row.intervals[0].low, row.intervals[0].high)
    assert "may be best: at most" in str(chosen.text)


GATES = [
    "best.accuracy >= 0.79",
    "c.accuracy >= 0.79",
    "a.accuracy >= 0.7",
    "0.75 <= best.accuracy",
    "best.f1 >= 0.7",
]


def test_a_gate_on_the_best_is_decided_by_the_chosen_value_and_one_by_name_carries_it() -> None:
    """c: 252 of 300, low 0.793 by itself and 0.783 as one chosen among three; a does not lead."""
    results = run(THREE, gates=GATES, metrics=["accuracy", "f1"])
    best, named, other, turned, f1 = results.gates
    low, high = exact(252, 300, 1 - 0.05 / 3)
    assert (best.outcome, named.outcome) == ("undecided", "pass")
    assert (best.low, best.high) == pytest.approx((low, high), rel=1e-9)
    assert (named.low, named.high) == pytest.approx(exact(252, 300, 0.95), rel=1e-9)
    for gate in (best, named):
        assert gate.chosen is not None
        assert (gate.chosen.among, gate.chosen.low) == (3, pytest.approx(low, rel=1e-9))
    assert "chosen among the 3 that may be best: at least 0.783" in str(named.text)
    assert other.chosen is None
    assert turned.outcome == "pass"
    assert f1.chosen is not None
    assert f1.chosen.level == pytest.approx(1 - 0.05 / 3)


def test_where_the_leader_is_decided_best_is_that_model_by_its_own_interval() -> None:
    """K = 1: nothing was chosen among equals."""
    (gate,) = run(labels(a=290, b=150), gates=["best.accuracy >= 0.9"]).gates
    assert (gate.outcome, gate.chosen) == ("pass", None)
    assert (gate.low, gate.high) == pytest.approx(exact(290, 300, 0.95), rel=1e-9)


def test_a_model_called_best_is_quoted() -> None:
    """Without quotes the word is reserved; a longer name that begins so is still found."""
    models = labels(**{"best": 240, "other": 250, "best.v2": 245})
    reserved, quoted, longer = run(
        models, gates=["best.accuracy >= 0.5", '"best".accuracy >= 0.5', "best.v2.accuracy >= 0.5"]
    ).gates
    assert reserved.value == pytest.approx(250 / 300)
    assert quoted.value == pytest.approx(240 / 300)
    assert longer.value == pytest.approx(245 / 300)


@pytest.mark.parametrize(
    "gate",
    [
        "best.accuracy - a.accuracy > 0",
        "a.accuracy <= best.accuracy",
        "best.accuracy >= 0.9 * a.accuracy",
        "best.cost_mean <= 2",
    ],
)
def test_the_best_is_held_against_a_number_only(gate: str) -> None:
    """Differences and ratios of a model that was chosen, and its costs, have no limits that allow for the choice."""
    with pytest.raises(UsageError, match=r"best"):
        run(labels(a=240, b=250), gates=[gate])


def test_a_slice_of_the_best_is_decided_at_the_same_level() -> None:
    """The examples of the slice, the leader of all, the level of all."""
    models = {name: {**columns, "half": ["x", "y"] * 150} for name, columns in THREE.items()}
    (gate,) = run(models, gates=["best.accuracy[half=x] >= 0.5"], slices=["half"]).gates
    wrong = sum(p != t for p, t in zip(models["c"]["y_pred"][::2], TRUTH[::2], strict=True))
    assert gate.chosen is not None
    assert (gate.low, gate.high) == pytest.approx(exact(150 - wrong, 150, 1 - 0.05 / 3), rel=1e-9)


def test_the_first_screen_says_it_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary and the terminal say what the chosen one is worth; a decided leader has no such line."""
    lines = [f"{i},{TRUTH[i]},{name},{c['y_pred'][i]}" for name, c in THREE.items() for i in range(300)]
    file = tmp_path / "d.csv"
    file.write_text("id,y_true,model,y_pred\n" + "\n".join(lines) + "\n")
    assert (
        main(
            ["run", str(file), "-m", "accuracy", "-o", str(tmp_path / "out"), "-f", "md", "--resamples", "50"]
        )
        == 0
    )
    said = "c, chosen among the 3 that may be best: at least 0.783."
    assert (tmp_path / "out" / "summary.md").read_text().count(said) == 1
    assert capsys.readouterr().out.count(said) == 1
