"""The example of a suite: made anew it is the same, and its README says what a run finds."""

from __future__ import annotations

import runpy
from pathlib import Path

import evalreport
from evalreport.report.sections.decision import describe
from evalreport.report.view import view_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "suite"


def test_the_files_are_what_the_script_writes() -> None:
    """Each model's file holds the first attempts, which further attempts leave as they are."""
    script = runpy.run_path(str(EXAMPLE / "make_data.py"))
    for model in script["ABILITY"]:
        lines = (EXAMPLE / "models" / f"{model}.csv").read_text(encoding="utf-8").splitlines()
        assert lines == script["rows"](model, 1)
        three = script["rows"](model, 3)
        assert [line for line in three if line.split(",")[3] in ("attempt", "1")] == lines


def test_the_readme_says_what_a_run_finds() -> None:
    """Headline, the values by task, the gate and the finding of the tasks."""
    gate = "tuned.mean_outcome[task=code] >= 0.5"
    results = evalreport.evaluate(EXAMPLE / "models", cluster="passage", gates=[gate], resamples=20)
    told = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert f"*{describe(view_of(results)).headline}*" in told
    assert f"{results.n} questions about 60 passages" in told
    of = {
        (r.model, r.slice.value if r.slice else ""): f"{r.value:.3f}"
        for r in results.metrics
        if r.metric == "mean_outcome"
    }
    for key in (("tuned", ""), ("large", ""), ("tuned", "arithmetic"), ("base", "arithmetic"),
                ("tuned", "reading"), ("base", "reading")):  # fmt: skip
        assert of[key] in told, key
    decided = {(v.task, v.about): v.verdict for v in results.task_verdicts}
    assert decided["arithmetic", ("base", "tuned")] == "worse"
    assert decided["reading", ("base", "tuned")] == "better"
    assert decided["code", ("large", "tuned")] == "undecided"
    (found,) = results.gates
    assert found.outcome == "undecided"
    assert found.low is not None
    assert f"{found.low:.3f}" in told
