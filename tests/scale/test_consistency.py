"""An aggregate whose files contradict one another is refused, although every digest is right."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
import evalreport.metrics
from evalreport.cli import main
from evalreport.errors import InputError
from evalreport.scale.aggregates import opened
from evalreport.scale.manifest import HISTOGRAMS, PRODUCTS
from evalreport.sources.files import COUNTS
from tests.samples.cases import quick

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

N = 240
Edit = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models of probabilities, one of them with a score beside, by two slices; their labels are cut."""
    above = tmp_path_factory.mktemp("files")
    (above / "models").mkdir()
    rng = np.random.default_rng(4)
    truth, sex = (rng.random(N) < 0.4).astype(int), rng.choice(["f", "m", None], N)
    for model in ("a", "b"):
        p = np.clip(rng.normal(0.3 + 0.35 * truth, 0.2, N), 0.01, 0.99)
        frame = pd.DataFrame(
            {"id": np.arange(N), "y_true": truth, "p_1": p, "sex": sex, "age": np.arange(N) % 4}
        )
        if model == "b":
            frame["score"] = np.log(p / (1 - p)) + rng.normal(0, 0.1, N)
        frame.to_parquet(above / "models" / f"{model}.parquet", index=False)
    er.aggregate(above / "models", output=above / "sums", slices=["sex", "age"])
    return above / "sums"


def rewritten(folder: Path, to: Path, name: str, table: pa.Table, **changes: object) -> Path:
    """Copy an aggregate with another table in place of one of its files, and the digest of that one."""
    shutil.copytree(folder, to)
    pq.write_table(table, to / name)
    manifest = json.loads((to / "aggregate.json").read_text())
    manifest["files"][name] = hashlib.sha256((to / name).read_bytes()).hexdigest()
    (to / "aggregate.json").write_text(json.dumps(manifest | changes))
    return to


def edited(folder: Path, to: Path, name: str, edit: Edit) -> Path:
    """Copy an aggregate with the rows of one of its files edited."""
    table = pq.read_table(folder / name)
    frame = edit(table.to_pandas(types_mapper=pd.ArrowDtype))
    return rewritten(folder, to, name, pa.Table.from_pandas(frame, table.schema, preserve_index=False))


