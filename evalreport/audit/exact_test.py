"""Fisher's test whether a share fell, within classes: exact for accepted runs of any size."""

from __future__ import annotations

import numpy as np

from evalreport.engine.distributions import exp, log_choose
from evalreport.predictions.arrays import Floats

NEGLIGIBLE = 1e-30
"""Probabilities at an end below this are left out."""


def fall_midp(accepted: Floats, now: Floats) -> float:
    """Return the one-sided mid-p of a fall: the successes of the accepted runs, given those of both together.

    Within a class, the accepted successes are hypergeometric where nothing changed; their sum over the classes has the
    convolution of these distributions. p = P(sum > observed) + P(sum = observed) / 2.

    Parameters
    ----------
    accepted, now
        (k, 2) successes and trials of each class.

    Examples
    --------
    12 of 12, then 1,600 of 2,000: half of Fisher's one-sided 0.069.

    >>> round(fall_midp(np.array([[12.0, 12.0]]), np.array([[1600.0, 2000.0]])), 4)
    0.0347
    """
    chances, least = np.ones(1), 0
    for (right, trials), (right_now, trials_now) in zip(np.rint(accepted), np.rint(now), strict=True):
        total = right + right_now
        k = np.arange(max(0.0, total - trials_now), min(trials, total) + 1)
        logs = log_choose(trials, k) + log_choose(trials_now, total - k)
        logs -= log_choose(trials + trials_now, total)
        own = exp(logs)
        there = np.flatnonzero(own > NEGLIGIBLE)
        chances = np.convolve(chances, own[there[0] : there[-1] + 1])
        least += int(k[there[0]])
    place = int(np.rint(accepted[:, 0].sum())) - least
    if place < 0:
        return 1.0
    return float(min(1.0, chances[place + 1 :].sum() + chances[place : place + 1].sum() / 2))
