"""The example of a suite: made anew it is the same, and its README says what a run finds."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path

import evalreport
from evalreport.report.sections.decision import describe
from evalreport.report.view import view_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "suite"


def test_the_files_are_what_the_script_writes() -> None:
    """Each model's file holds three attempts, the first of which do not depend on how many there are."""
    script = runpy.run_path(str(EXAMPLE / "make_data.py"))
    for model in script["ABILITY"]:
        lines = (EXAMPLE / "models" / f"{model}.csv").read_text(encoding="utf-8").splitlines()
        assert lines == script["rows"](model, 3)
        assert [line for line in lines if line.split(",")[3] in ("attempt", "1")] == script["rows"](model, 1)


def test_the_readme_says_what_a_run_finds() -> None:
    """Headline, the first screen, the values by task, the gate, the findings of the tasks and of the attempts."""
    gate = "tuned.mean_outcome[task=code] >= 0.55"
    results = evalreport.evaluate(EXAMPLE / "models", cluster="passage", gates=[gate], resamples=20)
    told = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    said = describe(view_of(results))
    without = dataclasses.replace(results, gates=(), headline=None)
    assert f"*{describe(view_of(without)).headline}*" in " ".join(told.split())
    assert said.about.startswith(
        "564 questions, 3 attempts each, in 60 clusters of “passage” (worth 47.7 of equal size) · "
    )
    assert said.about.endswith("the same questions for every model")
    assert "about 280 clusters of the present mean size" in said.settle
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
    (tried,) = (r for r in results.attempt_variance if (r.model, r.b) == ("large", "tuned"))
    assert tried.share_within is not None
    assert tried.se_more_attempts is not None
    assert f"{100 * tried.share_within:.0f} % of what does" in told
    for error in (tried.se_now, tried.se_more_attempts, tried.se_more_questions):
        assert f"{error:.3f}" in told
    (found,) = results.gates
    assert found.outcome == "undecided"
    assert found.low is not None
    assert f"{found.low:.3f}" in told
