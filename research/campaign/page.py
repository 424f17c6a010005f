"""The measured lines of docs/reliability.md, from what the parts of the campaign recorded.

The page is written by hand. ``filled`` writes what was counted between the lines ``<!-- campaign NAME -->`` and
``<!-- end -->``, NAME being a part, or ``all``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from research.campaign import disks, forging, fuzz, kills, names, restarts, streams, writers
from research.campaign.records import Part

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
MARK = re.compile(r"(<!-- campaign (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
FAULTS: Mapping[str, Collection[str]] = {
    **dict.fromkeys(("kills-disk", "kills-memory"), kills.FAULTS),
    **dict.fromkeys(("fuzz", "damage"), fuzz.FAULTS),
    **{"disks": disks.FAULTS, "writers": writers.FAULTS, "restarts": restarts.FAULTS, "names": names.FAULTS},
    **{"streams": streams.FAULTS, "forging": forging.FAULTS},
}
"""Outcomes that must never be; what each means stands at the top of the part's file."""
KNOWN = {
    "defect: IndexError in layout.py:parts_by": "Mended after this run; the same try now ends with 0.",
    "defect: KeyError in verify.py:_comparable": "Mended after this run; the same try now ends with 1.",
    "defect: UnicodeDecodeError in connection.py:_on_connect": "Mended after this run; the same try now ends with 2.",
}
"""What is known of the findings that the record holds."""
FIRST = ("killed", "old", "new", "partial")
"""The columns that come first."""


def filled(text: str, parts: Mapping[str, Part]) -> str:
    """Return the page with what was counted."""

    def block(mark: re.Match[str]) -> str:
        lines = [_in_all(parts)] if mark[2] == "all" else _counted(parts[mark[2]])
        return "\n".join([mark[1], *lines, "", mark[3]])

    return MARK.sub(block, text)


def _in_all(parts: Mapping[str, Part]) -> str:
    tries = sum(part.tries for part in parts.values())
    killed = sum(row.counts["killed"] for part in parts.values() for row in part.rows)
    findings = sum(len(part.findings) for part in parts.values())
    hours = sum(part.seconds for part in parts.values()) / 3600
    left = f"{findings or 'no'} finding{'' if findings == 1 else 's'}"
    return f"{tries:,} tries, among them {killed:,} kills, in {hours:.1f} hours, with {left} left."


def _counted(part: Part) -> Iterator[str]:
    """Yield seed, time and versions of a part, the table of its outcomes, and its faults."""
    versions = ", ".join(f"{name} {version}" for name, version in part.versions.items())
    stopped = "" if _done(part) >= part.asked else f" Stopped before all {part.asked:,} that were asked for."
    spent = f", {part.processor:,.0f} s of the processor" if part.processor else ""
    yield _wrapped(f"Seed {part.seed}; {part.seconds:,.0f} s{spent}; {versions}.{stopped}")
    yield from ("", *_table(part))
    none = ", ".join(f"{fault} {sum(row.counts[fault] for row in part.rows)}" for fault in FAULTS[part.name])
    yield from ("", _wrapped(f"As none may end: {none}."))
    for finding in part.findings:
        yield from ("", _wrapped(f"- **Finding:** {finding}. {KNOWN.get(finding, '')}".rstrip(), "  "))


def _done(part: Part) -> int:
    """Return how many of the tries that were asked for were made: for kills only those that hit."""
    if part.name.startswith("kills"):
        return sum(row.counts["killed"] for row in part.rows)
    return part.tries if part.name != "names" else part.rows[0].tries


def _table(part: Part) -> Iterator[str]:
    found = {head for row in part.rows for head in row.counts if head not in FAULTS[part.name]}
    heads = [*(head for head in FIRST if head in found), *sorted(found - set(FIRST))]
    yield f"| | tries | {' | '.join(heads)} |"
    yield f"|:--|{'--:|' * (1 + len(heads))}"
    for row in part.rows:
        cells = [f"{row.counts[head]:,}" if row.counts[head] else "" for head in heads]
        yield f"| {row.what} | {row.tries:,} | {' | '.join(cells)} |"
    if len(part.rows) > 1:
        totals = [f"{sum(row.counts[head] for row in part.rows):,}" for head in heads]
        yield f"| all | {part.tries:,} | {' | '.join(totals)} |"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
