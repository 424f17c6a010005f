"""`evalreport history`: what is shown, compared, accepted, exported and pruned."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.history.connection import open_history
from evalreport.history.store import predictions_of
from tests.samples.audits import share, write

URL = "sqlite:///audits.db"
DAYS = {"monday": 90, "tuesday": 60, "wednesday": 91}


GATED = [
    "-m",
    "accuracy",
    "-q",
    "--gate",
    "forest.accuracy >= accepted - 0.15",
    "--resamples",
    "50",
    "-f",
    "json",
]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A folder with the history of three audits (exit 0, 1 and 0), their predictions and the last report."""
    folder = tmp_path_factory.mktemp("audited")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for place, (day, correct) in enumerate(DAYS.items(), start=1):
            models = str(write(Path(day), share(correct, 100)))
            main(["audit", models, "--history", URL, *GATED, "--time", f"2025-03-0{place}"])
    return folder


@pytest.fixture
def ask(audited, tmp_path, monkeypatch, capsys):
    """Call `evalreport history` on a copy of it; return exit code, output and messages."""
    monkeypatch.chdir(shutil.copytree(audited, tmp_path / "audited"))

    def call(*words: object, url: str = URL) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["history", *map(str, words), "--history", url])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_list_has_a_line_a_run(ask):
    """Number, time, series, exit code, marks, n and the values, tab-separated where nobody looks on."""
    code, out, said = ask("list")
    rows = [line.split("\t") for line in out.splitlines()]
    assert (code, said) == (0, "")
    assert [row[:6] for row in rows] == [
        ["1", "2025-03-01T00:00:00Z", "default", "0", "accepted", "100"],
        ["2", "2025-03-02T00:00:00Z", "default", "1", "", "100"],
        ["3", "2025-03-03T00:00:00Z", "default", "0", "last", "100"],
    ]
    assert rows[0][6] == "forest 0.9000 [0.8256, 0.9448]"
    assert ask("list", "--series", "weekly")[1] == ""


def test_show_says_what_a_run_was_about(ask):
    """Its input with its digest, its gate, its change, and when it was accepted."""
    _, out, _ = ask("show", 2)
    assert "gate: fail: forest.accuracy >= accepted - 0.15:" in out
    assert "since accepted run 1: forest.accuracy: −0.3000 [" in out
    assert "input: forest.csv (100 rows, " in out
    assert "accepted: 2025-03-01T00:00:00Z (the first run of the series)" in ask("show", 1)[1]
    assert ask("show", 9)[0] == 2


def test_diff_says_what_is_not_the_same(ask):
    """The input, the value, the gate; nothing that is equal."""
    _, out, _ = ask("diff", 1, 2)
    rows = [line.split("\t") for line in out.splitlines()]
    assert ["value", "forest.accuracy", "0.9", "0.6"] in rows
    assert ["gate", "forest.accuracy >= accepted - 0.15", "pass", "fail"] in rows
    assert [row[1] for row in rows if row[0] == "input"] == ["forest.csv"]
    assert not any(row[0] in ("option", "version", "data") for row in rows)
    assert ask("diff", 1, 1) == (0, "", "")


def test_accept_pins_a_run_from_then_on(ask):
    """The next audit is compared with it."""
    code, out, _ = ask("accept", 2, "--note", "new data, reviewed")
    assert (code, out) == (0, "run 2 of 2025-03-02T00:00:00Z is the accepted run of the series default\n")
    assert "new data, reviewed" in ask("show", 2)[1]
    main(["audit", str(write(Path("thursday"), share(65, 100))), "--history", URL, *GATED])
    assert "accepted_run: 2\n" in ask("show", 4)[1]
    assert ask("accept", 9)[0] == 2


def test_accept_takes_several_runs(ask):
    """They are marked in the list, and named; the newest is the accepted run."""
    said = (
        "run 3 of 2025-03-03T00:00:00Z is the accepted run of the series default, accepted together with 1\n"
    )
    assert ask("accept", 3, 1, "--note", "two good nights") == (0, said, "")
    rows = [line.split("\t") for line in ask("list")[1].splitlines()]
    assert [row[4] for row in rows] == ["accepted", "", "accepted last"]
    assert "two good nights" in ask("show", 1)[1]
    assert ask("accept")[0] == 2


