"""Write the table of measured figures in README.md from the records that the studies left; nothing is typed by hand.

With --check nothing is written; the exit code is 1 where the table is not what the records say.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BEGIN, END = "<!-- figures: written by `make figures` -->\n", "<!-- end of figures -->"
NEAR = 0.93
"""A 95 % interval that covers at least this is near what it says."""


def table() -> str:
    """Return the table: what was asked, what was measured, and the command that measures it again."""
    rows = [coverage(), promises(), speed(), faults(), mutants()]
    lines = ["| asked | measured | again by |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def coverage() -> tuple[str, str, str]:
    """How often the leading 95 % interval holds the truth, over every situation of the study."""
    found = [float(row["coverage"]) for row in _rows("coverage.csv") if row["method"] == "leading"]
    near = sum(share >= NEAR for share in found)
    return (
        "Does a 95 % interval hold the truth?",
        f"over {len(found)} situations the median coverage is {100 * statistics.median(found):.1f} %; {near} have"
        f" {100 * NEAR:.0f} % or more, {len(found) - near} have not: the [known limits]"
        "(docs/coverage.md#known-limits), with what a run says of them",
        "`make study-coverage`",
    )


def promises() -> tuple[str, str, str]:
    """How many promised rates the draws show to hold, and how many they do not, with other random numbers."""
    verdicts = [row["verdict"] for row in _rows("promises.csv")]
    held, missed = verdicts.count("yes"), verdicts.count("no")
    said = (
        f"{held} of {len(verdicts)} [promised rates](docs/promises.md) hold by the confidence limits of their draws,"
        f" {len(verdicts) - held} do not: {missed} are beyond their limit"
        f" ([known limits](docs/promises.md#known-limits)), of {verdicts.count('not shown')} the draws are too few"
    )
    return (
        "Do tests, verdicts, gates and intervals err as often as they say?",
        said,
        "`make study-confirm SEED=n`",
    )


def speed() -> tuple[str, str, str]:
    """How long the example takes, and what the closest program takes for the same replicates."""
    cells = _cells("benchmarks.md")
    (whole,) = [row[2] for row in cells if row[0].startswith("whole run on the example")]
    work = [
        row for row in cells if row[0].startswith("BCa interval of F1, n = 10,000") and "batches" in row[1]
    ]
    took, ratio = whole.split(" (")[0], work[0][4]
    shapes = sorted(
        (float(row[4].replace(",", "")), row[0].removeprefix("default run: ").split(" (")[0])
        for row in _cells("benchmarks-shapes.md")
        if row[0].startswith("default run: ")
    )
    said = ""
    if shapes:
        (least, _), (most, _) = shapes[0], shapes[-1]
        times = f"{least:,.3g} to {most:,.3g}"
        said = f"; a whole default run: {times} times as fast as a loop of scikit-learn's metrics alone"
    return (
        "How fast is it?",
        f"five models with PDF: {took}; a BCa interval of F1 on 10,000 rows: {ratio} times as fast as scipy's bootstrap"
        f"{said} ([all rows, those missed too](docs/benchmarks.md);"
        " [every shape of data](docs/benchmarks-shapes.md))",
        "`make bench`",
    )


def _rows(table: str) -> list[dict[str, str]]:
    """Return the rows of a table of a study."""
    with (DOCS / table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _cells(page: str) -> list[list[str]]:
    """Return the cells of the tables of a page, row by row."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]


def faults() -> tuple[str, str, str]:
    """How many kills, full disks and hostile files it was put through, and how many promises broke."""
    record = json.loads((DOCS / "reliability.json").read_text(encoding="utf-8"))
    text = (DOCS / "reliability.md").read_text(encoding="utf-8")
    found = re.search(r"([\d,]+) tries, among\s+them ([\d,]+) kills", text)
    assert found is not None
    left = sum(len(part["findings"]) for part in record.values())
    broken = f"{left} finding{'s' * (left != 1)}, mended since" if left else "no finding"
    return (
        "What does it survive?",
        f"{found[1]} tries with kills ({found[2]}), full disks and hostile files: [{broken}](docs/reliability.md)",
        "`make campaign`",
    )


def mutants() -> tuple[str, str, str]:
    """How many changes of the statistical code the tests notice."""
    every, noticed = (
        sum(int(row[name]) for row in _rows("mutations.csv")) for name in ("mutants", "noticed")
    )
    said = f"{noticed} of {every} random changes of the statistics are [noticed](docs/mutations.md)"
    return "Would the tests see a wrong formula?", said, "`make study-mutations`"


def main() -> int:
    """Write or check the table; return the exit code."""
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    new = f"{before}{BEGIN}{table()}{END}{after}"
    if "--check" not in sys.argv[1:]:
        path.write_text(new, encoding="utf-8")
    elif new != text:
        print("README.md does not show what was measured: make figures", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
