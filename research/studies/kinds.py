"""How often intervals of sums by unit, interval scores, ordered classes and risk-coverage areas hold; docs/kinds.csv.

Run by ``make study-kinds``, about five minutes on one core. Each data set is drawn by numpy, and the package's own
functions give the limits; the true value is that of a very large sample of the same population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from evalreport.engine.counts import distinct_cells
from evalreport.intervals.label_tables import of_table, of_tables
from evalreport.intervals.losses import hall_df, t_kurtosis, t_or_hall
from evalreport.intervals.proportions import trials_wilson
from evalreport.intervals.registry import Bounds
from evalreport.intervals.student import around
from evalreport.intervals.sums import unit_log, unit_plus, unit_wilson
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean
from evalreport.metrics.ordered import kappa_at, table_of_order
from evalreport.metrics.probabilities import pass_at_k, pass_hat_k
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.rejection import Confidences, _area, _area_slopes, _excess_slopes, e_aurc
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Examples, Influence
from research.studies.harness import Cell, Run, measure
from research.studies.tally import Tally, one

SIZES = (10, 20, 50, 200, 1000)
LEVEL = 0.95
TRUE = 2_000_000
Drawn = Mapping[str, tuple[float, Bounds]]
"""Value, or difference, and its limits, by name."""


def estimate_of(metric: str, value: float, slopes: Floats, average: str | None = None) -> Estimate:
    """Return an estimate of independent examples (or units) from its value and derivatives."""
    return Estimate(
        model="m",
        quantity=Quantity(metric, average),  # type: ignore[arg-type]
        value=value,
        range=definition(Quantity(metric)).scale.range,
        sampling=Examples(len(slopes)),
        evidence=Mean(),
        influence=Influence(slopes, np.ones(len(slopes))),
    )


def difference_of(a: Estimate, b: Estimate) -> Difference:
    """Return a difference of two models on the same examples."""
    return paired_difference(a, replace(b, model="n"))


# --- sums by unit -----------------------------------------------------------------------------------------------------

RATIOS: Mapping[str, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = {
    "precision": lambda tp, fp, _fn: (tp, tp + fp),
    "recall": lambda tp, _fp, fn: (tp, tp + fn),
    "f1": lambda tp, fp, fn: (2 * tp, 2 * tp + fp + fn),
    "error_ratio": lambda tp, fp, fn: (fp + fn, tp + fn),
}
QUALITY = ((0.9, 0.15), (0.85, 0.25))
"""Share found, and false alarms for each true one, of two models."""


def units(generator: np.random.Generator, n: int, *, skewed: bool) -> list[tuple[Floats, Floats, Floats]]:
    """Draw n units of two models: unlike sizes, and units that are harder for both."""
    size = 1 + (generator.geometric(0.05, n) if skewed else generator.poisson(6, n))
    hard = generator.normal(0, 0.8, n)
    found = []
    for share, alarms in QUALITY:
        p = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + hard + generator.normal(0, 0.3, n))))
        tp = generator.binomial(size, p).astype(np.float64)
        fp = generator.poisson(alarms * size * np.exp(-0.5 * hard)).astype(np.float64)
        found.append((tp, fp, size - tp))
    return found


def of_sums(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Return each pooled ratio of the first model, and the difference, with their limits."""
    both, found = units(generator, n, skewed=skewed), {}
    for metric, ratio in RATIOS.items():
        sides = []
        for sums in both:
            a, b = ratio(*sums)
            v = a.sum() / b.sum()
            sides.append(estimate_of(metric, float(v), (a - v * b) / b.sum(), "micro"))
        limits = unit_log if metric == "error_ratio" else unit_wilson
        delta = difference_of(*sides)
        found[f"{metric} value"] = sides[0].value, limits(sides[0], LEVEL)
        found[f"{metric} difference"] = delta.value, unit_plus(delta, LEVEL)
    return found


# --- interval scores --------------------------------------------------------------------------------------------------


