"""Data frames, series and arrays are matched by their index as pandas does, and what libraries return is taken."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import evalreport as er
import evalreport.metrics
from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.predictions.table import Predictions
from tests.samples.systems import needs_locks

N = 40

ROWS = np.arange(100, 100 + N)

TRUTH = pd.Series(np.arange(N) % 2, index=ROWS)

RIGHT = np.where(np.arange(N) % 10 == 0, 1 - TRUTH, TRUTH)
"""Labels of which nine in ten are right: matched by anything but their index, half of them are."""


def accuracy(predictions: Predictions) -> list[float]:
    """Return each model's share of right labels."""
    return [float((np.asarray(m.y_pred) == predictions.y_true).mean()) for m in predictions.models]


def of_dask(frame: pd.DataFrame, npartitions: int = 2) -> Any:
    """Return a lazy frame; its library takes a second to load."""
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=npartitions)


def shuffled(values: Any) -> pd.Series:
    """Return a series of the values whose rows are in another order."""
    return pd.Series(values, index=ROWS).sample(frac=1, random_state=1)


@pytest.mark.parametrize(
    "models, truth",
    [
        ({"m": shuffled(RIGHT)}, TRUTH),
        ({"m": shuffled(RIGHT).to_frame("y_pred")}, TRUTH),
        ({"m": {"y_pred": shuffled(RIGHT), "y_true": TRUTH}}, None),
        ({"m": {"y_pred": shuffled(RIGHT), "age": pd.Series(ROWS, index=ROWS)}}, TRUTH),
        ({"y_true": TRUTH, "m": shuffled(RIGHT)}, None),
        ({"m": RIGHT}, TRUTH),
        ({"m": list(RIGHT)}, TRUTH.to_frame("target")),
        ({"m": pd.Series(RIGHT, index=ROWS)}, TRUTH.tolist()),
        ({"m": pd.DataFrame({"id": ROWS[::-1], "y_pred": RIGHT[::-1]})}, TRUTH),
    ],
    ids=[
        *(
            "series",
            "frame",
            "columns",
            "column beside",
            "wide",
            "array",
            "list beside a frame",
            "truth as a list",
        ),
        "ids beside an index",
    ],
)
def test_rows_are_matched_by_their_index(models: Any, truth: Any) -> None:
    """Nine in ten are right in whatever order rows come; a plain array is in the order of the true values."""
    assert accuracy(load(models, truth=truth)) == [0.9]


def test_rows_of_dask_are_matched_by_their_index() -> None:
    """A lazy frame has an index as well."""
    models = of_dask(shuffled(RIGHT).to_frame("y_pred").assign(model="m"))
    assert accuracy(load(models, truth=TRUTH)) == [0.9]


def test_a_permuted_default_index_is_the_id() -> None:
    """The labels 0, 1, 2 ... in another order say more than the position."""
    order = np.random.default_rng(0).permutation(N)
    truth = TRUTH.reset_index(drop=True)
    assert accuracy(load({"m": pd.Series(RIGHT)[order]}, truth=truth)) == [0.9]
    assert accuracy(load({"m": pd.Series(RIGHT)}, truth=truth[order])) == [0.9]


def test_an_index_of_several_levels_is_one_id() -> None:
    """Two levels whose texts could be read two ways stay apart: a/b with c, and a with b/c."""
    index = pd.MultiIndex.from_tuples([("a/b", "c"), ("a", "b/c"), ("a", "c")])
    truth = pd.Series([1, 0, 1], index=index)
    found = load({"m": truth.iloc[::-1]}, truth=truth)
    assert accuracy(found) == [1.0]
    assert len(found.ids) == 3


def test_levels_that_are_columns_of_ours_become_columns() -> None:
    """pd.concat({"k": ..., "l": ...}, names=["model"]) is the long format."""
    frames = {"k": shuffled(RIGHT).to_frame("y_pred"), "l": TRUTH.to_frame("y_pred")}
    found = load(pd.concat(frames, names=["model"]), truth=TRUTH)
    assert [m.name for m in found.models] == ["k", "l"]
    assert accuracy(found) == [0.9, 1.0]


@pytest.mark.parametrize(
    "models, truth, words",
    [
        ({"m": pd.Series(RIGHT)}, TRUTH, r"default one.*40 of its labels.*X_test.index"),
        ({"m": shuffled(RIGHT).iloc[1:]}, TRUTH.iloc[:-1], "no true value"),
        ({"m": shuffled(RIGHT).iloc[1:], "n": RIGHT}, TRUTH, "the model 'm' lacks 1 of 40 ids"),
        ({"m": pd.Series(RIGHT, index=[*ROWS[1:], 101])}, TRUTH, "the id '101' appears twice"),
        ({"m": RIGHT}, pd.Series(RIGHT, index=[*ROWS[1:], 101]), "appears twice"),
        ({"m": RIGHT[1:]}, TRUTH, "39 values without labels.*has 40"),
        ({"m": shuffled(RIGHT), "n": TRUTH, "o": RIGHT}, TRUTH.to_numpy(), "no index.*different orders"),
        ({"m": {"y_pred": shuffled(RIGHT), "x": TRUTH, "z": RIGHT}}, TRUTH, "no index.*different orders"),
        ({"m": {"y_pred": shuffled(RIGHT), "x": TRUTH.iloc[1:]}}, TRUTH, "have not the same labels: '100'"),
        (
            {"m": {"y_pred": shuffled(RIGHT), "x": pd.Series(RIGHT, index=[*ROWS[1:], 101])}},
            TRUTH,
            "appears twice",
        ),
    ],
)
def test_labels_that_do_not_match_are_refused(models: Any, truth: Any, words: str) -> None:
    """No row is dropped, doubled or matched by its place where labels say otherwise."""
    with pytest.raises(InputError, match=words) as caught:
        load(models, truth=truth)
    assert caught.value.remedy


