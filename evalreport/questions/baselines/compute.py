"""The values of constant answers, which need no model."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.metrics.criteria import baseline_records
from evalreport.questions.question import Run, question
from evalreport.schema.metrics import BaselineRecord


@dataclass(frozen=True, kw_only=True)
class Baselines:
    """The list of results.json about constant answers."""

    baselines: tuple[BaselineRecord, ...] = ()


@question("baselines", applies=lambda run: run.options.join != "independent")
def baselines(run: Run) -> Baselines:
    """Return each metric's value of the constant answers on these examples."""
    return Baselines(baselines=baseline_records(run.samples[0]))
