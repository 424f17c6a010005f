"""The leaderboard as HTML, for notebooks."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from evalreport.report.isolation import isolated
from evalreport.report.sections import decision
from evalreport.report.view import View, view_of
from evalreport.schema.results import Results


def leaderboard_html(results: Results) -> str:
    """Return a small table with the verdict above it and the intervals as a picture: no script, every name escaped."""
    view = view_of(results)
    decided = decision.describe(view)
    board = decided.board
    context = {
        "view": view,
        "board": board,
        "rows": () if board is None else board.rows[:MOST_MODELS],
        "further": 0 if board is None or len(board.rows) <= MOST_MODELS else len(view.models) - MOST_MODELS,
        "names": "" if board is None or len(board.notes.names) > MOST_LETTERS else board.notes.names,
        "decision": decided,
        "picture": _picture(view),
    }
    from evalreport.report.templates import environment, rendered

    return isolated(rendered(environment(None), "notebook.html.j2", context))


MOST_MODELS = 20
"""A notebook keeps what it shows: table and picture are of the models that rank first."""

MOST_LETTERS = 10_000
"""Of the line that gives the full names of shortened ones."""


def _picture(view: View) -> Markup:
    """Return the values and their intervals as an SVG document."""
    if not any(record.value is not None for record in view.results.metrics):
        return Markup()
    from evalreport import plots
    from evalreport.plots.pictures import Figure, drawn

    shown = tuple(model.id for model in view.models[:MOST_MODELS])
    ranking = tuple(record for record in view.results.ranking if record.model in shown)
    results = replace(view.results, models=shown, ranking=ranking)
    figure = Figure(
        name="board",
        title=str(view.primary_label),
        description=str(view.primary_label),
        caption="",
        draw=(lambda axes: plots.values(results, ax=axes),),
        width=6.0,
        height=0.8 + 0.3 * len(shown),
    )
    return Markup(drawn(figure))  # noqa: S704 - drawn here, with every name escaped
