"""Sums of scores that an engine makes give the values, errors and tests of the rows."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import norm

import evalreport as er
import evalreport.metrics
from evalreport.cli import main
from evalreport.metrics.registry import losses_of_probability, slopes_of_ranks
from evalreport.scale.aggregates import HISTOGRAMS, PRODUCTS
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results
from tests.samples.systems import needs_locks

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

N = 5_000
OPTIONS: dict[str, Any] = {"slices": ["sex"], "resamples": 400}
LOSSES = losses_of_probability()
SUMMED = {*slopes_of_ranks(), *LOSSES}
OF_A_STANDARD_ERROR = 0.01
"""So near to the rows' own are values of rank metrics, which come from bins: a model of the smallest of them."""


def write(folder: Path, n: int, models: str = "abc") -> Path:
    """Models that give no labels: probabilities of one class (a), of both (b), and coarse ones beside a score (c).

    Each costs an engine some twenty queries, and each pair more.
    """
    folder.mkdir()
    rng = np.random.default_rng(8)
    truth, sex = (rng.random(n) < 0.3).astype(int), rng.choice(["f", "m", None], n, p=[0.5, 0.4, 0.1])
    shared = rng.normal(size=n) + 1.2 * truth
    for place, model in enumerate(("a", "b", "c")):
        score = shared + rng.normal(size=n) * (0.5 + 0.2 * place)
        p = 1 / (1 + np.exp(2 - score))
        frame = pd.DataFrame(
            {"id": np.arange(n), "y_true": truth, "p_1": p.round(2) if model == "c" else p, "sex": sex}
        )
        if model == "b":
            frame["p_0"] = 1 - frame["p_1"]
        if model == "c":
            frame["score"] = score * 1e3
        if model not in models:
            continue
        frame.sample(frac=1, random_state=place).to_parquet(
            folder / f"{model}.parquet", row_group_size=max(n // 7, 1)
        )
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models, and their aggregate beside them."""
    above = tmp_path_factory.mktemp("scores")
    er.aggregate(write(above / "models", N), output=above / "sums", slices="sex")
    return above


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of these models and their aggregate: those of quick tests."""
    above = tmp_path_factory.mktemp("pair")
    er.aggregate(write(above / "models", N, "ac"), output=above / "sums", slices="sex")
    return above


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of few examples, where no figure counts."""
    above = tmp_path_factory.mktemp("few")
    er.aggregate(write(above / "models", 300, "ab"), output=above / "sums", slices="sex")
    return above


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of these models and its aggregate, for what does not hang on pairs and slices: they cost most queries."""
    above = tmp_path_factory.mktemp("one")
    er.aggregate(write(above / "models", 300, "a"), output=above / "sums")
    return above


@pytest.fixture(scope="module")
def summed(folder: Path) -> Results:
    """The run on the sums."""
    return er.evaluate(folder / "sums", **OPTIONS)


@pytest.fixture(scope="module")
def rows(folder: Path) -> Results:
    """The run on the rows."""
    return er.evaluate(folder / "models", **OPTIONS)


@pytest.fixture(scope="module")
def summed_pair(pair: Path) -> Results:
    """The run on the sums of two models."""
    return er.evaluate(pair / "sums", **OPTIONS)


@pytest.fixture(scope="module")
def rows_of_pair(pair: Path) -> Results:
    """The run on the rows of two models."""
    return er.evaluate(pair / "models", **OPTIONS)


@pytest.fixture(scope="module")
def rows_by_t(folder: Path) -> Results:
    """The run on the rows, with t of the differences beside what leads."""
    return er.evaluate(folder / "models", **{**OPTIONS, "intervals": ("t",)})


def by_key(results: Results) -> dict[tuple[object, ...], MetricRecord]:
    """The values that follow from sums."""
    return {(m.model, m.metric, m.slice): m for m in results.metrics if m.metric in SUMMED}


@pytest.mark.slow
def test_values_and_errors_are_those_of_the_rows(summed: Results, rows: Results) -> None:
    """Of losses to the last digits, of ranks but for what lies inside a bin; on every slice as well."""
    found, expected = by_key(summed), by_key(rows)
    assert found.keys() == expected.keys()
    assert len(found) == 3 * len(SUMMED) * 4
    for key, record in found.items():
        own = expected[key]
        assert record.value is not None
        assert own.value is not None
        assert own.standard_error is not None
        near = 1e-11 if record.metric in LOSSES else OF_A_STANDARD_ERROR * own.standard_error
        assert record.value == pytest.approx(own.value, rel=0, abs=near), key
        rough = 1e-9 if record.metric in LOSSES else 2e-3
        assert record.standard_error == pytest.approx(own.standard_error, rel=rough), key


def leading(results: Results, metric: str) -> list[ComparisonRecord]:
    """The leading test of each pair on one metric."""
    return [
        row for row in results.comparisons if row.recommended and row.metric == metric and row.slice is None
    ]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["log_loss", "brier"])
