"""The command `evalreport resample`: what it says, and what its flags win over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.cli import main
from tests.refit.conftest import BAYES, TREE
from tests.samples.refits import refused

Write = Callable[..., Path]


def test_the_command_says_what_it_runs_and_what_is_odd(folder: Path, plan: Write, capsys):
    """On standard error: the user's code, the warnings, the next command; on standard output the file alone."""
    assert main(["resample", str(plan('name = "kfold"', TREE, BAYES)), "-o", str(folder / "out")]) == 0
    out, err = capsys.readouterr()
    assert out == f"predictions: {folder / 'out' / 'predictions.parquet'}\n"
    assert (
        "running the code that the plan names: sklearn.tree:DecisionTreeClassifier, sklearn.naive_bayes"
        in err
    )
    assert "[small_folds]" in err
    assert f"120 predictions of 2 models from 20 fits; next: evalreport run {folder / 'out'}\n" in err


@pytest.mark.parametrize(
    "data, words",
    [('group = "ward"', " --cluster ward"), ('positive = "no"', " --positive no"), ('keep = ["ward"]', "")],
)
def test_the_next_command_names_what_run_cannot_know(folder: Path, plan: Write, capsys, data, words):
    """Groups and a positive class that is not the usual one have to be told; kept columns can be sliced by."""
    import evalreport

    path = plan('name = "kfold"\nfolds = 3', BAYES, data=data)
    assert main(["resample", str(path), "-o", str(folder / "out")]) == 0
    assert f"next: evalreport run {folder / 'out'}{words}\n" in capsys.readouterr().err
    loaded = evalreport.load(folder / "out")
    assert ("ward" in loaded.metadata) is ("ward" in data)


def test_flags_win_over_the_plan(folder: Path, plan: Write):
    """--seed 3 gives what seed = 3 gives."""
    said = 'name = "kfold"\nfolds = 3'
    assert main(["resample", str(plan(said, BAYES)), "-q", "--seed", "3", "-o", str(folder / "flag")]) == 0
    assert main(["resample", str(plan(said, BAYES, top="seed = 3")), "-q", "-o", str(folder / "key")]) == 0
    assert main(["resample", str(plan(said, BAYES)), "-q", "-o", str(folder / "default")]) == 0
    flag, key, default = (
        (folder / name / "predictions.parquet").read_bytes() for name in ("flag", "key", "default")
    )
    assert flag == key != default


def test_flags_are_checked_as_the_plan_is(plan: Write, capsys):
    """Dask without a scheduler, a scheduler of nothing, an output of a foreign format."""
    path = plan('name = "kfold"', TREE)
    assert "needs the address of its scheduler" in refused(path, capsys, "--backend", "dask")
    assert "a scheduler belongs to the backend dask" in refused(
        path, capsys, "--backend", "loky", "--scheduler", "tcp://127.0.0.1:1"
    )
    assert "are written as .parquet" in refused(path, capsys, "-o", str(path.parent / "a.npz"))


@pytest.mark.parametrize("library", ["sklearn", "joblib"])
def test_a_missing_library_is_named_with_what_to_install(plan: Write, capsys, monkeypatch, library):
    """Without the extra there is no refitting, and the message says how to get it."""
    import sys

    monkeypatch.setitem(sys.modules, library, None)
    said = refused(plan('name = "kfold"', BAYES), capsys)
    assert f"{library} is not installed; " in said
    assert "install evalreport with its extra refit" in said
