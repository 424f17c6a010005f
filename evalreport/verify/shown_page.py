"""Compare the figures that a report.html shows with those that its results.json gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from evalreport.options import run_time
from evalreport.report.page import page
from evalreport.report.sections import describe, figures_of
from evalreport.report.view import view_of
from evalreport.schema.results import Results
from evalreport.version import __version__

HIDDEN = frozenset({"script", "style", "svg", "template"})
"""Elements whose text is not read: a chart is drawn from the same figures as the tables."""
FIGURE = re.compile(r"[-−+]?\d(?:[\d.,]*\d)?")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """The comparison of a report.html with its results.json.

    Attributes
    ----------
    figures
        The number of figures that agree.
    differences
        Texts whose figures differ, as the page shows them and as the results give them; None: there is none.
    other_version, other_look
        Why it was not compared: another version made the page, or it has a style of its own.
    """

    figures: int = 0
    differences: tuple[tuple[str | None, str | None], ...] = ()
    other_version: str | None = None
    other_look: bool = False

    @property
    def checked(self) -> bool:
        """Whether the figures were compared."""
        return self.other_version is None and not self.other_look


def compare_page(html: str, results: Results) -> ShownPage:
    """Compare the figures of a page's main part, in their order; charts, the title and the date are left out."""
    found = _read(html)
    if found.version != __version__:
        return ShownPage(other_version=found.version or "?")
    made = _made(results, full=False)
    if found.style != made.style:
        return ShownPage(other_look=True)
    if len(found.texts) != len(made.texts):
        longer = _made(results, full=True)
        made = longer if len(longer.texts) == len(found.texts) else made
    differences = tuple(_differences(found.texts, made.texts))
    return ShownPage(sum(len(figures) for figures, _ in made.texts), differences)


def _made(results: Results, *, full: bool) -> _Read:
    """Return the page of the results, brief or in full detail, without its charts."""
    view = view_of(results)
    sections = describe(view, full=full)
    figures = {figure.name: "<svg></svg>" for section in sections for figure in figures_of(section.content)}
    return _read(page(view, sections, figures, time=run_time("2000-01-01")))


Shown = tuple[tuple[str, ...], str]
"""The figures of a text, and the text."""


def _differences(found: list[Shown], made: list[Shown]) -> list[tuple[str | None, str | None]]:
    """Pair the texts between the first and the last difference."""
    start, end = 0, 0
    shorter = min(len(found), len(made))
    while start < shorter and found[start][0] == made[start][0]:
        start += 1
    while end < shorter - start and found[-1 - end][0] == made[-1 - end][0]:
        end += 1
    one, other = found[start : len(found) - end], made[start : len(made) - end]
    if len(one) == len(other):
        return [(a[1], b[1]) for a, b in zip(one, other, strict=True) if a[0] != b[0]]
    return [*((text, None) for _, text in one), *((None, text) for _, text in other)]


@dataclass(slots=True)
class _Read:
    version: str
    style: str
    texts: list[Shown] = field(default_factory=list)


def _read(html: str) -> _Read:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    texts = [" ".join(text.split()) for text in reader.texts]
    shown = [(tuple(FIGURE.findall(text)), text) for text in texts]
    return _Read(reader.version, "".join(reader.style), [pair for pair in shown if pair[0]])


class _Reader(HTMLParser):
    """Collects the texts of ``main`` by element, the style and the version of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.style: list[str] = []
        self.version = ""
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "meta" and given.get("name") == "generator":
            self.version = (given.get("content") or "").removeprefix("evalreport ")
        if tag in HIDDEN or tag == "main":
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "style" in self._inside:
            self.style.append(data)
        elif "main" in self._inside and not HIDDEN & set(self._inside):
            self.texts.append(data)
