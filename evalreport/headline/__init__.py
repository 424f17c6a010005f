"""The first sentence of a report, decided once from the records and printed everywhere."""

from evalreport.headline.calibration import calibration_findings, calibration_heading, calibration_of_others
from evalreport.headline.rules import headline, with_headline
from evalreport.headline.scores import headline_of_scores

__all__ = [
    "calibration_findings",
    "calibration_heading",
    "calibration_of_others",
    "headline",
    "headline_of_scores",
    "with_headline",
]
