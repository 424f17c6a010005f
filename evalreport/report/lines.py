"""The leaderboard as lines of text, for Markdown and for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

from evalreport import numbers
from evalreport.questions.attempts import section as questions
from evalreport.questions.costs import section as costs
from evalreport.questions.slices import section as slices
from evalreport.report.sections import leaderboard, tasks
from evalreport.report.view import View
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.texts import say


@dataclass(frozen=True, slots=True)
class Line:
    """One model's line of the table; ``others``: the values of the metrics that were named."""

    rank: str
    model: str
    value: str
    difference: str
    group: str
    p: str
    others: tuple[str, ...] = ()


def lines_of(view: View, board: leaderboard.Leaderboard) -> list[Line]:
    """Write each row of the leaderboard as texts: value and difference with their intervals."""
    reference = board.reference
    digits = view.digits_of_difference(view.primary)
    lines, groups = [], _lettered([row.letters for row in board.rows])
    for row, letters in zip(board.rows, groups, strict=True):
        difference = p = ""
        record = None
        if row.model is reference:
            difference = say("leaderboard.reference")
        elif reference is not None:
            record = ahead(view, row.model.id, reference.id)
        if record is not None:
            size = numbers.number(record.difference, digits, signed=True)
            difference = f"{size} {view.interval(record, digits)}".strip()
            p = numbers.p_value(record.p_adjusted if record.p_adjusted is not None else record.p_value)
        lines.append(
            Line(
                rank=numbers.MISSING if row.rank is None else str(row.rank),
                model=row.model.name,
                value=f"{row.value.value} {row.value.beside}".strip(),
                difference=difference,
                group=row.word or letters,
                p=p,
                others=tuple(cell.value for cell in row.cells[: board.n_named]),
            )
        )
    return lines


def _lettered(letters: Sequence[str]) -> list[str]:
    """Rename the letters of groups of undecided models in the order of the table.

    Examples
    --------
    >>> _lettered(["b", "bc", "c", "a"])
    ['a', 'ab', 'b', 'c']
    """
    used = dict.fromkeys("".join(letters))
    if len(used) > len(ascii_letters):
        return list(letters)
    place = dict(zip(used, ascii_letters, strict=False))
    return ["".join(sorted(place[letter] for letter in own)) for own in letters]


def ahead(view: View, a: str, b: str) -> ComparisonRecord | None:
    """Return the comparison in which a positive difference says that a is better: a - b, of a loss b - a."""
    first, second = (a, b) if view.greater_is_better else (b, a)
    return view.comparison(view.primary, first, second)


def below_the_board(view: View) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the sentence about tasks, slices and costs each, and the lines about questions that got worse."""
    sentences = {
        "tasks": tasks.summary_line(view),
        "slices": slices.summary_line(view),
        "costs": costs.summary_line(view),
    }
    return sentences, questions.fallen_lines(view)


def difference_heading(board: leaderboard.Leaderboard) -> str:
    """Name what the differences are taken from: the best model or the baseline."""
    if board.reference is None:
        return ""
    if board.has_words:
        return say("leaderboard.versus_baseline")
    return say("leaderboard.versus", model=board.reference.name)
