"""The first sentence of a report, decided once from the records and printed everywhere."""

from evalreport.headline.calibration import calibration_findings, calibration_heading, calibration_of_others
from evalreport.headline.rules import headline, with_headline

__all__ = [
    "calibration_findings",
    "calibration_heading",
    "calibration_of_others",
    "headline",
    "with_headline",
]
