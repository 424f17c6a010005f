"""`evalreport import mlflow`: on tables that MLflow 2.22.5 and 3.17.2 wrote, and what it must refuse."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.loading.load import load

TABLES = Path(__file__).resolve().parents[1] / "data" / "imports" / "mlflow"


def runs(version: str, *, classifier: bool) -> list[Path]:
    """The tables of a version: of the classifiers, or of the answers."""
    found = sorted((TABLES / version / "mlruns").rglob("eval_results_table.json"))
    return [path for path in found if ("question_id" not in path.read_text(encoding="utf-8")) == classifier]


@pytest.fixture
def imported(importing):
    """Import what MLflow wrote."""
    return partial(importing, "mlflow")


def outcomes(rows: Iterable[dict[str, str]]) -> dict[str, str]:
    """The outcome of each id."""
    return {row["id"]: row["outcome"] for row in rows}


def written(path: Path, columns: list[str], *rows: list[object]) -> Path:
    """Write a table as MLflow lays it out."""
    path.write_text(json.dumps({"columns": columns, "data": rows}), encoding="utf-8")
    return path


@pytest.mark.parametrize("version", ["2", "3"])
def test_answers_are_matched_by_their_questions(imported, version):
    """Models by the names of their runs, outcomes by the only score, and every row's score is its own table's."""
    tables = runs(version, classifier=False)
    code, said, rows = imported(*tables, "--id", "question_id")
    assert code == 0
    assert "outcome: exact_match/score" in said
    assert {row["model"] for row in rows} == {"large", "small"}
    for path in tables:
        model = (path.parents[1] / "tags" / "mlflow.runName").read_text(encoding="utf-8")
        table = json.loads(path.read_text(encoding="utf-8"))
        scores = {line[0]: line[-1] for line in table["data"]}
        assert {row["id"]: float(row["outcome"]) for row in rows if row["model"] == model} == scores


def test_without_ids_a_digest_of_the_inputs_matches(imported):
    """The same questions have the same digest in both tables, whatever the models answered."""
    code, said, rows = imported(*runs("3", classifier=False))
    assert code == 0
    assert "matched by a digest of the inputs (question_id, inputs, ground_truth)" in said
    assert len({row["id"] for row in rows}) == 30


def test_labels_of_a_classifier_with_repeated_inputs_stay_apart(imported, tmp_path):
    """Rows with the same inputs are told apart by their order, and name their inputs in `example`."""
    code, said, rows = imported(
        *runs("2", classifier=True), "--target", "target", "--prediction", "prediction"
    )
    assert code == 0
    assert "some rows have the same inputs" in said
    assert len({row["example"] for row in rows}) == 12
    predictions = load(tmp_path / "predictions.csv")
    assert (predictions.task, predictions.n_examples, len(predictions.models)) == ("binary", 24, 2)


def test_genai_evaluations_are_judged_by_one_scorer(imported):
    """Yes and true are 1; which scorer is to be named; expectations judge nothing."""
    tables = sorted((TABLES / "3" / "genai").glob("*.json"))
    code, said, _ = imported(*tables)
    assert code == 2
    assert "rows are judged by right/value, judged/value: name one with --outcome" in said
    found = [imported(*tables, "--outcome", name)[2] for name in ("right/value", "judged/value")]
    assert found[0] == found[1]
    assert {row["model"] for row in found[0]} == {"large", "small"}
    assert {row["outcome"] for row in found[0]} == {"0.0", "1.0"}


def test_names_follow_the_paths_and_not_the_folders(imported):
    """Folders of runs have hashed names: `--model a --model b` names the first and the second path all the same."""
    tables = runs("2", classifier=False)
    by_path = {name: outcomes(imported(table)[2]) for name, table in zip("ab", tables, strict=True)}
    assert by_path["a"] != by_path["b"]
    for first, second in (("a", "b"), ("b", "a")):
        ordered = tables if first == "a" else tables[::-1]
        code, said, rows = imported(*ordered, "--model", first, "--model", second)
        assert code == 0
        assert f"model {first}: {ordered[0]}" in said
        for name in "ab":
            assert outcomes(row for row in rows if row["model"] == name) == by_path[name]


def test_runs_of_a_folder_are_chosen_by_name(imported):
    """A store of runs: names choose among them, with = they rename; two names for one path are an error."""
    store = TABLES / "2" / "mlruns"
    code, said, _ = imported(store, "--model", "a", "--model", "b")
    assert code == 2
    assert f"--model is given 2 times for 1 path; {store} holds 4 models: large, large classifier" in said
    code, said, rows = imported(store, "--model", "small", "--model", "large=big")
    assert (code, {row["model"] for row in rows}) == (0, {"small", "big"})
    only = next(
        table
        for table in runs("2", classifier=False)
        if (table.parents[1] / "tags" / "mlflow.runName").read_text(encoding="utf-8") == "small"
    )
    assert f"model small: {only}" in said


def test_models_with_other_examples_are_refused(imported, tmp_path):
    """So is an answer that was taken for an input: the remedy names the option."""
    for model, answer in (("a", "x"), ("b", "y")):
        written(tmp_path / f"{model}.json", ["q", "said", "ok/score"], ["1?", answer, 1], ["2?", answer, 0])
    code, said, _ = imported(tmp_path / "a.json", tmp_path / "b.json")
    assert code == 2
    assert "4 examples are not in both" in said
    assert "--prediction" in said
    tables = [tmp_path / "a.json", tmp_path / "b.json"]
    assert imported(*tables, "--prediction", "said")[0] == 0
    assert imported(*tables, "--id", "q")[0] == 0


def test_repeated_questions_are_attempts(imported, tmp_path):
    """One question was asked twice: one id, numbered, and its answers may be more than those to another."""
    file = written(tmp_path / "a.json", ["inputs", "ok/score"], ["1?", True], ["2?", False], ["2?", True])
    code, _, rows = imported(file)
    assert code == 0
    assert [row["attempt"] for row in rows] == ["1", "1", "2"]
    assert rows[1]["id"] == rows[2]["id"] != rows[0]["id"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "no JSON"),
        ("[]", "no table"),
        ('{"columns": ["a"], "data": [[1, 2]]}', "row 1 does not fit the 1 columns"),
        ('{"columns": ["a", "a"], "data": []}', "its columns are no different texts"),
        ('{"columns": ["q", "x/score"], "data": [["1?", "perhaps"]]}', "'perhaps' in row 1 is no number"),
        ('{"columns": ["q", "x/score"], "data": [["1?", NaN]]}', "no answer was judged"),
        ('{"columns": ["q", "x/score"], "data": []}', "there is no row to import"),
        ('{"columns": ["q", "y"], "data": [[1, 2]]}', "there is no judgement"),
    ],
)
def test_what_is_no_table_is_refused(imported, tmp_path, text, problem):
    """One message that names the file, exit code 2."""
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    code, said, _ = imported(tmp_path / "t.json")
    assert code == 2
    assert problem in said


@pytest.mark.parametrize("name", ["p.csv", "p.tsv.gz", "p.jsonl", "p.parquet"])
def test_every_format_gives_the_same_predictions(tmp_path, name):
    """What is written is read by run, whatever the format."""
    words = ["import", "mlflow", *map(str, runs("2", classifier=False)), "-q"]
    for file in ("reference.csv", name):
        assert main([*words, "-o", str(tmp_path / file)]) == 0
    one, other = load(tmp_path / "reference.csv"), load(tmp_path / name)
    assert one.ids.to_pylist() == other.ids.to_pylist()
    for left, right in zip(one.models, other.models, strict=True):
        assert left.outcome is not None
        assert left.outcome.tolist() == right.outcome.tolist()


def test_a_file_that_cannot_be_written_is_said(tmp_path, capsys):
    """Another format, no such folder: exit code 2, and nothing is left behind."""
    words = ["import", "mlflow", *map(str, runs("2", classifier=False)), "-q", "-o"]
    assert main([*words, str(tmp_path / "p.xlsx")]) == 2
    assert main([*words, str(tmp_path / "none" / "p.csv")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_whole_and_a_killed_import_leaves_nothing_for_long(tmp_path, monkeypatch):
    """No room: the earlier file is as it was. What a killed import left beside is swept by the next."""
    words = ["import", "mlflow", *map(str, runs("2", classifier=False)), "-q", "-o", str(tmp_path / "p.csv")]
    (tmp_path / ".p.csv.evalreport-part").write_text("half of a ta")
    assert main(words) == 0
    whole = (tmp_path / "p.csv").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]

    def no_room(_path: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_room)
    assert main(words) == 2
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("p.csv", whole)]
