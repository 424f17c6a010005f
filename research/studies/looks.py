"""How often several looks decide falsely, and how often they find a difference, by the levels that ``--looks`` gives.

Run by ``make study-looks``, three hours on one core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.sample_size import examples_for_paired_accuracies
from evalreport.comparisons.spending import look_levels
from evalreport.looks.levels import Declared, next_level
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies import tables
from research.studies.designs import labelled, predictions_on
from research.studies.harness import Cell, Run, add, measure
from research.studies.judgement import judged
from research.studies.pair_decision import LEADING, decide_pair

Floats = npt.NDArray[np.float64]

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


def losses(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw skewed losses: exponential ones that share half of their size."""
    shared = generator.exponential(size=(sets, N))
    first, second = (shared + generator.exponential(size=(sets, N)) for _ in range(2))
    return first - gap, second


def scores(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw scores of two models, positives at even places one deviation higher; the first one's by ``gap`` more."""
    positive = (np.arange(N) % 2 == 0).astype(float)
    shared = generator.normal(size=(sets, N))
    first, second = (shared + generator.normal(size=(sets, N)) for _ in range(2))
    return first + positive * (1.4 + gap), second + positive * 1.4


def flags(generator: np.random.Generator, sets: int, gap: float) -> tuple[Floats, Floats]:
    """Draw labels of two models on examples of which 30 % are positive: codes 2 truth + label."""
    true = generator.random((sets, N)) < 0.3
    hard = generator.random((sets, N)) < 0.5
    found = []
    for more in (gap, 0.0):
        right = generator.random((sets, N)) < np.where(hard, 0.6 + more, 0.95)
        found.append((2 * true + np.where(right, true, ~true)).astype(np.float64))
    return found[0], found[1]


Draw = Callable[[np.random.Generator, int, float], tuple[Floats, Floats]]
TESTS: Mapping[str, tuple[Draw, str]] = {
    "McNemar mid-p": (outcomes, "mean_outcome"),
    "paired t": (losses, "mean_outcome"),
    "areas": (scores, "roc_auc"),
    "F1 score": (flags, "f1"),
}
"""How examples are drawn, and the metric, by the test that leads."""


def predictions_of(metric: str, first: Floats, second: Floats) -> Predictions:
    """Return two models' predictions on the examples that were drawn."""
    both = {"a": first, "b": second}
    if metric == "mean_outcome":
        return predictions_on("outcome", None, tuple(ModelOutputs(m, outcome=x) for m, x in both.items()))
    if metric == "roc_auc":
        positive = (np.arange(len(first)) % 2 == 0).astype(np.int32)
        return predictions_on("binary", positive, tuple(ModelOutputs(m, score=x) for m, x in both.items()), 2)
    codes = {model: x.astype(np.int32) for model, x in both.items()}
    return labelled(codes["a"] // 2, {model: x % 2 for model, x in codes.items()}, 2)


def p_value(metric: str, first: Floats, second: Floats) -> float:
    """Return the p-value of the test that leads; 1 where there is none."""
    predictions, quantity = predictions_of(metric, first, second), Quantity(metric)
    units = sampling_by(predictions.n)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=2, seed=0)
    if not all(estimate.defined for estimate in sample.estimates.values()):
        return 1.0
    p = decide_pair(sample, quantity, Options(resamples=2))[1][LEADING]
    return 1.0 if p is None else p


# --- what is measured -----------------------------------------------------------------------------------------------


Schedule = tuple[int, str, str]
"""Looks, steps, and how shares are counted."""


@cache
def schedules() -> Mapping[Schedule, tuple[list[int], list[float]]]:
    """Return the numbers of examples of each schedule, and the levels."""
    return {
        (looks, steps, share): (sizes(looks, steps), levels(sizes(looks, steps), n_max))
        for looks in LOOKS
        for steps in (STEPS if looks > 1 else STEPS[:1])
        for share, n_max in ((("k/L", None), ("n/n_max", N)) if looks > 1 else (("k/L", None),))
    }


@dataclass(frozen=True)
class Series(Cell):
    """A block of the data sets of one test, and the true difference."""

    test: str
    gap: float


def counted(cell: Series, generator: np.random.Generator, sets: int) -> Mapping[Any, float]:
    """Count the data sets that are decided at some look of a schedule, and the examples at which looking stopped."""
    draw, metric = TESTS[cell.test]
    first, second = draw(generator, sets, cell.gap)
    every = {size for n, _ in schedules().values() for size in n}
    p = {
        size: np.array([p_value(metric, a[:size], b[:size]) for a, b in zip(first, second, strict=True)])
        for size in every
    }
    figures: dict[Any, float] = {}
    for schedule, (n, level) in schedules().items():
        found = np.stack([p[size] <= a for size, a in zip(n, level, strict=True)])
        stopped = np.where(found.any(axis=0), np.array(n)[found.argmax(axis=0)], n[-1])
        figures[schedule] = int(found.any(axis=0).sum())
        figures["examples", schedule] = float(stopped.sum())
    return figures


def decided(what: str, run: Run, gap: float = 0.0) -> Iterator[dict[str, object]]:
    """Yield how often the pairs of each test are decided by each schedule."""
    sets = run.replications
    for place, test in enumerate(TESTS if what == "error" else ("McNemar mid-p",)):
        total: dict[Any, float] = {}
        for block in range(math.ceil(sets / AT_ONCE)):
            size = min(AT_ONCE, sets - block * AT_ONCE)
            series = Series(test, test, gap, at_once=0, stream=(place, block, round(1e6 * gap)))
            (result,) = measure([series], counted, replace(run, replications=size, only=""), equally=True)
            add(total, result.totals)
        for schedule in schedules():
            mean = total["examples", schedule] / sets if gap else N
            yield _row(what, test, *schedule, int(total[schedule]), sets, run.seed, mean)


def powers(run: Run) -> Iterator[dict[str, object]]:
    """Measure how often a difference is found that one look of all examples finds in 80 %."""
    gap = next(
        d for d in np.arange(0.02, 0.08, 0.0005) if examples_for_paired_accuracies(d, 0.15, ALPHA, 0.8) <= N
    )
    return decided("power", replace(run, seed=run.seed + 1), float(gap))


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
        found = np.zeros(shape[0], bool)
        for one in taken:
            pushed = (generator.random(shape) < hard).astype(float)
            p = [p_value("mean_outcome", a, b) for a, b in zip(pushed, baseline, strict=True)]
            found |= np.array(p) <= one.level
        count += int(found.sum())
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


# --- the table ------------------------------------------------------------------------------------------------------


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/looks.csv."""
    yield from decided("error", run)
    yield pushes(run.replications, run.seed)
    yield from powers(run)


@tables.view("looks.errors")
def largest() -> list[dict[str, str]]:
    """Return the largest rate of each test and number of looks, over steps and ways to count shares."""
    wrong = [row for row in tables.read(tables.DOCS / "looks.csv") if row["what"] in ("error", "pushes")]
    cells = {
        (row["test"], row["looks"], row["what"]): row for row in sorted(wrong, key=lambda r: float(r["rate"]))
    }
    order = [(test, str(looks), "error") for test in TESTS for looks in LOOKS]
    return [cells[key] for key in order]
