"""The journal: torn, of another plan or of other data, and locked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.refit.journal import journal_path, open_journal
from evalreport.refit.resampling import resample
from tests.refit.conftest import BAYES, TREE
from tests.samples.refits import bytes_of, make_journal

Write = Callable[..., Path]


@pytest.mark.slow
def test_a_torn_journal_loses_its_last_record_only(folder: Path, plan: Write):
    """Cut anywhere, and with a byte turned: the whole records before are kept, the bytes are the same."""
    path = plan('name = "kfold"\nfolds = 6', BAYES)
    whole = resample(path, output=folder / "whole")
    journal = journal_path(folder / "out")
    kept: list[int] = []
    written = make_journal(path, folder)
    for size in (0, 5, 40, len(written) // 2, len(written) - 1, len(written)):
        journal.write_bytes(written[:size])
        again = resample(path, output=folder / "out")
        kept.append(again.n_reused)
        assert bytes_of(folder / "out") == bytes_of(folder / "whole")
    assert kept[0] == kept[1] == kept[2] == 0
    assert 0 < kept[3] < 6
    assert kept[4:] == [5, 6]
    journal.write_bytes(written[:-1] + bytes([written[-1] ^ 1]))
    assert resample(path, output=folder / "out").n_reused == 5
    assert whole.n_fits == 6


@pytest.mark.parametrize(
    "scheme, parameters, top",
    [
        ('name = "kfold"\nfolds = 6', "", "seed = 1"),
        ('name = "kfold"\nfolds = 5', "", ""),
        ('name = "kfold"\nfolds = 6', "parameters = {var_smoothing = 0.1}\n", ""),
    ],
    ids=["seed", "folds", "parameters"],
)
def test_fits_of_another_plan_are_not_taken_for_this_one(folder: Path, plan: Write, scheme, parameters, top):
    """Seed, scheme and parameters are part of what a finished fit is known by."""
    written = make_journal(plan('name = "kfold"\nfolds = 6', BAYES), folder)
    path = plan(scheme, BAYES + parameters, top=top)
    journal_path(folder / "out").write_bytes(written)
    assert resample(path, output=folder / "out").n_reused == 0


def test_fits_of_other_data_are_not_taken_for_these(folder: Path, plan: Write):
    """One value that is changed in the file is enough."""
    path = plan('name = "kfold"\nfolds = 6', BAYES)
    written = make_journal(path, folder)
    text = (folder / "examples.csv").read_text()
    (folder / "examples.csv").write_text(text.replace("e7,", "e7,1", 1))
    journal_path(folder / "out").write_bytes(written)
    assert resample(path, output=folder / "out").n_reused == 0


def test_two_processes_do_not_write_one_journal(folder: Path, plan: Write, capsys):
    """The second one is refused by name."""
    pytest.importorskip("fcntl")
    path = plan('name = "kfold"\nfolds = 3', TREE)
    with open_journal(journal_path(folder / "out")):
        assert main(["resample", str(path), "-o", str(folder / "out"), "-q"]) == 2
    assert "another evalreport resample is at work on this output" in capsys.readouterr().err
