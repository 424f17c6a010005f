"""A damaged history ends in words: what can be read is shown, and what cannot is named."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalreport.cli import main
from tests.samples.audits import share, write
from tests.samples.cases import every

URL = "sqlite:///audits.db"
NIGHTS = (90, 88, 91)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of three audits."""
    folder = tmp_path_factory.mktemp("history")
    for number, correct in enumerate(NIGHTS, start=1):
        models = write(folder / f"night-{number}", share(correct, 100), first=100 * number)
        words = ["audit", str(models), "--history", f"sqlite:///{folder}/audits.db", "-m", "accuracy", "-q"]
        assert main([*words, "--resamples", "20", "-f", "json", "-o", str(folder / "out"), "--time",
                     f"2025-03-0{number}"]) == 0  # fmt: skip
    write(folder / "night-4", share(80, 100), first=400)
    return folder


@pytest.fixture
def history(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """A copy of it in the current folder, to be damaged."""
    shutil.copy(good / "audits.db", tmp_path / "audits.db")
    shutil.copytree(good / "night-4", tmp_path / "night-4")
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("audits.db", isolation_level=None)) as database:
        yield database


def summary(**changes: object) -> str:
    """Return a summary with some wrong parts."""
    whole = {
        "n": 100, "primary_metric": "accuracy", "values": {"forest": [0.9, 0.8, 0.95]}, "models": ["forest"],
        "task": "binary", "headline": "", "tone": "neutral", "evidence": {},
    }  # fmt: skip
    return json.dumps(whole | changes)


DAMAGES = {
    "a series as bytes": "series = x'ff00'",
    "a time that is none": "time = '2025-13-45'",
    "a time as a number": "time = 7",
    "an exit code as text": "exit_code = 'none'",
    "an accepted run as text": "accepted_run = 'x'",
    "no summary": "summary = ''",
    "a summary that is a list": "summary = '[]'",
    "a summary as bytes": "summary = x'ff'",
    "n as text": f"summary = '{summary(n='many')}'",
    "values as a list": f"summary = '{summary(values=[1])}'",
    "two values": f"summary = '{summary(values={'forest': [1, 2]})}'",
    "a value as text": f"summary = '{summary(values={'forest': ['x', 0, 1]})}'",
    "evidence as text": f"summary = '{summary(evidence='x')}'",
    "a look as text": f"summary = '{summary(evidence={'look': 'x'})}'",
    "ids that are no digests": f"summary = '{summary(evidence={'ids': ['zz']})}'",
}


@pytest.mark.parametrize("damage", every(3, DAMAGES.values()), ids=DAMAGES)
def test_the_other_runs_are_shown_and_the_damaged_one_is_named(
    damage: str, history: sqlite3.Connection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the list, the export and the page; a next audit, which would be compared with it, says so."""
    history.execute(f"UPDATE evalreport_runs SET {damage} WHERE id = 2")  # noqa: S608 - written above
    for words in (["list"], ["export"], ["site", "site"]):
        capsys.readouterr()
        assert main(["history", *words, "--history", URL]) == 2
        out, said = capsys.readouterr()
        assert said.startswith("evalreport: sqlite:///audits.db: run 2 is damaged (")
        assert said.count("\n") == 1
        assert "restore the database from a copy" in said
        if words == ["list"]:
            assert [line.split("\t")[0] for line in out.splitlines()] == ["1", "3"]
        elif words == ["export"]:
            assert [json.loads(line)["run"] for line in out.splitlines()] == [1, 3]
    assert "2 audits" in out
    assert main(["history", "show", "2", "--history", URL]) == 2
    assert "run 2 is damaged" in capsys.readouterr().err
    code = main(
        ["audit", "night-4", "--history", URL, "-m", "accuracy", "-q", "--resamples", "20", "-f", "json"]
    )
    said = capsys.readouterr().err
    # What is of no series is of another one.
    assert (code, "run 2 is damaged" in said) == ((0, False) if damage.startswith("series") else (2, True))


@pytest.mark.parametrize(
    "sql, said",
    [
        ("UPDATE evalreport_schema SET version = 'three'", "does not hold one version"),
        ("UPDATE evalreport_schema SET version = -1", "does not hold one version"),
        ("DELETE FROM evalreport_schema", "does not hold one version"),
        ("INSERT INTO evalreport_schema VALUES (3)", "does not hold one version"),
        ("UPDATE evalreport_schema SET version = 99", "newer evalreport"),
        ("DROP TABLE evalreport_runs", "no such table"),
        ("DROP TABLE evalreport_schema", "holds no history"),
    ],
)
def test_a_table_that_is_lost_or_empty_is_said(
    sql: str, said: str, history: sqlite3.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and exit code 2."""
    history.execute("PRAGMA foreign_keys = OFF")
    history.execute(sql)
    assert main(["history", "list", "--history", URL]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["list", "site"])
def test_a_definition_that_is_no_text_is_said(
    command: str, history: sqlite3.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite quotes the damaged bytes in its message, which Python cannot read: one line and exit code 2."""
    history.execute("PRAGMA writable_schema = ON")
    damaged = b"CREATE TABLE evalreport_runs (run_id INTEGER, FOREIGN KEY(run_id) REFEREN\x89 x (id))"
    changed = "UPDATE sqlite_master SET sql = CAST(? AS TEXT) WHERE name = 'evalreport_runs'"
    history.execute(changed, [damaged])
    words = ["history", command, *(["pages"] if command == "site" else []), "--history", URL]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert "malformed" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "sql", ["DROP TABLE evalreport_acceptances", "UPDATE evalreport_acceptances SET run_id = 'x'"]
)
def test_runs_are_shown_without_the_log_of_accepted_ones(
    sql: str, history: sqlite3.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list and the page lack the marks, and say why."""
    history.execute("PRAGMA foreign_keys = OFF")
    history.execute(sql)
    for words in (["list"], ["site", "site"]):
        assert main(["history", *words, "--history", URL]) == 2
        out, said = capsys.readouterr()
        assert ("accepted" in said) or ("acceptances" in said)
        assert len(out.splitlines()) == (3 if words == ["list"] else 1)


@pytest.mark.parametrize("results", every(2, [b"[]", b"{}", b'{"schema": 3}', b"\xff", b"[" * 100_000]))
def test_results_that_were_edited_are_named(
    results: bytes, history: sqlite3.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where their digest was made anew."""
    history.execute(
        "UPDATE evalreport_runs SET results = ?, results_sha256 = ? WHERE id = 2",
        (zlib.compress(results), hashlib.sha256(results).hexdigest()),
    )
    for words in (["site", "site"], ["export"], ["show", "2"], ["diff", "1", "2"]):
        capsys.readouterr()
        assert main(["history", *words, "--history", URL]) == 2
        assert "run 2" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["x", 10**12, b"", zlib.compress(b" " * 1000)[:9]])
def test_results_that_are_no_bytes_are_named(
    content: object, history: sqlite3.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A number in their place is not that many bytes."""
    history.execute("UPDATE evalreport_runs SET results = ? WHERE id = 2", (content,))
    history.execute("UPDATE evalreport_predictions SET content = ? WHERE run_id = 1", (content,))
    assert main(["history", "show", "2", "--history", URL]) == 2
    assert "the results of run 2 are damaged" in capsys.readouterr().err
    assert main(["audit", "night-4", "--history", URL, "-m", "accuracy", "-q"]) == 2
    assert "the predictions of run 1 are damaged" in capsys.readouterr().err
