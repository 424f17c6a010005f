"""How near each estimate of an error rate comes to the truth.

The comparison of the lecture: samples of 100, 200, 500 and 1,000 examples, each estimator beside the error of the fit
to all of them on 100,000 fresh examples.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalreport.plots.style import MUTED
from evalreport.questions.algorithms.replicates import (
    bootstrap_632,
    bootstrap_632plus,
    optimism_by_example,
    out_of_bag,
    over_examples,
)
from research.studies import figures, tables
from research.studies.harness import Cell, Run, measure, named

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Fit = Callable[[Floats, Labels], Callable[[Floats], Labels]]

SIZES: Mapping[int, int] = {100: 300, 200: 200, 500: 100, 1000: 60}
"""Examples, and the data sets drawn of that size."""
REFERENCE = 100_000
REPLICATES = 50
FOLDS = 10
FEATURES, DISTANCE = 5, 1.6
"""Two normal classes of equal share, identity covariance, their means this far apart: the best error is 21 %."""
LEVEL = 0.95
ESTIMATORS = (
    *("resubstitution", "holdout", "repeated_holdout", "cv", "loocv"),
    *("bootstrap_optimism", "bootstrap_oob", "bootstrap_632", "bootstrap_632plus"),
)
LARGEST_OF_LEAVE_ONE_OUT = 200


def draw(n: int, generator: np.random.Generator) -> tuple[Floats, Labels]:
    """Draw n examples: features (n, 5) and classes 0 or 1."""
    y = generator.integers(0, 2, n)
    x = generator.normal(size=(n, FEATURES))
    x[:, 0] += DISTANCE * y
    return x, y


def linear(x: Floats, y: Labels) -> Callable[[Floats], Labels]:
    """Fit Fisher's linear discriminant with the shares of the classes."""
    means = [x[y == c].mean(axis=0) for c in (0, 1)]
    within = sum((x[y == c] - means[c]).T @ (x[y == c] - means[c]) for c in (0, 1)) / max(len(x) - 2, 1)
    direction = np.linalg.solve(within + 1e-9 * np.eye(x.shape[1]), means[1] - means[0])
    share = min(max(float(y.mean()), 1e-6), 1 - 1e-6)
    threshold = float(direction @ (means[0] + means[1])) / 2 - math.log(share / (1 - share))
    return lambda new: (new @ direction > threshold).astype(np.int64)


def of_sklearn(module: str, name: str, **settings: object) -> Fit:
    """Return a learner of scikit-learn."""

    def fit(x: Floats, y: Labels) -> Callable[[Floats], Labels]:
        model = getattr(importlib.import_module(f"sklearn.{module}"), name)(**settings).fit(x, y)
        return lambda new: np.asarray(model.predict(new), dtype=np.int64)

    return fit


LEARNERS: Mapping[str, Fit] = {
    "linear discriminant": linear,
    "1-NN": of_sklearn("neighbors", "KNeighborsClassifier", n_neighbors=1, algorithm="kd_tree"),
    "tree": of_sklearn("tree", "DecisionTreeClassifier", random_state=0),
}


def estimates(
    fit: Fit, x: Floats, y: Labels, generator: np.random.Generator
) -> dict[str, tuple[float, float | None, float | None]]:
    """Return each estimate with the limits that a report would give it, None where it gives none."""
    n = len(x)
    apparent = (fit(x, y)(x) != y).astype(np.float64)
    found: dict[str, tuple[float, float | None, float | None]] = {
        "resubstitution": (float(apparent.mean()), None, None),
        **_splits(fit, x, y, generator),
    }
    drawn = [generator.integers(0, n, n) for _ in range(REPLICATES)]
    inbag = np.stack([np.bincount(rows, minlength=n) for rows in drawn]).astype(np.float64)
    losses = np.stack([fit(x[rows], y[rows])(x) != y for rows in drawn]).astype(np.float64)
    bag = out_of_bag(losses, ~(inbag > 0))
    said = fit(x, y)(x)
    gamma = 1.0 - float(sum((y == c).mean() * (said == c).mean() for c in (0, 1)))
    plus = bootstrap_632plus(float(apparent.mean()), bag.value, gamma)
    optimism = optimism_by_example(losses, inbag)
    by_example = {
        "bootstrap_optimism": (apparent + optimism, float((apparent + optimism).mean())),
        "bootstrap_oob": (bag.by_example, bag.value),
        "bootstrap_632": (
            bootstrap_632(1, 0) * apparent + bootstrap_632(0, 1) * bag.by_example,
            bootstrap_632(float(apparent.mean()), bag.value),
        ),
        "bootstrap_632plus": ((1 - plus.omega) * apparent + plus.omega * bag.by_example, plus.value),
    }
    for name, (contributions, value) in by_example.items():
        precision = over_examples(contributions, None, LEVEL, (0.0, 1.0), value)
        found[name] = (value, precision.low, precision.high)
    return found


