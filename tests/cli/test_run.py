"""`evalreport run`: what it hands on, what it prints where, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalreport.errors import InputError, OutputError
from evalreport.files import MOVE
from evalreport.schema.results import to_json


def raising(error):
    """Return a function of anything that raises the error."""

    def fail(*_arguments):
        raise error

    return fail


def test_options_reach_the_analysis_and_the_report(run, fakes):
    """Each flag fills its field; lists keep their order, once each."""
    Path("mine").mkdir()
    outcome = run(
        "run", "a.csv", "b.csv", "-o", "out", "-f", "md,html", "-f", "json", "--truth", "t.csv",
        "--task", "binary", "--positive", "yes", "--threshold", "0.3", "--join", "intersect", "-b", "tree",
        "-m", "f1", "-m", "mcc", "-m", "f1", "--interval", "all", "--test", "delong", "--confidence", "0.9",
        "--resamples", "99", "--seed", "0", "--correction", "none", "--margin", "0.02", "--slice", "site",
        "--cluster", "who", "--weight", "w", "--gate", "n >= 1", "--detail", "full", "--templates", "mine",
        "--title", "T", "--jobs", "2", "--lower-is-better",
    )  # fmt: skip
    assert outcome.code == 0
    call = fakes.calls[0]
    assert call["source"] == [Path("a.csv"), Path("b.csv")]
    assert call["jobs"] == 2
    options, output = call["options"], call["output"]
    assert (options.truth, options.task, options.positive, options.threshold) == (
        "t.csv",
        "binary",
        "yes",
        0.3,
    )
    assert (options.join, options.baseline, options.metrics) == ("intersect", "tree", ("f1", "mcc"))
    assert (options.intervals, options.tests, options.confidence) == (("all",), ("delong",), 0.9)
    assert (options.resamples, options.seed, options.correction, options.margin) == (99, 0, "none", 0.02)
    assert (options.slices, options.cluster, options.weight, options.gates) == (
        ("site",),
        "who",
        "w",
        ("n >= 1",),
    )
    assert options.lower_is_better
    assert (output.output, output.formats, output.formats_named) == (
        Path("out"),
        ("html", "json", "md"),
        True,
    )
    assert (output.detail, output.templates, output.title) == ("full", Path("mine"), "T")


def test_one_path_is_handed_on_as_it_is_and_nothing_is_named(run, fakes):
    """A folder stays a folder; without -f no format counts as named."""
    run("run", "models")
    assert fakes.calls[0]["source"] == Path("models")
    assert not fakes.calls[0]["output"].formats_named


def test_the_summary_goes_to_standard_output_and_what_is_said_to_standard_error(run, fakes):
    """The path of the report stands last; of five warnings three are said and the others counted."""
    outcome = run("run", "models")
    assert outcome.out.splitlines() == ["SUMMARY of 500", "report: evalreport-out/report.html"]
    said = outcome.err.splitlines()
    assert "positive class: 1 (the greater of 0 and 1)" in said
    assert "caution: warning number 2 [code_2]" in said
    assert "warning number 3" not in outcome.err
    assert any(line.startswith("2 more cautions") for line in said)


def test_verbose_says_every_warning(run, fakes):
    """All five."""
    assert "warning number 4" in run("run", "models", "-v").err


def test_quiet_says_nothing(run, fakes):
    """Neither what was found nor the summary."""
    outcome = run("run", "models", "-q")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_json_on_standard_output_is_exactly_the_results(run, fakes):
    """The bytes of results.json and nothing else; no folder is made."""
    outcome = run("run", "models", "-o", "-", "-f", "json")
    assert outcome.code == 0
    assert outcome.out.encode() == to_json(fakes.results)
    assert json.loads(outcome.out)["n"] == 500
    assert not Path("-").exists()
    assert not Path("evalreport-out").exists()


def test_standard_output_holds_one_format(run, fakes):
    """`-o -` without -f json is bad usage."""
    outcome = run("run", "models", "-o", "-")
    assert outcome.code == 2
    assert "-f json" in outcome.err
    assert fakes.calls == []


@pytest.mark.parametrize(
    "gates, missing, code",
    [
        (["forest.accuracy > 0.8"], False, 0),
        (["forest.accuracy > 0.9"], False, 3),
        (["forest.accuracy > 0.96"], False, 1),
        (["forest.accuracy > 0.9", "n >= 501"], False, 1),
        (["forest.accuracy > 0.8"], True, 4),
        (["forest.accuracy > 0.9"], True, 3),
        (["forest.accuracy > 0.96"], True, 1),
        (["forst.accuracy > 0.9", "n >= 501"], True, 2),
    ],
)
def test_exit_codes_and_their_precedence(run, fakes, gates, missing, code):
    """2 before 1 before 3 before 4; accuracy is 0.9 in [0.85, 0.95] and n is 500."""
    if missing:
        fakes.on_render = raising(OutputError("no PDF without Pango: apt-get install libpango-1.0-0"))
    words = [word for gate in gates for word in ("--gate", gate)]
    outcome = run("run", "models", "-f", "html,pdf", *words)
    assert outcome.code == code
    assert Path("evalreport-out/report.html").exists() == (code != 2)
    if missing and code != 2:
        assert "evalreport: no PDF without Pango" in outcome.err


def test_gates_that_did_not_pass_are_said_even_where_no_summary_is_printed(run, fakes):
    """An exit code alone would not tell a reader of a log which gate it was."""
    for words in (["-q"], ["-o", "-", "-f", "json"]):
        outcome = run("run", "models", *words, "--gate", "n >= 501", "--gate", "n >= 1")
        assert outcome.code == 1
        assert "gate: fail: n >= 501: n = 500" in outcome.err.splitlines()
        assert "n >= 1:" not in outcome.err


def test_a_missing_pdf_that_was_not_named_is_a_warning(run, fakes):
    """The exit code stays 0."""
    fakes.render_warnings = ("no PDF without Pango",)
    outcome = run("run", "models")
    assert outcome.code == 0
    assert "warning: no PDF without Pango" in outcome.err


def test_bad_input_is_one_message_and_exit_code_2(run, fakes):
    """File, line, column, what was expected and what to do; nothing is written."""
    fakes.on_evaluate = raising(
        InputError("probability 1.2", file="a.csv", line=3, column="p_1", remedy="mend it")
    )
    outcome = run("run", "models")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == (
        "evalreport: a.csv, line 3, column 'p_1': probability 1.2. Fix: mend it."
    )
    assert not Path("evalreport-out").exists()


@pytest.mark.parametrize("output", ["taken", "taken/below", "taken/far/below"])
def test_a_file_where_the_folder_should_be_is_found_before_the_work(run, fakes, output):
    """The message names the file and -o; the analysis has not begun."""
    Path("taken").write_text("mine")
    outcome = run("run", "models", "-o", output)
    assert outcome.code == 2
    assert "taken: is a file" in outcome.err
    assert "-o" in outcome.err
    assert fakes.calls == []
    assert Path("taken").read_text() == "mine"


@pytest.mark.parametrize(
    "words, message",
    [
        (["--interval", "wilsn"], "unknown interval 'wilsn'; did you mean wilson"),
        (["--test", "mcnemr"], "unknown test 'mcnemr'; did you mean mcnemar"),
        (["--templates", "absent"], "--templates absent: no such folder"),
    ],
)
def test_a_misspelt_name_is_found_before_the_work(run, fakes, words, message):
    """Not after a minute of resampling."""
    outcome = run("run", "models", *words)
    assert outcome.code == 2
    assert message in outcome.err
    assert fakes.calls == []


def test_a_folder_without_permission_is_found_before_the_work(run, fakes, monkeypatch):
    """Asked of the system, because a superuser may write anywhere."""
    monkeypatch.setattr("os.access", lambda *_arguments: False)
    outcome = run("run", "models", "-o", "out")
    assert outcome.code == 2
    assert "no permission to write" in outcome.err
    assert fakes.calls == []


@pytest.mark.parametrize("name", ["results.json", "gates.xml"])
def test_a_folder_in_the_way_of_a_file_is_found_before_the_work(run, fakes, name):
    """One line that names it, exit 2, and nothing is changed."""
    Path("out", name).mkdir(parents=True)
    Path("out", "report.html").write_text("old")
    outcome = run("run", "models", "-o", "out", "--junit", "out/gates.xml")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith(
        f"evalreport: out/{name}: is a folder, where a file must go"
    )
    assert fakes.calls == []
    assert Path("out", "report.html").read_text() == "old"


def test_gates_cannot_take_the_name_of_a_file_of_the_report(run, fakes):
    """`--junit out/results.json` would leave one of the two."""
    outcome = run("run", "models", "-o", "out", "--junit", "out/results.json")
    assert outcome.code == 2
    assert "the report has a file of this name" in outcome.err
    assert fakes.calls == []


def test_what_a_killed_run_left_is_ended_before_the_work(run, fakes):
    """Also where this run then fails: the earlier report is whole again."""
    (Path("out") / MOVE / "in").mkdir(parents=True)
    (Path("out") / MOVE / "in" / "report.html").write_text("whole")
    fakes.on_evaluate = raising(InputError("bad input"))
    assert run("run", "models", "-o", "out").code == 2
    assert [path.name for path in Path("out").iterdir()] == ["report.html"]


def test_a_path_that_the_system_refuses_is_bad_usage(run, fakes):
    """A name of 5,000 characters."""
    outcome = run("run", "models", "-o", "x" * 5000)
    assert outcome.code == 2
    assert "name another folder with -o" in outcome.err


def test_a_full_disk_is_one_message(run, fakes):
    """An error of the system while writing is no defect of the program."""
    fakes.on_render = raising(OSError(28, "No space left on device"))
    outcome = run("run", "models")
    assert outcome.code == 2
    assert "could not be written: No space left on device" in outcome.err
    assert "Traceback" not in outcome.err


def test_an_interrupt_after_the_report_says_that_it_is_there(run, fakes, monkeypatch):
    """`nothing was written` would then be untrue."""
    monkeypatch.setattr("evalreport.cli.run._print_summary", raising(KeyboardInterrupt()))
    outcome = run("run", "models")
    assert outcome.code == 130
    assert outcome.err.splitlines()[-1] == "interrupted; the report had been written: evalreport-out"


def test_an_interrupt_after_the_gates_does_not_say_that_nothing_was_written(run, fakes, monkeypatch):
    """Results on standard output, gates in a file: the file is there, so no more is said than is known."""
    monkeypatch.setattr("evalreport.cli.run._write_json", raising(KeyboardInterrupt()))
    outcome = run("run", "models", "-o", "-", "-f", "json", "--junit", "gates.xml", "-q")
    assert Path("gates.xml").exists()
    assert (outcome.code, outcome.err) == (130, "interrupted\n")


def test_an_interrupt_after_gates_without_a_report_says_no_more_than_it_knows(run, fakes, monkeypatch):
    """The report could not be written, the gates beside it could."""
    fakes.on_render = raising(OutputError("no room"))
    monkeypatch.setattr("evalreport.cli.run.say_gates", raising(KeyboardInterrupt()))
    outcome = run("run", "models", "--junit", "gates.xml", "-q")
    assert Path("gates.xml").exists()
    assert outcome.err.splitlines()[-1] == "interrupted"