def test_paired_t_is_that_of_the_rows(metric: str, summed: Results, rows_by_t: Results) -> None:
    """Differences, limits and p-values of t, which leads where only sums are known; rows show it where it is named."""
    by_t = [
        r for r in rows_by_t.comparisons if (r.metric, r.test, r.interval_method) == (metric, "paired_t", "t")
    ]
    for found, own in zip(leading(summed, metric), by_t, strict=True):
        assert (found.test, found.interval_method, found.a, found.b) == ("paired_t", "t", own.a, own.b)
        assert found.p_value == pytest.approx(own.p_value, rel=1e-8)
        assert [found.low, found.high] == pytest.approx([own.low, own.high], abs=1e-11)


@pytest.mark.slow
def test_areas_are_compared_as_those_of_the_rows(summed: Results, rows: Results) -> None:
    """By the products of placements of positives and of negatives: within 0.02 standard errors (CONTRACT 2.2)."""
    for found, own in zip(leading(summed, "roc_auc"), leading(rows, "roc_auc"), strict=True):
        assert (found.test, found.a, found.b) == ("interval", own.a, own.b)
        assert found.p_value is not None
        assert own.p_value is not None
        if own.p_value > 1e-6:  # far out the largest difference of placements counts, which bins know roughly
            assert norm.isf(found.p_value / 2) == pytest.approx(norm.isf(own.p_value / 2), abs=0.05)
        error = (own.high - own.low) / 3.92  # type: ignore[operator]
        assert [found.low, found.high] == pytest.approx([own.low, own.high], abs=0.02 * error)


@pytest.mark.slow
def test_replicates_are_normal_and_said_to_be(summed: Results, rows: Results) -> None:
    """Limits of average precision are within the noise of 400 replicates; what gives them is said."""
    found, own = by_key(summed)["a", "average_precision", None], by_key(rows)["a", "average_precision", None]
    assert own.standard_error is not None
    for name in ("low", "high"):
        ours, theirs = getattr(found.intervals[0], name), getattr(own.intervals[0], name)
        assert ours == pytest.approx(theirs, abs=0.4 * own.standard_error)
    assert any("normal distribution" in str(interval.reason) for interval in found.intervals)
    assert any(record.what == "scores" for record in summed.found)


def test_what_needs_examples_is_left_out_with_the_reason(summed_pair: Results) -> None:
    """The calibration line is no sum."""
    missing = {m.metric: str(m.reason) for m in summed_pair.metrics if m.value is None and m.model == "a"}
    assert "sums of the scores" in missing["calibration_slope"]


@pytest.mark.parametrize("metric", ["ece", "mce"])
def test_calibration_errors_are_those_of_the_rows(
    metric: str, summed_pair: Results, rows_of_pair: Results
) -> None:
    """From sums of the probabilities by bin, on the whole and on every slice."""
    found, own = (
        {(m.model, m.slice): m.value for m in results.metrics if m.metric == metric}
        for results in (summed_pair, rows_of_pair)
    )
    assert found == pytest.approx(own, rel=1e-9)
    assert len([value for value in found.values() if value]) >= 8


def test_curves_and_thresholds_are_those_of_the_histograms(
    summed_pair: Results, rows_of_pair: Results
) -> None:
    """A bin of 5,000 examples is one or a few of them: points, areas, best thresholds and counts nearly agree."""
    drawn = {(c.model, c.curve): c for c in summed_pair.curves}
    for own in (c for c in rows_of_pair.curves if c.curve in ("roc", "reliability") and c.model != "c"):
        found = drawn[own.model, own.curve]
        at = np.linspace(0.05, 0.95, 19)
        assert np.interp(at, found.x, found.y) == pytest.approx(np.interp(at, own.x, own.y), abs=0.01)
        assert (found.low is None) == (own.low is None)
    points = {(p.model, p.criterion, p.metric): p for p in summed_pair.operating_points}
    for point in (p for p in rows_of_pair.operating_points if (p.model, p.criterion) == ("a", "youden")):
        assert points["a", "youden", point.metric].value == pytest.approx(point.value, abs=0.005)
    for mine, theirs in zip(summed_pair.score_histograms, rows_of_pair.score_histograms, strict=True):
        assert (mine.model, mine.true, mine.n) == (theirs.model, theirs.true, theirs.n)
        if mine.model != "c":
            assert np.abs(np.subtract(mine.counts, theirs.counts)).max() <= 5


