"""The program as a whole: what it imports, its commands, and how each kind of failure ends."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from evalreport import cli as cli_module
from evalreport.cli import clean
from tests.samples.cases import every

ROOT = Path(__file__).resolve().parents[2]
# Everything that --help does not need: numpy alone takes a tenth of a second.
HEAVY = {
    "dask", "duckdb", "jinja2", "joblib", "matplotlib", "narwhals", "numpy", "pandas", "polars", "pyarrow",
    "rich", "scipy", "sklearn", "sqlalchemy", "statsmodels", "weasyprint",
}  # fmt: skip


def imported_by(*words: str) -> set[str]:
    """Return the top-level modules that a call of the program imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "evalreport", *words],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    names = {line.split("|")[2].strip() for line in done.stderr.splitlines() if line.count("|") == 2}
    return {name.split(".")[0] for name in names} | {n for n in names if n.startswith("evalreport.")}


@pytest.mark.parametrize(
    "words",
    every(
        2, [["--help"], ["--version"], ["run", "--help"], ["check", "--help"], ["list", "metrics", "--help"]]
    ),
)
def test_help_imports_click_and_the_standard_library_only(words):
    """None of the heavy libraries, and no room of the analysis."""
    names = imported_by(*words)
    assert "click" in names
    assert not names & HEAVY
    rooms = {name.split(".")[1] for name in names if name.startswith("evalreport.")}
    assert rooms <= {
        "cli",
        "errors",
        "extensions",
        "files",
        "keys",
        "keywords",
        "numbers",
        "platform",
        "questions",  # the options of their rooms
        "redaction",
        "registry",
        "sources",
        "options",
        "texts",
        "version",
    }


def test_importing_the_package_imports_no_heavy_library():
    """`import evalreport` is cheap; its functions import when they are called."""
    code = "import evalreport as er, sys; er.Options; er.plots; er.errors.InputError; dir(er)"
    code += "; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not set(done.stdout.split()) & HEAVY


def test_help_names_every_command_and_the_exit_codes(run):
    """The first page that a newcomer sees."""
    outcome = run("--help")
    assert outcome.code == 0
    for command in ("run", "check", "list", "init", "templates"):
        assert re.search(rf"^  {command} ", outcome.out, flags=re.MULTILINE)
    for code in ("0 done", "1 a gate failed", "2 bad usage", "3 no gate failed", "4 an output"):
        assert code in " ".join(outcome.out.split())


def test_no_summary_of_a_command_is_cut_off(run):
    """An ellipsis in the list of commands would hide what a command does."""
    assert "..." not in run("--help").out.split("Commands:")[1]
    for group in ("list", "templates", "history"):
        assert "..." not in run(group, "--help").out.split("Commands:")[1]


