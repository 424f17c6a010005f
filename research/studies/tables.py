"""Tables of the studies: CSV files under docs/, and the tables of the pages that are made from them.

A page is written by hand. Where it has the lines

    <!-- table looks.csv where="what=error" rows=test across=looks value=rate format=percent -->
    <!-- end -->

``fill`` puts the table between them: a row for each value of ``rows``, a column for each value of ``across``, or one
for each name in ``value``. A name without ``.csv`` is one of ``VIEWS``: rows that are computed from a CSV file.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
Row = Mapping[str, str]
Rows = Sequence[Row]


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as CSV, with a line for the names."""
    lines = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def merged(old: Rows, fresh: Rows, key: Sequence[str]) -> list[Row]:
    """Put fresh rows in the place of old ones of the same key; others go behind the last of the same first column."""
    by_key = {tuple(row[name] for name in key): row for row in fresh}
    rows = [by_key.pop(tuple(row[name] for name in key), row) for row in old]
    for row in by_key.values():
        places = [place for place, other in enumerate(rows) if other[key[0]] == row[key[0]]]
        rows.insert(places[-1] + 1 if places else len(rows), row)
    return rows


# --- tables of pages ------------------------------------------------------------------------------------------------

MARK = re.compile(r"(<!-- table (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def percent(text: str) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent("0.0463")
    '4.6'
    """
    return f"{100 * float(text):.1f}"


FORMATS: Mapping[str, Callable[[str], str]] = {
    "text": str,
    "code": lambda text: f"`{text}`",
    "percent": percent,
    "share": lambda text: f"{float(text):.3f}",
    "number": lambda text: f"{float(text):,.0f}",
}
VIEWS: dict[str, Callable[[], Rows]] = {}
"""Rows that are computed from a CSV file, by the name that pages use."""


def view(name: str) -> Callable[[Callable[[], Rows]], Callable[[], Rows]]:
    """Register a function that returns the rows of a table."""

    def register(function: Callable[[], Rows]) -> Callable[[], Rows]:
        VIEWS[name] = function
        return function

    return register


def table(spec: str, folder: Path = DOCS) -> str:
    """Return the Markdown of one table, with a line end.

    Examples
    --------
    >>> print(table("looks.csv where='what=error;looks=1' rows=test value=rate,upper format=percent"), end="")
    | test | rate | upper |
    |---|---|---|
    | McNemar mid-p | 4.6 | 5.0 |
    | paired t | 5.1 | 5.5 |
    | areas | 4.8 | 5.2 |
    | F1 score | 5.0 | 5.3 |
    """
    source, *words = shlex.split(spec)
    asked = dict(word.split("=", 1) for word in words)
    rows = VIEWS[source]() if source in VIEWS else read(folder / source)
    for condition in filter(None, asked.get("where", "").split(";")):
        name, values = condition.split("=", 1)
        rows = [row for row in rows if row[name] in values.split("|")]
    by, value = _names(asked["rows"]), _names(asked["value"])
    formats = (asked.get("format", "text").split(",") * len(value))[: len(value)]
    across = asked.get("across")
    columns = list(dict.fromkeys(row[across] for row in rows)) if across else [""]
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        shown = [
            FORMATS[form](row[name]) if row[name] else ""
            for (name, _), form in zip(value, formats, strict=True)
        ]
        key = tuple(row[name] for name, _ in by)
        cells.setdefault(key, {}).setdefault(row[across] if across else "", _joined(shown, across))
    heads = columns if across else [title for _, title in value]
    titles = [*(title for _, title in by), *(asked.get("title", "{}").format(head) for head in heads)]
    lines = [titles, ["---"] * len(titles)]
    lines += [[*key, *(found.get(column, "") for column in columns)] for key, found in cells.items()]
    body = [f"| {' | '.join(line)} |" for line in lines]
    body[1] = "|" + "---|" * len(titles)
    return "\n".join(body) + "\n"


def _names(text: str) -> list[tuple[str, str]]:
    """Split ``name:title,name`` into names and titles."""
    return [(name, title or name) for name, _, title in (part.partition(":") for part in text.split(","))]


def _joined(shown: Sequence[str], across: str | None) -> str:
    """Join the values of a cell: several beside one another stand in brackets, those of columns apart."""
    if not across:
        return " | ".join(shown)
    first, *others = [text for text in shown if text] or [""]
    return f"{first} ({', '.join(others)})" if others else first


def filled(text: str, folder: Path = DOCS) -> str:
    """Return a page whose tables are those of its rows."""
    return MARK.sub(lambda mark: f"{mark[1]}\n{table(mark[2], folder)}\n{mark[4]}", text)


def fill(folder: Path = DOCS) -> list[Path]:
    """Fill the tables of every page of a folder; return the pages that changed."""
    changed = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (new := filled(text, folder)) != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed
