"""evalreport.toml: where it is looked for, what it may hold, and that a flag wins."""

from __future__ import annotations

from pathlib import Path

import pytest


def write(folder: Path, text: str) -> Path:
    """Write evalreport.toml into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "evalreport.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_flag_wins_over_the_file_and_the_file_over_the_defaults(run, fakes):
    """Three sources, one order."""
    write(Path(), "[evalreport]\nseed = 3\nresamples = 50\nmetric = ['f1', 'mcc']\nformat = 'json'\n")
    assert run("run", "models", "--seed", "0").code == 0
    options, output = fakes.calls[0]["options"], fakes.calls[0]["output"]
    assert (options.seed, options.resamples, options.confidence) == (0, 50, 0.95)
    assert options.metrics == ("f1", "mcc")
    assert output.formats == ("json",)
    assert output.formats_named


@pytest.mark.parametrize("place", [Path(), Path("data/models"), Path("data")])
def test_the_file_is_found_here_or_beside_the_models_and_said(run, fakes, place):
    """In the current folder, the MODELS folder or its parent; standard error says which."""
    Path("data/models").mkdir(parents=True)
    path = write(place, "[evalreport]\nseed = 11\n")
    outcome = run("run", "data/models")
    assert fakes.calls[0]["options"].seed == 11
    assert f"configuration: {path}\n" in outcome.err


def test_the_nearest_file_counts_alone(run, fakes):
    """The current folder's file is not mixed with that of the models' folder."""
    write(Path(), "[evalreport]\nseed = 1\n")
    write(Path("models"), "[evalreport]\nresamples = 7\n")
    run("run", "models")
    assert (fakes.calls[0]["options"].seed, fakes.calls[0]["options"].resamples) == (1, 2000)


def test_paths_in_the_file_are_relative_to_it(run, fakes):
    """So that a project can be run from anywhere."""
    write(Path("project"), "[evalreport]\noutput = 'out'\ntruth = 'truth.csv'\ntemplates = 'mine'\n")
    Path("project/models").mkdir()
    Path("project/mine").mkdir()
    run("run", "project/models", "--config", "project/evalreport.toml")
    call = fakes.calls[0]
    assert call["output"].output == Path("project/out")
    assert call["output"].templates == Path("project/mine")
    assert call["options"].truth == "project/truth.csv"


@pytest.mark.parametrize("value", ["../elsewhere", "/elsewhere", "a/../../b"])
@pytest.mark.parametrize("key", ["output", "templates", "truth"])
def test_a_file_found_beside_the_data_cannot_lead_out_of_its_folder(run, fakes, key, value):
    """Data from elsewhere do not choose where something is written; naming the file trusts it."""
    path = write(Path("models"), f"[evalreport]\n{key} = '{value}'\n")
    outcome = run("run", "models")
    assert outcome.code == 2
    assert f"--config {path}" in outcome.err
    assert fakes.calls == []
    if key == "truth":
        assert run("run", "models", "--config", path).code == 0


@pytest.mark.parametrize(
    "text, message",
    [
        ("[evalreport]\nconfidnce = 0.9\n", "unknown key 'confidnce'; did you mean confidence?"),
        ("[evalreport]\nlower-is-better = true\n", "did you mean lower_is_better?"),
        ("confidence = 0.9\n", "key 'confidence' must stand below the line [evalreport]"),
        ("[evalreprot]\n", "unknown table 'evalreprot'; did you mean evalreport?"),
        ("evalreport = 3\n", "must be a table"),
        ("[evalreport]\nconfidence = '0.9'\n", "key 'confidence': expected a number, not '0.9'"),
        ("[evalreport]\nseed = 1.5\n", "key 'seed': expected a whole number"),
        ("[evalreport]\nquiet = 1\n", "key 'quiet': expected true or false"),
        ("[evalreport]\nmetric = ['f1', 3]\n", "key 'metric': expected a list of texts"),
        ("[evalreport]\ntruth = ''\n", "key 'truth': expected a path"),
        ("[evalreport]\ntask = 'binray'\n", "key 'task': unknown task 'binray'; did you mean binary?"),
        ("[evalreport]\nformat = 'htm'\n", "key 'format': unknown format 'htm'"),
        ("[evalreport]\nconfidence = 2\n", "confidence must be a number between 0 and 1, not 2"),
        ("[evalreport]\nseed = \n", "not valid TOML"),
        ("[evalreport]\nmetric = " + "[" * 3000, "nested too deeply"),
        ("[evalreport]\nmetric" + ".a" * 3000 + " = 1\n", "nested too deeply"),
        ("[evalreport]\nseed = " + "9" * 5000 + "\n", "not valid TOML"),
        ("[evalreport]\nseed = 1\nseed = 2\n", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_its_name_and_key(run, fakes, text, message):
    """Nothing is silently ignored."""
    path = write(Path(), text)
    outcome = run("run", "models")
    assert outcome.code == 2
    assert outcome.err.startswith(f"evalreport: {path}: ")
    assert message in outcome.err
    assert fakes.calls == []


def test_a_file_that_is_not_utf8_or_not_there_is_refused(run, fakes):
    """The message names the file and what to do."""
    Path("latin.toml").write_bytes(b"[evalreport]\ntitle = '\xe9'\n")
    assert "latin.toml: byte 22 is not UTF-8" in run("run", "models", "--config", "latin.toml").err
    outcome = run("run", "models", "--config", "absent.toml")
    assert outcome.code == 2
    assert "absent.toml: cannot be read (No such file or directory)" in outcome.err


def test_a_number_too_large_to_be_kept_is_refused(run, fakes):
    """A whole number of 400 digits: TOML reads it, a number in floating point cannot hold it."""
    Path("evalreport.toml").write_text(f"[evalreport]\nconfidence = {'9' * 400}\n")
    outcome = run("run", "models")
    assert outcome.code == 2
    assert "the number is too large" in outcome.err
