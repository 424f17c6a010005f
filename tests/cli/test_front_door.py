"""What a newcomer meets first: help in groups, what to type, completion, suggestions, the next command."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from evalreport.cli import program
from evalreport.cli.configuration import COMPLETIONS
from evalreport.cli.run import run_command
from evalreport.options import KEYS
from evalreport.registry import unknown_name

PREDICTIONS = "id,y_true,y_pred\n" + "".join(f"{i},{i % 2},{(i + i // 5) % 2}\n" for i in range(40))


@pytest.fixture
def models(tmp_path):
    """A folder of two models."""
    folder = tmp_path / "two" / "models"
    folder.mkdir(parents=True)
    for name in ("forest", "logreg"):
        (folder / f"{name}.csv").write_text(PREDICTIONS)
    return folder


def test_the_help_of_run_stands_in_groups(run):
    """Each option under the heading that its declaration says."""
    sections = re.split(r"^(Input|Analysis|Output|Gates):$", run("run", "--help").out, flags=re.MULTILINE)
    listed = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert list(listed) == ["Input", "Analysis", "Output", "Gates"]
    for key in KEYS:
        assert re.search(rf"{key.flag}\b", listed[key.group]), key.flag
    assert "--gate" in listed["Gates"]
    assert "--history" in run("audit", "--help").out.split("Options:")[1].split("Input:")[0]


@pytest.mark.parametrize("command", ["run", "check", "audit"])
def test_without_models_a_command_says_what_to_type(run, command):
    """Exit code 2, on standard error, whole commands to copy."""
    found = run(command, *(["--history", "sqlite:///a.db"] if command == "audit" else []))
    assert (found.code, found.out) == (2, "")
    assert "    evalreport run models/ " in found.err
    assert found.err.startswith("evalreport: no MODELS are named")
    assert f"evalreport {command} --help" in found.err
    assert "id, y_true and y_pred" in found.err


@pytest.mark.parametrize(
    "option, begun, expected",
    [
        ("metric", "ROC_a", "roc_auc"),
        ("metric", "f1_m", "f1_macro"),
        ("interval", "wils", "wilson"),
        ("test", "mcnemar_m", "mcnemar_midp"),
        ("baseline", "log", "logreg"),
        ("gate", "for", "forest."),
        ("gate", "forest.acc", "forest.accuracy"),
    ],
)
def test_a_shell_completes_names(models, option, begun, expected):
    """As click asks, with MODELS read already or left among the words that it could not parse yet."""
    flag = next(key.flag for key in KEYS if key.name == option)
    with program.make_context("evalreport", [], resilient_parsing=True) as parent:
        for words in ([str(models), flag], [flag]):
            context = run_command.make_context("run", list(words), parent=parent, resilient_parsing=True)
            parameter = next(p for p in run_command.params if flag in p.opts)
            found = [item.value for item in parameter.shell_complete(context, begun)]
            named = words[0] == str(models) or option not in ("baseline", "gate")
            assert (expected in found) is named
            assert all(value.lower().startswith(begun.lower()) for value in found)
    assert isinstance(parameter, click.Option)
    assert option in COMPLETIONS


@pytest.mark.parametrize(
    "words, meant",
    [
        (["-m", "F1"], "f1"),
        (["-m", "rocauc"], "roc_auc"),
        (["-m", "ROC-AUC"], "roc_auc"),
        (["-m", "acc"], "accuracy"),
        (["-m", "F1 makro"], "f1_macro"),
        (["--interval", "Wilson"], "wilson"),
        (["--test", "McNemar_MidP"], "mcnemar_midp"),
        (["-b", "Forest"], "forest"),
        (["--gate", "Forest.accuracy > 0.5"], "forest"),
    ],
)
def test_a_misspelt_name_of_any_case_has_a_suggestion(run, models, words, meant):
    """The one that is meant stands first."""
    found = run("run", models, "-q", *words)
    assert found.code == 2
    assert re.search(rf"did you mean {meant}\b", found.err), found.err


def test_a_name_like_none_is_answered_with_those_there_are():
    """Nothing is guessed; names of marks alone are compared as they are."""
    assert unknown_name("model", "zebra", ["forest", "+"]) == "unknown model 'zebra'; known: forest, +."
    assert unknown_name("model", "++", ["+", "forest"]) == "unknown model '++'; did you mean +?"


def test_check_ends_with_the_command_to_type_next(run, models):
    """With the same files and options, quoted for a shell; as typed it runs."""
    found = run("check", models, "--positive", "1", "--task", "binary")
    last = found.out.splitlines()[-1]
    assert last == f"next: evalreport run {models} --task binary --positive 1"
    words = shlex.split(last)[2:]
    assert run(*words, "-f", "json", "-o", "-", "-q").code == 0


def test_the_table_says_what_its_intervals_are(run, models):
    """In one line below it; for a single model nothing is said of differences."""
    both = run("run", models, "-f", "md").out
    assert "[low, high]: 95 % intervals (Δ: 95 %). A Δ whose interval leaves 0 out is decided." in both
    alone = run("run", models / "forest.csv", "-f", "md").out
    assert "[low, high]: 95 % intervals.\n" in "\n".join(line.rstrip() for line in alone.splitlines())
