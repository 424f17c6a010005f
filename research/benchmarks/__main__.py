"""Run the benchmarks; see ``research.benchmarks``."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

# One thread each, before any library reads it.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

GROUPS = {
    "labels": "labels.resampling", "bca": "labels.bca", "scores": "scores.resampling", "delong": "scores.delong",
    "reading": "reading.two_files", "counting": "scale.counting", "adding-up": "scale.adding_up",
    "help": "programs.help_text", "run": "programs.whole_run", "stages": "programs.in_stages",
    "default": "runs.default_runs", "counts": "runs.from_counts", "sizes": "runs.by_size",
    "shapes": "shapes.beside_scikit_learn", "designs": "designs.beside_scikit_learn",
    "histories": "histories.beside_no_history", "memory": "memory.beside_pandas", "growth": "shapes.exponents",
}  # fmt: skip
"""Module and function of each group of rows."""


def main() -> int:
    """Run the groups that are asked for and print their rows; at full size they replace those of the file."""
    from research.studies import tables

    parser = argparse.ArgumentParser(prog="python -m research.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs; nothing is written")
    parser.add_argument("--only", choices=GROUPS, action="append", help="repeatable")
    given = parser.parse_args()
    path, too_fast = tables.DOCS / "benchmarks.csv", False
    for group in given.only or GROUPS:
        print(f"{group} ...", file=sys.stderr, flush=True)
        module, _, function = GROUPS[group].partition(".")
        measure = getattr(importlib.import_module(f"research.benchmarks.{module}"), function)
        fresh = []
        for row in measure(quick=given.quick):
            print("  ".join(cell for cell in row.cells.values() if cell), flush=True)
            fresh.append({"group": group, **row.cells, "measured": circumstances()})
            too_fast |= group == "growth" and row.met is False
        if not given.quick:
            kept = [row for row in tables.read(path) if row["group"] != group]
            tables.write(path, sorted([*kept, *fresh], key=lambda row: [*GROUPS].index(str(row["group"]))))
            tables.fill()
    if given.quick:
        print("small inputs: the goals are about the full sizes, without --quick", file=sys.stderr)
    elif too_fast:
        print("some cost grows faster than in proportion", file=sys.stderr)
    return 1 if too_fast and not given.quick else 0


def circumstances() -> str:
    """Return the day (that of SOURCE_DATE_EPOCH where it is set), the machine and the versions."""
    import evalreport

    stamp = os.environ.get("SOURCE_DATE_EPOCH")
    day = dt.datetime.fromtimestamp(int(stamp), dt.UTC) if stamp else dt.datetime.now(dt.UTC)
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{day:%Y-%m-%d}; {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.system()};"
        f" evalreport {evalreport.__version__}, Python {platform.python_version()}, {versions}"
    )


def processor() -> str:
    """Return the processor's name where the system tells it, with the numbers that tell those of one name apart."""
    listing = Path("/proc/cpuinfo")
    if not listing.exists():
        return platform.machine()
    first = listing.read_text(encoding="utf-8").split("\n\n")[0]
    known = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())
    }
    which = ", ".join(f"{name} {known[key]}" for name, key in GENERATION.items() if key in known)
    return known.get("model name", platform.machine()) + (f" ({which})" if which else "")


GENERATION = {"family": "cpu family", "model": "model"}


if __name__ == "__main__":
    sys.exit(main())
