"""How often the intervals of costs hold, and how often unchanged questions are flagged; writes docs/costs.csv.

Run by ``make study-costs``; about five minutes on one core. Same seed, same table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalreport.questions.attempts.compute import fisher_midp
from evalreport.questions.costs.interval import CostFigure, Stratum, log_hall, stratum
from research.studies import tables
from research.studies.harness import Cell
from research.studies.judgement import judged
from research.studies.simulation import LEVEL
from research.studies.tally import Tally, happened, one

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SIZES = (30, 100, 300)
AT_ONCE = 4_000_000
"""Numbers drawn at once, so that memory stays small."""


@dataclass(frozen=True, slots=True)
class Part:
    """One stratum of S sets: what each question contributes to the logarithm (S, n), and how many make a cluster."""

    contributions: Floats
    cluster: int = 1

    def of(self, number: int) -> Stratum:
        """Return that of one set."""
        u = self.contributions[number]
        codes = None if self.cluster == 1 else np.arange(len(u)) // self.cluster
        found = stratum(u, np.ones(len(u)), cluster=codes)
        assert found is not None
        return found


# --- laws of costs with mean 1 ---------------------------------------------------------------------------------------


def log_normal(sd: float) -> Draw:
    """Return a log-normal law."""
    return lambda rng, shape: np.exp(sd * rng.standard_normal(shape) - sd**2 / 2)


def retried(sd: float) -> Draw:
    """Return a log-normal law of which 2 % cost ten times as much."""
    usual = log_normal(sd)
    return lambda rng, shape: usual(rng, shape) * np.where(rng.random(shape) < 0.02, 10, 1) / 1.18


def pareto(index: float) -> Draw:
    """Return a Pareto law."""
    return lambda rng, shape: (rng.pareto(index, shape) + 1) * (index - 1) / index


LAWS: dict[str, Draw] = {
    "log-normal 0.5": log_normal(0.5),
    "log-normal 1": log_normal(1.0),
    "log-normal 1.5": log_normal(1.5),
    "Pareto 2.2": pareto(2.2),
    "retries over log-normal 0.5": retried(0.5),
    "gamma 2": lambda rng, shape: rng.gamma(2.0, 0.5, shape),
}


# --- figures: each draws S sets of a size and returns the value, its strata and the truth ----------------------------

Drawn = tuple[Floats, list[Part], float]


def mean(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of n questions."""
    x = law(rng, (sets, n))
    own = x.mean(axis=1)
    return own, [Part((x / own[:, None] - 1) / n)], 1.0


