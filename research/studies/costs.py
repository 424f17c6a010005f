"""How often the intervals of costs hold, and how often unchanged questions are flagged; writes docs/costs.csv.

Run by ``make study-costs``; about a minute on one core. Same seed, same table. The rule is ``log_hall`` for many
sets at once; ``tests/research/test_costs.py`` holds both to the same limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from evalreport.questions.attempts.compute import fisher_midp
from research.studies import tables
from research.studies.harness import Run
from research.studies.judgement import judged

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

LEVEL = 0.95
SIZES = (30, 100, 300)
AT_ONCE = 4_000_000
"""Numbers drawn at once, so that memory stays small."""


@dataclass(frozen=True, slots=True)
class Strata:
    """Contributions (S, J) of one stratum in S sets, with the variance (S,) and the degrees of freedom of their sum."""

    contributions: Floats
    variance: Floats
    df: float


def plain(u: Floats) -> Strata:
    """Return a stratum of independent questions."""
    n = u.shape[1]
    return Strata(u, n / (n - 1) * (u**2).sum(axis=1), n - 1.0)


def clustered(u: Floats, size: int) -> Strata:
    """Return a stratum of clusters of one size, questions of a cluster side by side."""
    s, n = u.shape
    g = n // size
    sums = u.reshape(s, g, size).sum(axis=2)
    squares = (u**2).sum(axis=1)
    robust = (sums**2).sum(axis=1) * g / (g - 1)
    between = (sums**2).sum(axis=1) / size
    msb, msw = between / (g - 1), np.maximum(squares - between, 0) / (n - g)
    rho = np.clip((msb - msw) / (msb + (size - 1) * msw), 0, 1)
    exchangeable = squares * (1 + (size - 1) * rho)
    return Strata(sums, np.maximum(robust, exchangeable), g - 1.0)


def limits(value: Floats, strata: Sequence[Strata], level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the limits (S,) of ``log_hall`` in every set."""
    u = np.concatenate([part.contributions for part in strata], axis=1)
    squares = (u**2).sum(axis=1)
    a = (u**3).sum(axis=1) / squares**1.5
    variance = sum(part.variance for part in strata)
    of_kurtosis = []
    for part in strata:
        j = part.contributions.shape[1]
        kurtosis = j * (part.contributions**4).sum(axis=1) / (part.contributions**2).sum(axis=1) ** 2
        of_kurtosis.append(np.minimum(part.df, 2 * j / np.maximum(kurtosis - 1, 1e-300)))
    df = variance**2 / sum(part.variance**2 / own for part, own in zip(strata, of_kurtosis, strict=True))
    df0 = variance**2 / sum(part.variance**2 / part.df for part in strata)
    error, p = np.sqrt(variance), (1 + level) / 2
    q, cut = special.stdtrit(df, p), 2 * special.stdtrit(df0, p) * error

    def before(g: Floats) -> Floats:
        root = np.cbrt(1 + a * (g - a / 6))
        return np.asarray(3 * (g - a / 6) / (root**2 + root + 1))

    low = np.maximum(-cut, np.minimum(-q, -before(q)) * error)
    high = np.minimum(cut, np.maximum(q, -before(-q)) * error)
    return value * np.exp(low), value * np.exp(high)


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

Drawn = tuple[Floats, list[Strata], float]


