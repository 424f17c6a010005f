"""Measure every promised error rate once more, with a fresh seed; writes docs/promises.json and docs/promises.md.

Run by ``make study-confirm SEED=n``. Same seed, same tables for any number of jobs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import evalreport as er
from research.studies.promises import PROMISES, Run, confirm

DOCS = Path(__file__).resolve().parents[2] / "docs"


def page(found: Mapping[str, Any]) -> str:
    """Write the promises as Markdown, one line each."""
    lines = [line for group in found["promises"].values() for line in group]
    failed = [line for line in lines if not line["holds"]]
    text = [
        "# Promises, measured again",
        "",
        f"Measured by `make study-confirm SEED={found['seed']}` (evalreport {found['version']}), with random numbers",
        "other than those of [tests](tests.md), [coverage](coverage.md) and [audit alarms](audit-alarms.md). All rates",
        "are of runs through the public API, but those of proportions at the bar (enumerated) and of nights (the",
        "alarm's own function). A rate holds where it is within two Monte Carlo errors of its limit; the errors are in",
        "points.",
        "",
        f"{len(lines) - len(failed)} of {len(lines)} promises hold.",
    ]
    for heading, group in found["promises"].items():
        text += ["", f"## {heading}", "", *_table(group)]
    return "\n".join(text) + "\n"


def _table(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [["promise", "limit", "measured", "data sets", "Monte Carlo error", "holds"], ["---"] * 6]
    for line in lines:
        error = "" if line["error"] is None else f"{100 * line['error']:.1f}"
        count = "" if line["data_sets"] is None else f"{line['data_sets']:,}"
        verdict = "yes" if line["holds"] else "**no**"
        rows.append([line["promise"], line["limit"], line["measured"], count, error, verdict])
    return [
        "| " + " | ".join(cell.replace("\n", " ").replace("|", "/") for cell in row) + " |" for row in rows
    ]


def main() -> int:
    """Measure, write the page, and say by the exit code whether every promise holds."""
    parser = argparse.ArgumentParser(prog="python -m research.studies.confirm", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="seed of every data set: take a new one")
    parser.add_argument("--replications", type=int, default=400, help="data sets of a cell of a thousand")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--only", choices=tuple(PROMISES), help="measure these anew, keep the others of this seed"
    )
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    given = parser.parse_args()
    table = given.output / "promises.json"
    kept = json.loads(table.read_text(encoding="utf-8")) if given.only else {"promises": {}}
    if given.only and (kept["seed"], kept["replications"]) != (given.seed, given.replications):
        parser.error(
            "--only: the other promises were measured with another seed or another number of data sets"
        )
    fresh = confirm(Run(given.replications, given.seed, given.jobs), given.only)
    promises = {
        **kept["promises"],
        **{name: [asdict(line) for line in lines] for name, lines in fresh.items()},
    }
    found = {
        "seed": given.seed,
        "replications": given.replications,
        "version": er.__version__,
        "promises": {name: promises[name] for name in PROMISES if name in promises},
    }
    given.output.mkdir(parents=True, exist_ok=True)
    table.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = page(found)
    (given.output / "promises.md").write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(line["holds"] for group in promises.values() for line in group) else 1


if __name__ == "__main__":
    sys.exit(main())
