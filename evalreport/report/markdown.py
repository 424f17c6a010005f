"""summary.md, for a pull request or a review: the verdict, the table, how to reproduce."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport import numbers
from evalreport.report.characters import visible
from evalreport.report.page import environment, rendered
from evalreport.report.sections import audit, history, leaderboard, methods, reproducibility, slices, verdict
from evalreport.report.terminal import oneliner
from evalreport.report.view import View, comparison_between
from evalreport.texts import Message

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
    board, said = leaderboard.describe(view), reproducibility.describe(view)
    context = {
        "marker": hashlib.sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:12],
        "title": title,
        "view": view,
        "verdict": verdict.describe(view),
        "lines": [] if board is None else _lines(view, board),
        "board": board,
        "slices": slices.summary_line(view),
        "level": numbers.percent(view.confidence),
        "history": history.describe(view),
        "audit": audit.describe(view),
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
