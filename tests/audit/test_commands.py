"""`evalreport audit` from its words to its exit code, in this process."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.history.connection import open_history
from evalreport.history.store import locked, predictions_of, results_of, runs
from tests.samples.audits import share, write
from tests.samples.cases import every
from tests.samples.systems import needs_locks

URL = "sqlite:///audits.db"
QUICK = ("-m", "accuracy", "--resamples", "50", "-f", "json,md")
RATCHET = ("--gate", "forest.accuracy >= accepted - 0.03")


@pytest.fixture
def audit(tmp_path, monkeypatch, capsys):
    """Call `evalreport audit` in an empty folder; return its exit code, output and messages."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["audit", *map(str, words), "--history", URL, *QUICK])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def results() -> dict[str, object]:
    """The results.json of the last report."""
    return json.loads(Path("evalreport-out/results.json").read_text())


def test_an_audit_writes_the_report_and_records_the_run(audit):
    """What is stored is the results.json of the report, byte for byte; the predictions are kept."""
    code, out, said = audit(write(Path("models"), share(90, 100)), "--time", "2025-03-01T02:00:00+01:00")
    assert code == 0
    assert "report: evalreport-out/" in out
    assert "history: recorded as run 1 of the series default in sqlite:///audits.db" in said
    history = open_history(URL)
    run = runs(history)[0]
    assert results_of(history, 1) == Path("evalreport-out/results.json").read_bytes()
    assert (run.time, run.exit_code, run.signature) == ("2025-03-01T01:00:00Z", 0, results()["signature"])
    assert predictions_of(history, 1) is not None


def test_without_gates_and_history_the_report_is_that_of_run(audit, tmp_path):
    """The first audit's results.json equals that of `evalreport run`, but for a headline that says it is the first."""
    models = write(Path("models"), share(90, 100))
    audit(models)
    assert main(["run", str(models), "-o", "plain", "-q", *QUICK]) == 0
    plain, audited = (
        json.loads(Path(folder, "results.json").read_bytes()) for folder in ("plain", "evalreport-out")
    )
    first, own = audited.pop("headline")["text"], plain.pop("headline")["text"]
    assert first.startswith("First run of the series: ")
    for results, headline in ((audited, first), (plain, own)):
        results["sentences"].pop(headline, None)
    assert plain == audited


@pytest.mark.slow
def test_new_models_share_a_line_and_the_promise_is_said_once(audit):
    """Two models that the accepted run does not have; the promise is that of the model whose runs may vary least."""
    for model, correct in (("forest", 96), ("tree", 60)):
        then = write(Path("then"), share(correct, 100), model=model)
    audit(then)
    for model, correct in (("forest", 95), ("tree", 61), ("net", 80), ("rules", 70)):
        now = write(Path("now"), share(correct, 100), first=1000, model=model)
    said = audit(now)[2]
    assert "net, rules are new: the accepted run has nothing to compare them with" in said
    assert said.count("an alarm about a model on new examples is false") == 1
    assert "by at most 0.010 (standard deviation)" in said  # a quarter of 1 - 0.96; of tree 0.02


def test_running_twice_adds_nothing_says_so_and_exits_the_same(audit):
    """Of a failed run too: same code, same bytes, one run more only for the new predictions."""
    audit(write(Path("then"), share(90, 100)), *RATCHET)
    now = write(Path("now"), share(60, 100))
    first = audit(now, *RATCHET)[0]
    before = Path("evalreport-out/results.json").read_bytes()
    again, _, said = audit(now, *RATCHET)
    assert (first, again) == (1, 1)
    assert "history: run 2 of" in said
    assert "nothing was added" in said
    assert Path("evalreport-out/results.json").read_bytes() == before
    assert [run.exit_code for run in runs(open_history(URL))] == [0, 1]


def test_another_question_of_the_same_predictions_is_another_run(audit):
    """Options that change results are part of a run's identity; -o and --title are not."""
    models = write(Path("models"), share(90, 100))
    audit(models)
    audit(models, "--seed", 1)
    audit(models, "-o", "elsewhere", "--title", "T")
    assert len(runs(open_history(URL))) == 2


