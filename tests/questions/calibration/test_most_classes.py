"""The heading of several classes: what holds for most of them leads, in place of one class of one model."""

from __future__ import annotations

from evalreport.questions.calibration.findings import Finding, calibration_heading
from evalreport.questions.calibration.records import CalibrationRecord


def finding(model: str, label: str | None, slope: float, kind: str = "underconfident") -> Finding:
    """Return a class whose slope has limits of 0.2 to either side."""
    record = CalibrationRecord(
        model=model, label=label, n=100, n_weighed=100, observed=30, expected=25, observed_expected=1.2,
        observed_expected_low=1.05, observed_expected_high=1.4, slope=slope, slope_low=slope - 0.2,
        slope_high=slope + 0.2,
    )  # fmt: skip
    return Finding(record, kind, 0.001 if kind != "none" else 0.5)  # type: ignore[arg-type]


def test_what_holds_for_most_classes_is_the_heading():
    """Seven of eight, of two models, with the least and the largest slope; the level of one of them does not lead."""
    rows = [finding("knn", "d", 2.8, "too_low"), *(finding("net", label, 1.9) for label in "abcd")]
    rows += [finding("knn", "a", 2.2), finding("knn", "c", 2.2), finding("knn", "b", 1.0, "none")]
    said = str(calibration_heading(rows, str))
    assert said == "knn and net are underconfident, together on 7 of 8 classes (slope 1.90 to 2.80, ideal 1)"
    alone = [finding("net", label, 0.5, "overconfident") for label in "abcd"]
    said = str(calibration_heading(alone, str))
    assert said == "net is overconfident on 4 of 4 classes (slope 0.50 to 0.50, ideal 1)"
    few = [finding("net", label, 0.5, "overconfident") for label in "abc"]
    assert str(calibration_heading(few, str)).startswith("net on “a” is overconfident: slope 0.50")


def test_half_of_the_classes_are_not_most():
    """Three of six: the gravest class leads, as before; so it does of a positive class alone."""
    rows = [finding("net", label, 1.9) for label in "abc"] + [
        finding("net", label, 1.0, "none") for label in "def"
    ]
    assert str(calibration_heading(rows, str)).startswith("net on “a” is underconfident: slope 1.90")
    one = finding("net", None, 1.9)
    assert str(calibration_heading([one, one, one], str)).startswith("net is underconfident: slope 1.90")
