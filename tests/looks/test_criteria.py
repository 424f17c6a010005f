"""Criteria that are declared before a run, followed, and compared with what was done."""

from __future__ import annotations

import csv
import hashlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.errors import UsageError
from evalreport.looks.criteria import Criteria, as_toml, read_criteria, truth_digest, truth_of_files
from evalreport.options import Options
from tests.looks.conftest import Table, models
from tests.samples.cases import every

DATA = Path(__file__).parents[1] / "data" / "predictions"


@pytest.fixture
def declared(tmp_path: Path) -> Callable[..., Path]:
    """Declare criteria about the truth of some models."""

    def of(table: Table, **options: Any) -> Path:
        columns = next(iter(table.values()))
        truth, path = tmp_path / "truth.csv", tmp_path / "criteria.toml"
        with truth.open("w", newline="") as stream:
            csv.writer(stream).writerows(
                [("id", "y_true"), *zip(columns["id"], columns["y_true"], strict=True)]
            )
        given = {
            "metrics": "accuracy",
            "models": sorted(table),
            "time": "2026-11-02T10:00:00+01:00",
        } | options
        er.declare(path, truth=truth, **given)
        return path

    return of


@pytest.fixture
def table() -> Table:
    """Return three models on 120 examples."""
    return models(120, accuracies={"a": 0.9, "b": 0.8, "c": 0.6})


def run(table: Table, criteria: Path, **options: Any) -> er.Results:
    """Compare models by declared criteria."""
    return er.evaluate(table, criteria=criteria, resamples=50, **options)


def test_the_file_holds_the_keys_the_truth_and_its_own_digest(
    table: Table, declared: Callable[..., Path]
) -> None:
    """The digests follow from what is written, by hand calculation."""
    path = declared(table, margin=0.02, gates="a.accuracy >= 0.8", looks=3, baseline="a")
    content = tomllib.loads(path.read_text())["criteria"]
    assert {k: v for k, v in content.items() if not k.endswith(("digest", "sha256"))} == {
        "metric": ["accuracy"], "margin": 0.02, "gate": ["a.accuracy >= 0.8"], "looks": 3, "baseline": "a",
        "models": ["a", "b", "c"], "declared": "2026-11-02T09:00:00Z", "correction": "holm", "confidence": 0.95,
    }  # fmt: skip
    rows = zip(table["a"]["id"], table["a"]["y_true"], strict=True)
    lines = sorted(f"{name}\t{label}\n".encode() for name, label in rows)
    assert content["truth_sha256"] == hashlib.sha256(b"".join(lines)).hexdigest()
    rest = {k: v for k, v in content.items() if k != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    assert content["digest"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_run_that_follows_them_says_unchanged(table: Table, declared: Callable[..., Path]) -> None:
    """Its options are those that were declared, and nothing is exploratory."""
    results = run(table, declared(table, margin=0.02, gates="a.accuracy >= 0.7"))
    assert results.declared is not None
    assert results.declared.changed == ()
    assert results.options["margin"] == 0.02
    assert [gate.gate for gate in results.gates] == ["a.accuracy >= 0.7"]
    assert not any(r.exploratory for r in (*results.gates, *results.verdicts, *results.metrics))
    assert "criteria declared on 2026-11-02, unchanged" in results.summary()


def test_changes_are_listed_and_what_was_not_declared_is_exploratory(
    table: Table, declared: Callable[..., Path]
) -> None:
    """Another margin, a further gate and another model are named; the gate and the model's figures are exploratory."""
    path = declared({name: table[name] for name in ("a", "b")}, margin=0.02, gates="a.accuracy >= 0.7")
    results = run(table, path, margin=0.03, gates=["b.accuracy >= 0.5"])
    assert results.declared is not None
    assert list(map(str, results.declared.changed)) == [
        "margin 0.03, was 0.02",
        "gate b.accuracy >= 0.5 added",
        "model c added",
    ]
    assert {g.gate: g.exploratory for g in results.gates} == {
        "a.accuracy >= 0.7": False,
        "b.accuracy >= 0.5": True,
    }
    assert {r.model for r in results.metrics if r.exploratory} == {"c"}
    assert {v.about for v in results.verdicts if v.exploratory} == {("a", "c"), ("b", "c")}
    assert [w.code for w in results.warnings if w.code == "criteria_changed"] == ["criteria_changed"]
    assert "3 changed since" in results.summary()


def test_another_primary_metric_is_exploratory(table: Table, declared: Callable[..., Path]) -> None:
    """A flag wins, and its verdicts are marked."""
    results = run(table, declared(table), metrics=["f1", "accuracy"])
    assert results.primary_metric == "f1"
    assert all(v.exploratory for v in results.verdicts)
    assert {r.metric for r in results.metrics if r.exploratory} == {"f1"}
    assert "f1 (exploratory)" in results.summary().lower()


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
def test_metrics_that_nobody_declared(named: bool, table: Table, declared: Callable[..., Path]) -> None:
    """Without declared metrics the usual ones are no change; named ones are."""
    results = run(table, declared(table, metrics=()), **({"metrics": "f1"} if named else {}))
    assert any(v.exploratory for v in results.verdicts) == named


def test_other_true_values_and_a_lost_model_are_changes(table: Table, declared: Callable[..., Path]) -> None:
    """The digest of the truth is not that of the examples; a declared model is not there."""
    path = declared(table)
    fewer = {name: {k: v[:-1] for k, v in table[name].items()} for name in ("a", "b")}
    changed = run(fewer, path).declared
    assert changed is not None
    assert list(map(str, changed.changed)) == ["model c is gone", "other true values"]


def test_a_slice_that_was_not_declared_is_exploratory(table: Table, declared: Callable[..., Path]) -> None:
    """Of two columns the declared one's records are not."""
    for columns in table.values():
        columns["sex"] = ["f", "m"] * 60
        columns["site"] = ["x"] * 60 + ["y"] * 60
    results = run(table, declared(table, slices="sex"), slices="site")
    found = {r.slice.column: r.exploratory for r in results.metrics if r.slice is not None}
    assert found == {"sex": False, "site": True}


def test_looks_can_be_declared(table: Table, declared: Callable[..., Path], tmp_path: Path) -> None:
    """A run that follows criteria with looks needs the file that counts them."""
    path = declared(table, looks=3)
    with pytest.raises(UsageError, match="--looks-file"):
        run(table, path)
    results = run(table, path, looks_file=tmp_path / "looks.json")
    assert results.looks is not None
    assert results.looks.looks == 3
    assert results.declared is not None
    assert results.declared.changed == ()


@pytest.mark.parametrize(
    "damage, said",
    every(
        3,
        [
            (lambda text: text.replace("margin = 0.02", "margin = 0.2"), "not those that were declared"),
            (lambda text: text.replace('"a", ', ""), "not those that were declared"),
            (lambda text: text.replace("[criteria]", "[evalreport]"), "one table"),
            (lambda text: text.replace("margin = 0.02", 'margin = "0.02"'), "expected a number"),
            (lambda text: text + "seed = 3\n", "seed"),
            (lambda text: text.replace("models = [", "models = [1, "), "list of texts"),
            (lambda text: text.replace("digest = ", "digest = 3 #"), "digest"),
            (lambda _: "[criteria", "not valid TOML"),
        ],
    ),
)
def test_a_changed_or_damaged_file_is_refused(
    damage: Callable[[str], str], said: str, table: Table, declared: Callable[..., Path]
) -> None:
    """What was edited after it was declared is bad usage."""
    path = declared(table, margin=0.02)
    text = path.read_text()
    path.write_text(damage(text))
    assert path.read_text() != text
    with pytest.raises(UsageError, match=said):
        read_criteria(path)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"metrics": "acuracy"}, "accuracy"),
        ({"gates": "a.accuracy"}, "gate"),
        ({"baseline": "x"}, "x"),
        ({"looks": 0}, "looks"),
        ({"margin": -1.0}, "margin"),
        ({"models": [""]}, "models"),
    ],
)
def test_what_cannot_be_declared_is_refused(
    options: dict[str, Any], said: str, table: Table, declared: Callable[..., Path]
) -> None:
    """A misspelt metric, an unreadable gate or another model's name show before the run."""
    with pytest.raises(UsageError, match=said):
        declared(table, **options)


