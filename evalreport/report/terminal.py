"""What the terminal shows at the end of a run, and the one line for chat or e-mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalreport import numbers
from evalreport.report.naming import listed
from evalreport.report.sections import leaderboard, verdict
from evalreport.report.view import (
    View,
    comparison_between,
    difference_decimals,
    ranking_record,
    verdict_between,
    view_of,
)
from evalreport.results import Results
from evalreport.texts import has, named, say

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
