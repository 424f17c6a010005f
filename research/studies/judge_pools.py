"""How often intervals of people's judgement hold with few labels of each task, and with labels of one attempt.

Writes docs/judge-pools.csv, by ``make study-judge-pools``, two minutes on one core. People judge 60 answers, drawn at
random over five tasks or over the questions; of a question with four answers they judge one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evalreport.intervals import leading
from evalreport.loading.load import load
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.registry import JUDGED, Quantity
from evalreport.options import Options
from research.studies.harness import Cell
from research.studies.simulation import LEVEL
from research.studies.tally import Tally, one

LABELS = 60
RIGHT = (0.9, 0.8, 0.7, 0.6, 0.5)
"""The share of right answers by task."""
SIZES = {"equal tasks": (200,) * 5, "unequal tasks": (60, 100, 160, 280, 400)}
ATTEMPTS, QUESTIONS = 4, 200
BETA = (2.0, 1.0)
"""Of how often a model answers a question rightly: 2/3 on average."""
JUDGES = {"good": (0.95, 0.9), "fair": (0.8, 0.8)}
"""Sensitivity and specificity."""
Columns = dict[str, list[object]]


def judged(generator: np.random.Generator, truly: np.ndarray, judge: str) -> np.ndarray:
    """Return what a judge says of answers that are right or wrong."""
    sensitivity, specificity = JUDGES[judge]
    return generator.random(truly.shape) < np.where(truly, sensitivity, 1 - specificity)


def of_people(generator: np.random.Generator, truly: np.ndarray, among: np.ndarray) -> list[object]:
    """Return what people say of 60 of some answers, drawn at random; empty cells elsewhere."""
    chosen = np.isin(np.arange(len(truly)), generator.choice(among, LABELS, replace=False))
    return [float(right) if known else None for right, known in zip(truly, chosen, strict=True)]


def tasks(generator: np.random.Generator, sizes: tuple[int, ...], judge: str) -> Columns:
    """Draw the answers to five tasks, of which people judge 60, whatever their tasks."""
    of_task = np.repeat(np.arange(len(sizes)), sizes)
    truly = generator.random(len(of_task)) < np.array(RIGHT)[of_task]
    return {
        "id": [f"{k:05d}" for k in range(len(truly))],
        "task": [f"t{k}" for k in of_task],
        "outcome": [float(said) for said in judged(generator, truly, judge)],
        "gold": of_people(generator, truly, np.arange(len(truly))),
    }


def attempts(generator: np.random.Generator, judge: str) -> Columns:
    """Draw four answers to each question; people judge one answer to each of 60 questions."""
    chance = np.repeat(generator.beta(*BETA, QUESTIONS), ATTEMPTS)
    truly = generator.random(len(chance)) < chance
    one_of_each = np.arange(QUESTIONS) * ATTEMPTS + generator.integers(ATTEMPTS, size=QUESTIONS)
    return {
        "id": [f"{k // ATTEMPTS:05d}" for k in range(len(truly))],
        "attempt": [str(k % ATTEMPTS) for k in range(len(truly))],
        "outcome": [float(said) for said in judged(generator, truly, judge)],
        "gold": of_people(generator, truly, one_of_each),
    }


def held(columns: Columns, truth: float) -> Tally:
    """Say whether the interval of a model's mean human outcome holds the true one."""
    table = load({"m": columns}, options=Options(task="outcome"))
    quantity = Quantity(JUDGED)
    sample = estimate_table(table, [quantity], Options(resamples=1), seed=0)
    interval = leading(sample.estimates["m", quantity], LEVEL)
    return one(truth, interval.low, interval.high)


@dataclass(frozen=True)
class Pool(Cell):
    """What people's labels are of, and the judge."""

    labels: str
    judge: str


ONE_ATTEMPT = "one of four attempts"
CELLS = tuple(
    Pool(f"{labels}, {judge}", labels, judge) for judge in JUDGES for labels in (*SIZES, ONE_ATTEMPT)
)


def counted(cell: Pool, generator: np.random.Generator, _number: int) -> Mapping[tuple[()], Tally]:
    """Say whether the interval of one data set holds the true mean."""
    if cell.labels == ONE_ATTEMPT:
        return {(): held(attempts(generator, cell.judge), BETA[0] / sum(BETA))}
    return {(): held(tasks(generator, SIZES[cell.labels], cell.judge), float(np.mean(RIGHT)))}
