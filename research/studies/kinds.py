"""How often intervals of sums by unit, interval scores, ordered classes and risk-coverage areas hold; docs/kinds.csv.

Run by ``make study-kinds``, about ten minutes on one core. The true value is that of a very large sample of the same
population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Attempts, Labels, ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import Kind, Truth, predictions_on
from research.studies.harness import Cell
from research.studies.simulation import estimate_of, held_of
from research.studies.tally import Tally

SIZES = (10, 20, 50, 200, 1000)
TRUE = 2_000_000
VALUES: tuple[Kind, ...] = ("value",)
DIFFERENCES: tuple[Kind, ...] = ("difference",)
BOTH = (*VALUES, *DIFFERENCES)
Drawn = Iterator[tuple[Predictions, tuple[str, ...], tuple[Kind, ...]]]
"""A test set, its metrics, and whether values or differences are estimated."""

QUALITY = ((0.9, 0.15), (0.85, 0.25))
"""Share found, and false alarms for each true one, of two models."""


def of_sums(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Draw the sums of n units of two models: unlike sizes, and units that are harder for both."""
    size = 1 + (generator.geometric(0.05, n) if skewed else generator.poisson(6, n))
    hard = generator.normal(0, 0.8, n)
    counted, wrong = [], []
    for name, (share, alarms) in zip("ab", QUALITY, strict=True):
        p = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + hard + generator.normal(0, 0.3, n))))
        tp = generator.binomial(size, p).astype(np.float64)
        fp = generator.poisson(alarms * size * np.exp(-0.5 * hard)).astype(np.float64)
        counted.append(ModelOutputs(name, numbers={"tp": tp, "fp": fp, "fn": size - tp}))
        wrong.append(ModelOutputs(name, numbers={"errors": fp + size - tp, "total": size.astype(np.float64)}))
    yield predictions_on("sums", None, tuple(counted)), ("precision", "recall", "f1"), BOTH
    yield predictions_on("sums", None, tuple(wrong)), ("error_ratio",), BOTH


