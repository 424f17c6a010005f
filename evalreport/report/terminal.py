"""What the terminal shows at the end of a run, and the one line for chat or e-mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalreport import numbers
from evalreport.report import wording
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
        said_where = "1 caution; it stands" if n == 1 else f"{n} cautions; all stand"
        parts.append(Text(f"{said_where} in the report.", style="dim"))
    return Group(*parts)


def _table(view: View, board: leaderboard.Leaderboard) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("Model")
    for heading in board.headings[:1]:
        table.add_column(Text(f"{heading} [{numbers.percent(view.confidence)} interval]"), justify="right")
    if board.difference_heading is not None:
        table.add_column(Text(board.difference_heading), justify="right")
        table.add_column("Group")
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
    text = f"{_first(view)} {view.primary_words} {cell.value} {cell.beside}".rstrip()
    return f"[evalreport {state}] {text}{_against(view)}, n = {numbers.count(results.n)}{_not_beaten(view)}."


def _first(view: View) -> str:
    """Name who stands first and say how firmly; two models of one value share the place."""
    leader = view.models[0]
    if len(view.models) == 1:
        return f"{leader.name} reaches"
    shared = [m.name for m in view.models if (r := ranking_record(view, m.id)) is not None and r.rank == 1]
    if len(shared) > 1:
        return f"{listed(shared, 3)} are first on"
    verdicts = [verdict_between(view, leader.id, other.id) for other in view.models[1:]]
    beats_all = all(found is not None and found.verdict == "better" for found in verdicts)
    return f"{leader.name} {'leads' if beats_all else 'is first'} on"


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
    name = (
        wording.CORRECTIONS.get(record.correction or "", "") + " " if adjusted and record.correction else ""
    )
    p = numbers.p_phrase(record.p_adjusted if adjusted else record.p_value)
    return f", {difference} vs {other.name} ({name}{p})"


def _not_beaten(view: View) -> str:
    """Name the models that the first one is not shown to be better than."""
    leader, kinds = (
        view.models[0],
        {"undecided": "not distinguishable", "equivalent": "equivalent by the margin"},
    )
    said = []
    for kind, words in kinds.items():
        names = [
            model.name
            for model in view.models[1:]
            if (found := verdict_between(view, leader.id, model.id)) is not None and found.verdict == kind
        ]
        if names:
            said.append(f"; {leader.name} and {listed(names, 3)} {words}")
    return "".join(said)
