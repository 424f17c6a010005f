"""Where models differ: what the section shows is what the results hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from matplotlib.figure import Figure as Canvas

from evalreport.questions.ranks import omnibus_section as omnibus
from evalreport.report.sections import differences
from evalreport.report.view import view_of
from evalreport.schema.metrics import FoldRecord
from evalreport.schema.results import Results
from tests.samples.differences import TWO


def test_no_section_where_nothing_is_to_be_said(simulate: Callable[..., Results]) -> None:
    """Results without sizes, folds and disagreements have no such section, nor one on all models at once."""
    view = view_of(simulate(TWO))
    assert differences.describe_differences(view) is None
    assert omnibus.describe(view) is None


def test_the_fits_of_one_model_are_not_called_a_difference_of_models(
    simulate: Callable[..., Results],
) -> None:
    """With one model "they" would be nobody: the heading speaks of its fits."""
    headings = []
    for models in ({"forest": 1.8}, TWO):
        found = differences.describe_differences(view_of(folds(simulate(models))))
        assert found is not None
        headings.append(found.heading)
    assert headings == ["From fit to fit", "Where they differ"]


def folds(results: Results) -> Results:
    """Turn results into those of five folds."""
    both = ((0.9, 0.8, 0.85, 0.7, 0.95), (0.8, 0.8, 0.75, 0.75, 0.85))
    values = dict(zip(results.models, both, strict=False))
    records = tuple(
        FoldRecord(
            model=m, repeat=None, fold=str(i), metric="accuracy", average=None, label=None, value=v, n=30
        )
        for m, held in values.items()
        for i, v in enumerate(held)
    )
    return dataclasses.replace(results, design="cross-validation", folds=records)


def test_a_strip_shows_the_difference_on_every_fold(simulate: Callable[..., Results]) -> None:
    """By hand: 0.1, 0, 0.1, -0.05, 0.1, their mean 0.05 marked; and the table's mean 0.84, standard deviation 0.096."""
    found = differences.describe_differences(view_of(folds(simulate(TWO))))
    assert found is not None
    (figure,) = found.figures
    assert "mean +0.0500" in figure.description
    axes = Canvas().subplots()
    figure.draw[0](axes)
    points, mean = axes.get_lines()[1:3]
    assert points.get_xdata() == pytest.approx([0.1, 0.0, 0.1, -0.05, 0.1])
    assert mean.get_xdata() == pytest.approx([0.05, 0.05])
    first = found.tables[0].rows[0]
    assert first.cells[:2] == ("5", "0.840")
    assert float(first.cells[2]) == pytest.approx(0.0962, abs=1e-3)
    assert "share training data" in figure.caption