def of_scores(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Draw intervals at 0.9 that fit, and others of half the width."""
    y = generator.standard_t(4, n) if skewed else generator.normal(size=n)
    models = (
        ModelOutputs(
            name, numbers={"low@0.9": np.full(n, shift - width), "high@0.9": np.full(n, shift + width)}
        )
        for name, width, shift in (("a", 1.645, 0.0), ("b", 0.9, 0.1))
    )
    yield predictions_on("intervals", y, tuple(models)), ("interval_score[level=0.9]",), BOTH


def of_order(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Draw five ordered classes, the rarest of 2 % where they are skewed."""
    shares = (0.5, 0.28, 0.14, 0.06, 0.02) if skewed else (0.2,) * 5
    true = generator.choice(5, n, p=shares)
    models = (
        ModelOutputs(
            name, y_pred=np.clip(np.rint(true + generator.normal(0, spread, n)), 0, 4).astype(np.int32)
        )
        for name, spread in (("a", 0.6), ("b", 0.9))
    )
    predictions = predictions_on("multiclass", true.astype(np.int32), tuple(models), 5)
    in_order = Labels(classes=predictions.classes, in_order=True)
    yield replace(predictions, labels=in_order), ("quadratic_kappa",), BOTH


def of_risk(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Draw right and wrong answers with confidences; few are wrong where they are skewed."""
    ease, models = generator.normal(3.0 if skewed else 1.2, 1, n), []
    for name, noise in (("a", 0.5), ("b", 1.2)):
        sure = 0.5 + 0.5 / (1 + np.exp(-ease - generator.normal(0, noise, n)))
        wrong = generator.random(n) > 1 / (1 + np.exp(-ease))
        proba = np.where(wrong[:, None], np.stack([sure, 1 - sure], 1), np.stack([1 - sure, sure], 1))
        models.append(ModelOutputs(name, y_pred=proba.argmax(axis=1).astype(np.int32), proba=proba))
    predictions = predictions_on("multiclass", np.ones(n, dtype=np.int32), tuple(models), 2)
    yield predictions, ("e_aurc",), VALUES
    yield predictions, ("aurc",), BOTH


def of_passes(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Draw five attempts at n questions; mostly easy ones where they are skewed."""
    chance = generator.beta(2.0, 0.25, n) if skewed else generator.beta(1.5, 1.0, n)
    passed = generator.binomial(5, chance).astype(np.float64)
    tried = Attempts(np.full(n, 5.0), passed * (1 - passed / 5), passed)
    model = ModelOutputs("a", outcome=passed / 5, attempts=tried)
    yield predictions_on("outcome", None, (model,)), ("pass@2", "pass^2"), VALUES


def of_relative_errors(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Draw two models' errors; of t with 5 degrees of freedom where they are skewed."""

    def noise() -> Floats:
        return generator.standard_t(5, n) if skewed else generator.normal(size=n)

    x = 1.5 * generator.normal(size=n)
    y, common = x + noise(), 0.4 * noise()
    models = (
        ModelOutputs(name, y_pred=y - (y - x - scale * (common + 0.4 * noise())))
        for name, scale in (("a", 1.0), ("b", 1.3))
    )
    yield predictions_on("regression", y, tuple(models)), ("rrse",), DIFFERENCES


@dataclass(frozen=True)
class Sized(Cell):
    """A kind of metrics, skewed or not, at one size."""

    kind: str
    skewed: bool
    n: int
    seed: int = 20265
    """Of the true values."""


KINDS: Mapping[str, Callable[..., Drawn]] = {
    "sums": of_sums,
    "intervals": of_scores,
    "ordered": of_order,
    "risk": of_risk,
    "attempts": of_passes,
    "relative errors": of_relative_errors,
}
CELLS = tuple(
    Sized(
        f"{kind}, n = {n}", kind, skewed, n, data_sets=500 if n == SIZES[-1] else 1000,
        stream=(1, place, int(skewed), n), seed=62007 if kind in ("attempts", "relative errors") else 20265,
    )
    for place, kind in enumerate(KINDS)
    for skewed in (False, True)
    for n in SIZES
)  # fmt: skip


def spelled(predictions: Predictions, metrics: tuple[str, ...]) -> Mapping[Quantity, str]:
    """Return the quantities of metrics, and how they are spelled here."""
    return {parse(metric, predictions.task, predictions.classes): metric for metric in metrics}


@cache
def truths(kind: str, skewed: bool, seed: int) -> Mapping[Truth, float]:
    """Return the figures of a very large sample."""
    generator = np.random.default_rng([seed, 0, list(KINDS).index(kind), skewed])
    found: dict[Truth, float] = {}
    for predictions, metrics, kinds in KINDS[kind](generator, TRUE, skewed=skewed):
        quantities = list(spelled(predictions, metrics))
        sample = estimate_all(predictions, quantities, units=sampling_by(TRUE), n_resamples=2, seed=0)
        for truth in ((of, "a", quantity) for of in kinds for quantity in quantities):
            found[truth] = estimate_of(sample, truth).value
    return found


def counted(cell: Sized, generator: np.random.Generator, _number: int) -> Mapping[str, Tally]:
    """Say of one data set which limits hold the true value."""
    true, found = truths(cell.kind, cell.skewed, cell.seed), {}
    for predictions, metrics, kinds in KINDS[cell.kind](generator, cell.n, skewed=cell.skewed):
        names = spelled(predictions, metrics)
        own = {truth: value for truth, value in true.items() if truth[2] in names and truth[0] in kinds}
        by_spelling = {quantity.spelled: name for quantity, name in names.items()}
        for (kind, metric), tally in held_of(predictions, own).items():
            found[f"{by_spelling[metric]} {kind}"] = tally
    return found
