"""What other intervals of a mean of few squared errors hold, beside the one that leads; docs/few-losses.csv.

Run by ``make study-few-losses``, two minutes on one core. The errors are those of the coverage study, with a mean
square of 0.25.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy import stats

from evalreport.intervals.losses import limits_of_mean, tail_factor
from evalreport.predictions.arrays import Floats
from research.studies.harness import Run
from research.studies.numeric_designs import ERRORS, NOISE
from research.studies.tally import Tally, one

LEVEL = 0.95
SIZES = (30, 100)
RESAMPLES = 1000
Limits = tuple[float, float]


def johnson(x: Floats) -> Limits:
    """Return Student's t about a mean that is moved by the skewness (Johnson 1978, J Am Stat Assoc 73:536)."""
    n, mean, variance = len(x), x.mean(), x.var(ddof=1)
    centre = mean + ((x - mean) ** 3).mean() / (6 * n * variance)
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.sqrt(variance / n)
    return centre - half, centre + half


def log_normal(x: Floats) -> Limits:
    """Return Cox's limits of the mean of a log-normal law (Zhou and Gao 1997, Stat Med 16:783), by Student's t."""
    n, log = len(x), np.log(x)
    variance = log.var(ddof=1)
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.sqrt(variance / n + variance**2 / (2 * (n - 1)))
    centre = log.mean() + variance / 2
    return float(np.exp(centre - half)), float(np.exp(centre + half))


def resampled(x: Floats, generator: np.random.Generator) -> Mapping[str, Limits]:
    """Return limits by the bootstrap: studentised, and BCa (Efron 1987, J Am Stat Assoc 82:171)."""
    n, mean, deviation = len(x), float(x.mean()), float(x.std(ddof=1))
    drawn = x[generator.integers(0, n, (RESAMPLES, n))]
    means, deviations = drawn.mean(axis=1), np.maximum(drawn.std(axis=1, ddof=1), 1e-300)
    ends = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    t = np.quantile((means - mean) / deviations, ends)
    bias = stats.norm.ppf(((means < mean).sum() + 0.5) / (RESAMPLES + 1))
    acceleration = ((x - mean) ** 3).sum() / 6 / ((x - mean) ** 2).sum() ** 1.5
    z = bias + stats.norm.ppf(ends)
    bca = np.quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z)))
    return {
        "bootstrap, studentised": (mean - t[1] * deviation, mean - t[0] * deviation),
        "bootstrap, BCa": (float(bca[0]), float(bca[1])),
    }


def intervals_of(x: Floats, generator: np.random.Generator) -> Mapping[str, Limits]:
    """Return every interval of the mean of squared errors; the first one leads."""
    low, high = limits_of_mean(x, LEVEL, heavy=True)
    return {
        "hall_tail": (max(low, 0.0), high * tail_factor(x)),
        "Johnson's t": johnson(x),
        "log-normal": log_normal(x),
        **resampled(x, generator),
    }


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield how often each interval holds the mean square, and its median width over that of what leads."""
    for place, (law, errors) in enumerate(ERRORS.items()):
        for n in SIZES:
            generator = np.random.default_rng([run.seed, place, n])
            limits: dict[str, list[Limits]] = {}
            for _ in range(run.replications):
                for name, ends in intervals_of(errors(generator, n) ** 2, generator).items():
                    limits.setdefault(name, []).append(ends)
            widths = {name: float(np.median(np.diff(of_sets))) for name, of_sets in limits.items()}
            for name, of_sets in limits.items():
                tally = sum((one(NOISE**2, *ends) for ends in of_sets), Tally())
                yield {
                    "errors": law, "n": n, "interval": name, "sets": len(of_sets), "held": f"{tally.coverage:.4f}",
                    "upper": f"{tally.most(0.99):.4f}", "below": f"{tally.below / tally.given:.4f}",
                    "width": f"{widths[name] / widths['hall_tail']:.3f}", "seed": run.seed,
                }  # fmt: skip
