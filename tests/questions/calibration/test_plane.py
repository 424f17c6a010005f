"""The plane of miscalibration against discrimination, against scikit-learn's isotonic regression."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

import evalreport as er
from evalreport import plots
from evalreport.questions.calibration.section import describe_details
from evalreport.report.view import view_of
from tests.questions.thresholds.test_compute import models

pytestmark = pytest.mark.usefixtures("primary_alone")


@pytest.fixture(scope="module")
def results() -> er.Results:
    """Three models, of which one is noisy and one is pushed to the ends."""
    source = models(1500, 3, (0.2, 0.8, 2.5))
    return er.evaluate(source, resamples=20)


def test_the_plane_shows_the_parts_of_the_brier_score(results: er.Results) -> None:
    """By scikit-learn's isotonic regression: MCB - DSC + UNC is the Brier score; points in percent of UNC."""
    source = models(1500, 3, (0.2, 0.8, 2.5))
    axes = plots.miscalibration_discrimination(results)
    drawn = {line.get_gid(): line.get_data() for line in axes.get_lines() if line.get_gid()}
    for record in results.calibration:
        p, y = source[record.model]["p_1"], source[record.model]["y_true"]
        fit = IsotonicRegression(y_min=0, y_max=1).fit_transform(p, y)
        brier, best, none = (brier_score_loss(y, f) for f in (p, fit, np.full(len(y), y.mean())))
        assert (record.mcb, record.dsc, record.unc) == pytest.approx(
            (brier - best, none - best, none), abs=1e-9
        )
        assert record.mcb - record.dsc + record.unc == pytest.approx(brier, abs=1e-12)
    for place, model in enumerate(view_of(results).models):
        record = next(r for r in results.calibration if r.model == model.id)
        x, y = drawn[f"m{place}--line"]
        assert (x[0], y[0]) == pytest.approx((100 * record.mcb / record.unc, 100 * record.dsc / record.unc))


def test_a_single_model_has_no_plane() -> None:
    """A plane of one point compares nothing; the details keep the parts."""
    details = describe_details(view_of(er.evaluate(models(300, 3, (0.5,)), resamples=20)))
    assert details.parts is not None
    assert details.figures == details.panels
