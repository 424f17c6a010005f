"""The promised error rates, by the heading under which docs/promises.csv has them."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from research.studies import audits, bars, statements, tables
from research.studies.harness import Run, Study
from research.studies.judgement import Line, written
from research.studies.known_limits import LIMITS

MODULES = (
    *("led", "held", "operating", "sliced", "unequal", "time_order", "seeds", "ties", "biased", "bars"),
    *("families", "headings", "chosen", "extrapolation", "bias_variance", "settling"),
)
"""Add a study here: its promises are measured, judged and published with the others."""
STUDIES: tuple[Study, ...] = tuple(
    importlib.import_module(f"research.studies.{name}").STUDY for name in MODULES
)


def of_gates(run: Run) -> Iterator[Line]:
    """Gates exactly at the bar, proportions by enumeration."""
    if not run.only:
        yield from bars.of_proportions()
    yield from bars.STUDY.confirm(run)


PROMISES: Mapping[str, Callable[[Run], Iterable[Line]]] = {
    **{study.heading: study.confirm for study in STUDIES},
    "Gates": of_gates,
    "Alarms of audits": audits.promised,
    "Statements of single runs": statements.promised,
}
"""By heading: what measures the promises."""


def rows(run: Run, headings: Iterable[str] = PROMISES) -> Iterator[dict[str, str]]:
    """Yield the rows of docs/promises.csv: every promise, or those under some headings."""
    for heading in headings:
        for line in PROMISES[heading](run):
            yield written(heading, line, run.seed)


def finish(folder: Path) -> list[str]:
    """Return the promises that are beyond their limit and for which no reason is known."""
    promises = tables.read(folder / "promises.csv")
    return [row["promise"] for row in promises if row["verdict"] == "no" and row["promise"] not in LIMITS]


# --- the tables of docs/promises.md ---------------------------------------------------------------------------------


@tables.view("promises.by_heading")
def by_heading() -> list[dict[str, str]]:
    """Return how many promises hold under each heading, and in all."""
    promises = tables.read(tables.DOCS / "promises.csv")
    headings = [*dict.fromkeys(row["heading"] for row in promises), "**all**"]
    counts = [
        (heading, Counter(row["verdict"] for row in promises if heading in (row["heading"], "**all**")))
        for heading in headings
    ]
    return [
        {
            "promises": heading, "number": str(count.total()), "hold": str(count["yes"]),
            "beyond their limit": str(count["no"]), "not shown": str(count["not shown"]),
        }
        for heading, count in counts
    ]  # fmt: skip


@tables.view("promises.limits")
def known_limits() -> list[dict[str, str]]:
    """Return the promises that are beyond their limit, with the reason and with what a run says there."""
    return [
        {
            "promise": row["promise"], "limit": f"{row['side']} {tables.percent(row['limit'])} %",
            "measured": f"{100 * int(row['count']) / int(row['data_sets']):.2f} %",
            "why": LIMITS[row["promise"]].why, "a run says": f"`{LIMITS[row['promise']].said}`",
        }
        for row in tables.read(tables.DOCS / "promises.csv")
        if row["verdict"] == "no"
    ]  # fmt: skip