@pytest.mark.parametrize(
    "words, message",
    [
        (["rnu", "models"], "unknown command 'rnu'; did you mean run?"),
        ([str(Path(__file__).parent)], "is a file or folder, and no command: evalreport run "),
        (["verify"], "Missing argument 'RESULTS'"),
        (["run", "models", "--confidnce", "0.9"], "--confidence"),
        (["run", "models", "--task", "binray"], "'binray' is not one of"),
        (["run", "models", "--seed", "x"], "'x' is not a valid integer"),
        (["list", "metrisc"], "metrisc"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(run, words, message):
    """One message on standard error, nothing on standard output, no traceback."""
    outcome = run(*words)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("evalreport: ")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_no_command_is_bad_usage_that_shows_the_help(run):
    """`evalreport` alone."""
    outcome = run()
    assert outcome.code == 2
    assert "Usage: evalreport" in outcome.err


def test_version(run):
    """The version of the package."""
    import evalreport

    assert run("--version").out == f"evalreport {evalreport.__version__}\n"


def test_a_defect_is_no_failed_gate(run, fakes):
    """An unexpected exception ends with 70 and asks for a report; 1 would say that a gate failed."""

    def fail():
        raise ZeroDivisionError("secret detail")

    fakes.on_evaluate = fail
    outcome = run("run", "models")
    assert outcome.code == 70
    assert "internal error: ZeroDivisionError: secret detail" in outcome.err
    assert "please report it" in outcome.err
    assert "Traceback" not in outcome.err
    assert "Traceback" in run("run", "models", "--verbose").err


def test_an_interrupted_run_says_that_nothing_was_written(run, fakes):
    """Ctrl-C during the analysis ends with 130, one line, no traceback."""

    def interrupt():
        raise KeyboardInterrupt

    fakes.on_evaluate = interrupt
    outcome = run("run", "models")
    assert outcome.code == 130
    assert outcome.err.splitlines()[-1] == "interrupted; nothing was written"
    assert "Traceback" not in outcome.err


def test_sigterm_ends_a_run_as_ctrl_c_does(run, fakes):
    """One line, no traceback, 128 + 15 as a shell says it; what handled the signal before handles it again."""
    before = signal.getsignal(signal.SIGTERM)
    fakes.on_evaluate = lambda: os.kill(os.getpid(), signal.SIGTERM)
    outcome = run("run", "models")
    assert outcome.code == 143
    assert outcome.err.splitlines()[-1] == "interrupted; nothing was written"
    assert "Traceback" not in outcome.err
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_interrupt_of_a_command_that_writes_no_report_says_no_more_than_it_knows(run, monkeypatch):
    """`nothing was written` would be a guess there."""

    def interrupt(*_words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("evalreport.cli._answer", interrupt)
    outcome = run("list", "metrics")
    assert (outcome.code, outcome.err) == (130, "interrupted\n")


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_that_a_library_reports_as_another_error_is_one(run, fakes, number, code):
    """DuckDB's set-up, when a signal meets it, ends with an ImportError that does not say why: no defect."""

    def interrupt():
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise ImportError("Encountered an error while initializing the extension.") from None

    fakes.on_evaluate = interrupt
    outcome = run("run", "models")
    assert outcome.code == code
    assert outcome.err.splitlines()[-1] == "interrupted; nothing was written"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_that_python_can_only_print_is_raised_once_more(
    run, fakes, monkeypatch, number, code
):
    """Imports have weak references with callbacks: what these raise goes nowhere, and its traceback is no message."""
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)

    class Watched:
        pass

    def interrupt():
        one = Watched()
        watched = weakref.ref(one, lambda _: signal.raise_signal(number))
        del one
        assert watched() is None
        fakes.calls[-1]["progress"]("comparing", 0.6)

    fakes.on_evaluate = interrupt
    outcome = run("run", "models")
    assert outcome.code == code
    assert outcome.err.splitlines()[-1] == "interrupted; nothing was written"
    assert printed == []
    assert sys.unraisablehook == printed.append


@pytest.mark.parametrize(
    "words", [["run", "mod\udcffels"], ["run", "models", "--title", "\udcff", "-o", "x"]]
)
def test_an_argument_that_is_no_utf8_is_refused(run, words):
    """Names and texts stand in reports, which are UTF-8: exit 2, one line, before anything is read."""
    outcome = run(*words)
    assert outcome.code == 2
    assert "not UTF-8" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_what_comes_from_a_file_cannot_act_on_the_terminal(run, tmp_path):
    """An escape sequence in a name is written out, and so is a line break."""
    outcome = run("run", "models", "--config", "a\x1b[2J\nb")
    assert outcome.code == 2
    assert "\x1b" not in outcome.err
    assert "aU+001B[2JU+000Ab" in outcome.err


def test_a_closed_pipe_is_quiet():
    """`evalreport --help | head -0` prints no traceback and does not end like a failed gate."""
    code = (
        "import os, sys\n"
        "reading, writing = os.pipe()\n"
        "os.close(reading)\n"
        "os.dup2(writing, 1)\n"
        "from evalreport.cli import main\n"
        "sys.exit(main(['--help']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == ""
    assert done.returncode == 141


def test_a_name_that_the_terminal_cannot_write_is_escaped():
    """A file name in bytes that are no UTF-8, under an ASCII terminal, still gives one message."""
    done = subprocess.run(
        [sys.executable, "-m", "evalreport", "run", b"mod\xffels-\xc3\xa9"],
        capture_output=True, cwd=ROOT, check=False, env={"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"evalreport: ")


def test_completion_offers_the_commands(monkeypatch):
    """The shell asks through an environment variable."""
    done = subprocess.run(
        [sys.executable, "-m", "evalreport"], capture_output=True, text=True, cwd=ROOT, check=False,
        env={"_EVALREPORT_COMPLETE": "bash_complete", "COMP_WORDS": "evalreport te", "COMP_CWORD": "1"},
    )  # fmt: skip
    assert done.stdout.split() == ["plain,templates"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_standard_output_is_no_defect():
    """What was asked for could not be written: exit code 4, one line that says why, no internal error."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "evalreport", "list", "tests"],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
    assert done.returncode == 4
    assert done.stderr.startswith("evalreport: standard output: No space left")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("character", ["\u200b", "\ufeff", "\u00ad", "\u202e", "\x1b", "\U000e0041"])
def test_what_cannot_be_seen_is_written_as_its_code_point(character):
    """Names that differ by it alone must not look alike on a terminal; spaces and joiners of letters stay."""
    assert clean(f"a{character}b") == f"aU+{ord(character):04X}b"
    assert clean("a\u00a0b\u200dc") == "a\u00a0b\u200dc"


COMMANDS = ("--version", "--help", "list tests")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the shell closes the streams")
@pytest.mark.parametrize(
    "closed, code, command",
    [
        *((closed, code, command) for closed, code in ((">&-", 4), ("2>&-", 0)) for command in COMMANDS),
        ("</dev/null 0<&-", 0, "--version"),
        (">/dev/full", 4, "--help"),
    ],
)
def test_a_closed_stream_is_no_failed_gate(closed, code, command):
    """Python has no stream there, and 1 would say that a gate failed; standard error changes no exit code."""
    line = f'"{sys.executable}" -m evalreport {command} {closed}'
    done = subprocess.run(line, shell=True, cwd=ROOT, check=False, capture_output=True, text=True)  # noqa: S602
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert ("standard output" in done.stderr) == (code == 4)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the shell closes the streams")
@pytest.mark.parametrize(
    "closed, gate, code",
    [
        (">&-", "n >= 5", 4),
        ("2>&-", "n >= 5", 0),
        (">&- 2>&-", "n >= 500", 1),
        (">/dev/full 2>/dev/full", "n >= 500", 1),
    ],
)
def test_the_work_is_done_whatever_becomes_of_the_streams(run, closed, gate, code, tmp_path):
    """The report is there and the run is recorded; a gate that failed stays the exit code."""
    rows = "".join(f"e{i},{i % 2},{i % 3 % 2}\n" for i in range(24))
    (tmp_path / "m.csv").write_text("id,y_true,y_pred\n" + rows)
    words = "audit m.csv --history sqlite:///h.db -m accuracy --resamples 20 -f json -o out"
    line = f'"{sys.executable}" -m evalreport {words} --gate "{gate}" {closed}'
    done = subprocess.run(line, shell=True, cwd=tmp_path, check=False, capture_output=True, text=True,  # noqa: S602
                          env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert gate in (tmp_path / "out" / "results.json").read_text()
    listed = run("history", "list", "--history", f"sqlite:///{tmp_path}/h.db")
    assert listed.code == 0
    assert len(listed.out.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a current folder stays elsewhere")
def test_a_current_folder_that_is_gone_is_said(tmp_path):
    """Relative paths lead nowhere; whole ones are read and written as ever."""
    (tmp_path / "m.csv").write_text("id,y_true,y_pred\na,1,1\nb,0,1\n")
    start = f'mkdir -p "{tmp_path}/gone" && cd "{tmp_path}/gone" && rmdir ../gone && "{sys.executable}" -m evalreport'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words, code in (("check ../m.csv", 2), (f'check "{tmp_path}/m.csv" -q', 0)):
        line = f"{start} {words}"
        done = subprocess.run(line, shell=True, check=False, capture_output=True, text=True, env=environment)  # noqa: S602
        assert done.returncode == code, done.stderr
        assert ("the current folder is gone" in done.stderr) == (code == 2)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "no"),
        ImportError("x.so: failed to map segment from shared object"),
    ],
    ids=repr,
)
def test_too_little_memory_is_no_defect(error, run, monkeypatch):
    """`ulimit -v`, or the limit of a container: a line of words, also where a library wraps the error."""

    def fails(*_words, **_options):
        try:
            raise error
        except type(error) as cause:
            raise RuntimeError("a library's own") from cause

    monkeypatch.setattr(cli_module, "_answer", fails)
    outcome = run("run", "models")
    assert outcome.code == 2
    assert outcome.err.startswith("evalreport: there is not enough memory")
    assert len(outcome.err.splitlines()) == 1
