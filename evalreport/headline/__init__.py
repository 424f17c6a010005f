"""The first sentence of a report, decided once from the records and printed everywhere."""

from evalreport.headline.degenerate import all_inverted, inverted_models
from evalreport.headline.lead import rarest_class
from evalreport.headline.rules import headline, with_headline
from evalreport.headline.scores import headline_of_scores
from evalreport.questions.calibration.findings import (
    Finding,
    calibration_findings,
    calibration_heading,
    calibration_of_others,
    worst_of_models,
)

__all__ = [
    "Finding",
    "all_inverted",
    "calibration_findings",
    "calibration_heading",
    "calibration_of_others",
    "headline",
    "headline_of_scores",
    "inverted_models",
    "rarest_class",
    "with_headline",
    "worst_of_models",
]