def test_criteria_are_declared_once(table: Table, declared: Callable[..., Path]) -> None:
    """A file that exists is left as it is."""
    written = declared(table).read_bytes()
    with pytest.raises(UsageError, match="declared once"):
        declared(table, margin=0.5)
    assert declared.__name__ == "of"
    assert (written.count(b"margin"), written.count(b"[criteria]")) == (0, 1)


def test_texts_are_escaped(tmp_path: Path) -> None:
    """A quote, a backslash, a line break and letters beyond ASCII come back from TOML as they were."""
    odd = Criteria({"models": ['a"b', "c\\d", "e\nf", "ü\x7f"], "declared": "", "truth_sha256": ""})
    path = tmp_path / "criteria.toml"
    path.write_bytes(as_toml(odd))
    assert read_criteria(path) == odd


@pytest.mark.parametrize("name", ["diabetes_test.csv", "digits_test.parquet", "breast_cancer_cv10.csv"])
def test_the_digest_of_the_truth_needs_no_prediction(name: str) -> None:
    """Numbers, classes and folds: from the true values alone the digest is that of the predictions' examples."""
    path = str(DATA / name)
    assert truth_of_files(path, Options()) == truth_digest(er.load(path))


@pytest.mark.slow
def test_the_program_declares_runs_and_verifies(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """declare, run --criteria and verify --criteria: 0 where they agree, 1 where the run followed other criteria."""
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    for name, columns in table.items():
        with Path("models", f"{name}.csv").open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))

    def program(*words: str) -> int:
        return main(list(words))

    declare = ("declare", "--truth", "models", "--models", "a,b", "--models", "c", "-m", "accuracy")
    assert program(*declare, "-o", "one.toml") == 0
    assert program(*declare, "-o", "one.toml") == 2
    assert program(*declare, "-o", "two.toml", "--margin", "0.1") == 0
    assert program("run", "models", "--criteria", "one.toml", "-f", "json", "-q", "--resamples", "50") == 0
    verify = ("verify", "evalreport-out", "--inputs", "models", "-q")
    assert program(*verify) == 0
    assert program(*verify, "--criteria", "one.toml") == 0
    assert program(*verify, "--criteria", "two.toml") == 1
    changed = (
        "run",
        "models",
        "--criteria",
        "two.toml",
        "-f",
        "json",
        "-q",
        "--resamples",
        "50",
        "-o",
        "changed",
    )
    for flags in (("-m", "f1"), ("--margin", "0.2"), ("--gate", "n >= 1")):
        assert program(*changed, *flags) == 0
        assert program("verify", "changed", "--inputs", "models", "-q") == 0
        assert program("verify", "changed", "--inputs", "models", "-q", "--criteria", "two.toml") == 1, flags
    assert program("audit", "models", "--criteria", "one.toml", "--history", "sqlite:///h.db") == 2
    assert program("audit", "models", "--looks", "2", "--look", "1", "--history", "sqlite:///h.db") == 2