def of_scores(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Return the interval score at 0.9 of intervals that fit, and its difference from one of half the width."""
    y = generator.standard_t(4, n) if skewed else generator.normal(size=n)
    sides = []
    for width, shift in ((1.645, 0.0), (0.9, 0.1)):
        low, high = shift - width, shift + width
        score = (high - low) + 20 * (np.maximum(low - y, 0) + np.maximum(y - high, 0))
        sides.append(
            estimate_of("interval_score[level=0.9]", float(score.mean()), (score - score.mean()) / n)
        )
    delta = difference_of(*sides)
    return {
        "interval_score value": (sides[0].value, hall_df(sides[0], LEVEL)),
        "interval_score difference": (delta.value, t_or_hall(delta, LEVEL)),
    }


# --- ordered classes --------------------------------------------------------------------------------------------------


def of_order(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Return quadratic kappa of five classes, the rarest of 2 % where they are skewed, and its difference."""
    shares = (0.5, 0.28, 0.14, 0.06, 0.02) if skewed else (0.2,) * 5
    true = generator.choice(5, n, p=shares)
    at, answers, tables = kappa_at(2), [], []
    for spread in (0.6, 0.9):
        given = np.clip(np.rint(true + generator.normal(0, spread, n)), 0, 4).astype(np.int32)
        counts = np.bincount(true * 5 + given, minlength=25).reshape(5, 5).astype(np.float64)
        answers.append(given)
        tables.append(table_of_order(counts, at))
    with np.errstate(all="ignore"):
        values = [at(table.counts)[0] for table in tables]
    if not np.isfinite(values).all():
        return {}
    first, second = tables
    cells, delta = distinct_cells(true.astype(np.int32), answers), values[0] - values[1]
    return {
        "quadratic_kappa value": (values[0], of_table(first, n, values[0], LEVEL)),
        "quadratic_kappa difference": (delta, of_tables(first, second, cells, delta, LEVEL)),
    }


# --- risk and coverage ------------------------------------------------------------------------------------------------


def of_risk(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Return AURC and its excess of a model, and the difference of AURC from a worse one; few errors where skewed."""
    level = 3.0 if skewed else 1.2
    ease, sides = generator.normal(level, 1, n), []
    found: dict[str, tuple[float, Bounds]] = {}
    for noise in (0.5, 1.2):
        own = ease + generator.normal(0, noise, n)
        wrong = (generator.random(n) > 1 / (1 + np.exp(-ease))).astype(np.float64)
        tie = np.empty(n, dtype=np.int64)
        tie[np.argsort(-own, kind="stable")] = np.arange(n)
        state, ones = Confidences(own, wrong, tie, 1.0), np.ones((1, n))
        value = float(_area(*state.by_tie(ones))[0])
        slopes = _area_slopes(state, ones)[0] if n <= SIZES[-1] else np.zeros(n)
        sides.append(estimate_of("aurc", value, slopes))
        if not found:
            excess = float(e_aurc(state, ones)[0])
            of_excess = estimate_of(
                "e_aurc", excess, _excess_slopes(state, ones)[0] if n <= SIZES[-1] else slopes
            )
            found["e_aurc value"] = excess, around(of_excess, of_excess.student, LEVEL)
    delta = difference_of(*sides)
    return {
        **found,
        "aurc value": (sides[0].value, around(sides[0], sides[0].student, LEVEL)),
        "aurc difference": (delta.value, around(delta, delta.student, LEVEL)),
    }


# --- attempts ---------------------------------------------------------------------------------------------------------


def of_passes(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Return pass@2 and pass^2 of five attempts at n questions; mostly easy ones where they are skewed."""
    chance = generator.beta(2.0, 0.25, n) if skewed else generator.beta(1.5, 1.0, n)
    passed, count = generator.binomial(5, chance).astype(np.float64), np.full(n, 5.0)
    drawn = {}
    for name, function in (("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)):
        of_question = function(count, passed, 2)
        value = float(of_question.mean())
        estimate = replace(estimate_of(name, value, (of_question - value) / n), range=(0.0, 1.0))
        drawn[f"{name} value"] = value, trials_wilson(estimate, LEVEL)
    return drawn


# --- RRSE -------------------------------------------------------------------------------------------------------------


def of_relative_errors(generator: np.random.Generator, n: int, *, skewed: bool) -> Drawn:
    """Return the difference of two models' RRSE; errors of t with 5 degrees of freedom where they are skewed."""

    def noise() -> Floats:
        return generator.standard_t(5, n) if skewed else generator.normal(size=n)

    x = 1.5 * generator.normal(size=n)
    y, common, sides = x + noise(), 0.4 * noise(), []
    far = (y - y.mean()) ** 2
    for scale in (1.0, 1.3):
        squares = (y - x - scale * (common + 0.4 * noise())) ** 2
        value = float(np.sqrt(squares.mean() / far.mean()))
        slopes = (squares - value**2 * far) / far.mean() / (2 * value) / n
        sides.append(estimate_of("rrse", value, slopes))
    delta = difference_of(*sides)
    return {"rrse difference": (delta.value, t_kurtosis(delta, LEVEL))}


@dataclass(frozen=True)
class Sized(Cell):
    """A kind of metrics, skewed or not, at one size."""

    kind: str
    skewed: bool
    n: int


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
        f"{kind}, n = {n}",
        kind,
        skewed,
        n,
        data_sets=500 if n == SIZES[-1] else 1000,
        stream=(1, place, int(skewed), n),
    )
    for place, kind in enumerate(KINDS)
    for skewed in (False, True)
    for n in SIZES
)


@cache
def truths(kind: str, skewed: bool, seed: int) -> Drawn:
    """Return the figures of a very large sample."""
    generator = np.random.default_rng([seed, 0, list(KINDS).index(kind), skewed])
    return KINDS[kind](generator, TRUE, skewed=skewed)


def counted(cell: Sized, generator: np.random.Generator, _number: int, *, seed: int) -> Mapping[str, Tally]:
    """Say of one data set which limits hold the true value."""
    true = truths(cell.kind, cell.skewed, seed)
    drawn = KINDS[cell.kind](generator, cell.n, skewed=cell.skewed)
    return {name: one(true[name][0], bounds.low, bounds.high) for name, (_, bounds) in drawn.items()}


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how many intervals hold the true value, of those that have limits, and the lower limit of the share."""
    for result in measure(CELLS, partial(counted, seed=run.seed), run):
        cell = {name: getattr(result.cell, name) for name in ("kind", "skewed")}
        for name in truths(result.cell.kind, result.cell.skewed, run.seed):
            if (tally := result.totals.get(name, Tally())).given:
                yield {**cell, "figure": name, "n": result.cell.n, **tally.rates, "seed": run.seed}
