"""The report as plain text: Markdown, and what a terminal or a notebook shows."""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING, Any

from evalreport import numbers
from evalreport.report.naming import level_of_pairs, visible
from evalreport.report.sections import decision, leaderboard, methods, slices, tasks
from evalreport.report.view import (
    View,
    comparison_between,
    difference_decimals,
    interval_of,
    n_cautions,
    view_of,
)
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.frames import record_lists
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import Message, named, say

if TYPE_CHECKING:
    from rich.console import RenderableType


STYLES = {"pass": "green", "fail": "red", "undecided": "yellow"}
"""Colours of the outcomes of gates in a terminal."""


def summary(results: Results) -> RenderableType:
    """Give the leaderboard, the headline, the gates and the gravest cautions for a terminal."""
    from rich.console import Group
    from rich.text import Text

    view = view_of(results)
    said = decision.describe(view)
    parts: list[RenderableType] = [] if said.board is None else [_table(view, said.board)]
    if said.board is not None:
        parts += [Text(line, style="dim") for line in _reading(view, said.board)]
    parts.append(Text(said.headline, style="bold"))
    # Text, never mark-up: a model may be called "[red]".
    parts += [
        Text.assemble((f"{gate.word}: ", STYLES[gate.outcome]), f"{gate.asked} {gate.bar} ({gate.text})")
        for gate in said.gates
    ]
    parts += [Text.assemble((f"{named('chip', 'caution')}: ", "red"), text) for text in said.cautions]
    if said.settle:
        parts.append(Text(f"{say('decision.settle')} {said.settle}"))
    if of_tasks := tasks.summary_line(view):
        parts.append(Text(of_tasks))
    if of_slices := slices.summary_line(view):
        parts.append(Text(of_slices))
    return Group(*parts)


def not_summarised(results: Results) -> list[WarningRecord]:
    """Give the warnings that `summary` does not say, in the words of the report: with its short names."""
    if not (results.metrics and results.ranking):
        return list(results.warnings)
    view = view_of(results)
    said = decision.describe(view).cautions
    warnings = [replace(w, text=decision.caution_text(view, w)) for w in results.warnings]
    return [w for w in warnings if w.text not in said]


def _table(view: View, board: leaderboard.Leaderboard) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(say("leaderboard.rank"), justify="right")
    table.add_column(say("table.model"))
    level = numbers.percent(view.confidence)
    table.add_column(Text(say("terminal.heading", metric=view.primary_label, level=level)), justify="right")
    if board.reference is not None:
        table.add_column(Text(difference_heading(board)), justify="right")
        if view.results.baseline is not None:
            table.add_column(say("leaderboard.verdict_head"))
        elif board.n_brackets:
            table.add_column(say("table.group"))
    for line in _lines(view, board):
        shown = [line.difference, line.group][: len(table.columns) - 3]
        table.add_row(*(Text(cell) for cell in (line.rank, line.model, line.value, *shown)))
    return table


def _lettered(letters: Sequence[str]) -> list[str]:
    """Name the groups of models that cannot be told apart by letters, the first in the table first.

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


def difference_heading(board: leaderboard.Leaderboard) -> str:
    """Name what the differences are taken from: the best model or the baseline."""
    if board.reference is None:
        return ""
    if board.rows[0].word:
        return say("leaderboard.versus_baseline")
    return say("leaderboard.versus", model=board.reference.name)


def _reading(view: View, board: leaderboard.Leaderboard) -> Iterator[str]:
    """Say what the intervals of the table are, and the groups where there are any; a line each."""
    level = numbers.percent(view.confidence)
    if board.reference is not None:
        yield say("terminal.differences", level=level, pairs=level_of_pairs(view.results))
    else:
        yield say("terminal.intervals", level=level)
    if board.at_zero:
        yield board.at_zero
    if board.reference is not None and board.n_brackets:
        yield say("leaderboard.letters")


def oneliner(results: Results) -> str:
    """Give the whole in one line: ``[evalreport OK] forest leads on accuracy: 0.021 ahead of svm; ..., n = 2,600.``."""
    view = view_of(results)
    outcomes = {gate.outcome for gate in results.gates}
    state = "FAILED" if "fail" in outcomes else "UNDECIDED" if "undecided" in outcomes else "OK"
    headline = decision.describe(view).headline.rstrip(".")
    said = "; ".join(part for part in (headline, _against(view)) if part)
    return f"[evalreport {state}] {said}, {say('report.examples', n=results.n)}."


def _against(view: View) -> str:
    """Give the interval of the leader's difference from the runner-up, or from the baseline."""
    if len(view.models) < 2 or view.results.audit:
        return ""
    leader = view.models[0]
    other = view.models[1] if view.results.baseline is None else view.model(view.results.baseline)
    record = None if other is leader else _ahead(view, leader.id, other.id)
    if record is None or record.difference is None or record.low is None:
        return ""
    decimals = difference_decimals(view, view.primary)
    difference = numbers.number(record.difference, decimals, signed=True)
    limits = interval_of(view, record, decimals)
    return say("summary.versus", leader=leader.name, other=other.name, difference=difference, interval=limits)