def test_export_gives_every_run_back(ask):
    """JSON lines on standard output or into a file; or a folder a run with the very bytes of its results.json."""
    lines = ask("export")[1].splitlines()
    records = [json.loads(line) for line in lines]
    assert [(r["run"], r["exit_code"], r["accepted"], r["last"]) for r in records] == [
        (1, 0, True, False),
        (2, 1, False, False),
        (3, 0, False, True),
    ]
    assert [(r["results"]["n"], r["accepted_run"]) for r in records] == [(100, None), (100, 1), (100, 1)]
    assert ask("export", "-o", "all.jsonl")[0] == 0
    assert Path("all.jsonl").read_text().splitlines() == lines
    assert ask("export", "--folder", "-o", "all")[0] == 0
    assert Path("all/run-3/results.json").read_bytes() == Path("evalreport-out/results.json").read_bytes()
    assert json.loads(Path("all/run-2/run.json").read_text())["exit_code"] == 1
    assert ask("export", "--folder")[0] == 2
    assert ask("export", "-o", "all.jsonl/folder.jsonl")[0] == 2


def test_prune_keeps_what_was_asked_for_and_what_is_needed(ask):
    """Run 2 alone is neither accepted, last nor newest."""
    assert ask("prune")[0] == 2
    assert ask("prune", "--older-than", "soon")[0] == 2
    assert ask("prune", "--older-than", "2025-03-02")[1] == "0 runs removed\n"
    assert ask("prune", "--keep", 5)[1] == "0 runs removed\n"
    assert ask("prune", "--keep", 1, "--predictions-only")[1] == "predictions of 1 run removed\n"
    history = open_history(URL)
    kept = {run_id: predictions_of(history, run_id) is not None for run_id in (1, 2, 3)}
    assert kept == {1: True, 2: False, 3: True}
    assert ask("prune", "--keep", 1, "--older-than", 10)[1] == "1 run removed\n"
    assert [line.split("\t")[0] for line in ask("list")[1].splitlines()] == ["1", "3"]


def test_names_from_files_cannot_act_on_a_terminal(ask):
    """A model's name with an escape sequence is written out."""
    folder = write(Path("hostile"), share(90, 100))
    text = (folder / "forest.csv").read_text()
    rows = text.replace("\n", ",\x1b[2Jbad\n").replace("y_pred,\x1b[2Jbad", "y_pred,model", 1)
    (folder / "forest.csv").write_text(rows)
    main(["audit", str(folder), "--history", URL, "-q", "-m", "accuracy", "-f", "json"])
    for words in (("list",), ("show", 4), ("diff", 1, 4)):
        _, out, _ = ask(*words)
        assert "\x1b" not in out
        assert "U+001B[2Jbad" in out


@pytest.mark.parametrize("words", [("list",), ("show", 1), ("diff", 1, 2), ("accept", 1), ("export",)])
def test_a_history_that_is_not_there_is_said_and_not_made(ask, words):
    """Exit 2, and no empty file is left that looks like a history."""
    code, _, said = ask(*words, url="sqlite:///other.db")
    assert code == 2
    assert "no such file" in said
    assert not Path("other.db").exists()


def test_diff_prints_half_a_screen_and_all_of_it_on_request(ask, monkeypatch):
    """Of 60 differences the gates and values come first; 20 lines in all, and --verbose has every one."""
    from evalreport.history import changes

    made = [changes.Change("warning", f"w{k:02d}", None, "raised") for k in range(58)]
    made += [
        changes.Change("value", "m.accuracy", 0.9, 0.8),
        changes.Change("gate", "m.accuracy >= 0.85", "pass", "fail"),
    ]
    monkeypatch.setattr(changes, "changes", lambda *_: made)
    lines = ask("diff", 1, 2)[1].splitlines()
    assert [line.split("\t")[0] for line in lines[:3]] == ["gate", "value", "warning"]
    assert (len(lines), lines[-1]) == (20, "41 more lines: --verbose shows them")
    assert len(ask("diff", 1, 2, "--verbose")[1].splitlines()) == 60
