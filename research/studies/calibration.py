"""How often the test of calibration rejects, and how often its intervals and those at declared rates hold.

A row a cell: the share of simulated data sets in which the test rejects at 5 %, or in which a 95 % interval holds the
truth, and the one-sided 95 % confidence limit of that share: the upper one of false alarms, else the lower one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from evalreport.calibration.level import in_the_large_limits, line_limits, observed_expected_limits
from evalreport.calibration.limits import Limits
from evalreport.calibration.risks import Risks
from evalreport.calibration.score_test import FEW, score_test
from evalreport.calibration.squared_error import binned, bins_by_rank, squared_error_limits
from evalreport.comparisons.adjustment import adjust
from evalreport.intervals.at_rates import at_fpr_limits, at_rate_limits, benefit_limits
from evalreport.metrics.at_rates import cumulative_groups
from evalreport.predictions.arrays import Floats
from evalreport.questions.slices.group_spread import spread
from research.studies.harness import Run
from research.studies.judgement import limit

LEVEL = 0.95
FAR_ABOVE = 0.3
"""A p-value by the closed form above which the drawn one is not near the level either."""
TIMES_CLOSED, MANY = 5, 1000
"""How many times as many data sets a test has whose p-values are not drawn, or of fewer examples than the second."""


Counted = tuple[str, str, str, int, int, int]
"""Kind, quantity, cell, examples, data sets, and in how many of them it happened."""


def risks_of(random: np.random.Generator, n: int, prevalence: float, odds: float, sd: float = 1.0) -> Risks:
    """Draw probabilities of about one prevalence, whose odds are too high, with outcomes; sd: of the log odds."""
    x = logit(prevalence) + random.normal(0.0, sd, n) - 0.4 * sd**2
    return Risks(expit(x + np.log(odds)), (random.random(n) < expit(x)).astype(float))


POPULATIONS = (
    (2000, 0.02),
    (2000, 0.04),
    (5000, 0.024),
    (10_000, 0.015),
    (1000, 0.2),
    (500, 0.5),
    (100, 0.1),
)
POWER = (
    *((n, p, odds, sd) for n, p, odds in ((5000, 0.024, 1.42), (10_000, 0.015, 1.42), (2000, 0.039, 1.49))
      for sd in (0.5, 1.0)),
)  # fmt: skip


def heading(sets: int) -> Iterator[Counted]:
    """Yield how often the one test rejects calibrated probabilities, and those whose odds are too high."""
    for odds_of in (False, True):
        for n, prevalence, *rest in POWER if odds_of else POPULATIONS:
            odds, sd = rest or (1.0, 1.0)
            seed = [n, round(1000 * prevalence), int(odds_of)]
            random = np.random.default_rng(seed if sd == 1 else [*seed, round(10 * sd)])
            slow = 0.75 * n * prevalence < FEW and n >= MANY
            own = sets if slow else TIMES_CLOSED * sets
            rejected = 0
            for _ in range(own):
                drawn = risks_of(random, n, prevalence, odds, sd)
                rejected += _p_value(drawn.p, drawn.y, int(random.integers(1 << 30))) <= 1 - LEVEL
            kind = "power" if odds_of else "false alarm"
            cell = f"prevalence about {prevalence:g}, odds x {odds:g}, sd of log odds {sd:g}"
            yield kind, "score test", cell, n, own, rejected


CLASSES = (
    (3000, (0.5, 0.3, 0.15, 0.05)),
    (2000, (0.1,) * 10),
    (1000, (0.6, 0.38, 0.02)),
    (4000, tuple(1.3**-k / sum(1.3**-j for j in range(12)) for k in range(12))),
)
"""Examples, and about the shares of the classes."""


def classes(sets: int) -> Iterator[Counted]:
    """Yield how often calibrated probabilities of several classes are called off: any class by Holm, the largest."""
    for n, shares in CLASSES:
        random = np.random.default_rng([n, len(shares), 17])
        slow = 0.8 * n * min(shares) < FEW
        own = sets if slow else TIMES_CLOSED * sets
        by_class = of_top = 0
        for _ in range(own):
            score = np.log(shares) + random.normal(0.0, 1.0, (n, len(shares)))
            p = np.exp(score)
            p /= p.sum(axis=1)[:, None]
            true = (p.cumsum(axis=1) < random.random(n)[:, None]).sum(axis=1).clip(max=len(shares) - 1)
            seed = int(random.integers(1 << 30))
            of_class = [_p_value(p[:, k], true == k, seed) for k in range(len(shares))]
            by_class += min(adjust(of_class, "holm")) <= 1 - LEVEL
            of_top += _p_value(p.max(axis=1), p.argmax(axis=1) == true, seed) <= 1 - LEVEL
        cell = f"{len(shares)} classes, the rarest about {min(shares):.2g}"
        yield "false alarm", "score test by class", cell, n, own, by_class
        yield "false alarm", "score test of the largest", cell, n, own, of_top


def _p_value(p: Floats, occurred: np.ndarray, seed: int) -> float:
    """Return the p-value; one far above the level by the closed form is not drawn, which changes no decision."""
    y = occurred.astype(float)
    closed = score_test(Risks(p, y, weight=np.ones(len(p))), seed=seed)
    assert closed is not None
    if closed.p_value > FAR_ABOVE:
        return closed.p_value
    found = score_test(Risks(p, y), seed=seed)
    assert found is not None
    return found.p_value


def holds(limits: Limits | tuple[float, float], truth: float) -> bool:
    """Say whether limits hold the truth; a limit that is missing excludes nothing."""
    low, high = limits
    return (low is None or low <= truth) and (high is None or truth <= high)


def intervals_of_calibration(sets: int) -> Iterator[Counted]:
    """Yield the coverage of observed over expected, calibration in the large, the slope and the squared error."""
    for n, prevalence, odds in ((2000, 0.02, 1.0), (2000, 0.05, 1.4), (500, 0.3, 1.0), (5000, 0.02, 1.4)):
        random = np.random.default_rng([n, round(1000 * prevalence), 7])
        x = logit(prevalence) + random.normal(0.0, 1.0, n) - 0.4
        true, said = expit(x), expit(x + np.log(odds))
        ratio = float(true.sum() / said.sum())
        shift = Risks(said, true).shift
        where = bins_by_rank(said)
        gaps = [float((true - said)[where == k].mean()) ** 2 * float((where == k).mean()) for k in range(10)]
        counts: Counter[str] = Counter()
        for _ in range(sets):
            risks = Risks(said, (random.random(n) < true).astype(float))
            counts["observed_expected"] += holds(observed_expected_limits(risks, LEVEL), ratio)
            counts["calibration_in_the_large"] += holds(in_the_large_limits(risks, LEVEL), shift)
            counts["calibration_slope"] += holds(line_limits(risks, 1, LEVEL), 1.0)
            bins = binned(risks.p, risks.y)
            assert bins is not None
            counts["calibration_error"] += holds(squared_error_limits(bins, LEVEL), sum(gaps))
        for name, count in counts.items():
            yield "coverage", name, f"prevalence about {prevalence:g}, odds x {odds:g}", n, sets, count


def intervals_at_rates(sets: int) -> Iterator[Counted]:
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
        counts: Counter[str] = Counter()
        for _ in range(sets):
            y = np.zeros(n)
            y[:positives] = 1
            score = random.normal(size=n) + apart * y
            curve = cumulative_groups(score, y)
            counts["recall[at_fpr]"] += holds(at_fpr_limits(*curve, rate, LEVEL), recall)
            drawn = (random.random(n) < prevalence).astype(float)
            score = random.normal(size=n) + apart * drawn
            curve = cumulative_groups(score, drawn)
            if drawn.sum():
                limits = at_rate_limits(*curve, rate, LEVEL, of_positives=False)
                counts["precision[at_rate]"] += holds(limits, precision)
            flagged = score >= z
            tp, fp = float((flagged & (drawn == 1)).sum()), float((flagged & (drawn == 0)).sum())
            counts["net_benefit"] += holds(benefit_limits(tp, fp, n, threshold, LEVEL), benefit)
        for name, count in counts.items():
            yield "coverage", name, f"prevalence {prevalence:g}, rate {rate:g}", n, sets, count


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


def spread_of_groups(sets: int) -> Iterator[Counted]:
    """Yield coverage of the spread between groups, and how often it is shown where there is none."""
    for groups, size, sd in ((4, 60, 0.0), (12, 60, 0.0), (12, 60, 0.1), (7, 500, 0.05)):
        random = np.random.default_rng([groups, size, round(1000 * sd)])
        true = 0.35 + (np.arange(groups) - (groups - 1) / 2) * 1.0
        true = 0.35 + sd * (true - true.mean()) / (true.std(ddof=1) or 1.0) if sd else np.full(groups, 0.35)
        target = float(true.std(ddof=1))
        trials = np.full(groups, float(size))
        held = alarms = 0
        for _ in range(sets):
            _, low, high = spread(random.binomial(size, true).astype(float), trials, LEVEL)
            held += low <= target <= high
            alarms += low > 0
        cell = f"{groups} groups of {size}, sd {sd:g}"
        yield "coverage", "group_spread", cell, groups * size, sets, held
        if not sd:
            yield "false alarm", "group_spread", cell, groups * size, sets, alarms


STUDIES: tuple[Callable[[int], Iterator[Counted]], ...] = (
    heading, classes, intervals_of_calibration, intervals_at_rates, spread_of_groups,
)  # fmt: skip


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/calibration.csv; the seeds are those of the cells."""
    for study in STUDIES:
        for kind, quantity, cell, n, sets, count in study(run.replications):
            bound = limit("at most" if kind == "false alarm" else "at least", count, sets)
            yield {
                "kind": kind, "quantity": quantity, "cell": cell, "n": n, "sets": sets,
                "share": f"{count / sets:.4f}", "limit": f"{bound:.4f}",
            }  # fmt: skip
