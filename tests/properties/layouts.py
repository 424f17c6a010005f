"""Small made-up predictions in every layout: folds, repeats, halves, replicates, seeds, data sets, own test sets."""

from __future__ import annotations

from typing import Any

import numpy as np

import evalreport
from evalreport.schema.results import Results

Source = dict[str, dict[str, Any]]
MODELS = ("m0", "m1", "m2")


def _answers(random: np.random.Generator, keys: dict[str, list[Any]], strength: float) -> dict[str, Any]:
    """Return one model's labels and probabilities of class 1 for rows whose truth is the parity of the id."""
    truth = np.array([int(i) % 2 for i in keys["id"]])
    score = strength * (truth - 0.5) + random.normal(size=len(truth))
    return {
        **keys,
        "y_true": [str(t) for t in truth],
        "p_1": (1 / (1 + np.exp(-2 * score))).round(3).tolist(),
    }


def _folds(n: int, repeats: int, folds: int, seed: int) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    keys: dict[str, list[Any]] = {"id": [], "repeat": [], "fold": []}
    for repeat in range(repeats):
        place = random.permutation(n) % folds
        keys["id"] += [f"{i:03d}" for i in range(n)]
        keys["repeat"] += [repeat + 1] * n
        keys["fold"] += (place + 1).tolist()
    return keys


def _repeated(n: int, column: str, times: int) -> dict[str, list[Any]]:
    return {
        "id": [f"{i:03d}" for _ in range(times) for i in range(n)],
        column: [k + 1 for k in range(times) for _ in range(n)],
    }


def _holdout(n: int, repeats: int, seed: int) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    keys: dict[str, list[Any]] = {"id": [], "repeat": [], "train_size": []}
    for repeat in range(repeats):
        chosen = np.sort(random.permutation(n)[: n // 3])
        keys["id"] += [f"{i:03d}" for i in chosen]
        keys["repeat"] += [repeat + 1] * len(chosen)
        keys["train_size"] += [n - len(chosen)] * len(chosen)
    return keys


def _datasets(n: int, count: int) -> dict[str, list[Any]]:
    return {
        "id": [f"{i:03d}" for _ in range(count) for i in range(n)],
        "dataset": [f"set{k:02d}" for k in range(count) for _ in range(n)],
    }


_IDS = [f"{i:03d}" for i in range(60)]
KEYS: dict[str, dict[str, list[Any]]] = {
    "test-set": {"id": _IDS},
    "clusters": {"id": _IDS, "site": [f"s{int(i**0.6)}" for i in range(60)]},
    "time": {"id": _IDS, "time": [(17 * i) % 60 for i in range(60)]},
    "weights": {"id": _IDS, "weight": [1.0 + i % 4 for i in range(60)]},
    "cross-validation": _folds(50, 1, 5, 1),
    "repeated cross-validation": _folds(40, 3, 4, 2),
    "5x2cv": _folds(40, 5, 2, 3),
    "repeated-holdout": _holdout(60, 6, 4),
    "bootstrap": _repeated(30, "replicate", 6),
    "seeds": _repeated(30, "seed", 4),
    "attempts": _repeated(30, "attempt", 3),
    "datasets": _datasets(20, 8),
    "suite": {"id": _IDS, "task": [f"t{int((i / 10) ** 0.6)}" for i in range(60)]},
}
"""By layout, the columns that every model of it shares."""


def predictions(layout: str, seed: int = 0) -> Source:
    """Return three models of different strength in one layout."""
    random = np.random.default_rng(seed)
    return {name: _answers(random, KEYS[layout], 0.5 + 0.4 * k) for k, name in enumerate(MODELS)}


def scores(seed: int = 0, count: int = 9) -> Source:
    """Return three models' values on data sets, rounded so that ties and zeros of differences occur."""
    random = np.random.default_rng(seed)
    names = [f"set{k:02d}" for k in range(count)]
    level = random.uniform(0.6, 0.9, count)
    return {
        name: {"dataset": names, "value": (level + random.normal(0.01 * k, 0.02, count)).round(2).tolist()}
        for k, name in enumerate(MODELS)
    }


def own_test_sets(seed: int = 0) -> Source:
    """Return three models, each on a test set of its own."""
    source = predictions("test-set", seed)
    return {
        name: {**columns, "id": [f"{name}-{i}" for i in columns["id"]]} for name, columns in source.items()
    }


def answers(seed: int = 0) -> Source:
    """Return three models' outcomes, three attempts at each question, of which the last model has four at some."""
    random = np.random.default_rng(seed)
    keys = _repeated(30, "attempt", 3)
    more = {"id": keys["id"] + keys["id"][:10], "attempt": keys["attempt"] + [4] * 10}
    own = {"m0": keys, "m1": keys, "m2": more}
    return {
        name: {
            **own[name],
            "outcome": (random.random(len(own[name]["id"])) < 0.4 + 0.15 * k).astype(int).tolist(),
        }
        for k, name in enumerate(MODELS)
    }


def judged(seed: int = 0) -> Source:
    """Return three models whose answers a judge graded, a third of them people too, mostly alike."""
    random = np.random.default_rng(seed)
    source: Source = {}
    for k, name in enumerate(MODELS):
        people = (random.random(60) < 0.5 + 0.1 * k).astype(float)
        judge = np.where(random.random(60) < 0.85, people, 1 - people)
        gold = [value if i % 3 == 0 else None for i, value in enumerate(people.tolist())]
        source[name] = {"id": _IDS, "outcome": judge.tolist(), "gold": gold}
    return source


LAYOUTS = (*KEYS, "scores", "judged", "independent", "answers")


def source_of(layout: str, seed: int = 0) -> Source:
    """Return the models of a layout."""
    made = {"scores": scores, "answers": answers, "judged": judged}
    if layout in made:
        return made[layout](seed)
    return own_test_sets(seed) if layout == "independent" else predictions(layout, seed)


def options_of(layout: str, **fields: Any) -> evalreport.Options:
    """Return options with every test and few replicates, for a metric of labels, one of ranks and one of losses."""
    given: dict[str, Any] = {"tests": ("all",), "resamples": 100, **fields}
    if layout == "answers":
        given["metrics"] = ("mean_outcome", "pass@2", "pass^2")
    elif layout not in ("scores", "judged"):
        given = {"positive": "1", "metrics": ("accuracy", "roc_auc", "log_loss"), **given}
    if layout == "test-set" and "metrics" not in fields:
        given["metrics"] = ("accuracy", "precision", "f1", "balanced_accuracy", "roc_auc", "log_loss")
    if layout == "clusters":
        given["cluster"] = "site"
    if layout == "time":
        given |= {"order": "time", "horizon": 2}
    if layout == "weights":
        given["weight"] = "weight"
    if layout == "independent":
        given["join"] = "independent"
    return evalreport.Options(**given)


def evaluate(source: Source, layout: str, **fields: Any) -> Results:
    """Evaluate a source under the options of its layout."""
    return evalreport.evaluate(source, options=options_of(layout, **fields))
