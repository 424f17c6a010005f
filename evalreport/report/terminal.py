"""A run as a terminal shows it: the summary, one screen, one line."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalreport import numbers
from evalreport.questions.attempts import section as questions
from evalreport.questions.costs import section as costs
from evalreport.questions.slices import section as slices
from evalreport.report.cautions import one_of_a_code
from evalreport.report.naming import level_of_pairs
from evalreport.report.sections import decision, leaderboard, tasks
from evalreport.report.view import View, n_cautions, view_of
from evalreport.schema.frames import record_lists
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import named, say
from evalreport.texts.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType


STYLES = {"pass": "green", "fail": "red", "undecided": "yellow"}
"""Colours of the outcomes of gates in a terminal."""


def summary(results: Results) -> RenderableType:
    """Return the leaderboard, the headline, the gates and the gravest cautions for a terminal."""
    from rich.console import Group
    from rich.text import Text

    view = view_of(results)
    decided = decision.describe(view)
    parts: list[RenderableType] = [] if decided.board is None else [_table(view, decided.board)]
    if decided.board is not None:
        parts += [Text(line, style="dim") for line in _reading(view, decided.board)]
    parts.append(Text(decided.headline, style="bold"))
    for words in filter(None, (decision.look_words(view), decision.declared_words(view))):
        parts.append(Text(f"{words[0].upper()}{words[1:]}."))
    # Text, never mark-up: a model may be called "[red]".
    parts += [
        Text.assemble((f"{gate.word}: ", STYLES[gate.outcome]), _condition(gate)) for gate in decided.gates
    ]
    parts += [Text.assemble((f"{named('chip', 'caution')}: ", "red"), text) for text in decided.cautions]
    if decided.settle:
        parts.append(Text(f"{say('decision.settle')} {decided.settle}"))
    if another := decision.second_look_words(view):
        parts.append(Text(another))
    sentences, fallen = below_the_board(view)
    parts += [Text(line) for line in (*filter(None, sentences.values()), *fallen)]
    return Group(*parts)


def below_the_board(view: View) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the sentence about tasks, slices and costs each, and the lines about questions that got worse."""
    of = {"tasks": tasks, "slices": slices, "costs": costs}
    return {name: section.summary_line(view) for name, section in of.items()}, questions.fallen_lines(view)


def _condition(gate: decision.Gate) -> str:
    text = f"{gate.subject} {gate.bar} ({gate.text})"
    return say("decision.exploratory", what=text) if gate.exploratory else text


def not_summarised(results: Results) -> list[WarningRecord]:
    """Return the warnings that `summary` leaves out, with the short names of the report."""
    if not (results.metrics and results.ranking):
        return one_of_a_code(results.warnings)
    view = view_of(results)
    shown = decision.describe(view).by_code
    warnings = one_of_a_code(results.warnings, lambda w: decision.caution_text(view, w))
    return [w for w in warnings if w.code not in shown]


def _table(view: View, board: leaderboard.Leaderboard) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(say("leaderboard.rank"), justify="right")
    table.add_column(say("table.model"))
    level, heading = (numbers.percent(view.confidence), view.digits(view.primary).headed(view.primary_label))
    table.add_column(Text(say("terminal.heading", metric=heading, level=level)), justify="right")
    if board.reference is not None:
        table.add_column(Text(board.versus), justify="right")
        if view.results.baseline is not None:
            table.add_column(say("leaderboard.verdict_head"))
        elif board.n_brackets:
            table.add_column(say("table.group"))
    n_shown = len(table.columns)
    for heading in board.other_headings[: board.n_named]:
        table.add_column(Text(heading), justify="right")
    for row in board.rows:
        shown = [row.rank_text, row.model.name, row.value.text, row.difference, row.group][:n_shown]
        table.add_row(*map(Text, (*shown, *(cell.value for cell in row.cells[: board.n_named]))))
    return table


def _reading(view: View, board: leaderboard.Leaderboard) -> Iterator[str]:
    """Yield a line on the intervals of the table, on limits at 0, and on the groups."""
    level = numbers.percent(view.confidence)
    yield from filter(None, (board.notes.more,))
    if board.reference is not None:
        yield say("terminal.differences", level=level, pairs=level_of_pairs(view.results))
    else:
        yield say("terminal.intervals", level=level)
    if view.inverted and len(view.models) > 1:
        yield say("leaderboard.inverted_note")
    yield from filter(None, (board.notes.names, board.notes.best, board.notes.at_zero))
    if board.reference is not None and board.n_brackets:
        yield say("leaderboard.letters")


def oneliner(results: Results) -> str:
    """Return a run in one line: ``[evalreport OK] forest is ahead of svm on accuracy: ..., n = 2,600.``."""
    first = decision.headline_of(results)
    bad = "ALARM" if first.code == "alarm" else "FAILED"
    state = {"bad": f" {bad}", "undecided": " UNDECIDED", "good": " OK"}.get(first.tone, "")
    head = f"[evalreport{state}]"
    return f"{head} {visible(first.text).rstrip('.')}, {say('report.examples', n=results.n)}."


SCREEN = 4000
"""Characters of results that are printed, at most."""
LINES = 26
"""Lines of the summary among them."""
GUESSED = ("task", "ids", "probabilities", "positive class", "threshold", "labels")
"""Properties that were guessed from the files, and could be meant otherwise."""
MOST_GUESSED = 6


def one_screen(results: Results) -> str:
    """Return the text of a run for a terminal, cut to one screen, and how to see more."""
    from rich.console import Console

    counts = {name: len(getattr(results, name)) for name in record_lists(type(results))}
    kind = "shown.head_scores" if results.task == "scores" else "shown.head"
    head = say(kind, task=results.task, design=results.design, n=len(results.models), examples=results.n)
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
    longest = SCREEN - len(rest)
    return (text if len(text) <= longest else text[: longest - 4] + " ...") + rest
