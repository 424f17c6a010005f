"""The values of constant answers, which need no model."""

from __future__ import annotations

from evalreport.metrics.criteria import baseline_records
from evalreport.questions.baselines.records import BaselineLists
from evalreport.questions.question import Run, question


@question("baselines", applies=lambda run: run.options.join != "independent")
def baselines(run: Run) -> BaselineLists:
    """Return each metric's value of the constant answers on these examples."""
    return BaselineLists(baselines=baseline_records(run.samples[0]))
