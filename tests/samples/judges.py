"""Judged answers that the tests make themselves, and runs that they share."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er
from evalreport.schema.results import Results

Floats = npt.NDArray[np.float64]

Source = dict[str, dict[str, Any]]

ABILITY = {"plain": 0.9, "weak": 0.3, "liked": 0.6}


def answers(n: int = 1200, gold: int = 150, seed: int = 5, *, favour: float = 0.4) -> Source:
    """Return three models' answers; people judged ``gold`` random ones of each, at the same questions.

    The judge accepts nine in ten right answers and one in ten wrong ones, of ``liked`` so many more as ``favour``.
    """
    random = np.random.default_rng(seed)
    hard = random.normal(size=n)
    chosen = random.permutation(n)[:gold]
    found: Source = {}
    for model, ability in ABILITY.items():
        right = (hard + random.normal(size=n) < ability).astype(float)
        accepts_wrong = 0.1 + (favour if model == "liked" else 0.0)
        judge = (random.random(n) < np.where(right == 1, 0.9, accepts_wrong)).astype(float)
        known = np.full(n, np.nan)
        known[chosen] = right[chosen]
        found[model] = {"outcome": judge, "gold": known}
    return found


def of_pair(source: Source, a: str, b: str, column: str) -> Floats:
    """Return the differences of two models in a column."""
    return np.asarray(source[a][column] - source[b][column])


def run(source: Source, **options: Any) -> Results:
    """Evaluate with few replicates."""
    return er.evaluate(source, **{"resamples": 100, **options})


@cache
def favoured() -> Results:
    """Return the run of the answers of which the judge favours one model's."""
    return run(answers())


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "judged"


@cache
def run_of_example() -> Results:
    """Return the run of the committed example."""
    return er.evaluate(EXAMPLE / "answers", resamples=100)


def hidden(source: Source, keep: dict[str, Any]) -> Source:
    """Keep people's outcomes of some rows of each model."""
    return {
        name: {**columns, "gold": np.where(keep[name], columns["gold"], np.nan)}
        for name, columns in source.items()
    }


def rejected() -> Source:
    """Return answers of which people judged only such that the judge rejects."""
    every = answers(gold=1200)
    first = {name: np.flatnonzero(columns["outcome"] == 0)[:100] for name, columns in every.items()}
    return hidden(every, {name: np.isin(np.arange(1200), rows) for name, rows in first.items()})


def warned(results: Results) -> list[tuple[str, str]]:
    """Return level and text of the warnings of chosen gold."""
    return [(w.level, str(w.text)) for w in results.warnings if w.code == "gold_not_random"]
