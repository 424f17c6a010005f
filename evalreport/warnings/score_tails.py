"""Scores with heavy tails, of which intervals of areas under precision-recall curves were measured to be short."""

from __future__ import annotations

import numpy as np

from evalreport.engine.counts import by_kurtosis
from evalreport.engine.l_moments import upper_tail
from evalreport.metrics.evidence import Ranking
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.metrics.views import view
from evalreport.predictions.arrays import Floats, Mask

FEW_OF_A_CLASS = 10
"""With fewer of a class its tail cannot be told."""
HEAVY = 0.15
"""Tail weights above this are heavy: normal scores have 0.12, logistic ones 0.17, Student's t with 4 df 0.22."""
LEAST_AREA = 0.65
"""Below it the first places of a ranking are mixed whatever its tails."""
FEW_CARRY = 33.0
"""Up to so many degrees of freedom, 2 n / (kurtosis - 1) of the influence values, few examples carry the error.

The four were set on other samples than those of docs/score-tails.csv, which counts how often they are met where
intervals are short, and where they hold.
"""
LEAST_PROBABILITY = 1e-15


def heavy_tails(sample: Sample, model: str, quantity: Quantity) -> bool:
    """Whether a model's scores have heavy tails, and few examples carry the error of an area under its curve."""
    estimate = sample.estimates.get((model, quantity))
    if estimate is None or not estimate.defined or not isinstance(estimate.evidence, Ranking):
        return False
    ranking, kurtosis, n = estimate.evidence, estimate.kurtosis, estimate.sampling.n_examples
    if ranking.steepest is not None or kurtosis is None or min(ranking.class_sizes) < FEW_OF_A_CLASS:
        return False
    if estimate.value <= LEAST_AREA or by_kurtosis(n, n, kurtosis) >= FEW_CARRY:
        return False
    outputs = next(one for one in sample.predictions.models if one.name == model)
    score = view(sample.predictions, outputs).score
    return score is not None and len(score) == n and tail_weight(score, ranking.positive) > HEAVY


def tail_weight(score: Floats, positive: Mask) -> float:
    """Return how heavy the tails are that reach into the other class: the mean over the examples of both classes.

    Of the negatives the upper tail, of the positives the lower one. Scores from 0 to 1 are taken on the logit scale.
    """
    if score.min() >= 0 and score.max() <= 1:
        p = np.clip(score, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        score = np.log(p) - np.log1p(-p)
    m, n = int(positive.sum()), len(score)
    return (m * upper_tail(-score[positive]) + (n - m) * upper_tail(score[~positive])) / n
