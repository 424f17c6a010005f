"""Results as a notebook, or whoever prints them, shows them."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING

from evalreport.frames import record_lists
from evalreport.report.characters import visible
from evalreport.report.markdown import summary, summary_markdown
from evalreport.report.page import environment, rendered
from evalreport.report.sections import decision
from evalreport.report.view import view_of
from evalreport.texts import say

if TYPE_CHECKING:
    from evalreport.results import Results


def leaderboard_html(results: Results) -> str:
    """Give a small table with the verdict above it: no style, no script, every name escaped."""
    view = view_of(results)
    found = decision.describe(view)
    context = {"view": view, "board": found.board, "decision": found}
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
