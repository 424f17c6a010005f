"""How often several looks decide falsely, and how often they find a difference, by the levels that ``--looks`` gives.

The p-values of all data sets at once are those of the package's tests; that a run with ``--looks-file`` decides the
same series at the same looks is checked first, through the public interface.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special, stats

import evalreport as er
from evalreport.comparisons.sample_size import examples_for_paired_accuracies
from evalreport.comparisons.score_tests import pooled_f1
from evalreport.comparisons.spending import look_levels
from evalreport.looks.levels import Declared, next_level
from research.studies import tables
from research.studies.harness import Run
from research.studies.judgement import judged

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

ALPHA = 0.05
N = 1000
LOOKS = (1, 2, 3, 5, 10)
STEPS = ("equal", "doubling", "late")
PUSHES = 5
AT_ONCE = 500
POINT = 0.01
LIMIT = 0.06


def sizes(looks: int, steps: str) -> list[int]:
    """Return the numbers of examples at the looks: equal steps, doubling, or small steps from 70 % on."""
    if steps == "equal":
        found = [N * k / looks for k in range(1, looks + 1)]
    elif steps == "doubling":
        found = [N / 2 ** (looks - k) for k in range(1, looks + 1)]
    else:
        found = [N] if looks == 1 else [0.7 * N + 0.3 * N * k / (looks - 1) for k in range(looks)]
    grown: list[int] = []
    for size in found:
        grown.append(max(round(size), grown[-1] + 1 if grown else 2))
    return grown


def levels(n: Sequence[int], n_max: int | None) -> list[float]:
    """Return the level of each look, all at once; that runs take the same is checked through the public interface."""
    declared = Declared(looks=len(n), n_max=n_max, pushes=False, alpha=ALPHA)
    return look_levels(n, [declared.share(k, size) for k, size in enumerate(n, 1)], ALPHA)


# --- data and p-values ----------------------------------------------------------------------------------------------


def outcomes(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw two models' outcomes, alike on 85 % of the examples; the first is right more often by ``gap``."""
    kind = generator.random((sets, N))
    first, second = kind < 0.075 + gap / 2, (kind >= 0.075 + gap / 2) & (kind < 0.15)
    both = kind > 0.3
    return (first | both).astype(float), (second | both).astype(float)


def midp_at(first: Floats, second: Floats, n: int) -> Floats:
    """Return McNemar's mid-p values on the first n examples."""
    b = ((first > second)[:, :n]).sum(axis=1)
    c = ((first < second)[:, :n]).sum(axis=1)
    smaller, total = np.minimum(b, c), b + c
    low = special.bdtr(smaller, total, 0.5) + np.where(
        smaller > 0, special.bdtr(np.maximum(smaller - 1, 0), total, 0.5), 0.0
    )
    return np.where(b == c, 1.0, low)


