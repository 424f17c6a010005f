"""How often the test of calibration rejects, and how often its intervals and those at declared rates hold.

python -m research.studies.calibration [SETS] writes docs/calibration.csv: a row a cell with the share of simulated data
sets in which the test rejects at 5 %, or in which a 95 % interval holds the truth.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from evalreport.calibration.level import (
    calibration_in_the_large,
    in_the_large_limits,
    observed_expected_limits,
)
from evalreport.calibration.line import line_limits
from evalreport.calibration.risks import Limits, Risks
from evalreport.calibration.score_test import FEW, score_test
from evalreport.calibration.squared_error import binned, bins_by_rank, squared_error_limits
from evalreport.intervals.at_rates import at_fpr_limits, at_rate_limits, benefit_limits
from evalreport.metrics.at_rates import cumulative_groups
from evalreport.slices.group_spread import spread

PAGE = Path(__file__).resolve().parents[2] / "docs" / "calibration.csv"
LEVEL = 0.95
FEW_SETS = 500
"""Data sets of a cell whose p-values are drawn."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One row: what was measured, where, and the share of the data sets."""

    kind: str
    quantity: str
    cell: str
    n: int
    sets: int
    share: float


def risks_of(
    random: np.random.Generator, n: int, prevalence: float, odds: float, slope: float = 1.0
) -> Risks:
    """Draw probabilities of one prevalence on average and outcomes of odds and slope that differ from them."""
    x = logit(prevalence) + random.normal(0.0, 1.0, n) - 0.4
    true = expit(x)
    said = expit(slope * (x - x.mean()) + x.mean() + np.log(odds))
    return Risks(said, (random.random(n) < true).astype(float))


POPULATIONS = (
    (2000, 0.02),
    (2000, 0.04),
    (5000, 0.024),
    (10_000, 0.015),
    (1000, 0.2),
    (500, 0.5),
    (100, 0.1),
)
POWER = ((5000, 0.024, 1.42), (10_000, 0.015, 1.42), (2000, 0.039, 1.49))


def heading(sets: int) -> Iterator[Cell]:
    """Yield how often the one test rejects calibrated probabilities, and those whose odds are too high."""
    for odds_of in (False, True):
        for n, prevalence, *rest in POWER if odds_of else POPULATIONS:
            odds = float(rest[0]) if rest else 1.0
            random = np.random.default_rng([n, round(1000 * prevalence), int(odds_of)])
            few = 0.75 * n * prevalence < FEW
            own = min(sets, FEW_SETS) if few else sets
            rejected = 0
            for _ in range(own):
                found = score_test(risks_of(random, n, prevalence, odds), seed=int(random.integers(1 << 30)))
                rejected += found is not None and found.p_value <= 1 - LEVEL
            kind = "power" if odds_of else "false alarm"
            yield Cell(
                kind,
                "score test",
                f"prevalence about {prevalence:g}, odds x {odds:g}",
                n,
                own,
                rejected / own,
            )


def holds(limits: Limits | tuple[float, float], truth: float) -> bool:
    """Say whether limits hold the truth; a limit that is missing excludes nothing."""
    low, high = limits
    return (low is None or low <= truth) and (high is None or truth <= high)


def intervals_of_calibration(sets: int) -> Iterator[Cell]:
    """Yield the coverage of observed over expected, calibration in the large, the slope and the squared error."""
    for n, prevalence, odds in ((2000, 0.02, 1.0), (2000, 0.05, 1.4), (500, 0.3, 1.0), (5000, 0.02, 1.4)):
        random = np.random.default_rng([n, round(1000 * prevalence), 7])
        x = logit(prevalence) + random.normal(0.0, 1.0, n) - 0.4
        true, said = expit(x), expit(x + np.log(odds))
        ratio = float(true.sum() / said.sum())
        shift = calibration_in_the_large(Risks(said, true))
        where = bins_by_rank(said)
        gaps = [float((true - said)[where == k].mean()) ** 2 * float((where == k).mean()) for k in range(10)]
        counts = dict.fromkeys(
            ("observed_expected", "calibration_in_the_large", "calibration_slope", "squared"), 0
        )
        for _ in range(sets):
            risks = Risks(said, (random.random(n) < true).astype(float))
            counts["observed_expected"] += holds(observed_expected_limits(risks, LEVEL), ratio)
            counts["calibration_in_the_large"] += holds(in_the_large_limits(risks, LEVEL), shift)
            counts["calibration_slope"] += holds(line_limits(risks, 1, LEVEL), 1.0)
            bins = binned(risks.p, risks.y)
            assert bins is not None
            counts["squared"] += holds(squared_error_limits(bins, LEVEL), sum(gaps))
        for name, count in counts.items():
            quantity = "calibration_error" if name == "squared" else name
            yield Cell(
                "coverage",
                quantity,
                f"prevalence about {prevalence:g}, odds x {odds:g}",
                n,
                sets,
                count / sets,
            )


