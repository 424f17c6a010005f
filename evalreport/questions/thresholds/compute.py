"""Curves of every threshold, the points of interest on them, the net benefit of acting by them, Murphy differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from evalreport.comparisons.pairs import MOST_MODELS, model_pairs
from evalreport.metrics.predicted_values import score_histograms
from evalreport.metrics.registry import definition
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Mask
from evalreport.questions.question import Run, question
from evalreport.questions.thresholds.curves import bands_found, curve_records
from evalreport.questions.thresholds.decision_curves import (
    benefit_differences,
    decision_curves,
    probabilities,
)
from evalreport.questions.thresholds.dominance import dominance_records
from evalreport.questions.thresholds.records import MurphyDifferenceRecord, ThresholdLists
from evalreport.questions.thresholds.threshold_changes import threshold_changes
from evalreport.samplings import Sampling
from evalreport.schema.inputs import FoundRecord


@dataclass(frozen=True, kw_only=True)
class Thresholds(ThresholdLists):
    """Curves and their points, and how bands were drawn."""

    found: tuple[FoundRecord, ...] = ()


@question("thresholds", applies=lambda run: bool(run.predictions.classes))
def thresholds(run: Run) -> Thresholds:
    """Return the curves of every model, which of two is above the other, and the points on them."""
    curves = [curve_records(sample, run.options) for sample in run.samples]
    benefits, differences = decision_curves(run.samples, run.options)
    return Thresholds(
        curves=tuple(chain.from_iterable(c.records for c in curves)),
        curve_summaries=tuple(chain.from_iterable(c.summaries for c in curves)),
        operating_points=tuple(chain.from_iterable(c.operating_points for c in curves)),
        dominance=dominance_records(curves, run.samples, _reference(run)),
        threshold_changes=tuple(
            chain.from_iterable(threshold_changes(s, run.options.what_if_threshold) for s in run.samples)
        ),
        score_histograms=tuple(chain.from_iterable(map(score_histograms, run.samples))),
        decision_curves=tuple(benefits),
        decision_curve_differences=tuple(differences),
        murphy_differences=tuple(
            chain.from_iterable(murphy_differences(s, run.options) for s in run.samples)
        ),
        found=bands_found(curves, run.options),
    )


def _reference(run: Run) -> str | None:
    """Return the model whose curve is compared with each other's: the baseline; of more than 20 models the best."""
    ranking = run.results.ranking
    if run.options.baseline is not None or len(ranking) <= MOST_MODELS:
        return run.options.baseline
    return min(ranking, key=lambda record: record.rank).model


STEPS = 20
"""Thresholds from 0 to the end of the axis."""
ENDS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)
"""Where the axis may end; at the first with at most ``BEYOND`` of every model's probabilities above."""
BEYOND = 0.005

Given = Mapping[str, tuple[Floats, Mask]]
"""The probabilities of each model, and which examples are positive."""


def murphy_differences(sample: Sample, options: Options) -> Iterator[MurphyDifferenceRecord]:
    """Yield the differences between a reference and each other model: the baseline, else the lowest Brier score.

    The permitted error is shared among the thresholds and, since the data choose the reference, among all pairs
    (Bonferroni); with a baseline among its pairs. Nothing where only metrics of labels or of ranks were asked for.

    References
    ----------
    Ehm, Gneiting, Jordan and Krueger (2016), J R Stat Soc B 78:505. The elementary score at t is (1 - t) times the
    prevalence less the net benefit, so the limits are those of a difference of net benefits.
    """
    given, w = dict(probabilities(sample)), sample.units.base
    asked = not options.metrics or any(definition(q).display.of_calibration for q in sample.quantities)
    if len(given) < 2 or not asked:
        return
    baseline = options.baseline if options.baseline in given else None
    brier = {name: float((w * (p - positive) ** 2).sum()) for name, (p, positive) in given.items()}
    reference = baseline or min(given, key=lambda name: brier[name])
    thresholds = thresholds_of(given)
    pairs = len(model_pairs([*given], baseline))
    each = 1 - (1 - options.confidence) / (len(thresholds) * pairs)
    for a, b in model_pairs([*given], reference):
        (p, positive), (q, _) = given[a], given[b]
        rows = [_difference(p, q, positive, sample.units, at, each) for at in thresholds]
        values, lows, highs = zip(*rows, strict=True)
        yield MurphyDifferenceRecord(
            a=a, b=b, level=each, threshold=thresholds, difference=values, low=lows, high=highs
        )


def thresholds_of(given: Given) -> tuple[float, ...]:
    """Return even thresholds from 0 to where hardly any probability lies above, without 0 and 1."""
    beyond = (end for end in ENDS if all(float(np.mean(p > end)) <= BEYOND for p, _ in given.values()))
    end = next(beyond, ENDS[-1])
    return tuple(end * step / STEPS for step in range(1, STEPS + (end < 1)))


def _difference(
    p: Floats, q: Floats, positive: Mask, units: Sampling, at: float, level: float
) -> tuple[float, float | None, float | None]:
    """Return the difference of two mean elementary scores at one threshold with its limits."""
    benefit, (limits,) = benefit_differences(p, q, positive, units, at, (level,))
    low, high = (None if limit is None else (at - 1) * limit for limit in reversed(limits))
    return (at - 1) * benefit, low, high
