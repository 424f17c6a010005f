"""Compare the documents of an output folder with those that this version makes of its results.json."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalreport.errors import OutputError, UsageError
from evalreport.files import content_of
from evalreport.options import FILES, PAGE, Detail, Format, OutputOptions, parse_time
from evalreport.report.writing import OURS, documents_of
from evalreport.schema.results import Results
from evalreport.texts import in_words, say

FORMAT_OF: Mapping[str, Format] = {name: form for form, names in FILES.items() for name in names}
"""The format that each file of a report is made in."""
COMPARED = frozenset(FORMAT_OF) - {"results.json", "report.pdf"}
"""Files that follow from results.json alone, but for title and date."""
CHART = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
DATE = re.compile(r'<p class="when">(\d{1,2}) ([^\s<]+) (\d{4})')
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
PART = re.compile(r"<!--.*?-->|<[^>]*>|[^<]+", re.DOTALL)
"""A comment, a tag or a text of a page."""
HEADING = re.compile(r"<!-- evalreport:[0-9a-f]+ -->\s*### (.+)")

ANY_DAY = "2000-01-01"
DETAILS: tuple[Detail, ...] = ("brief", "full")

DocumentState = Literal["same", "charts", "differs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The comparison of one document with the one that this version makes.

    Attributes
    ----------
    state
        ``charts``: the same but for its drawings.
    title
        A title of its own, which no result gives.
    differences
        Texts that differ, as the document shows them and as the results give them; None: there is none.
    why
        Why it could not be made; None: it was made.
    """

    name: str
    state: DocumentState
    title: str | None = None
    differences: tuple[tuple[str | None, str | None], ...] = ()
    why: str | None = None


def documents_in(folder: Path) -> dict[str, bytes]:
    """Return the files of a report in its output folder that can be compared, by name.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    return {name: content_of(folder / name) for name in sorted(COMPARED) if (folder / name).is_file()}


def not_compared_in(folder: Path) -> tuple[str, ...]:
    """Return the names of a report's other files in a folder: its pictures."""
    return tuple(name for name in sorted(OURS - COMPARED) if "figures/" in name and (folder / name).is_file())


def compare_documents(
    documents: Mapping[str, bytes], results: Results, templates: Path | None
) -> tuple[Document, ...]:
    """Compare each document with the one that is made of the results, byte by byte.

    Title and date are no results: they are taken from the documents, and the title is returned.

    Parameters
    ----------
    templates
        The user's folder of templates, with which they were made.
    """
    nearest: dict[str, Document] = {}
    left = list(documents)
    for options in _editions(documents, results, templates):
        made, failures = documents_of(results, options) if left else ({}, {})
        for name in tuple(left):
            found = _compared(name, documents[name], options.title, made.get(name, b""), failures.get(name))
            settled = found.state != "differs" or found.why is not None
            before = nearest.setdefault(name, found)
            if settled or len(found.differences) < len(before.differences):
                nearest[name] = found
            # Detail and charts are the page's alone.
            if settled or (name != PAGE and options.title is not None):
                left.remove(name)
    return tuple(nearest[name] for name in documents)


def _editions(
    documents: Mapping[str, bytes], results: Results, templates: Path | None
) -> Iterator[OutputOptions]:
    """Yield the options of the documents without and with a title of their own, brief and in full detail."""
    page = _decoded(documents.get(PAGE, b""))
    own = _title_of(documents, page)
    usual = say("report.title", n=len(results.models), number=in_words(len(results.models)))
    formats, time = tuple(dict.fromkeys(FORMAT_OF[name] for name in documents)), _date_of(page)
    for detail, title in itertools.product(DETAILS, (None,) if own in (None, usual) else (None, own)):
        yield OutputOptions(formats=formats, templates=templates, time=time, title=title, detail=detail)


def _compared(
    name: str, content: bytes, title: str | None, made: bytes, failure: OutputError | None
) -> Document:
    """Compare a document with the one that was made under a title, or that could not be made."""
    if failure is not None:
        return Document(name=name, state="differs", title=title, why=str(failure))
    if content == made:
        return Document(name=name, state="same", title=title)
    if name == PAGE and _but_for_charts(made, content):
        return Document(name=name, state="charts", title=title)
    pairs = _differences(_page_parts(content), _page_parts(made)) if name == PAGE else []
    pairs = pairs or _differences(_decoded(content).split("\n"), _decoded(made).split("\n"))
    return Document(name=name, state="differs", title=title, differences=tuple(pairs))


def _but_for_charts(made: bytes, shown: bytes) -> bool:
    """Say whether a page is the same but for what stands between the ends of its drawings."""
    old, new = (CHART.sub("<svg>", _decoded(content)) for content in (made, shown))
    return old == new


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _title_of(documents: Mapping[str, bytes], page: str) -> str | None:
    """Return the title that a page, or a summary, has."""
    if page:
        title = TITLE.search(page)
        return None if title is None else html.unescape(title[1]) or None
    heading = HEADING.search(_decoded(documents.get("summary.md", b"")))
    return None if heading is None else heading[1]


def _date_of(page: str) -> str:
    """Return the day that a page shows; any day where it shows none."""
    date = DATE.search(page)
    if date is not None:
        months = {say(f"month.{number}"): number for number in range(1, 13)}
        day = f"{date[3]}-{months.get(date[2], 0):02d}-{int(date[1]):02d}"
        try:
            return parse_time(day).isoformat()
        except UsageError:
            return ANY_DAY  # there is no such day, so the page differs in it
    return ANY_DAY


def _page_parts(content: bytes) -> list[str]:
    """Return the tags and comments of a page, and the texts between them, their blanks as one."""
    parts = PART.findall(_decoded(content))
    plain = (part if part[0] == "<" else " ".join(html.unescape(part).split()) for part in parts)
    return [part for part in plain if part]


def _differences(shown: list[str], made: list[str]) -> list[tuple[str | None, str | None]]:
    """Pair the texts between the first and the last difference."""
    start, end = 0, 0
    shorter = min(len(shown), len(made))
    while start < shorter and shown[start] == made[start]:
        start += 1
    while end < shorter - start and shown[-1 - end] == made[-1 - end]:
        end += 1
    one, other = shown[start : len(shown) - end], made[start : len(made) - end]
    if len(one) == len(other):
        return [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    return [*((text, None) for text in one), *((None, text) for text in other)]
