"""Small prediction files of two models, and runs of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from evalreport.cli import main

ROWS = 120


def write(
    folder: Path,
    *,
    models: tuple[str, ...] = ("forest", "logreg"),
    first: int = 0,
    seed: int = 5,
    lift: float = 0.0,
) -> Path:
    """Write probabilities and a column to slice by; ``lift`` moves the first model's towards the truth."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = np.random.default_rng(7).random(ROWS) < 0.5
    for place, model in enumerate(models):
        noise = np.random.default_rng([seed, place]).normal(0, 0.2, ROWS)
        signal = (0.15 + (lift if place == 0 else 0.0)) * np.where(truth, 1, -1)
        probability = np.clip(0.5 + signal + noise, 0.01, 0.99).round(4)
        with (folder / f"{model}.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["id", "y_true", "p_1", "sex"])
            for number in range(ROWS):
                row = [f"e{first + number:04d}", int(truth[number]), probability[number], "fm"[number % 2]]
                table.writerow(row)
    return folder


def run(models: Path, output: Path, *words: str, code: int = 0) -> Path:
    """Run with few resamples; return the output folder."""
    given = ["run", str(models), "-o", str(output), "--resamples", "50", "-q", *words]
    if "-f" not in words:
        given += ["-f", "json"]
    assert main(given) == code
    return output