@pytest.mark.slow
def test_labels_are_cut_as_a_run_cuts_them(one: Path, tmp_path: Path, summed: Results, rows: Results) -> None:
    """At 0.5, or where --threshold says; scores without probabilities at a threshold only."""
    assert [c.count for c in summed.confusion] == [c.count for c in rows.confusion]
    er.aggregate(one / "models", output=tmp_path / "low", threshold=0.2)
    low = er.evaluate(tmp_path / "low", metrics=["accuracy"], resamples=20)
    own = er.evaluate(one / "models", metrics=["accuracy"], threshold=0.2, resamples=20)
    assert [c.count for c in low.confusion] == [c.count for c in own.confusion]


@pytest.mark.slow
@pytest.mark.parametrize("labels", [False, True], ids=["cut", "given"])
def test_the_positive_class_of_sums_is_fixed_when_they_are_made(
    labels: bool, one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another one is refused with the line that aggregates anew, and that gives the figures of the rows."""
    (tmp_path / "p").mkdir()
    frame = pd.read_parquet(one / "models" / "a.parquet")
    frame["p_neg"], frame["p_pos"] = 1 - frame["p_1"], frame["p_1"]
    frame = frame.drop(columns=["p_1"])
    frame["y_true"] = np.where(frame["y_true"] == 1, "pos", "neg")
    if labels:
        frame["y_pred"] = np.where(frame["p_pos"] > 0.4, "pos", "neg")
    frame.to_parquet(tmp_path / "p" / "a.parquet")
    er.aggregate(tmp_path / "p", output=tmp_path / "d")
    assert main(["run", str(tmp_path / "d"), "--positive", "neg", "-o", str(tmp_path / "out")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"evalreport aggregate MODELS -o {tmp_path / 'd'} --positive neg" in said
    with pytest.raises(er.errors.UsageError, match="without --task multiclass"):
        er.evaluate(tmp_path / "d", task="multiclass")
    options: dict[str, Any] = {"metrics": ["average_precision", "accuracy"], "resamples": 20}
    same = er.evaluate(tmp_path / "d", positive="pos", **options)
    unnamed = er.evaluate(tmp_path / "d", **options)
    assert same.metrics == unnamed.metrics
    er.aggregate(tmp_path / "p", output=tmp_path / "n", positive="neg")
    negative = er.evaluate(tmp_path / "n", **options)
    for summed, named in ((unnamed, "pos"), (negative, "neg")):
        found, rows = (
            {(m.model, m.metric): m.value for m in results.metrics}
            for results in (summed, er.evaluate(tmp_path / "p", positive=named, **options))
        )
        assert found == pytest.approx(rows, abs=2e-4)


def test_a_manifest_with_another_positive_class_is_refused(tmp_path: Path) -> None:
    """Its digests are right, and the classes are as large."""
    even = pd.DataFrame({"id": range(40), "y_true": [0, 1] * 20, "p_1": np.linspace(0.1, 0.9, 40)})
    even["y_pred"] = [1, 0, 1, 1] * 10
    even.to_parquet(tmp_path / "m.parquet")
    er.aggregate(tmp_path / "m.parquet", output=tmp_path / "d")
    manifest = tmp_path / "d" / "aggregate.json"
    manifest.write_text(manifest.read_text().replace('"positive": "1"', '"positive": "0"'))
    with pytest.raises(er.errors.InputError, match="positive class"):
        er.evaluate(tmp_path / "d")


@pytest.mark.slow
def test_another_order_of_rows_changes_no_digit(few: Path, tmp_path: Path) -> None:
    """What is added up are whole numbers."""
    models = tmp_path / "models"
    shutil.copytree(few / "models", models)
    for path in models.iterdir():
        pd.read_parquet(path).sample(frac=1, random_state=5).to_parquet(path)
    er.aggregate(models, output=tmp_path / "sums", slices="sex")
    for name in (HISTOGRAMS, PRODUCTS):
        assert (tmp_path / "sums" / name).read_bytes() == (few / "sums" / name).read_bytes()


@pytest.mark.slow
@needs_locks
def test_dask_adds_up_the_same(tmp_path: Path) -> None:
    """The histograms to the byte; logarithms of its own library may differ in the last digit."""
    models = write(tmp_path / "models", 300, "bc")
    for engine in ("duckdb", "dask"):
        er.aggregate(models, output=tmp_path / engine, engine=engine)
    assert len({(tmp_path / engine / HISTOGRAMS).read_bytes() for engine in ("duckdb", "dask")}) == 1
    here, there = (pq.read_table(tmp_path / engine / PRODUCTS) for engine in ("duckdb", "dask"))
    assert here.drop(["total"]).equals(there.drop(["total"]))
    assert there["total"].to_numpy() == pytest.approx(here["total"].to_numpy(), rel=1e-12)


@pytest.mark.slow
def test_equal_models_have_no_difference(tmp_path: Path) -> None:
    """What rounding leaves of a variance is none."""
    models = write(tmp_path / "models", 300, "ab")
    shutil.copy(models / "a.parquet", models / "b.parquet")
    er.aggregate(models, output=tmp_path / "sums")
    results = er.evaluate(tmp_path / "sums", metrics=["roc_auc", "log_loss"], resamples=50)
    for metric in ("roc_auc", "log_loss"):
        (row,) = (row for row in leading(results, metric) if (row.a, row.b) == ("a", "b"))
        assert (row.difference, row.p_value) == (0.0, 1.0)


def test_few_examples_of_a_class_are_warned_of(summed_pair: Results, one: Path) -> None:
    """Normal limits are rough there, and rows would give better ones."""
    found = er.evaluate(one / "sums", metrics=["roc_auc"], resamples=20)
    assert "few_for_sums" in {warning.code for warning in found.warnings}
    assert "few_for_sums" not in {warning.code for warning in summed_pair.warnings}


def test_sums_that_were_changed_are_refused(pair: Path, tmp_path: Path) -> None:
    """The manifest holds the digest of every file."""
    shutil.copytree(pair / "sums", tmp_path / "sums")
    with (tmp_path / "sums" / PRODUCTS).open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(er.errors.InputError, match="not those of the manifest"):
        er.evaluate(tmp_path / "sums")


@pytest.mark.slow
def test_verify_goes_back_to_the_files_where_they_are(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the counts and sums; and from what these were made of, in the folder or in one of its own."""
    shutil.copytree(one, tmp_path / "all")
    words = [
        "run",
        str(tmp_path / "all/sums"),
        "--metric",
        "roc_auc",
        "--resamples",
        "20",
        "-f",
        "json",
        "-q",
    ]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    verify = ["verify", str(tmp_path / "out"), "--inputs"]
    assert main([*verify, str(tmp_path / "all/sums")]) == 0
    said = capsys.readouterr().out
    assert "follow from the files" not in said
    assert "not checked: the counts against the files that they were made of" in said
    assert main([*verify, str(tmp_path / "all")]) == 0
    assert "the counts follow from the files that they were made of" in capsys.readouterr().out


@pytest.mark.slow
def test_verify_takes_the_aggregate_that_was_run_among_several_with_the_same_counts(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sums of scores tell which it was; where all files are the same, made of others, it must be named (above)."""
    shutil.copytree(one, tmp_path / "all")
    shutil.copytree(one / "models", tmp_path / "other")
    frame = pd.read_parquet(tmp_path / "other/a.parquet")
    p = frame["p_1"]  # the same labels by the same threshold, of other probabilities
    other = frame.assign(p_1=np.where(p >= 0.5, 0.5 + (p - 0.5) / 2, p / 2))
    other.to_parquet(tmp_path / "other/a.parquet")
    er.aggregate(tmp_path / "other", output=tmp_path / "all/a-first")
    counts = [(tmp_path / "all" / name / "counts.parquet").read_bytes() for name in ("a-first", "sums")]
    assert counts[0] == counts[1]
    words = ["--metric", "roc_auc", "--resamples", "20", "-f", "json", "-q", "-o", str(tmp_path / "out")]
    assert main(["run", str(tmp_path / "all/sums"), *words]) == 0
    verify = ["verify", str(tmp_path / "out"), "--inputs"]
    assert main([*verify, str(tmp_path / "all")]) == 0
    shutil.copytree(tmp_path / "all/sums", tmp_path / "all/sums-copied")
    assert main([*verify, str(tmp_path / "all")]) == 0
    manifest = tmp_path / "all/sums-copied/aggregate.json"
    manifest.write_text(manifest.read_text().replace("a.parquet", "z.parquet"))
    capsys.readouterr()
    assert main([*verify, str(tmp_path / "all")]) == 2
    assert "'sums', 'sums-copied' hold the same counts" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_verify_finds_counts_of_other_files(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest that claims other files than those that were counted is found out."""
    shutil.copytree(one, tmp_path / "all")
    model, manifest = tmp_path / "all/models/a.parquet", tmp_path / "all/sums/aggregate.json"
    before = hashlib.sha256(model.read_bytes()).hexdigest()
    frame = pd.read_parquet(model)
    frame.assign(p_1=1 - frame["p_1"]).to_parquet(model)
    after = hashlib.sha256(model.read_bytes()).hexdigest()
    manifest.write_text(manifest.read_text().replace(before, after))
    words = [
        "run",
        str(tmp_path / "all/sums"),
        "--metric",
        "roc_auc",
        "--resamples",
        "20",
        "-f",
        "json",
        "-q",
    ]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    assert main(["verify", str(tmp_path / "out"), "--inputs", str(tmp_path / "all")]) == 1
    assert "the counts beside the files that they were made of" in capsys.readouterr().out
