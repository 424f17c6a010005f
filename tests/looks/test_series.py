"""Looks that a file remembers, and what earlier ones decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError, OutputError, UsageError
from evalreport.looks.series import Remembered, series_of
from evalreport.options import Options
from evalreport.schema.results import Results, to_json
from tests.looks.conftest import Table, models
from tests.samples.cases import every

Grown = Callable[[int], Table]


def look(table: Table, file: Path, looks: int = 3, **options: Any) -> Results:
    """Take a look."""
    given = {"metrics": "accuracy", "resamples": 50} | options
    return er.evaluate(table, looks=looks, looks_file=str(file), **given)


def test_growing_test_sets_spend_the_boundary(alike: Grown, tmp_path: Path) -> None:
    """Three equal steps have the three levels, and pairs, gates and comparisons that level."""
    found = [look(alike(n), tmp_path / "f", gates="one.accuracy >= 0.5") for n in (100, 200, 300)]
    levels = [r.looks.level for r in found if r.looks is not None]
    assert [round(level, 4) for level in levels] == [0.0002, 0.0120, 0.0463]
    for results, level in zip(found, levels, strict=True):
        assert {r.level for r in results.comparisons if r.b is not None} == {1 - level}
        assert results.verdicts[0].level == pytest.approx(1 - level)
        assert {i.level for r in results.metrics for i in r.intervals} == {0.95}, "values keep theirs"
        assert [r.of_gates.level for r in results.metrics if r.of_gates is not None] == [1 - level] * 2


def test_the_same_inputs_are_the_same_look(alike: Grown, tmp_path: Path) -> None:
    """A job that runs again spends nothing, writes nothing and returns the same bytes."""
    look(alike(100), tmp_path / "f")
    first = look(alike(200), tmp_path / "f")
    written = (tmp_path / "f").read_bytes()
    assert to_json(look(alike(200), tmp_path / "f")) == to_json(first)
    assert (tmp_path / "f").read_bytes() == written


def test_after_the_last_look_a_run_is_refused_and_nothing_written(alike: Grown, tmp_path: Path) -> None:
    """The fourth look of three is refused; the third one may be had again."""
    for n in (100, 200, 300):
        look(alike(n), tmp_path / "f")
    written = (tmp_path / "f").read_bytes()
    with pytest.raises(UsageError, match="declared looks are spent; declare a new series"):
        look(alike(400), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == written
    again = look(alike(300), tmp_path / "f").looks
    assert again is not None
    assert again.look == 3


def test_a_decided_pair_stays_decided_and_says_so(grown: Grown, tmp_path: Path) -> None:
    """The first look's record stays, with both numbers of examples; this look's figures are in the comparisons."""
    first, second = (look(grown(n), tmp_path / "f") for n in (800, 900))
    (then,), (now,) = first.verdicts, second.verdicts
    assert (then.verdict, then.decided_at, then.difference) == ("better", 1, None)
    assert (now.verdict, now.decided_at, now.n) == ("better", 1, 800)
    assert (now.level, now.low, now.high, now.method) == (then.level, then.low, then.high, then.method)
    row = next(r for r in second.comparisons if r.recommended)
    assert row.difference != now.difference == next(r.difference for r in first.comparisons if r.recommended)
    assert "on 800 examples" in str(now.text)
    assert "900" in str(now.text)
    assert second.headline is not None
    assert "look 1 decided it on 800 examples, now there are 900" in str(second.headline.text)


def test_a_decision_is_not_kept_of_a_model_that_changed(grown: Grown, tmp_path: Path) -> None:
    """A push of other answers is another model: nothing that was decided about the old one holds for it."""
    look(grown(800), tmp_path / "f", pushes=True)
    pushed = grown(800)
    pushed["good"] = pushed["poor"] | {"y_pred": models(800, accuracies={"x": 0.7}, seed=9)["x"]["y_pred"]}
    pushed["good"]["y_true"] = pushed["poor"]["y_true"]
    second = look(pushed, tmp_path / "f", pushes=True)
    assert second.verdicts[0].decided_at in (None, 2)
    assert second.looks is not None
    assert (second.looks.rule, second.looks.look) == ("other", 2)
    assert second.looks.level == pytest.approx(0.05 / 3)


def test_of_three_models_what_is_decided_of_unchanged_ones_stays(tmp_path: Path) -> None:
    """Where one model changed, the pair of the other two keeps its verdict."""
    table = models(900, accuracies={"a": 0.9, "b": 0.7, "c": 0.72})
    look(table, tmp_path / "f", pushes=True)
    other = models(900, accuracies={"a": 0.9, "b": 0.7, "c": 0.74})
    found = {v.about: v for v in look(other, tmp_path / "f", pushes=True).verdicts}
    assert found["a", "b"].n == 900
    assert found["a", "c"].n is None


@pytest.mark.parametrize("change", ["answers", "removed", "model"])
def test_anything_but_added_examples_shares_the_rest_equally(
    change: str, alike: Grown, tmp_path: Path
) -> None:
    """Other answers, fewer examples or another set of models are no added examples."""
    look(alike(200), tmp_path / "f")
    table = alike(150 if change == "removed" else 300)
    if change == "answers":
        table["one"]["y_pred"][3] = 1 - int(str(table["one"]["y_pred"][3]))
    if change == "model":
        table["three"] = dict(table["one"])
    found = look(table, tmp_path / "f").looks
    assert found is not None
    assert found.rule == "other"
    assert found.level == pytest.approx(0.05 / 3)


def test_without_a_file_every_look_has_an_equal_share(alike: Grown) -> None:
    """--look K: level alpha / L, spent K alpha / L."""
    found = er.evaluate(alike(100), metrics="accuracy", looks=5, look=2).looks
    assert found is not None
    assert (found.look, found.rule) == (2, "other")
    assert (found.level, found.spent) == pytest.approx((0.01, 0.02))


@pytest.mark.parametrize(
    "options, said",
    [
        ({"looks": 3}, "--looks-file FILE, or count them yourself with --look K"),
        ({"looks": 3, "look": 4}, "spent"),
        ({"looks": 3, "look": 0}, "from 1 to 3"),
        ({"looks": 0, "look": 1}, "from 1 to 100"),
        ({"looks": 3, "look": 1, "looks_file": "f"}, "contradict"),
        ({"looks": 3, "looks_file": "f", "pushes": True, "n_max": 5}, "contradict"),
        ({"looks": 3, "look": 2, "n_max": 5}, "contradict"),
        ({"looks": 3, "looks_file": "f", "n_max": 0}, "n_max"),
        ({"looks_file": "f"}, "add --looks"),
        ({"pushes": True}, "add --looks"),
    ],
)
def test_options_of_looks_that_make_no_sense_are_refused(
    options: dict[str, Any], said: str, alike: Grown
) -> None:
    """Each names what is missing or contradicts."""
    with pytest.raises(UsageError, match=said):
        er.evaluate(alike(30), **options)


@pytest.mark.parametrize(
    "other",
    every(3, [
        {"looks": 4}, {"n_max": 900}, {"pushes": True}, {"confidence": 0.9}, {"correction": "bonferroni"},
        {"metrics": "mcc"}, {"margin": 0.1}, {"baseline": "one"},
    ]),
)  # fmt: skip
def test_a_series_keeps_what_it_was_begun_with(other: dict[str, Any], alike: Grown, tmp_path: Path) -> None:
    """Another number of looks, level, metric, margin or baseline is another comparison."""
    look(alike(60), tmp_path / "f")
    with pytest.raises(UsageError, match="the looks were begun with"):
        look(alike(90), tmp_path / "f", **other)


def test_two_runs_at_once_do_not_lose_a_look(alike: Grown, tmp_path: Path) -> None:
    """A run that began before another one kept its look is told to run again."""
    options = Options(looks=3, looks_file=str(tmp_path / "f"), metrics=("accuracy",), resamples=50)
    slow = Remembered(tmp_path / "f", options)
    from evalreport.analysis import evaluate as analyse

    begun = analyse(er.load(alike(100), options=options), options=options, look_of=slow.look)
    look(alike(150), tmp_path / "f")
    written = (tmp_path / "f").read_bytes()
    with pytest.raises(OutputError, match="run again"):
        slow.keep(begun)
    assert (tmp_path / "f").read_bytes() == written


@pytest.fixture(scope="module")
def two_looks(alike: Grown, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file after two looks."""
    file = tmp_path_factory.mktemp("looks") / "f"
    for n in (100, 200):
        look(alike(n), file)
    return file.read_text()


