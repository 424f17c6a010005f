"""Counts that an engine makes of predictions: those of a GROUP BY by hand, and the errors of a run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

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

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

N = 500
ENGINES = ("duckdb", "dask")


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    """Two models on the same examples, in different orders, with a slice that is sometimes empty."""
    rng = np.random.default_rng(3)
    truth = rng.choice(["cat", "dog", "eel"], N)
    place = rng.choice(["north", "south", None], N)
    found = {}
    for model, share in (("forest", 0.8), ("logreg", 0.6)):
        said = np.where(rng.random(N) < share, truth, rng.choice(["cat", "dog"], N))
        frame = pd.DataFrame(
            {"id": [f"e{i}" for i in range(N)], "y_true": truth, "y_pred": said, "place": place}
        )
        found[model] = frame.sample(frac=1, random_state=1)
    return found


@pytest.fixture(scope="module")
def folder(frames: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models as Parquet, in several row groups."""
    place = tmp_path_factory.mktemp("models")
    for model, frame in frames.items():
        frame.to_parquet(place / f"{model}.parquet", index=False, row_group_size=100)
    return place


def by_hand(frames: dict[str, pd.DataFrame], *slices: str) -> Counter[tuple[object, ...]]:
    """Count with pandas: joined by id, then how often each row occurs."""
    models = [frame.set_index("id").sort_index() for _, frame in sorted(frames.items())]
    columns = [
        models[0]["y_true"],
        *(model["y_pred"] for model in models),
        *(models[0][name] for name in slices),
    ]
    return Counter(tuple(None if pd.isna(v) else v for v in row) for row in zip(*columns, strict=True))