def mean(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of n questions."""
    x = law(rng, (sets, n))
    own = x.mean(axis=1)
    return own, [plain((x / own[:, None] - 1) / n)], 1.0


def attempts(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of n questions with five attempts, whose costs share the question's size."""
    x = law(rng, (sets, n)) * log_normal(0.5)(rng, (5, sets, n)).mean(axis=0)
    own = x.mean(axis=1)
    return own, [plain((x / own[:, None] - 1) / n)], 1.0


def clusters(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return means of n questions in clusters of five with a cost in common."""
    x = _of_clusters(rng, law, sets, n)
    own = x.mean(axis=1)
    return own, [clustered((x / own[:, None] - 1) / n, 5)], 1.0


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
        clustered((part - part.mean(axis=1, keepdims=True)) / own[:, None] / (3 * part.shape[1]), 5)
        for part in parts
    ]
    return own, strata, sum(TASKS) / 3


def paired_ratio(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return ratios of means on the same questions, which share their size."""
    size = law(rng, (sets, n))
    a, b = size * log_normal(0.5)(rng, size.shape), size * log_normal(0.5)(rng, size.shape)
    ma, mb = a.mean(axis=1, keepdims=True), b.mean(axis=1, keepdims=True)
    return (ma / mb)[:, 0], [plain((a / ma - b / mb) / n)], 1.0


def independent_ratio(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return ratios of means of two test sets, the second twice as large."""
    value_a, first, _ = mean(rng, law, sets, n)
    value_b, second, _ = mean(rng, law, sets, 2 * n)
    return value_a / value_b, [*first, _turned(second[0])], 1.0


def _turned(part: Strata) -> Strata:
    return Strata(-part.contributions, part.variance, part.df)


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


def _per_success(c: Floats, s: Floats) -> tuple[Floats, list[Strata]]:
    mc, ms = c.mean(axis=1, keepdims=True), np.maximum(s.mean(axis=1, keepdims=True), 1e-300)
    return (mc / ms)[:, 0], [plain((c / mc - s / ms) / c.shape[1])]


def per_success_of_suites(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return costs per success of a suite: three tasks with other costs and other shares of successes, pooled."""
    shares, m = (0.8, 0.6, 0.4), n // 3
    both = [_costs_and_successes(rng, law, sets, m, share) for share in shares]
    c = np.concatenate([level * own for level, (own, _) in zip(TASKS, both, strict=True)], axis=1)
    s = np.concatenate([own for _, own in both], axis=1)
    mc, ms = c.mean(axis=1, keepdims=True), np.maximum(s.mean(axis=1, keepdims=True), 1e-300)
    z = (c / mc - s / ms).reshape(sets, 3, m)
    z = (z - z.mean(axis=2, keepdims=True)) / (3 * m)
    return (mc / ms)[:, 0], [plain(z[:, task]) for task in range(3)], sum(TASKS) / sum(shares)


def ratio_per_success_of_two_sets(rng: np.random.Generator, law: Draw, sets: int, n: int) -> Drawn:
    """Return ratios of costs per success of two test sets, the second twice as large."""
    value_a, first, _ = per_success(rng, law, sets, n)
    value_b, second, _ = per_success(rng, law, sets, 2 * n)
    return value_a / value_b, [*first, _turned(second[0])], 1.0


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


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one law at one size: shares of sets whose interval holds the truth, or lies above or below it."""

    figure: str
    law: str
    n: int
    sets: int
    seed: int
    coverage: float
    above: float
    below: float


def cells(sets: int, seed: int) -> Iterator[Cell]:
    """Measure every figure of every law at every size."""
    for number, (figure, draw) in enumerate(FIGURES.items()):
        for law_number, (law, of) in enumerate(LAWS.items()):
            for n in SIZES:
                rng = np.random.default_rng([seed, number, law_number, n])
                held = above = below = done = 0
                while done < sets:
                    size = min(sets - done, max(1, AT_ONCE // (3 * n)))
                    value, strata, truth = draw(rng, of, size, n)
                    low, high = limits(value, strata)
                    above += int((low > truth).sum())
                    below += int((high < truth).sum())
                    done += size
                held = sets - above - below
                yield Cell(figure, law, n, sets, seed, held / sets, above / sets, below / sets)


def flagged(families: int, seed: int, attempts_each: int, questions: int = 200) -> Cell:
    """Measure how often Holm over unchanged questions flags any: chances to pass between 0 and 1, Beta(2, 1)."""
    k = attempts_each
    table = np.array([[fisher_midp(a, k, b, k) for b in range(k + 1)] for a in range(k + 1)])
    rng = np.random.default_rng([seed, 1000, k])
    found = 0
    for _ in range(families):
        chance = rng.beta(2, 1, questions)
        smallest = table[rng.binomial(k, chance), rng.binomial(k, chance)].min()
        found += smallest * questions <= 1 - LEVEL
    return Cell(
        "any of 200 unchanged questions",
        f"{k} attempts",
        questions,
        families,
        seed,
        1 - found / families,
        0,
        found / families,
    )


def flagged_at_most(attempts_each: int, questions: int = 200) -> float:
    """Return the greatest chance that Holm over unchanged questions flags any, whatever their chances to pass: exact.

    With chances p_i it is 1 - prod (1 - r(p_i)), r the chance that one question is flagged; so no mixture is above the
    worst p, which is looked for in steps of 0.01.
    """
    k = attempts_each
    table = np.array([[fisher_midp(a, k, b, k) for b in range(k + 1)] for a in range(k + 1)])
    flagged_at = table * questions <= 1 - LEVEL
    chances = [stats.binom.pmf(np.arange(k + 1), k, p / 100) for p in range(1, 100)]
    return 1 - (1 - max(float(own @ flagged_at @ own) for own in chances)) ** questions


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/costs.csv."""
    flags = (flagged(run.replications, run.seed, k) for k in (6, 10, 20))
    for cell in (*cells(run.replications, run.seed), *flags):
        shares = {name: f"{getattr(cell, name):.4f}" for name in ("coverage", "above", "below")}
        yield {
            "figure": cell.figure,
            "law": cell.law,
            "n": cell.n,
            "sets": cell.sets,
            "seed": cell.seed,
            **shares,
        }


@tables.view("costs.coverage")
def of_costs() -> list[dict[str, str]]:
    """Return the coverage of the figures of costs."""
    return [row for row in tables.read(tables.DOCS / "costs.csv") if row["figure"] in FIGURES]


@tables.view("costs.flags")
def of_questions() -> list[dict[str, str]]:
    """Return how often any unchanged question is flagged, with the confidence limit, and at most, reckoned exactly."""
    found = [row for row in tables.read(tables.DOCS / "costs.csv") if row["figure"] not in FIGURES]
    return [
        {
            "attempts": row["law"].removesuffix(" attempts"), "families": row["sets"], "flagged": row["below"],
            "upper limit": str(judged("", "at most", 0.06, float(row["below"]), int(row["sets"])).bound),
            "at most": str(flagged_at_most(int(row["law"].split()[0]))),
        }
        for row in found
    ]  # fmt: skip
