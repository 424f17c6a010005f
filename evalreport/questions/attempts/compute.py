"""Verdicts on single questions, and what attempts and questions add to the errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from evalreport.questions.attempts.records import AttemptLists
from evalreport.questions.attempts.variance import attempt_variance_records
from evalreport.questions.attempts.verdicts import question_records
from evalreport.questions.question import Run, question
from evalreport.schema.warnings import WarningRecord


@dataclass(frozen=True, kw_only=True)
class Attempts(AttemptLists):
    """The lists of results.json about attempts; ``few``: the pairs none of whose questions could be decided."""

    few: tuple[WarningRecord, ...] = ()


def repeated(run: Run) -> bool:
    """Say whether some question is answered several times."""
    predictions = run.predictions
    return any(m.attempts is not None for m in predictions.models) or "attempt" in predictions.keys


@question("attempts", applies=repeated)
def attempts(run: Run) -> Attempts:
    """Return a record of every question and pair of models, and the parts of each mean's variance."""
    questions, few = question_records(run.predictions, run.data.deciding)
    variance = (attempt_variance_records(s, run.options.baseline) for s in run.samples)
    return Attempts(questions=questions, attempt_variance=tuple(chain.from_iterable(variance)), few=few)
