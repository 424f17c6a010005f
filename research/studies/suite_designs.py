"""Outcomes of two models on suites of tasks of unlike size, and on questions that are answered several times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import stats

from evalreport.metrics.registry import PRIMARY, Quantity
from evalreport.predictions.column_names import TASK
from evalreport.predictions.table import Attempts, Column, ModelOutputs, Predictions
from evalreport.samplings import Sampling, sampling_by
from research.studies.designs import Design, Truth, predictions_on

OUTCOME = Quantity(PRIMARY["outcome"])
TASKS = (5, 15, 30)
LEAST, MOST = 5, 200
"""Examples (or clusters) of the smallest task and of the largest."""
MOST_CLUSTERS = 40
LEVELS = (0.3, 0.9)
"""How often the first model is right on the hardest task and on the easiest."""
BEHIND = 0.05
"""How much less often the second model is, on every task."""
TOGETHER, IN_CLUSTER = 0.5, 0.2
"""Correlation of the two models' scores on an example, and of a model's scores in a cluster."""
QUESTIONS, ATTEMPTS = (30, 100, 300), (1, 3, 10)
CENTRES, SPREAD = {"a": 1.0, "b": 0.7}, 1.5
"""Logit of the chance to answer a question: normal with these means and this deviation."""


def suite_designs() -> list[Design]:
    """Return suites of single examples and of clusters, and questions answered once, three and ten times."""
    return [
        _suite("suite", clusters=False),
        _suite("suite, clusters", clusters=True),
        *map(_attempts, ATTEMPTS),
    ]


def task_sizes(tasks: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the sizes of the tasks, a geometric series that the levels do not follow."""
    sizes = np.round(np.geomspace(LEAST, most, tasks)).astype(np.int64)
    return sizes[np.random.default_rng(tasks).permutation(tasks)]


def suite_of(
    generator: np.random.Generator, tasks: int, *, clusters: bool, behind: float = BEHIND
) -> tuple[Predictions, Sampling]:
    """Draw a suite of tasks of unlike size, on each of which the second model is ``behind`` less often right."""
    sizes, levels = task_sizes(tasks, MOST_CLUSTERS if clusters else MOST), np.linspace(*LEVELS, tasks)
    units = int(sizes.sum())
    of_unit = np.repeat(np.arange(tasks), sizes)
    each = generator.integers(1, 10, units) if clusters else np.ones(units, dtype=np.int64)
    cluster = np.repeat(np.arange(units), each)
    task = of_unit[cluster]
    n = len(task)
    alike = IN_CLUSTER if clusters else 0.0
    hard = np.sqrt(TOGETHER) * generator.normal(size=n)
    models = {}
    for model, level in (("a", levels), ("b", levels - behind)):
        own = np.sqrt(alike) * generator.normal(size=units)[cluster]
        own += np.sqrt(1 - TOGETHER - alike) * generator.normal(size=n)
        models[model] = (hard + own < stats.norm.ppf(level)[task]).astype(np.float64)
    column = Column(task, tuple(f"task {t}" for t in range(tasks)))
    outputs = tuple(ModelOutputs(name, outcome=values) for name, values in models.items())
    predictions = predictions_on("outcome", None, outputs, keys={TASK: column})
    return predictions, sampling_by(n, cluster if clusters else None, task=task)


def _suite(name: str, *, clusters: bool) -> Design:
    most = MOST_CLUSTERS if clusters else MOST

    def draw(generator: np.random.Generator, tasks: int) -> tuple[Predictions, Sampling]:
        return suite_of(generator, tasks, clusters=clusters)

    truths: dict[Truth, float] = {
        ("value", "a", OUTCOME): sum(LEVELS) / 2,
        ("difference", "a", OUTCOME): BEHIND,
    }
    what = f"clusters of 1 to 9 examples, correlation {IN_CLUSTER:g}," if clusters else "examples"
    text = (
        f"n tasks of {LEAST} to {most} {what} in a geometric series; right {LEVELS[0]:g} to {LEVELS[1]:g} by task,"
        f" b {BEHIND:g} less"
    )
    return Design(name, text, TASKS, draw, truths)


def passes_of(
    generator: np.random.Generator, n: int, attempts: int, centres: Mapping[str, float] = CENTRES
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Draw how many attempts at each of n questions pass, by model; what makes a question hard is half in common."""
    hard = generator.normal(size=n)
    found = {}
    for name, centre in centres.items():
        logit = centre + SPREAD * np.sqrt(0.5) * (hard + generator.normal(size=n))
        found[name] = generator.binomial(attempts, 1 / (1 + np.exp(-logit)))
    return found


def _attempts(attempts: int) -> Design:
    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        models = []
        for name, count in passes_of(generator, n, attempts).items():
            passed = count.astype(np.float64)
            spread = passed * (1 - passed / attempts)
            tried = Attempts(np.full(n, float(attempts)), spread, passed) if attempts > 1 else None
            models.append(ModelOutputs(name, outcome=passed / attempts, attempts=tried))
        return predictions_on("outcome", None, tuple(models)), sampling_by(n)

    chance = {name: _mean_chance(centre) for name, centre in CENTRES.items()}
    truths: dict[Truth, float] = {("value", "a", OUTCOME): chance["a"]}
    if attempts > 1:  # once: paired proportions, which are enumerated
        truths["difference", "a", OUTCOME] = chance["a"] - chance["b"]
    times = "once" if attempts == 1 else f"{attempts} times"
    text = f"n questions, each answered {times}; the logit of the chance to be right is normal, deviation {SPREAD:g}"
    return Design(f"attempts, {attempts}", text, QUESTIONS, draw, truths)


def _mean_chance(centre: float) -> float:
    """Return the mean of the logistic function of a normal variable, by Gauss and Hermite's rule."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float((weights / (1 + np.exp(-(centre + SPREAD * nodes)))).sum() / weights.sum())
