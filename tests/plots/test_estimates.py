"""Charts of error estimates, learning curves, bias and variance."""

from __future__ import annotations

from tests.samples.algorithm_sections import evaluated, replicated


def test_the_plots_draw_on_axes_of_their_own() -> None:
    """In a notebook each function makes axes where none are given, and returns them."""
    from matplotlib import pyplot as plt

    from evalreport.plots.estimates import (
        LearningCurve,
        bias_variance,
        bias_variance_course,
        error_estimates,
        learning_curves,
        replicates,
    )

    found = evaluated(replicated(), task="regression")
    model = found.models[0]
    drawn = [
        error_estimates(found),
        bias_variance(found),
        bias_variance_course(found, model),
        replicates(found, model),
        learning_curves(
            [LearningCurve("a", ((10.0, 0.4, 0.3, 0.5), (20.0, 0.3, 0.2, 0.4)), (), 20.0, 0, "m0")]
        ),
    ]
    assert len({id(axes.figure) for axes in drawn}) == len(drawn)
    plt.close("all")
