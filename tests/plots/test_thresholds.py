"""Charts of curves over thresholds: axes, bands, scales."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from evalreport.plots import curves, thresholds
from evalreport.plots.style import to_svg
from evalreport.schema import lookups
from tests.samples.cases import every
from tests.samples.curves import HOSTILE, evaluated, named_hostile, rows, two_normals

DRAWINGS = {
    "roc": lambda r, ax: curves.roc(r, ax, annotated=HOSTILE),
    "precision_recall": curves.precision_recall,
    "error_rates": lambda r, ax: thresholds.error_rates(r, HOSTILE, ax),
    "sweep": lambda r, ax: thresholds.threshold_sweep(r, ax, metric="mcc"),
    "reliability": lambda r, ax: thresholds.reliability(r, ax, highlight=[HOSTILE]),
    "accuracy_rejection": thresholds.accuracy_rejection,
    "gain": thresholds.gain,
    "lift": thresholds.lift,
}


@pytest.mark.parametrize("name", every(4, DRAWINGS))
def test_every_chart_draws_on_the_given_axes(name):
    """The axes come back, something of the model is on them, and its name is written as it is, not as a formula."""
    results = named_hostile()
    canvas = Canvas()
    axes = canvas.subplots()
    assert DRAWINGS[name](results, axes) is axes
    index = lookups.place_of_model(results, HOSTILE)
    assert any((line.get_gid() or "").startswith(f"m{index}--") for line in axes.get_lines())
    svg = to_svg(canvas, name="x", title="t", description="d")
    assert "<script>" not in svg
    ids = [part.split('"')[1] for part in svg.split(" id=")[1:]]
    assert len(ids) == len(set(ids))


def test_only_a_curve_that_is_alone_has_a_band():
    """Bands of several models lie on each other and cannot be read."""
    truth, scores = two_normals(60)
    one = {"m0": rows(truth, score=scores)}
    two = one | {"m1": rows(truth, score=scores[::-1])}
    for models, expected in ((one, {"m0--band"}), (two, set())):
        axes = curves.roc(evaluated(models), Canvas().subplots())
        assert {c.get_gid() for c in axes.collections} == expected


def test_scores_near_0_are_drawn_on_a_logarithmic_axis():
    """Where the errors are equal below a twentieth of the largest score; ticks are plain text."""
    truth, scores = two_normals(300)
    results = evaluated({"m": rows(truth, p_1=np.clip(np.exp(3 * scores - 9), 0, 1))})
    axes = thresholds.error_rates(results, "m", Canvas().subplots())
    assert axes.get_xscale() == "log"
    assert not any("$" in text.get_text() for text in axes.get_xticklabels())