@pytest.mark.parametrize(
    "gate, code",
    [("forest.accuracy >= 0.8", 0), ("forest.accuracy >= 0.97", 1), ("forest.accuracy >= 0.9", 3)],
)
def test_exit_codes_are_those_of_run_and_are_recorded(audit, gate, code):
    """0 every gate passed, 1 failed, 3 undecided: 90 of 100, Clopper and Pearson's interval is 0.824 to 0.951."""
    assert audit(write(Path("models"), share(90, 100)), "--gate", gate)[0] == code
    assert runs(open_history(URL))[0].exit_code == code


def test_quiet_success_says_nothing_and_quiet_failure_says_the_gate(audit):
    """For a scheduler that mails whatever is printed."""
    assert audit(write(Path("a"), share(90, 100)), "-q") == (0, "", "")
    code, out, said = audit(write(Path("b"), share(60, 100)), "-q", *RATCHET)
    assert (code, out) == (1, "")
    assert said.startswith("gate: fail: forest.accuracy >= accepted - 0.03: ")
    assert len(said.splitlines()) == 1


def test_log_lines_are_objects_where_asked_for(audit):
    """Every line on standard error parses and has a time, a level and a message; a failed gate is an error."""
    audit(write(Path("a"), share(90, 100)))
    _, _, said = audit(write(Path("b"), share(60, 100)), "--log-format", "json", "-q", *RATCHET)
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["level"] for line in lines] == ["error"]
    assert lines[0]["message"].startswith("gate: fail")
    assert lines[0]["time"].endswith("Z")
    _, _, said = audit("nowhere", "--log-format", "json")
    assert [json.loads(line)["level"] for line in said.splitlines()] == ["error"]
    _, _, said = audit("a", "--log-format", "json", "--seed", "x")
    assert "--seed" in json.loads(said)["message"]
    _, _, said = audit("a")
    assert not said.startswith("{")


def test_series_are_kept_apart(audit):
    """Each has its own first run; a name that cannot be seen is refused."""
    audit(write(Path("a"), share(90, 100)))
    code, _, _ = audit(write(Path("b"), share(60, 100)), *RATCHET, "--series", "weekly")
    assert code == 0
    assert [(run.series, run.accepted_run) for run in runs(open_history(URL))] == [
        ("default", None),
        ("weekly", None),
    ]
    for name in ("", " ", "a\nb", "x" * 201):
        assert audit("a", "--series", name)[0] == 2


@pytest.mark.parametrize("text", ["yesterday", "2025-13-01", "9999-12-31T23:59:59-12:00"])
def test_a_time_that_is_none_is_refused_before_the_work(audit, text):
    """Exit 2 and no history."""
    code, _, said = audit(write(Path("models"), share(9, 10)), "--time", text)
    assert code == 2
    assert "expected ISO 8601" in said
    assert not Path("audits.db").exists()


def test_bad_input_records_nothing(audit):
    """Exit 2 leaves the history as it is, and leaves the lock."""
    audit(write(Path("models"), share(90, 100)))
    Path("models/forest.csv").write_text("id,y_true,y_pred\n1,0,0\n1,0,0\n")
    assert audit("models")[0] == 2
    assert len(runs(open_history(URL))) == 1
    assert audit(write(Path("models"), share(91, 100)))[0] == 0


def test_the_report_shows_the_change(audit):
    """summary.md names the run, both values and the interval; the command to reproduce is an audit."""
    audit(write(Path("a"), share(90, 100)), "--time", "2025-03-01")
    audit(write(Path("b"), share(60, 100)), *RATCHET)
    summary = Path("evalreport-out/summary.md").read_text()
    assert "**A gate fails: forest’s accuracy is 0.600, 0.900 when accepted (change −0.300 " in summary
    assert ", needs ≥ accepted − 0.03.**" in summary
    assert "evalreport audit MODELS --history URL" in summary
    assert results()["history"][0]["paired"]


@pytest.mark.slow
@needs_locks
def test_another_audit_of_the_series_is_not_overtaken(audit):
    """With --wait 0 it leaves at once, with --wait 0.3 after that time: exit 2, nothing done, and it says who runs."""
    write(Path("models"), share(90, 100))
    history = open_history(URL, create=True)
    with locked(history, "default", wait=0):
        for wait in ("0", "0.3"):
            code, _, said = audit("models", "--wait", wait)
            assert code == 2
            assert "another audit of the series 'default' is running (process " in said
        assert "waiting up to 0.3 s" in said
        assert audit("models", "--wait", "0", "--series", "weekly")[0] == 0
    assert audit("models", "--wait", "0")[0] == 0
    assert [run.series for run in runs(history)] == ["weekly", "default"]


