"""Counts that an engine makes of predictions: those of a GROUP BY by hand, and the errors of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import evalreport.metrics  # noqa: F401 - registers what is added up of scores
from evalreport.errors import InputError, UsageError
from evalreport.options import Options
from evalreport.scale.aggregates import counts_of
from tests.samples.cases import every
from tests.samples.counted import N, by_hand, counted, faulty, write
from tests.samples.systems import needs_locks

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

ENGINES = ("duckdb", pytest.param("dask", marks=needs_locks))


# A plan of Dask takes a second: with weights it counts all of this at once.
def test_counts_are_those_of_a_group_by_over_the_join(folder: Path, frames: dict[str, pd.DataFrame]) -> None:
    """DuckDB counts what pandas counts, and every row is in one cell."""
    found, inputs = counts_of(folder, Options(slices=("place",)))
    assert found.table.column_names == ["count", "y_true", "y_pred.forest", "y_pred.logreg", "place"]
    assert counted(found.table) == by_hand(frames, "place")
    assert [(record.path, record.rows, record.model) for record in inputs] == [
        ("forest.parquet", N, "forest"),
        ("logreg.parquet", N, "logreg"),
    ]


def test_clusters_are_counted_apart(folder: Path, frames: dict[str, pd.DataFrame]) -> None:
    """The cluster is a column of the counts, once though it is a slice too; test_runs_on_counts.py has them on Dask."""
    found, _ = counts_of(folder, Options(cluster="place", slices=("place",)))
    assert counted(found.table) == by_hand(frames, "place")
    with pytest.raises(UsageError, match="--cluster plaice: unknown column 'plaice'; did you mean place"):
        counts_of(folder, Options(cluster="plaice"))


WEIGHTS = [0.1, 1 / 3, 2.0, 1e-7, 1e22]
"""Numbers whose texts differ between programs."""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_weights_are_counted_apart(engine: str, frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """The weight is a column of the counts that is read as the same number, however spelled.

    The second model's files hold text.
    """
    order = frames["forest"].sort_values("id").index
    weight = pd.Series(np.resize(WEIGHTS, N), order)
    for model, frame in frames.items():
        own = weight if model == "forest" else weight.map(lambda w: "2" if w == 2 else repr(w))
        frame.assign(w=own).to_parquet(tmp_path / f"{model}.parquet", index=False)
    numbers = {model: frame.assign(w=weight) for model, frame in frames.items()}
    found, _ = counts_of(tmp_path, Options(weight="w", slices=("place",)), engine=engine)
    table = found.table.set_column(
        found.table.column_names.index("w"), "w", pa.array([float(w.as_py()) for w in found.table["w"]])
    )
    assert counted(table) == by_hand(numbers, "place", "w")


@pytest.mark.parametrize(
    "options", [Options(cluster="place"), Options(weight="w")], ids=["cluster", "weight"]
)
def test_scores_are_not_added_up_by_clusters_and_weights(options: Options, tmp_path: Path) -> None:
    """They are left out, whatever the engine."""
    answers: dict[str, list[object]] = {"id": ["a", "b", "c"], "y_true": [0, 1, 0], "y_pred": [0, 1, 1]}
    write(tmp_path, **answers, w=[1, 2, 2], place=["x", "x", "y"], p_1=[0.1, 0.6, 0.9])
    found, _ = counts_of(tmp_path, options)
    assert (found.scores, found.left_out) == (None, ("p_1",))


@pytest.mark.parametrize(
    ("weights", "options", "said"),
    every(
        3,
        [
            ([1, -1], {}, r"tree\.csv, column 'w': '-1' is not a finite number that this column can hold"),
            ([1, "inf"], {}, "'inf' is not a finite number"),
            ([1, "much"], {}, "'much' is not a finite number"),
            ([1, None], {}, "column 'w': the id 'b' has no weight"),
            ([1, 3], {}, "--weight w: the models have different values of 'w' for the same example, 'b'"),
            ([1, 2], {"slices": ("w",)}, "--slice w: the column is the weight; it cannot be both"),
            ([1, 2], {"cluster": "w"}, "--cluster w: the column is the weight; it cannot be both"),
            ([1, 2], {"weight": "v"}, "--weight v: unknown column 'v'"),
        ],
    ),
)
def test_what_is_no_weight_is_refused(
    weights: list[object], options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """As a run refuses it, but for the line; the same weight of an example in all files."""
    answers: dict[str, list[object]] = {"id": ["a", "b"], "y_true": [0, 1], "y_pred": [0, 1]}
    pd.DataFrame({**answers, "w": weights}).to_csv(tmp_path / "tree.csv", index=False)
    other = None if None in weights else 2
    pd.DataFrame({**answers, "w": [1, other]}).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises((InputError, UsageError), match=said):
        counts_of(tmp_path, Options(**{"weight": "w", **options}))


def test_more_weights_than_can_be_counted_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says why weights make so many."""
    n = 50
    columns: dict[str, list[object]] = {"id": list(range(n)), "y_true": [0, 1] * 25, "y_pred": [0, 1] * 25}
    write(tmp_path, **columns, w=[1 + i / 7 for i in range(n)])
    monkeypatch.setattr("evalreport.scale.aggregation.MOST_CELLS", 40)
    with pytest.raises(UsageError, match="more than 40 different examples.*weights of any size make as many"):
        counts_of(tmp_path, Options(weight="w"))
    monkeypatch.setattr("evalreport.scale.label_sources.MOST_TEXTS", 40)
    with pytest.raises(
        UsageError, match="--weight w: the column has more than 40 values.*weights of any size"
    ):
        counts_of(tmp_path, Options(weight="w"))


FAULTS = {
    "twice": r"logreg\.parquet.*'e104' appears twice for the model 'logreg'",
    "moved": r"logreg\.parquet.*'e105' appears twice for the model 'logreg'",
    "lacking": r"logreg\.parquet.*'logreg' lacks 2 of 500 ids of the others, for example 'e10[45]'.*498 are",
    "truth": "the true values of the id 'e104' disagree",
    "no id": r"logreg\.parquet.*the id is empty",
}


# A plan of Dask takes seconds: what "moved" and "no id" ask of an engine, "twice" and "lacking" ask too.
@pytest.mark.slow
@pytest.mark.parametrize(
    "engine, fault",
    [
        *(("duckdb", fault) for fault in FAULTS),
        *(pytest.param("dask", fault, marks=needs_locks) for fault in ("twice", "lacking", "truth")),
    ],
)
def test_a_fault_is_found_by_counting(
    engine: str, fault: str, frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    """What a run refuses is refused, with the file, the model, and an id that has the fault."""
    faulty(frames, tmp_path, fault)
    with pytest.raises(InputError, match=FAULTS[fault]):
        counts_of(tmp_path, Options(), engine=engine)


@pytest.mark.parametrize("options", [Options(threshold=0.4), Options(task="regression")], ids=str)
def test_options_that_counts_cannot_serve_are_refused(options: Options, folder: Path) -> None:
    """Single examples and numbers need more than counts of labels; a threshold something to cut."""
    with pytest.raises(UsageError, match="aggregated yet|need single examples|nothing to cut"):
        counts_of(folder, options)