def test_several_frames_of_dask_without_ids_are_matched_by_their_index() -> None:
    """They cannot be counted where they lie, which is no reason to refuse them."""
    frame = pd.DataFrame({"y_true": TRUTH, "y_pred": RIGHT})
    models = {"k": of_dask(frame), "l": of_dask(frame, 3)}
    assert accuracy(load(models)) == [0.9, 0.9]


@pytest.mark.slow
@needs_locks
def test_probabilities_in_frames_of_dask_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In as many partitions as its group-bys leave several; what narwhals advises users of Dask is not said."""
    import narwhals as nw

    frame = pd.DataFrame({"id": ROWS, "y_true": TRUTH, "y_pred": RIGHT, "proba": np.linspace(0, 1, N)})
    plain = nw.from_native

    def advising(*args: Any, **keywords: Any) -> Any:
        warnings.warn("Hint: install narwhals-dask", FutureWarning, stacklevel=2)
        return plain(*args, **keywords)

    monkeypatch.setattr(nw, "from_native", advising)
    found = (load({"m": of_dask(frame, n)}).scores for n in (1, 20))
    whole, in_parts = (scores.histograms for scores in found if scores is not None)
    assert in_parts == whole


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        lambda t: pl.DataFrame(t).lazy(),
        pa.table,
        lambda t: pa.table(t).to_batches()[0],
        lambda t: pa.table(t).to_reader(),
        lambda t: ds.dataset(pa.table(t)),
        lambda t: duckdb.from_arrow(pa.table(t)),
        lambda t: of_dask(pd.DataFrame(t)),
    ],
    ids=["pandas", "polars", "lazy", "arrow", "batch", "reader", "dataset", "duckdb", "dask"],
)
def test_frames_of_every_library_are_read(make: Callable[[Any], Any], content: Callable[..., Any]) -> None:
    """A model's frame from any of them gives what its columns give."""
    columns = {"id": [f"{row}" for row in ROWS], "y_pred": RIGHT, "town": ["x", "y"] * (N // 2)}
    found, wanted = (content(load({"m": source}, truth=TRUTH)) for source in (make(columns), columns))
    assert found == wanted


# --- probabilities ----------------------------------------------------------------------------------------------------

PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])


def proba_of(predictions: Predictions) -> dict[str, list[float]]:
    """Return the first row's probability of each class."""
    proba = predictions.models[0].proba
    assert proba is not None
    return dict(zip(predictions.classes, proba[0].tolist(), strict=True))


@pytest.mark.parametrize(
    "models",
    [{"m": PROBABILITIES}, {"m": {"y_prob": PROBABILITIES}}, {"m": PROBABILITIES.tolist()},
     {"m": {"y_prob": pd.DataFrame(PROBABILITIES)}}],
    ids=["array", "column", "lists", "frame"],
)  # fmt: skip
@pytest.mark.parametrize(
    "truth, order",
    [
        ([10, 9, 2, 9], ["2", "9", "10"]),
        (["10", "9", "2", "9"], ["10", "2", "9"]),
        (list("bcaa"), list("abc")),
    ],
    ids=["numbers", "digits as text", "text"],
)
def test_an_array_of_probabilities_follows_the_sorted_labels(
    models: Any, truth: list[Any], order: list[str]
) -> None:
    """Its columns are those of np.unique(truth), as scikit-learn has them: numbers by value, text by code point."""
    assert order == [str(label) for label in np.unique(truth)]
    found = load(models, truth=truth)
    assert proba_of(found) == dict(zip(order, PROBABILITIES[0].tolist(), strict=True))
    assert any(record.what == "probabilities" for record in found.found)


def test_classes_name_the_columns() -> None:
    """classes= gives the order, also of a class that the truth lacks; a wrong number of them is refused."""
    found = er.load({"m": PROBABILITIES}, truth=["a", "b", "b", "a"], classes=["c", "b", "a"])
    assert proba_of(found) == {"c": 0.7, "b": 0.2, "a": 0.1}
    with pytest.raises(InputError, match="3 columns of probabilities for 2 classes"):
        er.load({"m": PROBABILITIES}, truth=["a", "b", "b", "a"], classes=["b", "a"])
    with pytest.raises(InputError, match="3 columns of probabilities, but 2 true labels.*classes=") as caught:
        er.load({"m": PROBABILITIES}, truth=["a", "b", "b", "a"])
    assert "classes=model.classes_" in (caught.value.remedy or "")


@pytest.mark.parametrize("named", [True, False])
def test_npz_holds_an_array_of_probabilities(tmp_path: Any, named: bool) -> None:
    """y_prob (n, K) with the array classes, else the sorted labels of the truth."""
    more = {"classes": np.array(["c", "b", "a"])} if named else {}
    path = tmp_path / "m.npz"
    np.savez(path, y_true=np.array(list("abca")), y_prob=PROBABILITIES, **more)
    assert proba_of(load(path)) == dict(
        zip("cba" if named else "abc", PROBABILITIES[0].tolist(), strict=True)
    )
