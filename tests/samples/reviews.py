"""Small predictions of one model, written as files."""

from __future__ import annotations

import csv
from pathlib import Path

SUMMARY = "<!-- evalreport:0123456789ab -->\n### Title\n\nforest is better\n"
"""A summary.md with its marker."""


def write(folder: Path, correct: int, n: int, *, first: int = 0, model: str = "forest") -> Path:
    """Write a label model that is right on the first ``correct`` of n examples; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{model}.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("id", "y_true", "y_pred"))
        for place in range(n):
            truth = place % 2
            table.writerow((f"e{first + place:05d}", truth, truth if place < correct else 1 - truth))
    return folder
