"""From the rows of the studies to the table of situations in which the run warns: evalreport/intervals/measured.csv."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from evalreport.comparisons.registry import OF_UNITS, tests_that_need
from evalreport.intervals.shortfalls import TABLE, By, Shortfall
from evalreport.metrics.registry import METRICS
from research.studies import tables
from research.studies.known_limits import KNOWN_LIMITS, MEASURED_AGAIN
from research.studies.rows import Row, stem
from research.studies.tally import LEADING

MOSTLY = 0.9
"""A warning that is there in so many of the data sets of a cell explains it."""
OFTEN = 0.5
"""What is measured of samples in which few losses carry the sum: cells in which at least so many are."""
ANY = "*"
MANY_GOLD = 50
"""With fewer rows that people judged a run always says how often intervals held there, whichever cells miss."""
OF_ANY_METRIC = "bootstrap_bca"
"""Leads for differences of metrics that the study does not hold, which are no means: it says what others miss by it."""

OF_RANKINGS = {
    ("value", "average_precision"): "ap_logit",
    ("difference", "average_precision"): "ap_mover",
    ("value", "pr_auc"): "pr_auc_logit",
    ("difference", "pr_auc"): "pr_auc_mover",
}
"""What leads in docs/score-tails.csv, by kind and metric."""

Group = tuple[str, str, str]
"""Kind, metric, method that leads."""


def shortfalls_in(rows: Sequence[Row]) -> list[Shortfall]:
    """Return the situations in which what leads covers less than is asked of it.

    Cells go by how many examples there are, or how many of the rarest class. A situation reaches from nothing to
    midway (on the scale of logarithms) between the largest cell that misses and the next one that does not. Beside a
    judge those that people judged are the examples.
    """
    unlike = {*tests_that_need(*OF_UNITS)} - {"ppi"}
    cells = [row for row in rows if row.method == LEADING and row.sets and row.leader not in unlike]
    alike = {row.key for row in cells}
    groups = [((row.kind, row.metric, row.leader), row) for row in cells]
    groups += [((row.kind, ANY, row.method), row) for row in rows
               if row.kind == "difference" and row.method == OF_ANY_METRIC and row.key in alike
               and not METRICS[stem(row.metric)].is_mean]  # fmt: skip
    found: list[Shortfall] = []
    for group, members in groupby(sorted(groups, key=lambda pair: pair[0]), key=lambda pair: pair[0]):
        own = [row for _, row in members]
        for by in ("n", "rarest"):
            found += _by_size(group, by, [row for row in own if (row.rarest > 0) == (by == "rarest")])
        found += _by_losses(group, own)
    return found


def of_tails(rows: tables.Rows) -> list[Shortfall]:
    """Return what was measured of scores with heavy tails, in the cells at least half of whose runs say so.

    One situation for each kind and metric; the rows are those of docs/score-tails.csv.
    """
    held: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if float(row["warned"]) >= OFTEN:
            held.setdefault((row["kind"], row["metric"]), []).append(float(row["held"]))
    return [
        Shortfall(*key, OF_RANKINGS[key], "tails", 0, min(shares), max(shares))
        for key, shares in held.items()
    ]


def size_of(row: Row) -> float:
    """Return what a cell goes by: examples of the rarest class, else examples."""
    return row.rarest or float(row.size)


def _by_size(group: Group, by: By, rows: Sequence[Row]) -> Iterator[Shortfall]:
    missing = [size_of(row) for row in rows if row.misses and _unexplained(row)]
    if not missing:
        return
    largest = max(missing)
    above = [size_of(row) for row in rows if size_of(row) > largest]
    most = math.floor(math.sqrt(largest * min(above))) if above else math.ceil(2 * largest)
    if group[2] == "ppi":
        most = max(most, MANY_GOLD - 1)
    covered = [row.coverage for row in rows if size_of(row) <= most]
    yield Shortfall(*group, by, most, min(covered), max(covered))


def _by_losses(group: Group, rows: Sequence[Row]) -> Iterator[Shortfall]:
    covered = [row.coverage for row in rows if row.warned >= OFTEN]
    if covered and group[1] != ANY:
        yield Shortfall(*group, "losses", 0, min(covered), max(covered))


def _unexplained(row: Row) -> bool:
    return row.warned < MOSTLY and row.key not in {**KNOWN_LIMITS, **MEASURED_AGAIN}


def explanation(row: Row, table: Iterable[Shortfall]) -> str | None:
    """Say what the run says in a cell that misses, or why nothing need be said; None where nothing is known."""
    if row.key in KNOWN_LIMITS:
        return KNOWN_LIMITS[row.key]
    if row.key in MEASURED_AGAIN:
        return "measured again"
    if row.warned >= MOSTLY:
        return f"`few_large_losses` in {100 * row.warned:.0f} % of the data sets"
    code = "short_interval" if row.kind == "value" else "short_difference_interval"
    of = {"n": "examples", "rarest": "examples of the rarest class"}
    code = "few_gold" if row.leader == "ppi" else code
    for one in table:
        same = (one.kind, one.metric, one.method) == (row.kind, row.metric, row.leader)
        if same and one.by in of and size_of(row) <= one.most:
            return f"`{code}` up to {one.most} {of[one.by]}"
    return None


def write(situations: Iterable[Shortfall]) -> None:
    """Write the table that the package reads."""
    tables.write(TABLE, [asdict(row) for row in situations])