def intervals_at_rates(sets: int) -> Iterator[Cell]:
    """Yield the coverage at declared rates: normal scores of both classes, whose truth is known in closed form."""
    for n, prevalence, rate in ((300, 0.3, 0.1), (1000, 0.1, 0.05), (2000, 0.05, 0.02)):
        random = np.random.default_rng([n, round(1000 * rate), 11])
        apart, positives = 1.5, round(n * prevalence)
        recall = float(norm.sf(norm.isf(rate) - apart))
        cut = _cut(prevalence, apart, rate)
        precision = prevalence * float(norm.sf(cut - apart)) / rate
        threshold = prevalence
        z = _score_of(threshold, prevalence, apart)
        benefit = prevalence * float(norm.sf(z - apart)) - threshold / (1 - threshold) * (
            1 - prevalence
        ) * float(norm.sf(z))
        counts = dict.fromkeys(("recall[at_fpr]", "precision[at_rate]", "net_benefit"), 0)
        for _ in range(sets):
            y = np.zeros(n)
            y[:positives] = 1
            score = random.normal(size=n) + apart * y
            curve = cumulative_groups(score, y, np.ones(n))
            counts["recall[at_fpr]"] += holds(at_fpr_limits(*curve, rate, LEVEL), recall)
            drawn = (random.random(n) < prevalence).astype(float)
            score = random.normal(size=n) + apart * drawn
            curve = cumulative_groups(score, drawn, np.ones(n))
            if drawn.sum():
                limits = at_rate_limits(*curve, rate, LEVEL, of_positives=False)
                counts["precision[at_rate]"] += holds(limits, precision)
            flagged = score >= z
            tp, fp = float((flagged & (drawn == 1)).sum()), float((flagged & (drawn == 0)).sum())
            counts["net_benefit"] += holds(benefit_limits(tp, fp, n, threshold, LEVEL), benefit)
        for name, count in counts.items():
            yield Cell("coverage", name, f"prevalence {prevalence:g}, rate {rate:g}", n, sets, count / sets)


def _cut(prevalence: float, apart: float, rate: float) -> float:
    """Return the score that a share of all examples exceeds, by halving."""
    low, high = -10.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        above = prevalence * norm.sf(middle - apart) + (1 - prevalence) * norm.sf(middle)
        low, high = (middle, high) if above > rate else (low, middle)
    return low


def _score_of(threshold: float, prevalence: float, apart: float) -> float:
    """Return the score at which the probability of being positive is the threshold."""
    return float((logit(threshold) - logit(prevalence)) / apart + apart / 2)


def spread_of_groups(sets: int) -> Iterator[Cell]:
    """Yield coverage of the spread between groups, and how often it is shown where there is none."""
    for groups, size, sd in ((4, 60, 0.0), (12, 60, 0.0), (12, 60, 0.1), (7, 500, 0.05)):
        random = np.random.default_rng([groups, size, round(1000 * sd)])
        true = 0.35 + (np.arange(groups) - (groups - 1) / 2) * 1.0
        true = 0.35 + sd * (true - true.mean()) / (true.std(ddof=1) or 1.0) if sd else np.full(groups, 0.35)
        target = float(true.std(ddof=1))
        trials = np.full(groups, float(size))
        held = alarms = 0
        for _ in range(sets):
            found = spread(random.binomial(size, true).astype(float), trials, LEVEL)
            held += found.low <= target <= found.high
            alarms += found.low > 0
        cell = f"{groups} groups of {size}, sd {sd:g}"
        yield Cell("coverage", "group_spread", cell, groups * size, sets, held / sets)
        if not sd:
            yield Cell("false alarm", "group_spread", cell, groups * size, sets, alarms / sets)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    heading, intervals_of_calibration, intervals_at_rates, spread_of_groups,
)  # fmt: skip


def main(sets: int) -> None:
    """Write every cell."""
    with PAGE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "quantity", "cell", "n", "sets", "share"])
        for study in STUDIES:
            for cell in study(sets):
                writer.writerow([cell.kind, cell.quantity, cell.cell, cell.n, cell.sets, f"{cell.share:.4f}"])
                file.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
