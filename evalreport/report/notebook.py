"""The leaderboard as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalreport.report.page import environment, rendered
from evalreport.report.sections import decision
from evalreport.report.view import view_of

if TYPE_CHECKING:
    from evalreport.results import Results


def leaderboard_html(results: Results) -> str:
    """Give a small table with the verdict above it: no style, no script, every name escaped."""
    view = view_of(results)
    found = decision.describe(view)
    context = {"view": view, "board": found.board, "decision": found}
    return rendered(environment(None), "notebook.html.j2", context)
