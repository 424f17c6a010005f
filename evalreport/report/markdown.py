"""The report as plain text: Markdown, and what a terminal shows."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport import numbers
from evalreport.report.characters import visible
from evalreport.report.naming import listed
from evalreport.report.page import environment, rendered
from evalreport.report.sections import audit, leaderboard, methods, slices, verdict
from evalreport.report.view import (
    View,
    comparison_between,
    difference_decimals,
    ranking_record,
    verdict_between,
    view_of,
)
from evalreport.results import Results
from evalreport.texts import Message, has, named, say

if TYPE_CHECKING:
    from rich.console import RenderableType


CHIP_STYLES = {
    "better": "green",
    "worse": "red",
    "undecided": "yellow",
    "equivalent": "cyan",
    "non-inferior": "cyan",
    "caution": "red",
}


def summary(results: Results) -> RenderableType:
    """Give the leaderboard, the verdict, the gates and the number of warnings for a terminal."""
    from rich.console import Group
    from rich.text import Text

    view = view_of(results)
    board, said = leaderboard.describe(view), verdict.describe(view)
    parts: list[RenderableType] = [] if board is None else [_table(view, board)]
    parts.append(Text(said.headline, style="bold"))
    # Text, never mark-up: a model may be called "[red]".
    parts += [
        Text.assemble((f"{fact.word}: ", CHIP_STYLES[fact.kind]), fact.text)
        for fact in (*said.gates, *said.facts)
    ]
    if of_slices := slices.summary_line(view):
        parts.append(Text(of_slices))
    n = sum(warning.level != "info" for warning in results.warnings)
    if n:
        parts.append(Text(say("terminal.cautions", n=n), style="dim"))
    return Group(*parts)


def _table(view: View, board: leaderboard.Leaderboard) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(say("leaderboard.rank"), justify="right")
    table.add_column(say("table.model"))
    for heading in board.headings[:1]:
        level = numbers.percent(view.confidence)
        table.add_column(Text(say("terminal.heading", metric=heading, level=level)), justify="right")
    if board.difference_heading is not None:
        table.add_column(Text(board.difference_heading), justify="right")
        table.add_column(say("table.group"))
    for row in board.rows:
        first, difference = row.cells[0], row.difference
        cells = [
            numbers.MISSING if row.rank is None else str(row.rank),
            row.model.short,
            f"{first.value} {first.beside}",
        ]
        if difference is not None:
            cells += [f"{difference.value} {difference.beside}", row.letters]
        table.add_row(*(Text(cell.strip()) for cell in cells))
    return table


def oneliner(results: Results) -> str:
    """Give the whole in one line: ``[evalreport OK] forest leads on accuracy 0.915 [0.903, 0.925], ...``.

    A model *leads* only where it is better than every other one; else it *is first on* the metric, or shares that.
    """
    view = view_of(results)
    outcomes = {gate.outcome for gate in results.gates}
    state = "FAILED" if "fail" in outcomes else "UNDECIDED" if "undecided" in outcomes else "OK"
    leader = view.models[0]
    cell = leaderboard.metric_cell(view, leader, view.primary)
    text = _first(view, f"{cell.value} {cell.beside}".rstrip())
    return f"[evalreport {state}] {text}{_against(view)}, {say('report.examples', n=results.n)}{_not_beaten(view)}."


def _first(view: View, value: str) -> str:
    """Name who stands first and say how firmly; two models of one value share the place."""
    leader = view.models[0]
    if len(view.models) == 1:
        return say("summary.reaches", model=leader.name, metric=view.primary_words, value=value)
    shared = [m.name for m in view.models if (r := ranking_record(view, m.id)) is not None and r.rank == 1]
    if len(shared) > 1:
        return say("summary.are_first", models=listed(shared, 3), metric=view.primary_words, value=value)
    verdicts = [verdict_between(view, leader.id, other.id) for other in view.models[1:]]
    beats_all = all(found is not None and found.verdict == "better" for found in verdicts)
    key = "summary.leads" if beats_all else "summary.is_first"
    return say(key, model=leader.name, metric=view.primary_words, value=value)


def _against(view: View) -> str:
    """Compare the leader with the baseline, else with the runner-up."""
    if len(view.models) < 2:
        return ""
    leader = view.models[0]
    other = view.models[1] if view.results.baseline is None else view.model(view.results.baseline)
    record = None if other is leader else comparison_between(view, view.primary, leader.id, other.id)
    if record is None or record.difference is None:
        return ""
    difference = numbers.number(record.difference, difference_decimals(view, view.primary), signed=True)
    adjusted = record.p_adjusted is not None
    p = numbers.p_phrase(record.p_adjusted if adjusted else record.p_value)
    if adjusted and record.correction and has(f"correction.{record.correction}"):
        p = f"{named('correction', record.correction)} {p}"
    return ", " + say("summary.versus", difference=difference, model=other.name, p=p)


def _not_beaten(view: View) -> str:
    """Name the models that the first one is not shown to be better than."""
    leader, said = view.models[0], []
    for kind, key in (("undecided", "summary.not_distinguishable"), ("equivalent", "summary.equivalent")):
        names = [
            model.name
            for model in view.models[1:]
            if (found := verdict_between(view, leader.id, model.id)) is not None and found.verdict == kind
        ]
        if names:
            said.append("; " + say(key, leader=leader.name, others=listed(names, 3)))
    return "".join(said)


ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# What Markdown reads as a mark; and what makes a link of a bare address.
BACKSLASHED = re.compile(r"([\\|*_@\[\]`~$#]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One model's line of the table."""

    rank: str
    model: str
    value: str
    difference: str
    letters: str
    p: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text to be copied as it stands: an indented line, in which Markdown reads no mark and from which none leads."""

    text: str

    def __str__(self) -> str:
        # Whoever reads the file as HTML, without its Markdown, must not find an element either.
        return str(escaped(self.text)) if "<" in self.text else "    " + visible(self.text)


def summary_markdown(view: View, *, title: str | None = None, templates: Path | None = None) -> str:
    """Write summary.md; every text from a file is escaped.

    Parameters
    ----------
    title
        The report's title; two reports with titles of their own do not take each other's place in a review.
    templates
        The user's folder of templates.
    """
    named = view.results.primary_metric if title is None else f"{title}\n{view.results.primary_metric}"
    board, said = leaderboard.describe(view), methods.describe_reproducibility(view)
    context = {
        "marker": hashlib.sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:12],
        "title": title,
        "view": view,
        "verdict": verdict.describe(view),
        "lines": [] if board is None else _lines(view, board),
        "board": board,
        "slices": slices.summary_line(view),
        "level": numbers.percent(view.confidence),
        "history": audit.describe(view),
        "audit": audit.describe_audit(view),
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
    return BACKSLASHED.sub(r"\\\1", text)


def _lines(view: View, board: leaderboard.Leaderboard) -> list[Line]:
    reference = leaderboard.reference_model(view)
    lines = []
    for row in board.rows:
        first, difference = row.cells[0], row.difference
        p = ""
        if reference is not None and row.model is not reference:
            record = comparison_between(view, view.primary, row.model.id, reference.id)
            if record is not None:
                p = numbers.p_value(record.p_adjusted if record.p_adjusted is not None else record.p_value)
        lines.append(
            Line(
                rank=numbers.MISSING if row.rank is None else str(row.rank),
                model=row.model.name,
                value=f"{first.value} {first.beside}".strip(),
                difference="" if difference is None else f"{difference.value} {difference.beside}".strip(),
                letters=row.letters,
                p=p,
            )
        )
    return lines
