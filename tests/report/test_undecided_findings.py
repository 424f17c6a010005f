"""A heading that sets models side by side does not state as a fact what is not decided."""

from __future__ import annotations

import pytest

import evalreport as er
from evalreport.report.sections.cases import describe as describe_cases
from evalreport.report.view import view_of


@pytest.mark.parametrize("wrong, ending", [((20, 22), "errs on 22 (not decided)"), ((5, 60), "errs on 60")])
def test_a_heading_of_counts_says_that_they_are_not_decided(wrong: tuple[int, int], ending: str) -> None:
    """20 errors against 22 of 200 decide nothing; 5 against 60 do."""
    truth = ["a", "b"] * 70 + ["c"] * 60
    models = {}
    for name, n_wrong, at in zip(("forest", "svm"), wrong, (0, 100), strict=True):
        answers = list(truth)
        for i in range(at, at + n_wrong):
            answers[i] = "c" if truth[i] != "c" else "a"
        models[name] = {"y_pred": answers}
    view = view_of(er.evaluate(models, truth=truth, resamples=50))
    cases = describe_cases(view)
    assert cases is not None
    assert ending.replace("errs on", "svm on") in cases.heading
    assert ("not decided" in cases.heading) == ("not decided" in ending)
