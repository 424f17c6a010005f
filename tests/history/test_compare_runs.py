"""`evalreport compare-runs`: base branch against pull request, with and without the predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.history.run_differences import square_and_add
from tests.samples.two_models import run, write

METRICS = ("-m", "accuracy", "-m", "roc_auc", "--slice", "sex")
GATE = ("--gate", "forest.accuracy >= 0.7")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Runs of one base branch and several pull requests: predictions in NAME/, results in NAME-out/."""
    place = tmp_path_factory.mktemp("compare")
    both = ("forest", "logreg")
    write(place / "base", models=both)
    run(place / "base", place / "base-out", *METRICS, *GATE)
    write(place / "better", models=(*both, "tree"), lift=0.2)
    run(place / "better", place / "better-out", *METRICS, "--gate", "n >= 10")
    write(place / "worse", models=both, lift=-0.15)
    run(place / "worse", place / "worse-out", *METRICS, *GATE, code=1)
    write(place / "slightly", models=both, lift=0.03)
    run(place / "slightly", place / "slightly-out", *METRICS, *GATE)
    return place


@pytest.fixture
def compare(made, capsys):
    """Compare the base branch with a pull request; return exit code and output."""

    def call(new: str, *words: object, old: str = "base", inputs: bool = False) -> tuple[int, str]:
        given = ["--inputs", made / old, made / new] if inputs else []
        capsys.readouterr()
        code = main(["compare-runs", *map(str, [made / f"{old}-out", made / f"{new}-out", *given, *words])])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


def judged(said: str) -> dict[str, dict]:
    """The changes of the primary metric over all examples, by model."""
    values = json.loads(said)["values"]
    return {v["model"]: v for v in values if v["primary"] and v["within"] is None}


def test_from_the_results_alone_two_intervals_decide(compare):
    """The limits are Zou and Donner's of the two recorded intervals, and say that the examples may be the same."""
    code, said = compare("better", "-f", "json")
    forest = judged(said)["forest"]
    sides = [(forest[s], forest[f"{s}_low"], forest[f"{s}_high"]) for s in ("new", "old")]
    expected = square_and_add(*sides)
    assert code == 0
    assert (forest["low"], forest["high"], forest["judgement"]) == (expected.low, expected.high, "better")
    assert forest["low"] > 0
    assert forest["how"].startswith("from the intervals of both runs, as if the examples were others")
    assert forest["p_value"] is None


def test_untouched_predictions_are_the_same_and_need_no_test(compare):
    """The model's file has the digest that it had."""
    assert judged(compare("better", "-f", "json")[1])["logreg"]["judgement"] == "same predictions"
    code, said = compare("base", old="base")
    assert (code, said.splitlines()[2]) == (0, "No predictions changed.")


def test_with_the_predictions_models_are_compared_pair_by_pair(compare):
    """On the same examples the interval is narrower, by the paired test, adjusted over the models."""
    alone = judged(compare("worse", "-f", "json")[1])["forest"]
    code, said = compare("worse", "-f", "json", inputs=True)
    forest = judged(said)["forest"]
    assert code == 1  # its gate fails
    assert forest["how"] == "pair by pair on the same 120 examples"
    assert (forest["test"], forest["method"], forest["judgement"]) == (
        "mcnemar_midp",
        "newcombe_paired",
        "worse",
    )
    assert forest["high"] - forest["low"] < alone["high"] - alone["low"]
    assert forest["difference"] == pytest.approx(forest["new"] - forest["old"], abs=1e-12)
    # one model changed: Holm over one test leaves the p-value as it is
    assert forest["p_adjusted"] == forest["p_value"] < 0.05


def test_what_is_not_settled_names_what_could_settle_it(compare):
    """A small change: no word of better or worse, and the option that compares pair by pair."""
    code, said = compare("slightly")
    assert code == 0
    assert "No change of accuracy is settled." in said
    assert "--inputs OLD_DIR NEW_DIR compares pair by pair" in said


def test_gates_verdicts_and_models_that_changed_are_shown(compare):
    """Above all a gate that was taken out."""
    _, said = compare("better")
    assert "gate forest.accuracy >= 0.7: pass -> REMOVED" in said
    assert "gate n >= 10: not asked -> pass (n = 120)" in said
    assert "model tree: new, with nothing to compare it with" in said
    assert "verdict forest vs tree: none -> better" in said
    assert "option gates: forest.accuracy >= 0.7 -> n >= 10" in said
    _, back = compare("base", old="better")
    assert "model tree: is not in the new run" in back
    assert "forest: WORSE" in back