def _ahead(view: View, a: str, b: str) -> ComparisonRecord | None:
    """Give the comparison in which a positive difference says that a is better: a - b, of a loss b - a."""
    first, second = (a, b) if view.greater_is_better else (b, a)
    return comparison_between(view, view.primary, first, second)


ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# What Markdown reads as a mark; and what makes a link of a bare address.
NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)")
"""What begins a numbered list."""
BACKSLASHED = re.compile(r"([\\|*_@\[\]`~$#]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One model's line of the table."""

    rank: str
    model: str
    value: str
    difference: str
    group: str
    p: str


ELEMENT = re.compile(r"<[A-Za-z/!?]")
"""What HTML takes for the beginning of an element or a comment; `a < 1` is none."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text to be copied as it stands: an indented line, in which Markdown reads no mark and from which none leads."""

    text: str

    def __str__(self) -> str:
        # Whoever reads the file as HTML, without its Markdown, must not find an element either.
        return str(escaped(self.text)) if ELEMENT.search(self.text) else "    " + visible(self.text)


def summary_markdown(view: View, *, title: str | None = None, templates: Path | None = None) -> str:
    """Write summary.md; every text from a file is escaped.

    Parameters
    ----------
    title
        The report's title; two reports with titles of their own do not take each other's place in a review.
    templates
        The user's folder of templates.
    """
    from evalreport.report.html import environment, rendered  # a terminal's summary needs no templates

    named = view.results.primary_metric if title is None else f"{title}\n{view.results.primary_metric}"
    found, said = decision.describe(view), methods.describe_reproducibility(view)
    board = found.board
    context = {
        "marker": hashlib.sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:12],
        "title": title,
        "view": view,
        "decision": found,
        "gates": decision.gates_of(view),
        "lines": [] if board is None else _lines(view, board),
        "board": board,
        "difference_heading": "" if board is None else difference_heading(board),
        "tasks": tasks.summary_line(view),
        "slices": slices.summary_line(view),
        "level": numbers.percent(view.confidence),
        "methods": methods.describe(view),
        "reproducibility": said,
        "command": Verbatim(said.command),
        "oneliner": Verbatim(oneliner(view.results)),
    }
    return rendered(environment(templates, escaped), "summary.md.j2", context)


def escaped(value: Any) -> Any:
    r"""Escape a text for Markdown: entities for mark-up, a backslash before what Markdown would read.

    Examples
    --------
    >>> escaped("<b> a|b *c* @me [x](y)")
    '&lt;b&gt; a\\|b \\*c\\* \\@me \\[x\\](y)'
    """
    if not isinstance(value, (str, Message)):
        return value
    text = "".join(ENTITIES.get(c, c) for c in visible(value))
    return NUMBERED.sub(r"\1\\\2", BACKSLASHED.sub(r"\\\1", text))


def _lines(view: View, board: leaderboard.Leaderboard) -> list[Line]:
    reference = board.reference
    decimals = difference_decimals(view, view.primary)
    lines, groups = [], _lettered([row.letters for row in board.rows])
    for row, letters in zip(board.rows, groups, strict=True):
        difference = p = ""
        record = None
        if row.model is reference:
            difference = say("leaderboard.reference")
        elif reference is not None:
            record = _ahead(view, row.model.id, reference.id)
        if record is not None:
            size = numbers.number(record.difference, decimals, signed=True)
            difference = f"{size} {interval_of(view, record, decimals)}".strip()
            p = numbers.p_value(record.p_adjusted if record.p_adjusted is not None else record.p_value)
        lines.append(
            Line(
                rank=numbers.MISSING if row.rank is None else str(row.rank),
                model=row.model.name,
                value=f"{row.value.value} {row.value.beside}".strip(),
                difference=difference,
                group=row.word or letters,
                p=p,
            )
        )
    return lines


def leaderboard_html(results: Results) -> str:
    """Give a small table with the verdict above it: no style, no script, every name escaped."""
    view = view_of(results)
    found = decision.describe(view)
    context = {"view": view, "board": found.board, "decision": found}
    from evalreport.report.html import environment, rendered

    return rendered(environment(None), "notebook.html.j2", context)


def summary_text(results: Results) -> str:
    """Give summary.md as a report without a title of its own has it."""
    return summary_markdown(view_of(results))


SCREEN = 4000
"""Characters of results that are printed, at most."""
LINES = 26
"""Lines of the summary among them."""
GUESSED = ("task", "ids", "probabilities", "positive class", "threshold", "labels")
"""What was found that could have been meant otherwise."""
MOST_GUESSED = 6


def one_screen(results: Results) -> str:
    """Give what a terminal shows of a run, cut to one screen, and how to see more."""
    from rich.console import Console

    counts = {name: len(getattr(results, name)) for name in record_lists(type(results))}
    kind = "shown.head_scores" if results.task == "scores" else "shown.head"
    head = say(kind, task=results.task, design=results.design, n=results.n, models=len(results.models))
    lines = []
    if results.metrics and results.ranking:
        console = Console(width=100, file=io.StringIO(), color_system=None)
        with console.capture() as printed:
            console.print(summary(results))
        lines = [line.rstrip() for line in printed.get().splitlines() if line.strip()]
        if n := n_cautions(results.warnings):
            lines.append(say("terminal.cautions", n=n))
    if len(lines) > LINES:
        lines[LINES:] = [say("shown.more_lines", n=len(lines) - LINES)]
    end = [
        say("shown.lists", lists=[f"{name} ({n:,})" for name, n in counts.items() if n]),
        say("shown.next"),
    ]
    rest = "".join("\n" + textwrap.fill(line, 100) for line in end)
    taken = [
        textwrap.shorten(f"{record.what}: {record.value} ({record.why})", 100, placeholder=" ...)")
        for record in results.found
        if record.what in GUESSED
    ]
    text = "\n".join(map(visible, [head, *taken[:MOST_GUESSED], *lines]))
    room = SCREEN - len(rest)
    return (text if len(text) <= room else text[: room - 4] + " ...") + rest
