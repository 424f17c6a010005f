"""The exact type I error of McNemar's tests, and the simulated one of tests of a difference of F1."""

from __future__ import annotations

import numpy as np
from scipy import stats

from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import TESTS, Pair
from evalreport.comparisons.test_needs import lacks
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.enumeration import paired_estimate

ALPHA = 0.05
MCNEMAR = ("mcnemar_exact", "mcnemar_corrected", "mcnemar_midp", "mcnemar")
OF_F1 = ("permutation", "bootstrap_difference")


def mcnemar_size(n: int, discordance: float) -> dict[str, float]:
    """Return how often each test rejects where both models are equally good: every outcome weighed by its chance.

    Parameters
    ----------
    n
        Examples.
    discordance
        Chance that exactly one of the two models is right on an example.
    """
    sizes = dict.fromkeys(MCNEMAR, 0.0)
    for m in range(n + 1):
        chance = float(stats.binom.pmf(m, n, discordance))
        if chance < 1e-12:
            continue
        for test in MCNEMAR:
            most = _largest_rejected(test, m, n)
            sizes[test] += chance * 2 * float(stats.binom.cdf(most, m, 0.5)) if most >= 0 else 0.0
    return sizes


def _largest_rejected(test: str, m: int, n: int) -> int:
    """Return the largest min(b, c) at which the test rejects, -1 where it never does; p grows with it."""
    low, high = -1, (m - 1) // 2
    while low < high:
        middle = (low + high + 1) // 2
        if _p_value(test, middle, m - middle, n) <= ALPHA:
            low = middle
        else:
            high = middle - 1
    return low


def _p_value(test: str, b: int, c: int, n: int) -> float:
    delta = paired_estimate(n - b - c, b, c, 0)
    p = TESTS[test].function(Pair(a=delta.a, b=delta.b, difference=delta)).p_value
    assert p is not None
    return float(p)


def f1_size(n: int, prevalence: float, *, replications: int, n_resamples: int, seed: int) -> dict[str, float]:
    """Return how often tests of a difference of F1 reject two exchangeable models (recall 0.8, false alarms 0.1).

    Parameters
    ----------
    prevalence
        Share of positives.
    """
    counted = dict.fromkeys(OF_F1, 0)
    quantity = Quantity("f1")
    for number in range(replications):
        generator = np.random.default_rng([seed, n, round(1000 * prevalence), number])
        true = (generator.random(n) < prevalence).astype(np.int32)
        said = [(generator.random(n) < np.where(true == 1, 0.8, 0.1)).astype(np.int32) for _ in range(2)]
        predictions = Predictions(
            task="binary",
            design="test-set",
            ids=np.arange(n),
            example=np.arange(n),
            y_true=true,
            models=tuple(ModelOutputs(name, y_pred=y) for name, y in zip("ab", said, strict=True)),
            labels=Labels(classes=("0", "1"), positive="1"),
        )
        sample = estimate_all(
            predictions, [quantity], units=sampling_by(n), n_resamples=n_resamples, seed=number
        )
        (comparison,) = compare(sample, [quantity], Options(resamples=n_resamples, seed=number))
        for test in OF_F1:
            pair = comparison.pair
            p = None if pair is None or lacks(pair, test) else TESTS[test].function(pair).p_value
            counted[test] += p is not None and p <= ALPHA
    return {test: count / replications for test, count in counted.items()}