def test_exit_codes_are_those_of_the_new_gates(compare):
    """1 a failed gate, also one that failed before; --fail-if-worse asks for more."""
    assert compare("worse")[0] == 1
    assert compare("base", old="better")[0] == 0
    assert compare("base", "--fail-if-worse", old="better")[0] == 1
    assert compare("better", "--fail-if-worse")[0] == 0


def test_runs_about_other_things_are_not_compared(compare, made):
    """Another positive class, another level: the reason stands in place of a judgement."""
    for words, why in (
        (("--positive", "0"), "the positive class is not the same: 1 before, 0 now"),
        (("--confidence", "0.9"), "the intervals have other levels: 0.95 before, 0.9 now"),
    ):
        run(made / "base", made / "other-out", *METRICS, *words)
        code, said = compare("other", "-f", "json")
        assert code == 0
        assert {v["judgement"] for v in judged(said).values()} == {"not comparable"}
        assert {v["how"] for v in judged(said).values()} == {why}


def test_inputs_must_be_those_that_were_analysed(compare, made):
    """Other files of the same name are refused, not compared."""
    code, said = compare("better", "--inputs", made / "better", made / "better")
    assert code == 2
    assert "forest.csv: the file has changed since" in said


def test_markdown_is_for_a_review(compare, tmp_path):
    """A marker, tables, nothing from a file unescaped; written to a file where that is asked for."""
    code, said = compare("better", "-f", "md", "-o", tmp_path / "comment.md", inputs=True)
    text = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert (code, said) == (0, "")
    assert text.startswith("<!-- evalreport:")
    assert "**accuracy: forest: better.**" in text
    assert "| Gate | Old | New |  |" in text
    assert "forest.accuracy &gt;= 0.7 | pass | REMOVED |" in text
    assert "<details><summary>Other metrics (shown, not judged)" in text


def test_hostile_names_stay_text(made, compare, tmp_path):
    """A model's name with marks and an escape sequence acts neither on a comment nor on a terminal."""
    content = (made / "better-out/results.json").read_text(encoding="utf-8")
    (tmp_path / "r.json").write_text(content.replace('"tree"', '"<b>@all\\u001b[2J|x"'), encoding="utf-8")
    main(
        [
            "compare-runs",
            str(made / "base-out"),
            str(tmp_path / "r.json"),
            "-f",
            "md",
            "-o",
            str(tmp_path / "c.md"),
        ]
    )
    text = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "\x1b" not in text
    assert "&lt;b&gt;\\@all" in text


def test_what_is_no_results_json_is_refused(made, tmp_path, capsys):
    """Other JSON, a wrong type, a key twice, a number beyond all numbers: one message that says where, exit code 2."""
    good = (made / "base-out/results.json").read_text(encoding="utf-8")
    cases = {
        "{}": "has the schema 'None'",
        "[" * 50_000: "is not valid JSON",
        good.replace('"n": 120', '"n": "120"', 1): "metrics[0].n must be a whole number",
        good.replace('"n": 120', '"n": 120, "n": 121', 1): "an object names a key twice",
        good.replace('"value": 0.8', '"value": 1e999, "x": 0.8', 1): "value must be a number, not inf",
        good.replace('"design":', '"desing":', 1): "design is missing",
    }
    for text, expected in cases.items():
        (tmp_path / "results.json").write_text(text, encoding="utf-8")
        for words in (("verify", tmp_path), ("compare-runs", tmp_path, made / "base-out")):
            capsys.readouterr()
            assert main([str(word) for word in words]) == 2
            assert expected in capsys.readouterr().err
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7\nnothing")
    assert main(["verify", str(tmp_path / "report.pdf")]) == 2
    assert "the PDF cannot be read" in capsys.readouterr().err


def test_results_that_lack_what_their_version_did_not_write_are_compared(made, tmp_path, capsys):
    """Lists and fields with a default may be missing, as in a file of another version: none, not a defect."""
    content = json.loads((made / "base-out" / "results.json").read_bytes())
    for name in ("gates", "warnings", "verdicts", "found"):
        del content[name]
    content["warnings"] = [{"code": "one_example", "text": "There is one example."}]
    foreign = tmp_path / "results.json"
    foreign.write_text(json.dumps(content))
    for pair in ((foreign, made / "base-out"), (made / "base-out", foreign)):
        assert main(["compare-runs", *map(str, pair), "-f", "json"]) in (0, 3)
        assert json.loads(capsys.readouterr().out)["values"]
