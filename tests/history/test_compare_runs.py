"""`evalreport compare-runs`: base branch against pull request, with and without the predictions."""

from __future__ import annotations

import json

import numpy as np
import pytest

import evalreport
from evalreport.cli import main
from evalreport.history.run_differences import square_and_add
from tests.samples.compared_runs import METRICS, judged
from tests.samples.two_models import run


@pytest.mark.slow
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
    assert code == 0
    assert said.splitlines()[2].startswith("forest and logreg give the same answers as in ")
    assert said.splitlines()[2].endswith("; no prediction changed.")


def test_what_is_not_settled_names_what_could_settle_it(compare):
    """A small change: no word of better or worse, and the option that compares pair by pair."""
    code, said = compare("slightly")
    assert code == 0
    assert "120 examples do not show whether forest changed: accuracy " in said
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
    assert "The gate n ≥ 10 was removed; forest is worse: accuracy " in back


def test_exit_codes_are_those_of_the_new_gates(compare):
    """1 a failed gate, also one that failed before; --fail-if-worse asks for more."""
    assert compare("worse")[0] == 1
    assert compare("base", old="better")[0] == 0
    assert compare("base", "--fail-if-worse", old="better")[0] == 1
    assert compare("better", "--fail-if-worse")[0] == 0


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_no_results_json_is_refused(made, tmp_path, capsys):
    """Other JSON, a wrong type, a key twice, a number beyond all numbers: one message that says where, exit code 2."""
    good = (made / "base-out/results.json").read_text(encoding="utf-8")
    before, name, after = good.partition('"metrics":')

    def changed(old: str, new: str) -> str:
        """Change the first place behind the name of the metrics."""
        return before + name + after.replace(old, new, 1)

    cases = {
        "{}": "has the schema 'None'",
        "[" * 50_000: "is not valid JSON",
        changed('"n":120', '"n":"120"'): "metrics[0].n must be a whole number",
        changed('"n":120', '"n":120,"n":121'): "an object names a key twice",
        changed('"value":0.8', '"value":1e999,"x":0.8'): "1e999 is no finite number",
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


def test_mean_costs_of_two_runs_stand_beside_each_other(tmp_path):
    """With the difference by the limits of both; costs are not judged."""
    found = []
    for name, factor in (("old", 1.0), ("new", 1.5)):
        rng = np.random.default_rng(7)
        rows = {
            "id": [f"q{i}" for i in range(40)],
            "outcome": [1, 0] * 20,
            "cost": factor * rng.lognormal(size=40),
        }
        results = evalreport.evaluate({"m": rows}, resamples=50)
        evalreport.render(results, tmp_path / name, formats=["json"])
        found.append(results.costs[0])
    compared = evalreport.compare_runs(tmp_path / "old", tmp_path / "new")
    (value,) = (v for v in compared.values if v.metric == "cost_mean")
    expected = square_and_add(*((r.mean, r.low, r.high) for r in found[::-1]))
    assert (value.difference, value.change.low, value.change.high) == (
        expected.difference,
        expected.low,
        expected.high,
    )
    assert (value.primary, value.judgement) == (False, None)
