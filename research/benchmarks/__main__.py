"""Run the benchmarks; see ``research.benchmarks``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from research.benchmarks.page import Measured

# One thread each, before any library reads it.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
SHAPES_PAGE = PAGE.with_name("benchmarks-shapes.md")
SHAPES = ("shapes", "designs", "histories", "memory", "growth")
"""What has a page of its own: the default run in every shape of data."""


ROWS = {
    "labels": "labels.resampling", "bca": "labels.bca", "scores": "scores.resampling", "delong": "scores.delong",
    "reading": "reading.two_files", "counting": "scale.counting", "adding-up": "scale.adding_up",
    "help": "programs.help_text", "run": "programs.whole_run", "stages": "programs.by_stage",
    "default": "runs.default_runs", "counts": "runs.from_counts", "sizes": "runs.by_size",
    "shapes": "shapes.beside_scikit_learn", "designs": "designs.beside_scikit_learn",
    "histories": "histories.beside_no_history", "memory": "memory.beside_pandas", "growth": "shapes.exponents",
}  # fmt: skip
"""Module and function of each group of rows."""


def main() -> int:
    """Run the rows that are asked for, print them, and write each page whose rows were all run at full size."""
    from research.benchmarks import page, runs
    from research.benchmarks.timing import Cost, Exponent

    parser = argparse.ArgumentParser(prog="python -m research.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs; nothing is written")
    parser.add_argument("--only", choices=ROWS, action="append", help="repeatable")
    given = parser.parse_args()
    found: dict[str, list[Measured]] = {}
    for name in given.only or ROWS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found[name] = []
        module, _, function = ROWS[name].partition(".")
        measure = getattr(importlib.import_module(f"research.benchmarks.{module}"), function)
        for row in measure(quick=given.quick):
            found[name].append(row)
            print(page.line(row), flush=True)
    if given.quick:
        print("small inputs: the goals are about the full sizes, without --quick", file=sys.stderr)
    others = [name for name in ROWS if name not in SHAPES]
    if not given.quick and found.keys() >= set(others):
        measured = [row for name in others for row in found[name]]
        runs.draw([row for row in measured if isinstance(row, Cost)], PAGE.with_suffix(".svg"))
        PAGE.write_text(page.page(measured), encoding="utf-8")
    if not given.quick and found.keys() >= set(SHAPES):
        of_shapes = [row for name in SHAPES for row in found[name]]
        SHAPES_PAGE.write_text(page.page(of_shapes, head=page.SHAPES_HEAD), encoding="utf-8")
    too_fast = [row for name in found for row in found[name] if isinstance(row, Exponent) and not row.met]
    for row in too_fast:
        print(f"the cost grows faster than in proportion: {page.line(row)}", file=sys.stderr)
    return 1 if too_fast and not given.quick else 0


if __name__ == "__main__":
    sys.exit(main())