def losses(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw skewed losses: exponential ones that share half of their size."""
    shared = generator.exponential(size=(sets, N))
    first, second = (shared + generator.exponential(size=(sets, N)) for _ in range(2))
    return first - gap, second


def t_at(first: Floats, second: Floats, n: int) -> Floats:
    """Return the p-values of the paired t test on the first n examples."""
    d = (first - second)[:, :n]
    error = d.std(axis=1, ddof=1) / math.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * stats.t.sf(np.abs(d.mean(axis=1)) / error, n - 1))


def scores(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw scores of two models, positives at even places one deviation higher; the first one's by ``gap`` more."""
    positive = (np.arange(N) % 2 == 0).astype(float)
    shared = generator.normal(size=(sets, N))
    first, second = (shared + generator.normal(size=(sets, N)) for _ in range(2))
    return first + positive * (1.4 + gap), second + positive * 1.4


def areas_at(first: Floats, second: Floats, n: int) -> Floats:
    """Return the p-values of equal areas on the first n examples: 1 - the level at which the interval meets 0.

    The interval is ``plus_delong`` (METHODS 7A). 1 where a class has fewer than two.
    """
    if n < 4:
        return np.ones(len(first))
    placed = [_placements(one[:, :n]) for one in (first, second)]
    apart = [placed[0][k] - placed[1][k] for k in (0, 1)]
    difference = np.abs(apart[0].mean(axis=1))
    q = min(part.shape[1] for part in apart)

    def beyond(alpha: Floats) -> Floats:
        share = (special.ndtri(1 - alpha / 2) / special.ndtri(0.975)) ** 2
        variances = []
        for part in apart:
            m, deviations = part.shape[1], part - part.mean(axis=1, keepdims=True)
            made_up = np.minimum(1, np.abs(deviations).max(axis=1) + 2 / q)
            squares = (deviations**2).sum(axis=1) + share * made_up**2
            variances.append(squares / ((m + share - 1) * (m + share)))
        total = variances[0] + variances[1]
        squares_over_df = sum(v**2 / (part.shape[1] - 1) for v, part in zip(variances, apart, strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):  # classes of one example
            df = np.where(total > 0, total**2 / squares_over_df, 1.0)
        return np.asarray(difference - special.stdtrit(df, 1 - alpha / 2) * np.sqrt(total))

    low, high = np.full(len(first), -30.0), np.zeros(len(first))  # logarithms of alpha
    for _ in range(60):
        middle = (low + high) / 2
        decided = beyond(np.exp(middle)) > 0
        low, high = np.where(decided, low, middle), np.where(decided, middle, high)
    return np.exp(high)


def _placements(values: Floats) -> tuple[Floats, Floats]:
    """Return the share of negatives below each positive, and of positives below each negative."""
    order = values.argsort(axis=1)
    odd = order % 2
    below = np.empty_like(order)
    odd_below = odd.cumsum(axis=1)
    even_below = 1 + np.arange(values.shape[1]) - odd_below
    np.put_along_axis(below, order, np.where(odd, even_below, odd_below), axis=1)
    # Below an even place the odd ones, below an odd place the even ones.
    even, odd_ = below[:, ::2], below[:, 1::2]
    return even / odd_.shape[1], odd_ / even.shape[1]


def flags(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw labels of two models on examples of which 30 % are positive: codes 2 truth + label."""
    true = generator.random((sets, N)) < 0.3
    hard = generator.random((sets, N)) < 0.5
    found = []
    for more in (gap, 0.0):
        right = generator.random((sets, N)) < np.where(hard, 0.6 + more, 0.95)
        found.append((2 * true + np.where(right, true, ~true)).astype(np.float64))
    return found[0], found[1]


def f1_at(first: Floats, second: Floats, n: int) -> Floats:
    """Return the p-values of the pooled score test of F1 on the first n examples."""
    cells = (
        (first[:, :n].astype(int) // 2) * 4
        + (first[:, :n].astype(int) % 2) * 2
        + second[:, :n].astype(int) % 2
    )
    counts = np.stack([(cells == k).sum(axis=1) for k in range(8)], axis=1)
    return np.array([_f1_of(one) for one in counts.astype(float)])


def _f1_of(c: Floats) -> float:
    """Return the p-value from the counts 4 truth + 2 first label + second label."""
    # Of the trials of the Jaccard index 0 is a true negative, 1 an error and 2 a hit.
    table = np.array([[c[0], c[1], 0.0], [c[2], c[3] + c[4], c[5]], [0.0, c[6], c[7]]])
    hits, trials = (c[6] + c[7], c[5] + c[7]), (c[2:8].sum(), c[1] + c[3:8].sum())
    if not all(trials):
        return 1.0
    difference, variance = pooled_f1(SimpleNamespace(successes=hits, trials=trials, counts=table))  # type: ignore[arg-type]
    if abs(difference) < 1e-12 or variance <= 0:
        return 1.0
    return float(2 * special.ndtr(-abs(difference) / math.sqrt(variance)))


Draw = Callable[[np.random.Generator, int, float], tuple[Floats, Floats]]
At = Callable[[Floats, Floats, int], Floats]
TESTS: Mapping[str, tuple[Draw, At]] = {
    "McNemar mid-p": (outcomes, midp_at),
    "paired t": (losses, t_at),
    "areas": (scores, areas_at),
    "F1 score": (flags, f1_at),
}
"""How examples are drawn and tested, by the test."""


def p_values(test: str, n: Sequence[int], sets: int, seed: int, gap: float = 0.0) -> dict[int, Floats]:
    """Return the p-values of every data set at each number of examples."""
    draw, at = TESTS[test]
    found: dict[int, list[Floats]] = {size: [] for size in n}
    for block in range(math.ceil(sets / AT_ONCE)):
        generator = np.random.default_rng([seed, list(TESTS).index(test), block, round(1e6 * gap)])
        first, second = draw(generator, min(AT_ONCE, sets - block * AT_ONCE), gap)
        for size in n:
            found[size].append(at(first, second, size))
    return {size: np.concatenate(parts) for size, parts in found.items()}


# --- what is measured -----------------------------------------------------------------------------------------------


def schedules() -> Iterator[tuple[int, str, str, list[int], list[float]]]:
    """Yield looks, steps, how shares are counted, the numbers of examples and the levels."""
    for looks in LOOKS:
        for steps in STEPS if looks > 1 else STEPS[:1]:
            n = sizes(looks, steps)
            for share, n_max in (("k/L", None), ("n/n_max", N)) if looks > 1 else (("k/L", None),):
                yield looks, steps, share, n, levels(n, n_max)


def decided_share(p: Mapping[int, Floats], n: Sequence[int], level: Sequence[float]) -> tuple[int, float]:
    """Return how many data sets were decided at some look, and the mean number of examples at which looking stopped."""
    found = np.stack([p[size] <= a for size, a in zip(n, level, strict=True)])
    stopped = np.where(found.any(axis=0), np.array(n)[found.argmax(axis=0)], n[-1])
    return int(found.any(axis=0).sum()), float(stopped.mean())


def errors(sets: int, seed: int) -> list[dict[str, object]]:
    """Measure how often two equally good models are decided."""
    all_schedules = list(schedules())
    every = sorted({size for _, _, _, n, _ in all_schedules for size in n})
    found: list[dict[str, object]] = []
    for test in TESTS:
        p = p_values(test, every, sets, seed)
        for looks, steps, share, n, level in all_schedules:
            count, _ = decided_share(p, n, level)
            found.append(_row("error", test, looks, steps, share, count, sets, seed))
        print(f"measured the errors of {test}", flush=True)
    return found


def powers(sets: int, seed: int) -> list[dict[str, object]]:
    """Measure how often a difference is found that one look of all examples finds in 80 %."""
    gap = next(
        d for d in np.arange(0.02, 0.08, 0.0005) if examples_for_paired_accuracies(d, 0.15, ALPHA, 0.8) <= N
    )
    all_schedules = list(schedules())
    every = sorted({size for _, _, _, n, _ in all_schedules for size in n})
    p = p_values("McNemar mid-p", every, sets, seed + 1, float(gap))
    found = []
    for looks, steps, share, n, level in all_schedules:
        count, mean = decided_share(p, n, level)
        found.append(_row("power", "McNemar mid-p", looks, steps, share, count, sets, seed + 1, mean))
    return found


def pushes(sets: int, seed: int) -> dict[str, object]:
    """Measure how often one of five pushes of other models, equally good as the baseline, is decided at alpha / 5."""
    declared = Declared(looks=PUSHES, n_max=None, pushes=True, alpha=ALPHA)
    taken: list[Any] = []
    for _ in range(PUSHES):
        taken.append(next_level(taken, N, declared, added=False))
    count = 0
    for block in range(math.ceil(sets / AT_ONCE)):
        generator = np.random.default_rng([seed, 99, block])
        shape = (min(AT_ONCE, sets - block * AT_ONCE), N)
        # How hard an example is is the same for every model, so that all pushes resemble one another.
        hard = generator.beta(4, 1, shape)
        baseline = (generator.random(shape) < hard).astype(float)
        decided = np.zeros(shape[0], bool)
        for one in taken:
            pushed = (generator.random(shape) < hard).astype(float)
            decided |= midp_at(pushed, baseline, N) <= one.level
        count += int(decided.sum())
    return _row("pushes", "McNemar mid-p", PUSHES, "other models", "1/L", count, sets, seed)


def _row(
    what: str,
    test: str,
    looks: int,
    steps: str,
    share: str,
    count: int,
    sets: int,
    seed: int,
    mean: float = N,
) -> dict[str, object]:
    upper = judged(test, "at most", LIMIT, count / sets, sets).bound
    return {
        "what": what, "test": test, "looks": looks, "steps": steps, "share": share, "decided": count, "sets": sets,
        "rate": round(count / sets, 4), "upper": round(upper, 4), "mean_n": round(mean), "seed": seed,
    }  # fmt: skip


# --- the public interface -------------------------------------------------------------------------------------------


def checked(seed: int, series: int = 4) -> int:
    """Check that runs with a looks file decide at the looks that the levels and p-values say; return how many runs.

    Raises
    ------
    AssertionError
        A run has another level, another p-value, or another verdict.
    """
    runs = 0
    n = sizes(3, "equal")
    for test in TESTS:
        draw, at = TESTS[test]
        first, second = draw(np.random.default_rng([seed, 7]), series, 0.05)
        for number in range(series):
            with tempfile.TemporaryDirectory() as folder:
                before = False
                for size, level in zip(n, levels(n, None), strict=True):
                    results = er.evaluate(
                        _source(test, first[number], second[number], size), looks=3, resamples=50,
                        looks_file=f"{folder}/looks.json", **_options(test),
                    )  # fmt: skip
                    p = float(at(first[number : number + 1], second[number : number + 1], size)[0])
                    row = next(
                        r for r in results.comparisons if r.recommended and r.metric == results.primary_metric
                    )
                    assert results.looks is not None
                    assert math.isclose(results.looks.level, level, rel_tol=1e-9), (test, size)
                    assert row.p_value is not None
                    assert math.isclose(row.p_value, p, rel_tol=1e-6, abs_tol=1e-12), (
                        test,
                        size,
                        row.p_value,
                        p,
                    )
                    before = before or p <= level
                    assert (results.verdicts[0].verdict in ("better", "worse")) == before, (test, size)
                    runs += 1
    return runs


def _source(test: str, first: Floats, second: Floats, n: int) -> dict[str, dict[str, Any]]:
    ids = {"id": [f"{i:05}" for i in range(n)]}
    a, b = first[:n], second[:n]
    if test == "McNemar mid-p":
        return {"a": {**ids, "outcome": a}, "b": {**ids, "outcome": b}}
    if test == "paired t":
        return {"a": {**ids, "outcome": a}, "b": {**ids, "outcome": b}}
    if test == "areas":
        true = [int(i % 2 == 0) for i in range(n)]
        return {"a": {**ids, "y_true": true, "score": a}, "b": {**ids, "y_true": true, "score": b}}
    true = (a.astype(int) // 2).tolist()
    return {
        "a": {**ids, "y_true": true, "y_pred": a.astype(int) % 2},
        "b": {**ids, "y_true": true, "y_pred": b.astype(int) % 2},
    }


def _options(test: str) -> dict[str, Any]:
    by_test: dict[str, dict[str, Any]] = {
        "McNemar mid-p": {"task": "outcome", "metrics": "mean_outcome"},
        "paired t": {"task": "outcome", "metrics": "mean_outcome", "lower_is_better": True},
        "areas": {"metrics": "roc_auc"},
        "F1 score": {"metrics": "f1"},
    }
    return by_test[test]


# --- the table ------------------------------------------------------------------------------------------------------


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/looks.csv, after some runs through the public interface have decided the same series."""
    checked(run.seed)
    yield from errors(run.replications, run.seed)
    yield pushes(run.replications, run.seed)
    yield from powers(run.replications, run.seed)


@tables.view("looks.errors")
def largest() -> list[dict[str, str]]:
    """Return the largest rate of each test and number of looks, over steps and ways to count shares."""
    wrong = [row for row in tables.read(tables.DOCS / "looks.csv") if row["what"] in ("error", "pushes")]
    cells = {
        (row["test"], row["looks"], row["what"]): row for row in sorted(wrong, key=lambda r: float(r["rate"]))
    }
    order = [(test, str(looks), "error") for test in TESTS for looks in LOOKS]
    return [cells[key] for key in order]
