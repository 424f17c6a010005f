"""The real program: files in, report and exit code out, with nothing replaced."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = "id,y_true,y_pred,p_1\n"


@pytest.fixture
def models() -> Path:
    """Two models on 200 examples: forest is wrong on every tenth, logreg on every second."""
    folder = Path("models")
    folder.mkdir()
    for name, step in (("forest", 10), ("logreg", 2)):
        rows = []
        for i in range(200):
            truth = i // 2 % 2
            said = truth if i % step else 1 - truth
            rows.append(f"{i:03},{truth},{said},{0.2 + 0.6 * said:.2f}\n")
        (folder / f"{name}.csv").write_text(HEADER + "".join(rows))
    return folder


@pytest.mark.slow
def test_a_run_writes_the_report_and_says_where(run, models):
    """HTML, JSON and Markdown; the JSON on standard output is the same bytes as the file."""
    outcome = run("run", models, "-f", "html,json,md", "--resamples", "200")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[-1] == f"report: {Path('evalreport-out/report.html')}"
    assert "forest" in outcome.out
    content = json.loads(Path("evalreport-out/results.json").read_bytes())
    # By construction: 20 of 200 wrong, and 100 of 200.
    values = {row["model"]: row["value"] for row in content["metrics"] if row["metric"] == "accuracy"}
    assert values == {"forest": 0.9, "logreg": 0.5}
    printed = run("run", models, "-o", "-", "-f", "json", "--resamples", "200")
    assert printed.out.encode() == Path("evalreport-out/results.json").read_bytes()


@pytest.mark.slow
def test_gates_are_decided_by_the_real_intervals(run, models):
    """Accuracy 0.9 of 200 is Wilson's [0.851, 0.934] (closed form): above 0.8, below 0.95, across 0.9."""
    gates = ["forest.accuracy >= 0.8", "forest.accuracy >= 0.95", "forest.accuracy >= 0.9"]
    codes = [
        run("run", models, "-q", "-f", "json", "--resamples", "100", "--gate", gate).code for gate in gates
    ]
    assert codes == [0, 1, 3]
    difference = "forest.accuracy - logreg.accuracy > 0.2"
    assert run("run", models, "-q", "-f", "json", "--resamples", "100", "--gate", difference).code == 0
    record = json.loads(Path("evalreport-out/results.json").read_bytes())["gates"][0]
    assert (record["gate"], record["outcome"]) == (difference, "pass")
    assert record["value"] == pytest.approx(0.4, abs=1e-12)


def test_bad_input_leaves_the_previous_report_as_it_was(run, models):
    """Exit code 2, a line for each error and one that counts them, and not a byte changed."""
    assert run("run", models, "-f", "json", "-q", "--resamples", "50").code == 0
    before = Path("evalreport-out/results.json").read_bytes()
    (models / "forest.csv").write_text(HEADER + "000,1,1,1.2\n")
    outcome = run("run", models, "-f", "json", "-q")
    assert outcome.code == 2
    count, cell, ids = outcome.err.splitlines()
    assert "2 errors" in count
    assert "forest.csv, line 2, column 'p_1'" in cell
    assert "'forest' lacks 199 of 200 ids" in ids
    assert Path("evalreport-out/results.json").read_bytes() == before


@pytest.mark.parametrize("words", [["--slice", "site"], ["--cluster", "who"], ["--weight", "w"]])
def test_a_column_that_is_not_there_is_refused(run, models, words):
    """An option that names a column is never silently ignored."""
    outcome = run("run", models, *words)
    assert outcome.code == 2
    assert words[0] in outcome.err


@pytest.mark.slow
def test_ctrl_c_ends_a_real_process_with_one_line(run):
    """A run that would take minutes, interrupted: 130, nothing written, no traceback."""
    models = Path("models")
    models.mkdir()
    # Distinct scores: rank metrics are resampled row by row, in blocks of little memory.
    rows = "".join(f"{i:05},{i % 2},{i % 2},{(i * 7919 % 5000) / 5000:.4f}\n" for i in range(5000))
    (models / "forest.csv").write_text(HEADER + rows)
    # A shell starts what runs in the background deaf to SIGINT, which children inherit: a terminal's are not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "evalreport", "run", str(models), "--resamples", "200000"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    # Past the start of Python itself, whose own imports no program can guard.
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1] == "interrupted; nothing was written"
    assert "Traceback" not in err
    assert not Path("evalreport-out").exists()


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_that_a_library_swallows_ends_the_run_all_the_same(
    run, models, monkeypatch, number, code
):
    """Some libraries clear every error while they are set up; the run ends with its next stage."""
    from evalreport import analysis

    require = analysis.require_analysable

    def swallowing(*given: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        require(*given)

    monkeypatch.setattr(analysis, "require_analysable", swallowing)
    outcome = run("run", models, "-f", "json", "--resamples", "100")
    assert outcome.code == code
    assert outcome.err.splitlines()[-1] == "interrupted; nothing was written"
    assert not Path("evalreport-out").exists()
