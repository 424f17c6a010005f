"""What the report of an audit says first."""

from __future__ import annotations

import re

from evalreport.options import OutputOptions
from evalreport.report.writing import render
from tests.samples.nights import GOOD, nights, series


def test_the_report_says_first_what_is_alarming(history, week, tmp_path):
    """The page and the summary name the alarm; a quiet audit says that nothing is."""
    loud = nights(week, [0.6] * 3, begin=7)
    quiet = series(history, [GOOD], series="quiet")
    for name, found in (("loud", loud), ("quiet", quiet)):
        render(found.results, tmp_path / name, options=OutputOptions(formats=("html", "md")))
    page = (tmp_path / "loud" / "report.html").read_text(encoding="utf-8").replace("\xa0", " ")
    assert "Model worse, or data changed? forest fell; none about the data" in page
    assert "Accuracy at every audit: forest fell" in page
    assert "<b>alarm:</b> <small>worse than the accepted runs" in page
    summary = (tmp_path / "loud" / "summary.md").read_text(encoding="utf-8")
    assert re.search(
        r"^\*\*forest fell: accuracy 0\.\d+, 0\.\d+ when accepted \(change −0\.\d+ ", summary, re.MULTILINE
    )
    quiet_page = (tmp_path / "quiet" / "report.html").read_text(encoding="utf-8").replace("\xa0", " ")
    assert "no alarm about forest (accuracy 0.900, 0.900 when accepted, change " in quiet_page