def attempts(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of n questions with five attempts, whose costs share the question's size."""
    x = law(rng, (sets, n)) * log_normal(0.5)(rng, (5, sets, n)).mean(axis=0)
    own = x.mean(axis=1)
    return own, [Part((x / own[:, None] - 1) / n)], 1.0


def clusters(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of n questions in clusters of five with a cost in common."""
    x = _of_clusters(rng, law, sets, n)
    own = x.mean(axis=1)
    return own, [Part((x / own[:, None] - 1) / n, 5)], 1.0


def _of_clusters(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Floats:
    shared = np.repeat(log_normal(0.5)(rng, (sets, n // 5)), 5, axis=1)
    return shared * law(rng, (sets, n))


TASKS = (1.0, 2.0, 5.0)
"""The mean cost of each task of a suite."""


def clusters_in_tasks(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of a suite of three tasks, with n questions in all and clusters of five within each task."""
    parts = [level * _of_clusters(rng, law, sets, n // 3 // 5 * 5) for level in TASKS]
    own = sum(part.mean(axis=1) for part in parts) / 3
    strata = [
        Part((part - part.mean(axis=1, keepdims=True)) / own[:, None] / (3 * part.shape[1]), 5)
        for part in parts
    ]
    return own, strata, sum(TASKS) / 3


def paired_ratio(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return ratios of means on the same questions, which share their size."""
    size = law(rng, (sets, n))
    a, b = size * log_normal(0.5)(rng, size.shape), size * log_normal(0.5)(rng, size.shape)
    ma, mb = a.mean(axis=1, keepdims=True), b.mean(axis=1, keepdims=True)
    return (ma / mb)[:, 0], [Part((a / ma - b / mb) / n)], 1.0


def independent_ratio(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return ratios of means of two test sets, the second twice as large."""
    value_a, first, _ = mean(rng, law, sets, n)
    value_b, second, _ = mean(rng, law, sets, 2 * n)
    return value_a / value_b, [*first, Part(-second[0].contributions)], 1.0


def per_success(rng: np.random.Generator, law: Draw, sets: int, n: int, share: float = 0.6) -> Drawn:
    """Return costs per success; dear questions are harder."""
    c, s = _costs_and_successes(rng, law, sets, n, share)
    return *_per_success(c, s), 1 / share


def _costs_and_successes(
    rng: np.random.Generator, law: Draw, sets: int, n: int, share: float
) -> tuple[Floats, Floats]:
    """Return costs, and successes that 0.2 fewer of the dearer half than of the cheaper half are."""
    c = law(rng, (sets, n))
    dear = c > np.median(c)
    chance = share + np.where(dear, -0.1, 0.1)
    return c, (rng.random((sets, n)) < chance).astype(np.float64)


def _per_success(c: Floats, s: Floats) -> tuple[Floats, list[Part]]:
    mc, ms = c.mean(axis=1, keepdims=True), np.maximum(s.mean(axis=1, keepdims=True), 1e-300)
    return (mc / ms)[:, 0], [Part((c / mc - s / ms) / c.shape[1])]


def per_success_of_suites(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return costs per success of a suite: three tasks with other costs and other shares of successes, pooled."""
    shares, m = (0.8, 0.6, 0.4), n // 3
    both = [_costs_and_successes(rng, law, sets, m, share) for share in shares]
    c = np.concatenate([level * own for level, (own, _) in zip(TASKS, both, strict=True)], axis=1)
    s = np.concatenate([own for _, own in both], axis=1)
    mc, ms = c.mean(axis=1, keepdims=True), np.maximum(s.mean(axis=1, keepdims=True), 1e-300)
    z = (c / mc - s / ms).reshape(sets, 3, m)
    z = (z - z.mean(axis=2, keepdims=True)) / (3 * m)
    return (mc / ms)[:, 0], [Part(z[:, task]) for task in range(3)], sum(TASKS) / sum(shares)


def ratio_per_success_of_two_sets(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return ratios of costs per success of two test sets, the second twice as large."""
    value_a, first, _ = per_success(rng, law, sets, n)
    value_b, second, _ = per_success(rng, law, sets, 2 * n)
    return value_a / value_b, [*first, Part(-second[0].contributions)], 1.0


FIGURES: dict[str, Callable[[np.random.Generator, Draw, int, int], Drawn]] = {
    "mean": mean,
    "mean, five attempts": attempts,
    "mean, clusters": clusters,
    "mean, clusters within tasks": clusters_in_tasks,
    "ratio, same questions": paired_ratio,
    "ratio, two test sets": independent_ratio,
    "per success": per_success,
    "per success, suite": per_success_of_suites,
    "ratio per success, two test sets": ratio_per_success_of_two_sets,
}


@dataclass(frozen=True)
class Cost(Cell):
    """One figure of one law at one size, or so many ``attempts`` at each of unchanged questions."""

    figure: str
    law: str
    n: int
    attempts: int = 0


QUESTIONS = 200
CELLS = (
    *(
        Cost(f"{figure}, {law}, n = {n}", figure, law, n, at_once=0, stream=(i, j, n))
        for i, figure in enumerate(FIGURES)
        for j, law in enumerate(LAWS)
        for n in SIZES
    ),
    *(
        Cost("questions", f"any of {QUESTIONS} unchanged questions", f"{k} attempts", QUESTIONS, k, at_once=0,
             stream=(1000, k))
        for k in (6, 10, 20)
    ),
)  # fmt: skip


def counted(cell: Cost, generator: np.random.Generator, sets: int) -> Mapping[tuple[()], Tally]:
    """Say how often the interval holds the true figure, or no unchanged question is flagged."""
    if cell.attempts:
        return {(): unflagged(generator, sets, cell.attempts)}
    tally, most = Tally(), max(1, AT_ONCE // (3 * cell.n))
    for start in range(0, sets, most):
        size = min(sets - start, most)
        values, parts, truth = FIGURES[cell.figure](generator, LAWS[cell.law], size, cell.n)
        for number, value in enumerate(values.tolist()):
            found = log_hall(CostFigure(value, tuple(part.of(number) for part in parts)), LEVEL)
            tally += one(truth, found.low, found.high)
    return {(): tally}


def midp_table(k: int) -> Floats:
    """Return the p-value of every pair of numbers of passes in k attempts."""
    return np.array([[fisher_midp(a, k, b, k) for b in range(k + 1)] for a in range(k + 1)])


def unflagged(generator: np.random.Generator, families: int, k: int) -> Tally:
    """Count the families of which Holm flags no unchanged question: chances to pass between 0 and 1, Beta(2, 1)."""
    table, total = midp_table(k), Tally()
    for _ in range(families):
        chance = generator.beta(2, 1, QUESTIONS)
        smallest = table[generator.binomial(k, chance), generator.binomial(k, chance)].min()
        total += happened(bool(smallest * QUESTIONS > 1 - LEVEL))
    return total


def flagged_at_most(k: int) -> float:
    """Return the greatest chance that Holm over unchanged questions flags any, whatever their chances to pass: exact.

    With chances p_i it is 1 - prod (1 - r(p_i)), r the chance that one question is flagged; so no mixture is above the
    worst p, which is looked for in steps of 0.01.
    """
    flagged_at = midp_table(k) * QUESTIONS <= 1 - LEVEL
    chances = [stats.binom.pmf(np.arange(k + 1), k, p / 100) for p in range(1, 100)]
    return 1 - (1 - max(float(own @ flagged_at @ own) for own in chances)) ** QUESTIONS


def measured(*, of_costs: bool) -> list[dict[str, str]]:
    """Return the rows of docs/costs.csv of the figures of costs, or of unchanged questions."""
    return [row for row in tables.read(tables.DOCS / "costs.csv") if (row["figure"] in FIGURES) == of_costs]


tables.view("costs.coverage")(partial(measured, of_costs=True))


@tables.view("costs.flags")
def of_questions() -> list[dict[str, str]]:
    """Return how often any unchanged question is flagged, with the confidence limit, and at most, reckoned exactly."""
    return [
        {
            "attempts": (k := row["law"].split()[0]), "families": row["sets"], "flagged": row["missed"],
            "upper limit": str(judged("", "at most", 0.06, float(row["missed"]), int(row["sets"])).bound),
            "at most": str(flagged_at_most(int(k))),
        }
        for row in measured(of_costs=False)
    ]  # fmt: skip
