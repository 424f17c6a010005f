"""Write the inputs of docs/recipes into the current folder: simulated, the same every time.

python -m scripts.recipe_inputs NAME
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np


def table(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def rankers(n: int = 120) -> None:
    """Write nDCG@10 of two rankers on the same queries."""
    random = np.random.default_rng(1)
    ease = random.beta(3, 2, n)
    rows = [
        (f"query-{i:03d}", name, round(float(np.clip(ease[i] + shift + 0.12 * random.normal(), 0, 1)), 3))
        for i in range(n)
        for name, shift in (("bm25", 0), ("dense", 0.05))
    ]
    table("ndcg.csv", ("id", "model", "ndcg"), rows)


def series(n: int = 40) -> None:
    """Write the mean absolute scaled error of three forecasts of each series."""
    random = np.random.default_rng(2)
    level = random.gamma(9, 0.1, n)
    values = [(level * factor * random.gamma(60, 1 / 60, n)).round(3) for factor in (1, 0.97, 0.88)]
    table(
        "mase.csv",
        ("dataset", "naive", "ets", "network"),
        [(f"shop-{i:02d}", *row) for i, row in enumerate(zip(*values, strict=True))],
    )


def survival(n: int = 600) -> None:
    """Write follow-up times in years, whether death was seen, and two models' risks of death within five years."""
    random = np.random.default_rng(3)
    frailty = random.normal(size=n)
    death = random.exponential(9 * np.exp(-frailty))
    end = random.uniform(1, 12, n)
    time, dead = np.minimum(death, end).round(2), (death <= end).astype(int)
    risks = [
        1 - np.exp(-5 / 9 * np.exp(weight * frailty + noise * random.normal(size=n)))
        for weight, noise in ((0.9, 0.3), (0.6, 0.6))
    ]
    rows = zip(time, dead, *(risk.round(4) for risk in risks), strict=True)
    table(
        "patients.csv",
        ("id", "years", "dead", "risk_new", "risk_old"),
        [(f"p{i:03d}", *row) for i, row in enumerate(rows)],
    )


def traces(n: int = 150) -> None:
    """Write a table of scored traces as platforms export it: a row an answer, with names of their own."""
    random = np.random.default_rng(4)
    ease = random.normal(size=n)
    rows = []
    for name, skill, price in (("prompt-v1", 0.6, 0.004), ("prompt-v2", 1.3, 0.003)):
        for i in range(n):
            right = int(random.random() < 1 / (1 + np.exp(-skill - ease[i])))
            rows.append(
                (
                    f"{random.integers(16**8):08x}",
                    name,
                    f"item-{i:03d}",
                    right,
                    round(price * random.gamma(5, 0.2), 6),
                )
            )
    table("export.csv", ("trace_id", "experiment", "dataset_item_id", "correctness", "total_cost"), rows)


def annotators(n: int = 250) -> None:
    """Write what two people and a model said about the same comments."""
    random = np.random.default_rng(5)
    truth = random.random(n) < 0.35
    said = [np.where(random.random(n) < right, truth, ~truth) for right in (0.94, 0.92, 0.9)]
    words = [np.where(column, "toxic", "fine") for column in said]
    table(
        "comments.csv",
        ("id", "anna", "ben", "model"),
        [(f"c{i:03d}", *row) for i, row in enumerate(zip(*words, strict=True))],
    )


def experiment(n: int = 4000) -> None:
    """Write visitors of a shop, half of whom saw each page, and who bought."""
    random = np.random.default_rng(6)
    rates = {"old": 0.08, "new": 0.1}
    pages = random.choice(list(rates), n)
    rows = [(f"u{i:05d}", page, int(random.random() < rates[page])) for i, page in enumerate(pages)]
    table("visitors.csv", ("id", "model", "outcome"), rows)


RECIPES: dict[str, Callable[[], None]] = {
    "rankers": rankers,
    "series": series,
    "survival": survival,
    "traces": traces,
    "annotators": annotators,
    "experiment": experiment,
}

if __name__ == "__main__":
    RECIPES[sys.argv[1]]()
