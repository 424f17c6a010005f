"""Suites that tests are made of: tasks of unlike size and level, ids that repeat across tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TASKS = {"arc": (60, 0.8), "code": (50, 0.4), "gsm8k": (80, 0.7), "mmlu": (110, 0.6)}
"""Examples of each task, and how often a model is right there."""


def outcomes(seed: int = 1) -> dict[str, dict[str, list[Any]]]:
    """Return three models' outcomes on the tasks: b is better than a on gsm8k alone, c worse everywhere."""
    shift = {"a": 0.0, "b": 0.0, "c": -0.2}
    generator = np.random.default_rng(seed)
    models: dict[str, dict[str, list[Any]]] = {
        name: {"task": [], "id": [], "outcome": [], "group": []} for name in shift
    }
    for task, (n, level) in TASKS.items():
        hardness = generator.random(n) - 0.5
        for name, columns in models.items():
            more = 0.28 if (name, task) == ("b", "gsm8k") else 0.0
            chance = np.clip(level + shift[name] + more + 0.3 * hardness, 0, 1)
            columns["task"] += [task] * n
            columns["id"] += [str(i + 1) for i in range(n)]
            columns["outcome"] += (generator.random(n) < chance).astype(int).tolist()
            columns["group"] += [f"{task}-{i // 4}" for i in range(n)]
    return models


def scores(seed: int = 2) -> dict[str, dict[str, list[Any]]]:
    """Return two models' labels and probabilities of two classes on three tasks."""
    generator = np.random.default_rng(seed)
    models: dict[str, dict[str, list[Any]]] = {name: {} for name in "ab"}
    tasks = [task for task, n in {"x": 40, "y": 60, "z": 50}.items() for _ in range(n)]
    truth = generator.integers(0, 2, len(tasks))
    for columns in models.values():
        p = np.clip(0.25 + 0.5 * truth + generator.normal(0, 0.3, len(tasks)), 0.01, 0.99).round(3)
        columns |= {
            "benchmark": tasks, "id": [str(i) for i in range(len(tasks))], "y_true": truth.tolist(),
            "p_1": p.tolist(), "y_pred": (p >= 0.5).astype(int).tolist(),
        }  # fmt: skip
    return models


def write(folder: Path, models: dict[str, dict[str, list[Any]]], order: Any = None) -> Path:
    """Write one CSV file for each model, its rows in any order."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in models.items():
        rows = list(zip(*columns.values(), strict=True))
        if order is not None:
            rows = [rows[i] for i in order.permutation(len(rows))]
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