def counted(table: pa.Table) -> Counter[tuple[object, ...]]:
    """Return the rows of counts by what they stand for."""
    rows = zip(*(table[name].to_pylist() for name in table.column_names[1:]), strict=True)
    return Counter(dict(zip(rows, table["count"].to_pylist(), strict=True)))


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_are_those_of_a_group_by_over_the_join(
    engine: str, folder: Path, frames: dict[str, pd.DataFrame]
) -> None:
    """Each engine counts what pandas counts, and every row is in one cell."""
    found, inputs = counts_of(folder, Options(slices=("place",)), engine=engine)
    assert found.table.column_names == ["count", "y_true", "y_pred.forest", "y_pred.logreg", "place"]
    assert counted(found.table) == by_hand(frames, "place")
    assert [(record.path, record.rows, record.model) for record in inputs] == [
        ("forest.parquet", N, "forest"),
        ("logreg.parquet", N, "logreg"),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_clusters_are_counted_apart(
    engine: str, folder: Path, frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    """The cluster is a column of the counts, once though it is a slice too; scores are not added up by it."""
    found, _ = counts_of(folder, Options(cluster="place", slices=("place",)), engine=engine)
    assert counted(found.table) == by_hand(frames, "place")
    ids: list[object] = ["a", "b", "c"]
    write(tmp_path, id=ids, y_true=[0, 1, 0], y_pred=[0, 1, 1], p_1=[0.1, 0.6, 0.9], place=["x", "x", "y"])
    found, _ = counts_of(tmp_path, Options(cluster="place"), engine=engine)
    assert (found.scores, found.left_out) == (None, ("p_1",))
    with pytest.raises(UsageError, match="--cluster plaice: unknown column 'plaice'; did you mean place"):
        counts_of(folder, Options(cluster="plaice"), engine=engine)


WEIGHTS = [0.1, 1 / 3, 2.0, 1e-7, 1e22]
"""Numbers whose texts differ between programs."""


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_are_counted_apart(engine: str, frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """The weight is a column of the counts that is read as the same number, however spelled; scores are left out.

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
    (tmp_path / "scored").mkdir()
    ids: list[object] = ["a", "b", "c"]
    scored: dict[str, list[object]] = {"id": ids, "y_true": [0, 1, 0], "y_pred": [0, 1, 1], "w": [1, 2, 2]}
    write(tmp_path / "scored", **scored, p_1=[0.1, 0.6, 0.9])
    found, _ = counts_of(tmp_path / "scored", Options(weight="w"), engine=engine)
    assert (found.scores, found.left_out) == (None, ("p_1",))


@pytest.mark.parametrize(
    ("weights", "options", "said"),
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


def test_engines_give_the_same_table(folder: Path) -> None:
    """Cells are in canonical order, so that the tables are equal and not only their counts."""
    tables = [counts_of(folder, Options(slices=("place",)), engine=engine)[0].table for engine in ENGINES]
    assert tables[0].equals(tables[1])


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


def faulty(frames: dict[str, pd.DataFrame], folder: Path, fault: str) -> None:
    """Write the models with one thing wrong in the second."""
    good, bad = frames["forest"], frames["logreg"].sort_values("id").reset_index(drop=True)
    if fault == "twice":
        bad = pd.concat([bad, bad.iloc[[7]]])
    elif fault == "moved":  # as many rows as ids: only a count by id finds it
        bad.loc[7, "id"] = bad.loc[8, "id"]
    elif fault == "lacking":
        bad = bad.drop(index=[7, 8])
    elif fault == "truth":
        bad.loc[7, "y_true"] = "eel" if bad.loc[7, "y_true"] != "eel" else "cat"
    elif fault == "no id":
        bad.loc[7, "id"] = None
    elif fault == "slice":
        bad["place"] = "east"
    good.to_parquet(folder / "forest.parquet", index=False)
    bad.to_parquet(folder / "logreg.parquet", index=False)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "fault, said",
    [
        ("twice", r"logreg\.parquet.*'e104' appears twice for the model 'logreg'"),
        ("moved", r"logreg\.parquet.*'e105' appears twice for the model 'logreg'"),
        (
            "lacking",
            r"logreg\.parquet.*'logreg' lacks 2 of 500 ids of the others, for example 'e10[45]'.*498 are",
        ),
        ("truth", "the true values of the id 'e104' disagree"),
        ("no id", r"logreg\.parquet.*the id is empty"),
    ],
)
def test_a_fault_is_found_by_counting(
    engine: str, fault: str, said: str, frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    """What a run refuses is refused, with the file, the model, and an id that has the fault."""
    faulty(frames, tmp_path, fault)
    with pytest.raises(InputError, match=said):
        counts_of(tmp_path, Options(), engine=engine)


def test_a_slice_of_which_models_differ_is_refused(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """A slice must be the same examples for all models; unless it is asked for, nobody minds."""
    faulty(frames, tmp_path, "slice")
    with pytest.raises(UsageError, match="--slice place: the models have different values"):
        counts_of(tmp_path, Options(slices=("place",)))
    assert counts_of(tmp_path, Options())[0].table["y_pred.forest"]


def test_the_text_nan_is_no_label_of_counts(tmp_path: Path) -> None:
    """As a run refuses it: the counts would have a class of that name."""
    write(tmp_path, id=["a", "b"], y_true=["cat", "nan"], y_pred=["cat", "dog"])
    with pytest.raises(InputError, match="column 'y_true': 'nan' is no label"):
        counts_of(tmp_path, Options())


def write(folder: Path, **columns: list[object]) -> Path:
    """Write one model."""
    pq.write_table(pa.table(columns), folder / "tree.parquet")
    return folder


@pytest.mark.parametrize(
    "columns, said",
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
        ({"id": ["a", "b"], "y_true": [1, 0], "p_1": [0.5, 1.5]}, "run from 0.5 to 1.5, so they are no prob"),
        ({"id": ["a", "b"], "y_true": [1, 0], "y_pred": [1, None], "p_1": [0.5, 0.1]}, "id b has no label"),
        ({"id": ["a"], "y_true": [1], "y_pred": [1], "fold": [1]}, "column 'fold' says more"),
        ({"id": ["a"], "outcome": [1]}, "no column 'y_pred'|column 'outcome' says more"),
        ({"y_true": [1], "y_pred": [1]}, "no column 'id'"),
        ({"id": [1.5], "y_true": [1], "y_pred": [1]}, "type Float64 is no text"),
        ({"id": ["a"], "y_true": [1], "y_pred": [1], "model": [""]}, "the model has no name"),
        ({"id": [], "y_true": [], "y_pred": []}, "the file is empty"),
    ],
)
def test_what_is_no_test_set_of_labels_is_refused(
    columns: dict[str, list[object]], said: str, tmp_path: Path
) -> None:
    """Nothing is half counted: the reason says what is aggregated."""
    with pytest.raises(InputError, match=said):
        counts_of(write(tmp_path, **columns), Options())


def test_probabilities_of_several_classes_are_named(tmp_path: Path) -> None:
    """Labels are counted; what is left out is said. Of two classes nothing is."""
    labels: list[object] = [0, 1, 2]
    write(tmp_path, id=labels, y_true=labels, y_pred=[0, 1, 1], p_0=[0.9, 0.6, 0.1])
    assert counts_of(tmp_path, Options())[0].left_out == ("p_0",)
    assert counts_of(tmp_path, Options())[0].scores is None
    write(tmp_path, id=["a", "b"], y_true=[1, 0], y_pred=[1, 1], p_1=[0.9, 0.6])
    assert counts_of(tmp_path, Options())[0].left_out == ()


@pytest.mark.parametrize(
    "options",
    [Options(same_input="place"), Options(threshold=0.4), Options(task="regression")],
    ids=str,
)
def test_options_that_counts_cannot_serve_are_refused(options: Options, folder: Path) -> None:
    """Single examples and numbers need more than counts of labels; a threshold something to cut."""
    with pytest.raises(UsageError, match="aggregated yet|need single examples|nothing to cut"):
        counts_of(folder, options)


@pytest.mark.parametrize(
    "engine, said",
    [
        ("ray", "unknown engine 'ray'"),
        ("duckdb=3", "expected duckdb, dask, dask=ADDRESS"),
        ("dask=tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_an_engine_that_cannot_be_had_is_one_message(
    engine: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misspelt engine, and a cluster that does not answer."""
    monkeypatch.setattr("evalreport.scale.engines.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(UsageError, match=said):
        counts_of(folder, Options(), engine=engine)


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


def test_other_engines_read_parquet_alone(tmp_path: Path) -> None:
    """The message says what to do with text."""
    (tmp_path / "tree.csv").write_text("id,y_true,y_pred\na,1,1\n")
    with pytest.raises(InputError, match="the engine dask reads Parquet alone"):
        counts_of(tmp_path, Options(), engine="dask")