def test_standard_output_can_carry_the_json(audit):
    """`-o -` works as in run, and the run is recorded all the same."""
    code, _, _ = audit(write(Path("models"), share(90, 100)), "-o", "-", "-f", "json")
    assert code == 2  # QUICK names md as well, and standard output holds one format
    assert main(["audit", "models", "--history", URL, "-m", "accuracy", "-o", "-", "-f", "json", "-q"]) == 0
    assert len(runs(open_history(URL))) == 1


@pytest.mark.parametrize(
    "module, url, extra",
    [("sqlalchemy", URL, "history"), ("psycopg", "postgresql://nobody@localhost/none", "postgresql")],
)
def test_a_missing_library_is_named_with_its_extra(audit, monkeypatch, capsys, module, url, extra):
    """One line that says what to install, not a traceback."""
    write(Path("models"), share(9, 10))
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["audit", "models", "--history", url]) == 2
    assert f"install evalreport with its extra {extra} (in a clone: make env)" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_without_history_never_imports_the_database():
    """`--help` and `run` cost nothing for it."""
    import subprocess

    code = (
        "import sys; from evalreport.cli import main; main(['audit', '--help']); main(['history', '--help']);"
        " print(sorted({'sqlalchemy', 'psycopg', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "words, written", [((), "the report had been written: evalreport-out; "), (("-o", "-"), "")]
)
def test_an_interrupt_while_recording_says_what_may_be_there(tmp_path, monkeypatch, capsys, words, written):
    """Between report and record: the report is named where there is one, and the history is to be asked."""

    def interrupted(*_words: object, **_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalreport.audit.auditing.record", interrupted)
    models = write(Path("models"), share(90, 100))
    assert main(["audit", str(models), "--history", URL, *QUICK[:4], "-f", "json", "-q", *words]) == 130
    said = f"interrupted; {written}`evalreport history list` says whether this run was recorded"
    assert capsys.readouterr().err.splitlines()[-1] == said


def test_an_interrupt_before_the_report_says_that_no_run_was_recorded(tmp_path, monkeypatch, capsys):
    """The history itself may have been made by then."""

    def interrupted(*_words: object, **_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalreport.audit.auditing.audit", interrupted)
    models = write(Path("models"), share(90, 100))
    assert main(["audit", str(models), "--history", URL, *QUICK, "-q"]) == 130
    assert (
        capsys.readouterr().err.splitlines()[-1] == "interrupted; no report was written and no run recorded"
    )
    assert runs(open_history(URL)) == []


@pytest.mark.parametrize(
    "gate",
    every(
        2, ["alarms < 1", "accepted - 0.1 <= forest.accuracy", "forest.accuracy >= 0.2 every night", "n > 5"]
    ),
)
def test_the_command_of_a_summary_works_when_it_is_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: str
) -> None:
    """An indented line, which Markdown shows as code: the audit's own command, also without a gate that needs one."""
    monkeypatch.chdir(tmp_path)
    folder = write(Path("preds"), share(60, 100))
    url = "sqlite:///audits.db"
    words = ["--history", url, "-m", "accuracy", "--resamples", "50", "-f", "md,json", "-q"]
    assert main(["audit", str(folder), *words, "--gate", gate]) == 0
    before, line, after = Path("evalreport-out/summary.md").read_text().partition("\n\n    evalreport ")
    assert before.endswith("Command:")
    pasted = line.strip() + " " + after.partition("\n\n")[0]
    assert pasted.startswith("evalreport audit MODELS --history URL")
    typed = shlex.split(pasted.replace("MODELS", str(folder)).replace("URL", url))
    assert main([*typed[1:], "-o", "again", "-f", "json", "-q"]) == 0
    first, again = (
        json.loads(Path(name, "results.json").read_text()) for name in ("evalreport-out", "again")
    )
    assert first["signature"] == again["signature"]
    assert [row["gate"] for row in again["gates"]] == [gate]
