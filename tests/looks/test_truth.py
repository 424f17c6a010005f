"""The digest of the true values."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import evalreport as er
from evalreport.errors import InputError
from evalreport.looks.criteria import truth_digest, truth_of_files
from evalreport.options import Options


def test_the_digest_is_that_of_sorted_lines() -> None:
    """Id, tab, label and line feed, sorted by bytes, whatever the order of the rows."""
    model = {"id": ["b", "a", "é"], "y_true": ["no", "yes", "no"], "y_pred": ["no", "no", "yes"]}
    expected = hashlib.sha256("a\tyes\nb\tno\né\tno\n".encode()).hexdigest()
    assert truth_digest(er.load({"m": model})) == expected


def test_numbers_are_written_as_short_as_they_read_back() -> None:
    """1.0 is 1."""
    model = {"id": ["a", "b"], "y_true": [1.0, 0.1], "y_pred": [1.5, 0.2]}
    expected = hashlib.sha256(b"a\t1\nb\t0.1\n").hexdigest()
    assert truth_digest(er.load({"m": model}, task="regression")) == expected


def test_files_of_the_truth_and_of_predictions_have_one_digest(tmp_path: Path) -> None:
    """No prediction is needed for it, and none changes it."""
    (tmp_path / "truth.csv").write_text("id,y_true\nb,no\na,yes\n")
    (tmp_path / "m.csv").write_text("id,y_true,y_pred\na,yes,no\nb,no,no\n")
    found = {truth_of_files(str(tmp_path / name), Options()) for name in ("truth.csv", "m.csv")}
    assert found == {hashlib.sha256(b"a\tyes\nb\tno\n").hexdigest()}


def test_a_truth_without_ids_is_refused(tmp_path: Path) -> None:
    """Row numbers are no ids."""
    (tmp_path / "truth.csv").write_text("y_true\nno\nyes\n")
    with pytest.raises(InputError, match="no ids"):
        truth_of_files(str(tmp_path / "truth.csv"), Options())
