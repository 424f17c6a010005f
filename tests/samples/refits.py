"""Journals and files of finished plans, and plans that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.refit.journal import journal_path
from evalreport.refit.resampling import resample


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def make_journal(path: Path, folder: Path) -> bytes:
    """The journal of a finished plan, which a run that ends well removes."""
    from evalreport.refit import resampling

    seen: list[bytes] = []
    usual = resampling._write

    def spy(*arguments, **named):
        seen.append(journal_path(folder / "out").read_bytes())
        return usual(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "_write", spy)
        resample(path, output=folder / "out")
    return seen[0]


def refused(plan: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run the command quietly; return its one line on standard error."""
    code = main(["resample", str(plan), "-q", "-o", str(plan.parent / "out"), *words])
    out, err = capsys.readouterr()
    assert code == 2, err
    assert out == ""
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1, err
    assert not (plan.parent / "out").exists()
    assert not [path for path in plan.parent.iterdir() if path.name.endswith(".fits")]
    return err