def _splits(
    fit: Fit, x: Floats, y: Labels, generator: np.random.Generator
) -> dict[str, tuple[float, float | None, float | None]]:
    n, third = len(x), len(x) // 3
    order = generator.permutation(n)
    folds = [order[k::FOLDS] for k in range(FOLDS)]
    held = [generator.permutation(n)[:third] for _ in range(10)]
    found = {
        "holdout": _corrected([_error(fit, x, y, held[0])], third / (n - third)),
        "repeated_holdout": _corrected([_error(fit, x, y, test) for test in held], third / (n - third)),
        "cv": _corrected([_error(fit, x, y, test) for test in folds], 1 / (FOLDS - 1)),
    }
    if n <= LARGEST_OF_LEAVE_ONE_OUT:
        found["loocv"] = _corrected([_error(fit, x, y, np.array([i])) for i in range(n)], 1 / (n - 1))
    return found


def _error(fit: Fit, x: Floats, y: Labels, test: Labels) -> float:
    train = np.setdiff1d(np.arange(len(x)), test)
    return float((fit(x[train], y[train])(x[test]) != y[test]).mean())


def _corrected(values: list[float], ratio: float) -> tuple[float, float | None, float | None]:
    """Return the mean over fits with the corrected t limits, cut to [0, 1]."""
    mean, j = float(np.mean(values)), len(values)
    if j < 2:
        return mean, None, None
    half = float(stats.t.ppf((1 + LEVEL) / 2, j - 1) * np.std(values, ddof=1) * math.sqrt(1 / j + ratio))
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)


@dataclass(frozen=True)
class Trained(Cell):
    """A learner, and the examples of a data set."""

    learner: str
    n: int


CELLS = tuple(
    Trained(f"{learner}, {n} examples", learner, n, data_sets=10 * sets, stream=(*named(learner), n))
    for learner in LEARNERS
    for n, sets in SIZES.items()
)


@cache
def reference(seed: int) -> tuple[Floats, Labels]:
    """Return the examples on which the true errors are measured."""
    return draw(REFERENCE, np.random.default_rng([seed, 0]))


def counted(
    cell: Trained, generator: np.random.Generator, _number: int, *, seed: int
) -> Mapping[str, Floats]:
    """Return by estimate the true error of the fit to all examples, the distance from it, and whether it is held."""
    fit, (fresh, classes) = LEARNERS[cell.learner], reference(seed)
    x, y = draw(cell.n, generator)
    truth = float((fit(x, y)(fresh) != classes).mean())
    found = {}
    for name, (value, low, high) in estimates(fit, x, y, generator).items():
        held = np.nan if low is None or high is None else float(low <= truth <= high)
        found[name] = np.array([truth, value - truth, (value - truth) ** 2, held])
    return found


NAMES = dict(
    zip(
        ESTIMATORS,
        (
            *("resubstitution", "hold-out 1/3", "10 hold-outs", "10-fold CV", "leave one out"),
            *("B1 (optimism)", "out of bag", ".632", ".632+"),
        ),
        strict=True,
    )
)


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield bias, root mean squared error and coverage; ``replications`` is the percentage of the data sets."""
    for result in measure(CELLS, partial(counted, seed=run.seed), run):
        for name, totals in sorted(result.totals.items(), key=lambda pair: ESTIMATORS.index(pair[0])):
            n, (truth, bias, square, held) = result.data_sets, totals / result.data_sets
            error = math.sqrt(max(square - bias**2, 0) / max(n - 1, 1))
            figures = {
                "truth": truth,
                "bias": bias,
                "bias_error": error,
                "rmse": math.sqrt(square),
                "coverage": held,
            }
            yield {
                "learner": result.cell.learner, "n": result.cell.n, "estimator": name,
                **{figure: "" if np.isnan(value) else f"{value:.6f}" for figure, value in figures.items()},
                "replications": n, "seed": run.seed,
            }  # fmt: skip


@tables.view("estimators")
def shown() -> list[dict[str, str]]:
    """Return the rows with the names of the estimators and signed biases; the true error of the fit comes first."""
    measured = tables.read(tables.DOCS / "estimators.csv")
    blank = {"name": "*true error of the fit*", "rmse": "", "coverage": ""}
    truths = [
        {**row, **blank, "bias": tables.percent(row["truth"])}
        for row in measured
        if row["estimator"] == "resubstitution"
    ]
    biases = [f"{100 * float(row['bias']):+.1f}".replace("-", "−") for row in measured]
    return [*truths, *({**row, "name": NAMES[row["estimator"]], "bias": bias}
                       for row, bias in zip(measured, biases, strict=True))]  # fmt: skip


def finish(folder: Path) -> list[str]:
    """Draw the figure."""
    figure(tables.read(folder / "estimators.csv"), folder / "figures" / "estimators.svg")
    return []


def figure(measured: tables.Rows, path: Path) -> None:
    """Draw the bias of each estimator against the number of examples, one panel a learner."""

    def draw(canvas: Any) -> None:
        for axes, learner in zip(canvas.subplots(1, len(LEARNERS), sharey=True), LEARNERS, strict=True):
            axes.axhline(0, color=MUTED, linewidth=0.9)
            for place, name in enumerate(ESTIMATORS):
                own = [r for r in measured if r["learner"] == learner and r["estimator"] == name]
                figures.percentages(axes, {int(r["n"]): r["bias"] for r in own}, NAMES[name], place)
            figures.over(axes, tuple(SIZES), "examples", learner)
        canvas.axes[0].set_ylabel("bias, percentage points")
        canvas.legend(*canvas.axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)

    description = (
        "Bias of nine estimates of an error rate against the number of examples, for three learners."
    )
    figures.write(path, draw, (9.2, 3.6), "Bias of error estimates", description)