def at(column: str, change: object, rows: str = "index == 3") -> Edit:
    """Change one column in some rows: by a function, or to one value."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        chosen = frame.eval(rows, engine="python")
        frame.loc[chosen, column] = change(frame.loc[chosen, column]) if callable(change) else change
        return frame

    return edit


OF_SQUARES = "metric == 'roc_auc' and a == 'a' and b == 'a' and slice.isna()"
EDITS: dict[str, tuple[str, Edit]] = {
    "a negative count": (COUNTS, at("count", lambda c: -c)),
    "another count": (COUNTS, at("count", lambda c: c + 1)),
    "half of the rows": (COUNTS, lambda frame: frame.iloc[::2]),
    "other labels": (COUNTS, at("y_true", "2")),
    "flipped classes": (COUNTS, at("y_true", lambda y: y.map({"0": "1", "1": "0"}), "index >= 0")),
    "flipped answers": (COUNTS, at("y_pred.a", lambda y: y.map({"0": "1", "1": "0"}), "index >= 0")),
    "another slice": (COUNTS, at("sex", "x")),
    "a bin of -1": (HISTOGRAMS, at("count", -1)),
    "a bin of more": (HISTOGRAMS, at("count", lambda c: c + 1)),
    "a bin in the other class": (HISTOGRAMS, at("positive", lambda p: ~p)),
    "a bin without limits": (HISTOGRAMS, at("low", float("nan"))),
    "a bin that ends before it begins": (HISTOGRAMS, at("high", -5.0)),
    "a probability of 2": (HISTOGRAMS, at("high", 2.0, "model == 'a'")),
    "a score for a probability": (HISTOGRAMS, at("probability", True, "model == 'b'")),
    "a bin twice": (HISTOGRAMS, lambda frame: pd.concat([frame, frame.iloc[:1]])),
    "half of the bins": (HISTOGRAMS, lambda frame: frame.iloc[::2]),
    "no bins of a slice": (HISTOGRAMS, lambda frame: frame[frame["slice"] != "sex"]),
    "bins of another model": (HISTOGRAMS, at("model", "c", "model == 'a'")),
    "two values of a slice changed places": (
        HISTOGRAMS, at("value", lambda v: v.map({"0": "1", "1": "0", "2": "2", "3": "3"}), "slice == 'age'"),
    ),
    "scores turned round": (
        HISTOGRAMS, lambda frame: frame.assign(low=-frame["high"], high=-frame["low"])[frame["model"] == "b"],
    ),
    "another square": (PRODUCTS, at("total", lambda t: t * 1.1, OF_SQUARES)),
    "a negative square": (PRODUCTS, at("total", lambda t: -t, OF_SQUARES)),
    "a product of more than both": (
        PRODUCTS, at("total", lambda t: t * 100, "metric == 'roc_auc' and a == 'a' and b == 'b'"),
    ),
    "another loss": (PRODUCTS, at("total", lambda t: t * 0.7, "metric == 'log_loss' and a == 'a' and b.isna()")),
    "losses of classes changed places": (
        PRODUCTS, at("positive", lambda p: ~p, "metric == 'brier' and a == 'a' and b.isna()"),
    ),
    "infinite": (PRODUCTS, at("total", float("inf"))),
    "half of the products": (PRODUCTS, lambda frame: frame.iloc[::2]),
    "a product twice": (PRODUCTS, lambda frame: pd.concat([frame, frame.iloc[:1]])),
    "another metric": (PRODUCTS, at("metric", "accuracy")),
    "half an example": (PRODUCTS, at("total", lambda t: t + 0.5, "metric == 'examples in bin 3'")),
    "forecasts outside of their bin": (PRODUCTS, at("total", lambda t: t * 2, "metric == 'forecasts in bin 3'")),
}  # fmt: skip


@pytest.mark.slow
def test_an_aggregate_agrees_with_itself(folder: Path) -> None:
    """With empty values of a slice, slices of one class and a score beside a probability."""
    assert opened(folder).manifest.n == N
    assert opened(folder).manifest.cut == ("a", "b")


@pytest.mark.slow
@pytest.mark.parametrize("name, edit", EDITS.values(), ids=EDITS)
def test_an_edit_of_a_file_is_found(name: str, edit: Edit, folder: Path, tmp_path: Path) -> None:
    """The digest is made anew, so that the numbers alone tell."""
    place = edited(folder, tmp_path / "sums", name, edit)
    with pytest.raises(InputError) as refused:
        opened(place)
    assert "parquet" in str(refused.value)
    assert "evalreport aggregate MODELS -o" in str(refused.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"n": 12}, {"n": -1}, {"n": True}, {"models": ["a", "c"]}, {"models": []}, {"positive": None},
        {"positive": "0"}, {"files": {}}, {"inputs": [{}]}, {"truth": 3}, {"left_out": "x"}, {"options": {}},
        {"n": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_manifest_that_was_edited_is_refused(
    changes: dict[str, object], folder: Path, tmp_path: Path
) -> None:
    """Of a wrong type, out of range, or of other files than those beside it."""
    place = rewritten(folder, tmp_path / "sums", COUNTS, pq.read_table(folder / COUNTS), **changes)
    with pytest.raises(InputError):
        opened(place)


@pytest.mark.parametrize(
    "option",
    [("threshold", 5.0), ("threshold", 0.9), ("seed", -1), ("resamples", 0), ("resamples", "x"), ("task", "dog"),
     ("slices", ["sex"]), ("slices", [3]), ("cluster", "sex"), ("weight", "age"), ("unknown", 1)],
    ids=str,
)  # fmt: skip
def test_an_option_of_the_manifest_that_does_not_fit_is_refused(
    option: tuple[str, object], folder: Path, tmp_path: Path
) -> None:
    """Its range, its type, and what the counts say of the columns and of the threshold."""
    options = json.loads((folder / "aggregate.json").read_text())["options"] | dict([option])
    place = rewritten(folder, tmp_path / "sums", COUNTS, pq.read_table(folder / COUNTS), options=options)
    with pytest.raises(InputError):
        opened(place)


def test_counts_of_other_predictions_than_those_named_are_refused(folder: Path, tmp_path: Path) -> None:
    """The rows of the files say how many examples there are, also where the total of the manifest was edited too."""
    table = pq.read_table(folder / COUNTS)
    half = table.slice(0, table.num_rows // 2)
    place = rewritten(folder, tmp_path / "sums", COUNTS, half, n=sum(half["count"].to_pylist()))
    with pytest.raises(InputError, match="contradicts itself"):
        opened(place)


@pytest.mark.parametrize("name", quick([COUNTS, HISTOGRAMS, PRODUCTS], [COUNTS]))
def test_a_file_of_other_columns_or_too_many_rows_is_refused(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a file declares is checked before a page of it is unpacked: 40 million equal rows take a few kilobytes."""
    table = pq.read_table(folder / name)
    other = rewritten(folder, tmp_path / "other", name, table.rename_columns(["x", *table.column_names[1:]]))
    with pytest.raises(InputError):
        opened(other)
    large = rewritten(folder, tmp_path / "large", name, table)
    one = table.slice(0, 1)
    with pq.ParquetWriter(large / name, table.schema, compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(pa.concat_tables([one]).take(pa.array(np.zeros(10**6, np.int32))))
    manifest = json.loads((large / "aggregate.json").read_text())
    manifest["files"][name] = hashlib.sha256((large / name).read_bytes()).hexdigest()
    (large / "aggregate.json").write_text(json.dumps(manifest))
    assert main(["run", str(large), "--memory-limit", "100MB", "-o", str(tmp_path / "out")]) == 2
    assert "the memory limit of 100 MB leaves no room" in " ".join(capsys.readouterr().err.split())
