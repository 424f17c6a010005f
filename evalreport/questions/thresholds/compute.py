"""Curves of every threshold, the points of interest on them, and the net benefit of acting by them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from evalreport.metrics.operating_points import threshold_changes
from evalreport.metrics.predicted_values import score_histograms
from evalreport.questions.question import Run, question
from evalreport.questions.thresholds.curves import bands_found, curve_records
from evalreport.questions.thresholds.decision_curves import decision_curves
from evalreport.questions.thresholds.dominance import dominance_records
from evalreport.questions.thresholds.murphy import murphy_differences
from evalreport.questions.thresholds.records import ThresholdLists
from evalreport.schema.inputs import FoundRecord


@dataclass(frozen=True, kw_only=True)
class Thresholds(ThresholdLists):
    """Curves and their points, and how bands were drawn."""

    found: tuple[FoundRecord, ...] = ()


@question("thresholds", applies=lambda run: bool(run.predictions.classes))
def thresholds(run: Run) -> Thresholds:
    """Return the curves of every model, which of two is above the other, and the points on them."""
    curves = [curve_records(sample, run.options) for sample in run.samples]
    benefit = decision_curves(run.samples, run.options)
    return Thresholds(
        curves=tuple(chain.from_iterable(c.records for c in curves)),
        curve_summaries=tuple(chain.from_iterable(c.summaries for c in curves)),
        operating_points=tuple(chain.from_iterable(c.operating_points for c in curves)),
        dominance=dominance_records(curves, run.samples, run.options.baseline),
        threshold_changes=tuple(
            chain.from_iterable(threshold_changes(s, run.options.what_if_threshold) for s in run.samples)
        ),
        score_histograms=tuple(chain.from_iterable(map(score_histograms, run.samples))),
        decision_curves=benefit.curves,
        decision_curve_differences=benefit.differences,
        murphy_differences=tuple(
            chain.from_iterable(murphy_differences(s, run.options) for s in run.samples)
        ),
        found=bands_found(curves, run.options),
    )
