"""The leaderboard as HTML, for notebooks."""

from __future__ import annotations

from evalreport.report.sections import decision
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def leaderboard_html(results: Results) -> str:
    """Return a small table with the verdict above it: no style, no script, every name escaped."""
    view = view_of(results)
    found = decision.describe(view)
    context = {"view": view, "board": found.board, "decision": found}
    from evalreport.report.templates import environment, rendered

    return rendered(environment(None), "notebook.html.j2", context)
