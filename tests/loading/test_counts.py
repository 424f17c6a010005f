"""Counts as input: a line for each combination of truth and answers gives what its rows give."""

from __future__ import annotations

import dataclasses
import re
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.engine.counts import distinct_cells
from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.schema.results import Results
from tests.samples.cases import every

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "counts.md"
OF_THE_SOURCE = {"signature", "inputs", "found", "disagreements"}
"""Fields that are about files, and about examples by id."""
BINARY, SEVERAL = ("ham", "spam"), ("ant", "bee", "cat", "dog")


def examples(classes: tuple[str, ...], models: int, n: int = 700, *, gaps: bool = False) -> pd.DataFrame:
    """Return a row for each example: the truth, each model's answer, and two columns to slice by."""
    random = np.random.default_rng(models)
    names = np.array(classes, dtype=object)
    true = random.integers(0, len(names), n)
    frame = {"y_true": names[true]}
    for model in range(models):
        guess = random.integers(0, len(names), n)
        frame[f"m{model}"] = names[np.where(random.random(n) < 0.1 + 0.08 * model, guess, true)]
        if gaps:
            frame[f"m{model}"][random.random(n) < 0.05] = None
    frame |= {"sex": random.choice(["f", "m", "x"], n, p=[0.5, 0.4, 0.1]), "age": random.integers(18, 80, n)}
    return pd.DataFrame(frame)


