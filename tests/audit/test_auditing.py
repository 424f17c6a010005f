"""The time of an audit, and the short spelling of --jobs, as the command line is promised."""

from pathlib import Path

import pytest

from evalreport.cli import main

ROWS = "id,y_true,y_pred\n" + "".join(f"{i},{i % 2},{(i % 3) % 2}\n" for i in range(40))


def test_the_history_bears_the_day_of_source_date_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --time an audit is recorded at SOURCE_DATE_EPOCH, as its report is; it was recorded at the clock's."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    (tmp_path / "m.csv").write_text(ROWS)
    history = f"sqlite:///{tmp_path / 'h.db'}"
    said = ["-q", "-f", "json", "-o", str(tmp_path / "out"), "--resamples", "20"]
    assert main(["audit", str(tmp_path / "m.csv"), "--history", history, *said]) == 0
    capsys.readouterr()
    assert main(["history", "list", "--history", history]) == 0
    assert "2023-11-14T22:13:20Z" in capsys.readouterr().out


def test_jobs_has_a_short_spelling(tmp_path: Path) -> None:
    """``-j 2`` is ``--jobs 2``: the same bytes."""
    (tmp_path / "m.csv").write_text(ROWS)
    for name, words in (("a", ["-j", "2"]), ("b", ["--jobs", "2"])):
        said = [
            "run",
            str(tmp_path / "m.csv"),
            "-q",
            "-f",
            "json",
            "-o",
            str(tmp_path / name),
            "--resamples",
            "20",
        ]
        assert main([*said, *words]) == 0
    one, other = ((tmp_path / name / "results.json").read_bytes() for name in "ab")
    assert one == other
