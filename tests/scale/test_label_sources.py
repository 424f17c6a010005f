"""What a table of predictions of any size holds: formats, types, models in parts, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport.metrics  # noqa: F401 - registers what is added up of scores
from evalreport.errors import InputError, UsageError
from evalreport.options import Options
from evalreport.scale.aggregates import counts_of
from evalreport.scale.aggregation import count
from evalreport.scale.engines import started
from evalreport.scale.label_sources import Source
from tests.samples.cases import every
from tests.samples.counted import by_hand, counted, faulty, write
from tests.samples.systems import needs_locks

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

ENGINES = ("duckdb", pytest.param("dask", marks=[needs_locks, pytest.mark.slow]))


def test_one_long_file_and_a_truth_apart_count_alike(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """A column `model` stands for several files, and a file of true values for a column of them."""
    long = pd.concat([frame.assign(model=model) for model, frame in frames.items()])
    long.drop(columns=["y_true", "place"]).to_csv(tmp_path / "all.csv", index=False)
    beyond = pd.DataFrame({"id": ["nobody"], "y_true": ["cat"], "place": ["south"]})
    truth = pd.concat([frames["forest"][["id", "y_true", "place"]], beyond])
    truth.to_csv(tmp_path / "truth.csv", index=False)
    found, inputs = counts_of(tmp_path, Options(slices=("place",)))
    assert counted(found.table) == by_hand(frames, "place")
    assert [record.model for record in inputs] == [None, None]


def test_a_model_in_parts_counts_as_one(
    folder: Path, frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    """Parts of a model are marked as such: two files of one model that are not are a mistake."""
    frames["forest"][:200].to_parquet(tmp_path / "a.parquet")
    frames["forest"][200:].to_parquet(tmp_path / "b.parquet")
    for part in (True, False):
        with started("duckdb") as engine:
            pieces = [("forest", tmp_path / "a.parquet"), ("forest", tmp_path / "b.parquet")]
            pieces.append(("logreg", folder / "logreg.parquet"))
            sources = [Source(p.name, m, engine.scan(p, p.name), part=part) for m, p in pieces]
            if part:
                found = count(sources, Options(slices=("place",)), engine)
                assert counted(found.table) == by_hand(frames, "place")
            else:
                with pytest.raises(InputError, match="'forest' is in a.parquet and in b.parquet"):
                    count(sources, Options(), engine)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_types_are_spelled_as_readers_of_files_spell_them(engine: str, tmp_path: Path) -> None:
    """A true is True and a 1.0 is 1 on every engine; ids may be numbers in one file and text in the other."""
    pq.write_table(
        pa.table(
            {
                "id": [1, 2, 3],
                "y_true": [True, False, True],
                "y_pred": [True, True, True],
                "age": [1.0, 2.5, None],
            }
        ),
        tmp_path / "a.parquet",
    )
    pq.write_table(
        pa.table({"id": ["3", "2", "1"], "y_pred": pa.array(["True", "False", ""]).dictionary_encode()}),
        tmp_path / "b.parquet",
    )
    found, _ = counts_of(tmp_path, Options(slices=("age",)), engine=engine)
    assert counted(found.table) == {
        ("True", "True", None, "1"): 1,
        ("False", "True", "False", "2.5"): 1,
        ("True", "True", "True", None): 1,
    }


@pytest.mark.parametrize("suffix", ["jsonl", "tsv", "csv.gz", "feather", "npz"])
def test_every_format_is_counted(suffix: str, tmp_path: Path) -> None:
    """What run reads, aggregate counts."""
    frame = pd.DataFrame({"id": ["a", "b", "c"], "y_true": [1, 0, 1], "y_pred": [1, 1, 1]})
    path = tmp_path / f"tree.{suffix}"
    if suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif suffix == "feather":
        frame.to_feather(path)
    elif suffix == "npz":
        np.savez(path, **{name: frame[name].to_numpy(dtype=str if name == "id" else int) for name in frame})
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    found, _ = counts_of(tmp_path, Options())
    assert counted(found.table) == {("1", "1"): 2, ("0", "1"): 1}


def test_a_slice_of_which_models_differ_is_refused(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """A slice must be the same examples for all models; unless it is asked for, nobody minds."""
    faulty(frames, tmp_path, "slice")
    with pytest.raises(UsageError, match="--slice place: the models have different values"):
        counts_of(tmp_path, Options(slices=("place",)))
    assert counts_of(tmp_path, Options())[0].table["y_pred.forest"]


@pytest.mark.parametrize("labels, classes", [((), {"cat", "dog", None}), (("nan",), {"cat", "dog", "nan"})])
def test_a_word_for_a_missing_value_is_an_empty_cell_of_counts(
    tmp_path: Path, labels: tuple[str, ...], classes: set[str | None]
) -> None:
    """As in a run, unless the word is named as a label."""
    write(tmp_path, id=["a", "b", "c"], y_true=["cat", "nan", "dog"], y_pred=["cat", "dog", "cat"])
    counted, _ = counts_of(tmp_path, Options(labels=labels))
    assert set(counted.table["y_true"].to_pylist()) == classes


@pytest.mark.parametrize(
    "columns, said",
    every(
        3,
        [
            (
                {"id": ["a", "b"], "y_true": [1, 0], "score": [0.5, 3]},
                "no column 'y_pred'.*a score and --threshold",
            ),
            ({"id": ["a", "b"], "y_true": [1, 0], "p_2": [0.5, 0.3]}, "no column 'y_pred'"),
            (
                {"id": ["a", "b"], "y_true": [1, 0], "y_pred": [1, 0], "p_1": [0.5, None]},
                "'p_1': 1 scores are empty or no finite",
            ),
            (
                {"id": ["a", "b"], "y_true": [1, 0], "p_1": [0.5, 1.5]},
                "run from 0.5 to 1.5, so they are no prob",
            ),
            (
                {"id": ["a", "b"], "y_true": [1, 0], "y_pred": [1, None], "p_1": [0.5, 0.1]},
                "id b has no label",
            ),
            ({"id": ["a"], "y_true": [1], "y_pred": [1], "fold": [1]}, "column 'fold' says more"),
            ({"id": ["a"], "outcome": [1]}, "no column 'y_pred'|column 'outcome' says more"),
            ({"y_true": [1], "y_pred": [1]}, "no column 'id'"),
            ({"id": [1.5], "y_true": [1], "y_pred": [1]}, "type Float64 is no text"),
            ({"id": ["a"], "y_true": [1], "y_pred": [1], "model": [""]}, "the model has no name"),
            ({"id": [], "y_true": [], "y_pred": []}, "the file is empty"),
        ],
    ),
)
def test_what_is_no_test_set_of_labels_is_refused(
    columns: dict[str, list[object]], said: str, tmp_path: Path
) -> None:
    """Nothing is half counted: the reason says what is aggregated."""
    with pytest.raises(InputError, match=said):
        counts_of(write(tmp_path, **columns), Options())


@pytest.mark.slow
def test_probabilities_of_several_classes_are_named(tmp_path: Path) -> None:
    """Labels are counted; what is left out is said. Of two classes nothing is."""
    labels: list[object] = [0, 1, 2]
    write(tmp_path, id=labels, y_true=labels, y_pred=[0, 1, 1], p_0=[0.9, 0.6, 0.1])
    assert counts_of(tmp_path, Options())[0].left_out == ("p_0",)
    assert counts_of(tmp_path, Options())[0].scores is None
    write(tmp_path, id=["a", "b"], y_true=[1, 0], y_pred=[1, 1], p_1=[0.9, 0.6])
    assert counts_of(tmp_path, Options())[0].left_out == ()


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("tree.csv", "id,y_true,y_pred\na,1,1\nb,1\n", r"tree\.csv, line 3: the row has 2 cells"),
        ("tree.csv", 'id,y_true,y_pred\na,1,1\nb,1,"1\n', r"tree\.csv, line 3: the row cannot be split"),
        ("tree.parquet", "PAR1 and no more", r"tree\.parquet.*cannot be (read|counted)"),
        ("tree.jsonl", "[1]\n", r"tree\.jsonl, line 1: the line is no JSON object"),
    ],
)
def test_a_broken_file_is_refused_as_a_run_refuses_it(
    name: str, content: str, said: str, tmp_path: Path
) -> None:
    """The fault is looked for by the reader of files, which knows its line."""
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=said):
        counts_of(tmp_path, Options())


@pytest.mark.parametrize("word", ["?", "-", r"\N", "-100"])
def test_words_for_nothing_are_no_labels_of_counts_either(word: str, tmp_path: Path) -> None:
    """As in rows that are read in memory: an example without a true label is refused, and no class."""
    codes = ["0", "1"] * 10
    pd.DataFrame({"id": range(20), "y_true": [*codes[:19], word], "y_pred": codes}).to_csv(
        tmp_path / "m.csv", index=False
    )
    with started("duckdb") as engine:
        found = count([Source("m", "m", engine.scan(tmp_path / "m.csv", "m"), part=False)], Options(), engine)
    assert found.table.column("y_true").drop_null().unique().sort().to_pylist() == ["0", "1"]


def test_two_columns_for_one_probability_are_refused_by_an_engine_too(tmp_path: Path) -> None:
    """Both are named, as where rows are read here."""
    path = tmp_path / "m.csv"
    path.write_text("id,y_true,prob_1,proba_1\na,1,0.9,0.1\nb,0,0.2,0.8\n", encoding="utf-8")
    with pytest.raises(InputError, match="'proba_1' and 'prob_1' could both be p_1"):
        counts_of(tmp_path, Options())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_threshold_cuts_single_precision_as_it_is_written(engine: str, tmp_path: Path) -> None:
    """By hand: .7 is at a threshold of .7, though its single is 0.699999988 in double precision."""
    p = np.array([0.7, 0.8, 0.6, 0.7], dtype=np.float32)
    pd.DataFrame({"id": list("abcd"), "y_true": [1, 0, 1, 0], "p_1": p}).to_parquet(tmp_path / "m.parquet")
    with started(engine) as running:
        source = Source("m.parquet", "m", running.scan(tmp_path / "m.parquet", "m.parquet"))
        cells = count([source], Options(threshold=0.7, positive="1"), running).table
    assert counted(cells) == {("1", "1"): 1, ("0", "1"): 2, ("1", "0"): 1}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_threshold_cuts_the_other_class_s_probability_as_rows_do(engine: str, tmp_path: Path) -> None:
    """By hand: 1 - .9 is at a threshold of .1, so three of four are called positive."""
    frame = pd.DataFrame({"id": list("abcd"), "y_true": [1, 0, 1, 0], "p_0": [0.9, 0.8, 0.43, 0.95]})
    frame.to_parquet(tmp_path / "m.parquet")
    options = Options(threshold=0.1, positive="1")
    with started(engine) as running:
        source = Source("m.parquet", "m", running.scan(tmp_path / "m.parquet", "m.parquet"))
        cells = count([source], options, running).table
    assert counted(cells) == {("1", "1"): 2, ("0", "1"): 1, ("0", "0"): 1}