def rows_of(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return what `evaluate` takes of rows: a table a model, with ids."""
    ids = [f"i{i:04d}" for i in range(len(frame))]
    shared = frame[["y_true", "sex", "age"]].assign(id=ids)
    return {name: shared.assign(y_pred=frame[name]) for name in models_of(frame)}


def models_of(frame: pd.DataFrame) -> list[str]:
    """Return the names of the models, each a column."""
    return [name for name in frame if re.fullmatch(r"m\d", name)]


def counts_of(frame: pd.DataFrame, columns: tuple[str, ...] = ("sex", "age")) -> pd.DataFrame:
    """Count the rows that are alike, and put the lines in some order."""
    models = models_of(frame)
    found = frame.groupby(["y_true", *models, *columns], as_index=False, dropna=False).size()
    found = found.rename(columns={"size": "count", **{name: f"y_pred.{name}" for name in models}})
    return found.sample(frac=1, random_state=1).reset_index(drop=True)


def assert_alike(one: Results, other: Results, but: set[str] = OF_THE_SOURCE) -> None:
    """Compare two results field by field, to the last digit."""
    for field in dataclasses.fields(one):
        if field.name == "checks":  # some are about tables of counts, or a file of true values, alone
            apart = {"few_for_sums", "truth_without_prediction"}
            same = [[c for c in side.checks if c.code not in apart] for side in (one, other)]
            assert same[0] == same[1]
        elif field.name not in but:
            assert getattr(one, field.name) == getattr(other, field.name), field.name


SLICED = {"slices": ("sex", "age:4", "sex*age:3"), "margin": 0.02}
GATES = (
    "m0.accuracy >= 0.8",
    "m0.accuracy[sex=f] - m1.accuracy[sex=f] > 0",
    "m1.recall[sex=m] >= 0.5",
    "n >= 9",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "models", "options"),
    [
        (BINARY, 2, {**SLICED, "gates": GATES}),
        (BINARY, 4, {"correction": "bh", "baseline": "m0"}),
        (SEVERAL, 2, {"fixed_class_counts": True}),
        (SEVERAL, 2, {**SLICED, "metrics": ("accuracy", "f1", "cohen_kappa")}),
        (SEVERAL, 4, {"metrics": ("f1_macro", "accuracy", "recall[class=bee]"), "slices": ("sex:2",)}),
        (BINARY, 2, {"tests": ("all",), "intervals": ("all",)}),
    ],
)
def test_counts_give_what_their_rows_give(classes: Any, models: int, options: dict[str, Any]) -> None:
    """Every value, interval, test, verdict, slice, gate and warning is the same to the last digit."""
    frame = examples(classes, models)
    one = er.evaluate(rows_of(frame), resamples=100, **options)
    other = er.evaluate(counts_of(frame), resamples=100, **options)
    assert other.disagreements == []
    assert_alike(one, other)


GATED: tuple[Any, int, dict[str, Any]] = (
    BINARY, 2, {**SLICED, "gates": GATES, "metrics": ("accuracy", "recall", "f1")},
)  # fmt: skip
EVERYTHING: tuple[Any, int, dict[str, Any]] = (
    BINARY, 2, {"tests": ("all",), "intervals": ("all",)},
)  # fmt: skip
FOUR_MODELS: tuple[Any, int, dict[str, Any]] = (
    SEVERAL, 4, {"metrics": ("f1_macro", "accuracy", "cohen_kappa"), "slices": ("sex:2",)},
)  # fmt: skip
# Each kind of units, and each kind of runs with and without clusters or weights.
UNLIKE = [
    ("cluster", EVERYTHING), ("cluster", FOUR_MODELS), ("few weights", GATED), ("any weights", FOUR_MODELS),
    ("cluster and weights", EVERYTHING),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "case"), UNLIKE)
def test_unlike_examples_of_counts_are_those_of_the_rows(
    asked: str, case: tuple[Any, int, dict[str, Any]]
) -> None:
    """Counted by cluster and weight, lines give the same replicates, intervals, tests and verdicts, to 1e-10.

    Only sums over the clusters' rows, and those of weights, are taken in another order. Lines of no example and the
    order of lines change nothing.
    """
    classes, models, options = case
    frame, random = examples(classes, models), np.random.default_rng(3)
    columns: dict[str, Any] = {}
    if "cluster" in asked:
        columns["patient"] = random.integers(0, 120, len(frame))
    if "weights" in asked:
        own = random.choice([0.1, 0.5, 1, 2.25], len(frame))
        columns["importance"] = random.lognormal(0, 1, len(frame)) if asked == "any weights" else own
    named = {"cluster": "patient", "weight": "importance"}
    options = options | {option: column for option, column in named.items() if column in columns}
    rows = {name: table.assign(**columns) for name, table in rows_of(frame).items()}
    counts = counts_of(frame.assign(**columns), ("sex", "age", *columns))
    counts = pd.concat([counts, counts[:3].assign(count=0)])
    one, other = (er.evaluate(source, resamples=50, **options) for source in (rows, counts))
    assert_close(one, other)
    assert ({record.clusters_effective for record in other.metrics} != {None}) == ("cluster" in asked)
    assert ({record.n_effective for record in other.metrics} != {None}) == ("weights" in asked)
    if case is GATED:
        shuffled = counts.sample(frac=1, random_state=4)
        assert_alike(other, er.evaluate(shuffled, resamples=50, **options))


def assert_close(one: Results, other: Results) -> None:
    """Compare every number, and what is warned of."""
    for name in ("metrics", "comparisons", "verdicts", "ranking", "effects", "disparities", "gates"):
        pairs = zip(figures(getattr(one, name)), figures(getattr(other, name)), strict=True)
        for (place, own), (_, counted) in pairs:
            assert counted == pytest.approx(own, rel=1e-10, abs=1e-12), (name, place)
    assert [w.code for w in one.warnings] == [w.code for w in other.warnings]


def figures(value: object, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a record, of lists and of mappings of them, each with where it stands."""
    if isinstance(value, (int, float)):
        yield place, float(value)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name != "text":
                yield from figures(getattr(value, field.name), f"{place}.{field.name}")
    elif isinstance(value, (tuple, dict)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from figures(part, f"{place}[{key}]")


@pytest.mark.parametrize("tests", every(2, ["wilcoxon", "sign"]))
def test_few_examples_keep_their_exact_tests(tests: str) -> None:
    """With so few discordant examples that signed ranks are exact, counts and rows have the same p-values."""
    frame = examples(BINARY, 3, 40)
    one, other = (
        er.evaluate(source, resamples=50, tests=(tests, "wilcoxon_pratt"), intervals=("hodges_lehmann",))
        for source in (rows_of(frame), counts_of(frame))
    )
    assert {row.test for row in one.comparisons if row.p_value is not None} >= {tests, "wilcoxon_pratt"}
    assert_alike(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["drop", "wrong"])
def test_missing_answers_are_settled_as_in_rows(missing: Any) -> None:
    """Empty answers are left out, or wrong, as often as their line stands for an example, whatever it weighs."""
    frame = examples(SEVERAL, 2, gaps=True)
    counts = counts_of(frame, ("sex", "age"))
    one, other = (
        er.evaluate(source, resamples=50, missing=missing, weight="age")
        for source in (rows_of(frame), counts)
    )
    assert_close(one, other)
    one, other = (
        er.evaluate(source, resamples=50, missing=missing) for source in (rows_of(frame), counts_of(frame))
    )
    assert_alike(one, other)


@pytest.mark.slow
def test_ids_order_and_unused_columns_change_nothing() -> None:
    """Rows under other ids, in another order and with a column more draw the same replicates and permutations."""
    frame = examples(SEVERAL, 2)
    shuffled = frame.sample(frac=1, random_state=2).reset_index(drop=True)
    more = {name: table.assign(site="a") for name, table in rows_of(shuffled).items()}
    one, other = (er.evaluate(source, resamples=50, tests=("all",)) for source in (rows_of(frame), more))
    assert_alike(one, other)
    one, other = (er.evaluate(source, resamples=50, weight="age") for source in (rows_of(frame), more))
    assert_close(one, other)


def test_cells_stand_in_an_order_that_names_do_not_decide() -> None:
    """Other rows first, other codes of the classes, the models exchanged: the same counts in the same order."""
    frame = examples(SEVERAL, 2)
    codes = [pd.Categorical(frame[name], SEVERAL).codes.astype(np.int32) for name in ("y_true", "m0", "m1")]
    turned = [(3 - values)[::-1] for values in codes]
    cells = [
        distinct_cells(true, said)
        for true, said in ((codes[0], codes[1:]), (turned[0], turned[1:]), (codes[0], codes[:0:-1]))
    ]
    assert len(cells[0].counts) > 30
    for other in cells[1:]:
        assert np.array_equal(cells[0].counts, other.counts)
    assert np.array_equal(cells[0].true, 3 - cells[1].true)
    assert np.array_equal(cells[0].predicted, cells[2].predicted[::-1])


LARGE: dict[str, list[Any]] = {
    "y_true": ["spam", "spam", "spam", "ham", "ham", "ham", "ham"],
    "y_pred.a": ["spam", "spam", "ham", "ham", "spam", "ham", "ham"],
    "y_pred.b": ["spam", "ham", "spam", "ham", "ham", "spam", "ham"],
    "region": ["n", "n", "n", "n", "s", "s", "s"],
    "count": [4_000_000_000, 200_000_000, 150_000_000, 2_000_000_000, 90_000_000, 110_000_000, 3_450_000_000],
}


@pytest.mark.slow
def test_ten_billion_examples() -> None:
    """Nothing grows with the number of examples; the limits are Wilson's, z^2/n from the normal ones."""
    tracemalloc.start()
    results = er.evaluate(LARGE, slices=("region",), tests=("all",), intervals=("all",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert results.n == 10**10
    accuracy = next(r for r in results.metrics if (r.model, r.metric, r.slice) == ("a", "accuracy", None))
    wrong = 150_000_000 + 90_000_000
    assert accuracy.value == 1 - wrong / 10**10
    half = 1.959963984540054 * (0.976 * 0.024 / 10**10) ** 0.5
    assert accuracy.intervals[0].low == pytest.approx(0.976 - half, abs=1e-9)
    (verdict,) = results.verdicts
    assert verdict.verdict == "better"
    assert results.agreement[0].only_a == 310_000_000
    assert peak < 200e6


@pytest.mark.slow
def test_ten_billion_examples_of_unlike_weight() -> None:
    """Value, error and effective number are those of sums over the examples, written as sums over lines times count.

    The error is that of the linearised share with n / (n - 1) (R's survey), the number Kish's, the interval Wilson's.
    """
    weight = [0.5, 2, 0.25, 1, 3, 1, 0.75]
    lines = {name: values * 2 for name, values in LARGE.items()} | {"w": [*weight, *weight[::-1]]}
    tracemalloc.start()
    results = er.evaluate(lines, slices=("region",), weight="w", tests=("all",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    c, w = np.array(lines["count"], dtype=float), np.array(lines["w"])
    right = np.array([t == p for t, p in zip(lines["y_true"], lines["y_pred.a"], strict=True)], dtype=float)
    n, total = c.sum(), (c * w).sum()
    share = (c * w * right).sum() / total
    error = (n / (n - 1) * (c * (w * (right - share) / total) ** 2).sum()) ** 0.5
    effective = total**2 / (c * w**2).sum()
    accuracy = next(r for r in results.metrics if (r.model, r.metric, r.slice) == ("a", "accuracy", None))
    assert accuracy.n == n == 2 * 10**10
    assert accuracy.value == pytest.approx(share, rel=1e-12)
    assert accuracy.standard_error == pytest.approx(error, rel=1e-12)
    assert accuracy.n_effective == pytest.approx(effective, rel=1e-12)
    leading, z2 = accuracy.intervals[0], 1.959963984540054**2
    assert leading.method == "wilson"
    middle = (share + z2 / (2 * effective)) / (1 + z2 / effective)
    half = (z2 * (share * (1 - share) / effective + z2 / (4 * effective**2))) ** 0.5 / (1 + z2 / effective)
    assert (leading.low, leading.high) == pytest.approx((middle - half, middle + half), rel=1e-12)
    drawn = next(i for i in accuracy.intervals if i.method == "bootstrap_percentile")
    # 2,000 replicates: limits have a Monte Carlo error of about 0.06 errors.
    assert drawn.low == pytest.approx(share - 1.96 * error, abs=0.25 * error)
    assert drawn.high == pytest.approx(share + 1.96 * error, abs=0.25 * error)


def test_every_format_and_frame(tmp_path: Path, content: Callable[[Predictions], dict[str, Any]]) -> None:
    """Files of each format, and frames of each library, are one table of counts, which all else is of."""
    frame = counts_of(examples(BINARY, 2, 200), ("sex",))
    for name in ("counts.csv", "counts.tsv"):
        frame.to_csv(tmp_path / name, index=False, sep="\t" if name.endswith("tsv") else ",")
    frame.to_parquet(tmp_path / "counts.parquet")
    frame.to_json(tmp_path / "counts.jsonl", orient="records", lines=True)
    sources = [
        *(tmp_path / f"counts.{suffix}" for suffix in ("csv", "tsv", "parquet", "jsonl")),
        pl.from_pandas(frame),
        duckdb.from_df(frame),
        {name: frame[name].to_numpy() for name in frame},
        frame.set_index(pd.Index([f"r{i}" for i in range(len(frame))])),
    ]
    first, *others = (content(er.load(source, slices=("sex",))) for source in sources)
    assert sum(first["multiplicity"]) == 200
    for other in others:
        assert other == first


def test_lines_of_nothing_and_alike(tmp_path: Path) -> None:
    """A line that stands for no example adds no class, and lines that are alike are added up."""
    path = tmp_path / "counts.csv"
    path.write_text("count,y_true,y_pred.a\n3,x,x\n0,z,z\n2,y,x\n1,x,x\n")
    loaded = er.load(path)
    assert loaded.classes == ("x", "y")
    assert loaded.multiplicity is not None
    assert loaded.multiplicity.tolist() == [4, 2]


GOOD = "count,y_true,y_pred.a,y_pred.b,site\n3,x,x,y,1\n2,y,y,y,2\n"


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("\n2,", "\n-2,", r"line 3, column 'count': '-2' is not a count"),
        ("\n2,", "\n2.5,", r"line 3, column 'count': '2.5' is not a count"),
        ("\n2,", "\nmany,", r"line 3, column 'count': 'many' is not a count"),
        ("\n2,", "\n,", r"line 3, column 'count': the count is empty"),
        ("\n2,", "\n99999999999999999,", r"column 'count': the counts add up to 1e\+17"),
        ("count,", "number,", r"there is no column 'count'.*docs/counts.md"),
        ("y_true", "z_true", r"there is no column 'y_true'"),
        ("y_pred.b", "y_pred.", r"'y_pred.' names no model"),
        ("y_pred.b", "y_pred.a", r"the header names this column twice"),
        ("y_pred.a,y_pred.b", "a,b", r"no usable column.*y_pred\.<model>"),
        ("2,y,", "2,,", r"line 3, column 'y_true': there is no true value"),
        ("2,y,y", "2,y,", r"line 3, column 'y_pred.a': the cell is empty"),
        ("3,x,x,y,1\n2,y", "0,x,x,y,1\n0,y", r"it holds no row"),
        ("3,x,x,y,1\n2,y,y,y,2", "3,1.5,1.5,2,1\n2,2,2,2,2", r"the labels are numbers"),
    ],
)
def test_bad_counts_are_one_message(tmp_path: Path, was: str, now: str, said: str) -> None:
    """What is wrong in a table of counts is said with its line and column."""
    path = tmp_path / "counts.csv"
    assert was in GOOD
    path.write_text(GOOD.replace(was, now, 1))
    with pytest.raises(InputError, match=f"(?s){said}"):
        er.load(path)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("-1", r"line 3, column 'site': '-1' is not a finite number"),
        ("", r"counts\.csv, line 3, column 'site': a line has no weight"),
    ],
)
def test_a_line_without_a_weight_is_refused(tmp_path: Path, cell: str, said: str) -> None:
    """Weights of lines are checked as those of rows; an empty one is none."""
    (tmp_path / "counts.csv").write_text(GOOD.replace("y,y,y,2", f"y,y,y,{cell}"))
    with pytest.raises(InputError, match=said):
        er.evaluate(tmp_path / "counts.csv", weight="site", resamples=20)


@pytest.mark.parametrize("option", [{"join": "independent"}])
def test_what_counts_cannot_give_is_refused(tmp_path: Path, option: dict[str, Any]) -> None:
    """Examples that are told apart, and test sets apart, need the rows."""
    (tmp_path / "counts.csv").write_text(GOOD)
    with pytest.raises(UsageError, match=r"counts\.csv holds counts"):
        er.load(tmp_path / "counts.csv", **option)
    with pytest.raises(UsageError, match=r"counts\.csv holds counts"):
        load(er.load(tmp_path / "counts.csv"), options=Options(**option))


def test_counts_stand_alone(tmp_path: Path) -> None:
    """A table of counts beside predictions, or with a file of true values, is refused; other predictions are named."""
    (tmp_path / "counts.csv").write_text(GOOD)
    (tmp_path / "other.csv").write_text("id,y_true,y_pred\n1,x,x\n")
    with pytest.raises(InputError, match=r"counts\.csv: it holds counts, and stands beside .*other\.csv"):
        er.load(tmp_path)
    (tmp_path / "counts.csv").write_text(GOOD.replace("site", "id"))
    (unused,) = [w for w in er.load(tmp_path / "counts.csv").warnings if w.code == "unused_column"]
    assert "table of counts" in str(unused.text)


@pytest.mark.slow
def test_commands_on_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check` counts the examples, `verify` agrees; an audit and runs compared by example refuse in one message."""

    def call(*words: str | Path) -> tuple[int, str]:
        code = main([*map(str, words)])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    def run(folder: Path, text: str) -> Path:
        folder.mkdir()
        (folder / "counts.csv").write_text(text)
        out = folder / "out"
        assert call("run", folder / "counts.csv", "-o", out, "-f", "json", "--resamples", "50")[0] == 0
        return out

    old, new = tmp_path / "old", tmp_path / "new"
    outs = run(old, GOOD), run(new, GOOD.replace("3,x", "4,x"))
    assert "5 examples in 2 lines" in call("check", old / "counts.csv")[1]
    assert call("verify", outs[0], "--inputs", old)[0] == 0
    assert call("compare-runs", *outs)[0] == 0
    for refused in (
        ("audit", old / "counts.csv", "--history", f"sqlite:///{tmp_path}/h.db", "-o", tmp_path / "audit"),
        ("compare-runs", *outs, "--inputs", old, new),
    ):
        code, said = call(*refused)
        assert code == 2
        assert "it holds counts" in said


def test_documented_sql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query of docs/counts.md makes the table of counts from the files of rows."""
    query = re.search(r"### DuckDB\n\n```sql\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert query is not None
    frame = examples(BINARY, 2).rename(columns={"sex": "region"})
    frame["id"] = range(len(frame))
    monkeypatch.chdir(tmp_path)
    frame[["id", "y_true", "region"]].to_parquet("truth.parquet")
    for name, model in (("forest", "m0"), ("logreg", "m1")):
        frame[["id"]].assign(y_pred=frame[model]).to_parquet(f"{name}.parquet")
    duckdb.connect().execute(query[1])
    one = er.evaluate(
        ["forest.parquet", "logreg.parquet"], truth="truth.parquet", resamples=50, slices=("region",)
    )
    other = er.evaluate("counts.csv", resamples=50, slices=("region",))
    assert_alike(one, other, OF_THE_SOURCE | {"options"})