@pytest.mark.parametrize(
    "damage, said",
    [
        (lambda text: text[:200], "no looks file"),
        (lambda text: text.replace("looks/1", "looks/2"), "no looks file"),
        (lambda text: text.replace('"n": 100', '"n": 90'), None),
        (lambda text: text.replace('"level": 0.000', '"level": 0.010'), "does not follow"),
        (lambda text: text.replace('"looks": 3', '"looks": 30'), "does not follow"),
        (lambda text: text.replace('"n": 100', '"n": 300'), "does not follow"),
        (lambda text: text.replace('"ids": "', '"ids": "!'), "ids are damaged"),
        (lambda text: text.replace('"confidence": 0.95', '"confidence": null'), "no looks file"),
        (lambda text: text.replace('"pushes": false', '"pushes": false, "other": 1'), "no looks file"),
        (lambda text: text.replace('"spent"', '"level"', 1), "no looks file"),
        (lambda _: "[" * 100_000, "no looks file"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(
    damage: Callable[[str], str], said: str | None, two_looks: str
) -> None:
    """What was cut, changed by hand or is of another kind is bad input; a smaller first n is another boundary."""
    damaged = damage(two_looks)
    assert damaged != two_looks
    with pytest.raises(InputError, match=said or "does not follow"):
        series_of(damaged.encode(), "looks.json")


def test_the_file_holds_no_id_and_no_answer(alike: Grown, tmp_path: Path) -> None:
    """Ids are hashed, answers are digests."""
    look(alike(100), tmp_path / "f")
    text = (tmp_path / "f").read_text()
    assert "q00001" not in text
    assert json.loads(text)["schema"] == "evalreport/looks/1"


@pytest.mark.slow
def test_early_looks_decide_large_differences_without_draws(tmp_path: Path) -> None:
    """What swaps led is decided by its closed interval, so that no number of draws bounds its p-value."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 5, 300)
    wrong = (truth + rng.integers(1, 5, 300)) % 5
    right = {"good": rng.random(300) < 0.95, "poor": rng.random(300) < 0.5}
    table = {name: {"y_pred": np.where(r, truth, wrong)} for name, r in right.items()}
    first = look(table, tmp_path / "f", looks=5, metrics="f1_macro", truth=truth)  # type: ignore[arg-type]
    assert first.verdicts[0].verdict == "better"
    assert first.verdicts[0].low is not None
    assert first.verdicts[0].low > 0


def test_equivalence_uses_the_level_of_the_look(tmp_path: Path) -> None:
    """An interval at one minus the look's level has to lie inside the margin."""
    table = models(2500, accuracies={"a": 0.97, "b": 0.97})
    early = look(table, tmp_path / "f", looks=5, margin=0.012)
    plain = er.evaluate(table, metrics="accuracy", margin=0.012, resamples=50)
    assert plain.verdicts[0].verdict == "equivalent"
    assert early.verdicts[0].verdict == "undecided"


def test_gates_on_costs_and_questions_have_the_level_of_the_look(tmp_path: Path) -> None:
    """Values keep --confidence; what gates on costs, ratios and questions are decided by is wider."""
    rng = np.random.default_rng(5)
    table: Any = {
        name: {
            "id": [f"q{i // 6}" for i in range(240)],
            "attempt": [i % 6 for i in range(240)],
            "outcome": (rng.random(240) < share).astype(int),
            "cost": rng.exponential(size=240) + 1,
        }
        for name, share in (("new", 0.7), ("old", 0.8))
    }
    gates = ["new.cost_mean <= 2.2", "new.cost_mean <= 1.1 * old.cost_mean", "new.questions_below(0.8) <= 40"]
    plain = er.evaluate(table, gates=gates, resamples=50)
    early = look(table, tmp_path / "f", gates=gates, metrics="mean_outcome")
    assert [r.low for r in early.costs] == [r.low for r in plain.costs]
    for at_look, usual in zip(early.gates[:2], plain.gates[:2], strict=True):
        assert at_look.low is not None
        assert usual.low is not None
        assert at_look.low < usual.low
    assert early.cost_ratios[0].level == early.deciding_level
    assert all(q.verdict == "undecided" for q in early.questions)
