"""summary.md: headline, leaderboard, gates and cautions as Markdown."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport import numbers
from evalreport.report.sections import decision, methods, reproducibility
from evalreport.report.terminal import below_the_board, oneliner
from evalreport.report.view import View, view_of
from evalreport.schema.results import Results
from evalreport.texts import Message
from evalreport.texts.visible import visible

ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)")
"""The beginning of a numbered list."""
BACKSLASHED = re.compile(r"([\\|*_@\[\]`~$#]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""Marks of Markdown, and parts of an address that would become a link."""
CALLING = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)")
"""Within what would notify a person or link an issue: GitHub finds both in the text, where a backslash is gone."""
ELEMENT = re.compile(r"<[A-Za-z/!?]")
"""The beginning of an HTML element or a comment; `a < 1` is none."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text to copy unchanged: an indented line, in which Markdown reads no marks."""

    text: str

    def __str__(self) -> str:
        # A reader that takes the file for HTML must not find an element either.
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
    from evalreport.report.templates import environment, rendered  # a terminal's summary needs no templates

    named = view.results.shown_metric if title is None else f"{title}\n{view.results.shown_metric}"
    decided, origin = decision.describe(view), reproducibility.describe_reproducibility(view)
    board, (sentences, fallen) = decided.board, below_the_board(view)
    context = {
        "marker": hashlib.sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:12],
        "title": title,
        "view": view,
        "decision": decided,
        "gates": decision.gates_of(view),
        "board": board,
        **sentences,
        "questions": fallen,
        "level": numbers.percent(view.confidence),
        "methods": methods.describe(view),
        "reproducibility": origin,
        "command": Verbatim(origin.command),
        "oneliner": Verbatim(oneliner(view.results)),
    }
    return rendered(environment(templates, escaped), "summary.md.j2", context)


def escaped(value: Any) -> Any:
    r"""Escape a text for Markdown: entities for mark-up, a backslash before what Markdown would read.

    Examples
    --------
    >>> escaped("<b> a|b *c* [x](y)"), escaped("@me #12")
    ('&lt;b&gt; a\\|b \\*c\\* \\[x\\](y)', '\\@\u200dme \\#\u200d12')
    """
    if not isinstance(value, (str, Message)):
        return value
    text = "".join(ENTITIES.get(c, c) for c in CALLING.sub("\u200d", visible(value)))
    return NUMBERED.sub(r"\1\\\2", BACKSLASHED.sub(r"\\\1", text))


def summary_text(results: Results) -> str:
    """Return summary.md of a report without a title of its own."""
    return summary_markdown(view_of(results))
