"""How the predictions were made, found from the key columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Loaded = Callable[..., Predictions]


def grid(header: str, rows: Sequence[Sequence[object]]) -> str:
    """Write a file of key columns, each row with a truth and a prediction."""
    lines = [",".join(map(str, row)) + ",1,0\n" for row in rows]
    return f"id,{header},y_true,y_pred\n" + "".join(lines)


DESIGNS: dict[str, tuple[str, str]] = {
    "one fold": ("test-set", grid("fold", [(i, 1) for i in range(4)])),
    "one of each": ("test-set", grid("repeat,seed,dataset", [(i, 1, 1, "d") for i in range(4)])),
    "folds": ("cross-validation", grid("fold", [(i, i % 2) for i in range(4)])),
    "leave one out": ("cross-validation", grid("fold", [(i, i) for i in range(4)])),
    "repeats of folds": (
        "cross-validation",
        grid("repeat,fold", [(i, r, i % 2) for i in range(4) for r in range(3)]),
    ),
    "5x2": ("5x2cv", grid("repeat,fold", [(i, r, (i + r) % 2) for i in range(4) for r in range(5)])),
    "5x3": ("cross-validation", grid("repeat,fold", [(i, r, i % 3) for i in range(6) for r in range(5)])),
    "folds of some examples": (
        "repeated-holdout",
        grid("repeat,fold", [(i, r, i % 2) for r in range(5) for i in range(r, r + 5)]),
    ),
    "folds that overlap": (
        "repeated-holdout",
        grid("fold", [(i, f) for f in range(4) for i in range(f, f + 5)]),
    ),
    "halves that are none": (
        "repeated-holdout",
        grid("repeat,fold", [(i, r, int(i % 10 == r)) for i in range(30) for r in range(5)]),
    ),
    "uneven halves": (
        "5x2cv",
        grid("repeat,fold", [(i, r, int((i + r) % 11 < 5)) for i in range(11) for r in range(5)]),
    ),
    "one division in two folds": (
        "cross-validation",
        grid("fold", [(i, int(i % 10 == 0)) for i in range(30)]),
    ),
    "folds with seeds": (
        "cross-validation",
        grid("fold,seed", [(i, i % 5, s) for i in range(10) for s in range(3)]),
    ),
    "folds of each seed": (
        "cross-validation",
        grid("fold,seed", [(i, (i * (2 * s + 1) // 2) % 5, s) for i in range(10) for s in range(3)]),
    ),
    "5x2 with seeds": (
        "5x2cv",
        grid(
            "repeat,fold,seed", [(i, r, (i + r) % 2, s) for i in range(4) for r in range(5) for s in range(2)]
        ),
    ),
    "hold-outs with seeds": (
        "repeated-holdout",
        grid("repeat,seed", [(i, r, s) for r in range(3) for i in range(r, r + 3) for s in range(2)]),
    ),
    "seeds with test sets of their own": (
        "repeated-holdout",
        grid("seed", [(i, s) for s in range(4) for i in range(s, s + 4)]),
    ),
    "repeats": ("repeated-holdout", grid("repeat", [(i, r) for r in range(3) for i in range(r, r + 3)])),
    "replicates": ("bootstrap", grid("replicate", [(i, b) for b in range(3) for i in range(4)])),
    "replicates and resubstitution": (
        "bootstrap",
        grid("replicate,part", [(i, b, "test" if b else "train") for b in ("", 1, 2) for i in range(4)]),
    ),
    "seeds": ("seeds", grid("seed", [(i, s) for s in range(2) for i in range(4)])),
    "data sets": ("datasets", grid("dataset", [(i, d) for d in "xy" for i in range(4)])),
    "folds of data sets": ("datasets", grid("dataset,fold", [(i, d, i % 2) for d in "xy" for i in range(4)])),
    "learning curve": ("test-set", grid("train_size", [(i, s) for s in (10, 20, 40) for i in range(4)])),
    "train and test rows": ("test-set", grid("part", [(i, p) for p in ("train", "test") for i in range(4)])),
}


def test_each_model_s_own_folds_are_divisions_of_their_own(tmp_path: Path) -> None:
    """With test sets of their own the same id may stand in another fold of another model."""
    for name, shift in (("a", 0), ("b", 1)):
        rows = [(i, (i + shift) % 2) for i in range(8 + shift)]
        (tmp_path / f"{name}.csv").write_text(grid("fold", rows))
    assert load(tmp_path, options=Options(join="independent")).design == "cross-validation"


def test_seeds_with_a_division_of_their_own_are_repeats(loaded: Loaded) -> None:
    """The seed becomes the repeat, beside the repeat where there are several; why says so."""
    content = grid("fold,seed", [(i, (i * (2 * s + 1) // 2) % 5, s) for i in range(10) for s in range(3)])
    predictions = loaded(content)
    assert predictions.keys["repeat"].categories == ("0", "1", "2")
    assert "seed" not in predictions.keys
    assert "counts as a repeat" in next(r.why for r in predictions.found if r.what == "design")
    both = [(i, r, (i * (2 * s + r) // 2) % 5, s) for i in range(10) for s in (1, 2) for r in (1, 2)]
    names = loaded(grid("repeat,fold,seed", both)).keys["repeat"].categories
    assert names == ("1, seed 1", "1, seed 2", "2, seed 1", "2, seed 2")


@pytest.mark.parametrize("name", DESIGNS)
def test_the_design_is_found(loaded: Loaded, name: str) -> None:
    """The key columns decide, and the reason is said."""
    design, content = DESIGNS[name]
    predictions = loaded(content)
    assert predictions.design == design
    (said,) = [record for record in predictions.found if record.what == "design"]
    assert (said.value, bool(said.why)) == (design, True)


def test_a_replicate_predicts_every_example_again(loaded: Loaded) -> None:
    """Rows are (id, fit) in order of the ids, then of the replicates by number; ids stand once."""
    predictions = loaded(grid("replicate,inbag", [(i, b, b % 2) for b in (10, 2) for i in ("b", "a")]))
    assert predictions.ids.to_pylist() == ["a", "b"]
    assert predictions.example.tolist() == [0, 0, 1, 1]
    assert predictions.keys["replicate"].categories == ("2", "10")
    assert predictions.keys["replicate"].values.tolist() == [0, 1, 0, 1]
    assert predictions.keys["inbag"].values.tolist() == [0, 0, 0, 0]


def test_an_empty_part_is_a_test_row(loaded: Loaded) -> None:
    """`test` is the default of the column part."""
    predictions = loaded(grid("part", [(1, "train"), (1, ""), (2, "test")]))
    assert predictions.keys["part"].categories == ("test", "train")
    assert predictions.keys["part"].values.tolist() == [0, 1, 0]


def test_scores_on_folds_have_no_ids(loaded: Loaded) -> None:
    """Fold scores without a data set are cross-validation, one row a fold."""
    rows = "".join(f"{m},{f},{f / 10}\n" for m in "kl" for f in (2, 1, 3))
    predictions = loaded("model,fold,value\n" + rows)
    assert (predictions.task, predictions.design, predictions.n) == ("scores", "cross-validation", 3)
    assert predictions.models[0].outcome is not None
    assert predictions.models[0].outcome.tolist() == [0.1, 0.2, 0.3]
