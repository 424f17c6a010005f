"""The record that the steps of loading pass on, from matched rows to settled cells."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalreport.loading.alignment import Alignment
from evalreport.loading.parsing import Parsed
from evalreport.loading.rows import Rows
from evalreport.loading.task import FoundTask
from evalreport.predictions.arrays import Values
from evalreport.predictions.table import Attempts, Notes, SingleAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Rows whose cells are parsed and which are matched across models.

    Attributes
    ----------
    rows, task, parsed
        The rows, their task, and the models' columns as numbers, by row.
    attempts
        How often each row's question was answered, by row; None: once.
    answers
        The single answers, where there are attempts or costs.
    alignment
        Which row holds each model's prediction of each cell.
    y_true
        (C,) each cell's true value, -1 or nan where no row gives one; None: the task has none.
    outside
        1 where missing labels are counted as wrong, by a code one beyond the classes; else 0.
    notes
        Of the attempts, the match and the empty cells.
    """

    rows: Rows
    task: FoundTask
    parsed: Parsed
    attempts: Attempts | None
    alignment: Alignment
    answers: SingleAnswers | None = None
    y_true: Values | None = None
    outside: int = 0
    notes: Notes = field(default_factory=Notes)
