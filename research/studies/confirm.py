"""Measure every promised error rate once more, with a fresh seed; writes docs/promises.json and docs/promises.md.

Run by ``make study-confirm SEED=n``. Same seed, same tables for any number of jobs. ``--only HEADING`` and ``--cells
WORD`` measure a part anew, with a seed and a number of data sets of its own, and keep the other lines.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from research.studies.judgement import Fact, Line, Rate, read, written
from research.studies.known_limits import REASONS
from research.studies.promises import PROMISES, Run, confirm

DOCS = Path(__file__).resolve().parents[2] / "docs"
Record = Mapping[str, Any]
Records = Mapping[str, Sequence[Record]]
"""The records of the lines, by heading."""


def page(found: Records) -> str:
    """Write the promises as Markdown, one line each; those that do not hold first."""
    lines = [read(record) for records in found.values() for record in records]
    held = sum(line.verdict == "yes" for line in lines)
    missed = [line for line in lines if line.verdict == "no"]
    unshown = sum(line.verdict == "not shown" for line in lines)
    text = [
        "# Promises, measured again",
        "",
        *_paragraph(
            "Written by `make study-confirm SEED=n`, with random numbers other than those of [tests](tests.md) and"
            " [audit alarms](audit-alarms.md). Slices, equivalence, seeds, ties, bias, gates on differences and many"
            " models are runs through the public API. Intervals, tests, clusters, weights and gates on values are made"
            " by the functions of a run, without its files; audits' alarms by a fast form of their two rules."
            " Proportions at the bar are enumerated."
        ),
        "",
        *_paragraph(
            "The rule is strict: a rate holds where its 95 % confidence limit (Clopper and Pearson, one-sided, from the"
            " data sets drawn) keeps to the promised limit. *Not shown*: the rate itself keeps to the limit, but the"
            " data sets are too few to say so. That counts as not held, and no warning makes up for it. What is"
            " promised of every data set is broken by a single one."
        ),
        "",
        *_paragraph(
            "Each line has a seed and a number of data sets of its own, since a part can be measured anew, and what too"
            " few data sets do not show is drawn with more of them."
        ),
        "",
        f"**{held} of {len(lines)} promises hold, {len(lines) - held} do not**: {len(missed)} miss their limit, and of"
        f" {unshown} it is not shown.",
        "",
        "## Known limits",
        "",
    ]
    if missed:
        text += ["Where no method that leads keeps the limit, or none is known:", "", *_limits(missed)]
    else:
        text += ["None: no measured rate is beyond its limit."]
    for heading, records in found.items():
        text += ["", f"## {heading}", "", *_table(records)]
    return "\n".join(text) + "\n"


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def _limits(missed: Sequence[Line]) -> list[str]:
    rows = [["promise", "limit", "measured", "why"], ["---"] * 4]
    rows += [[line.promise, _asked(line), _found(line), REASONS.get(line.promise, "")] for line in missed]
    return [_row(row) for row in rows]


def _table(records: Sequence[Record]) -> list[str]:
    rows = [["promise", "limit", "measured", "confidence limit", "data sets", "seed", "holds"], ["---"] * 7]
    for record in records:
        line = read(record)
        counted = (percent(line.bound), f"{line.data_sets:,}") if isinstance(line, Rate) else ("", "")
        verdict = "yes" if line.verdict == "yes" else f"**{line.verdict}**"
        rows.append([line.promise, _asked(line), _found(line), *counted, str(record["seed"]), verdict])
    return [_row(row) for row in rows]


def _row(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ").replace("|", "/") for cell in row) + " |"


def _asked(line: Line) -> str:
    return line.asked if isinstance(line, Fact) else f"{line.side} {percent(line.limit)}"


def _found(line: Line) -> str:
    return line.found if isinstance(line, Fact) else percent(line.rate)


def percent(rate: float) -> str:
    """Write a rate with two decimals of a percent.

    Examples
    --------
    >>> percent(0.05535)
    '5.54 %'
    """
    return f"{100 * rate:.2f} %"


def merged(kept: Records, fresh: Records) -> dict[str, list[Record]]:
    """Put fresh lines in the place of those of the same promise and side, and new ones behind them."""
    found = {}
    for heading in PROMISES:
        lines = {_key(record): record for record in kept.get(heading, ())}
        lines |= {_key(record): record for record in fresh.get(heading, ())}
        if lines:
            found[heading] = list(lines.values())
    return found


def _key(record: Record) -> tuple[str, str]:
    return record["promise"], record.get("side", "")


def main() -> int:
    """Measure, write the page, and say by the exit code whether every promise holds or is a known limit."""
    parser = argparse.ArgumentParser(prog="python -m research.studies.confirm", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="seed of every data set: take a new one")
    parser.add_argument("--replications", type=int, default=2000, help="data sets of every cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", choices=tuple(PROMISES), help="measure these anew, keep the others")
    parser.add_argument("--cells", default="", help="with --only: the cells whose names contain this")
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    given = parser.parse_args()
    if given.cells and not given.only:
        parser.error("--cells: say with --only under which heading")
    table = given.output / "promises.json"
    kept = json.loads(table.read_text(encoding="utf-8")) if given.only and table.exists() else {}
    run = Run(given.replications, given.seed, given.jobs, given.cells)
    fresh = {
        heading: [written(line, given.seed) for line in lines]
        for heading, lines in confirm(run, given.only).items()
    }
    promises = merged(kept, fresh)
    given.output.mkdir(parents=True, exist_ok=True)
    table.write_text(json.dumps(promises, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = page(promises)
    (given.output / "promises.md").write_text(text, encoding="utf-8")
    print(text)
    every = [record for records in promises.values() for record in records]
    return 1 if any(r["verdict"] == "no" and r["promise"] not in REASONS for r in every) else 0


if __name__ == "__main__":
    sys.exit(main())
