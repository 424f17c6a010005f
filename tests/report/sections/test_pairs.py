"""Where models differ: what the section shows is what the results hold, whatever the files said."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Canvas

from evalreport.options import OutputOptions
from evalreport.plots.pairs import Strip, strip
from evalreport.plots.pictures import drawn
from evalreport.report import render
from evalreport.report.sections import differences, omnibus
from evalreport.report.view import view_of
from evalreport.schema.comparisons import (
    AverageRankRecord,
    OmnibusRecord,
    RankingRecord,
)
from evalreport.schema.metrics import FoldRecord
from evalreport.schema.results import Results
from tests.samples.differences import TWO, with_differences


def page(results: Results, folder: Path) -> str:
    """Return the HTML of a report."""
    render(results, folder, options=OutputOptions(formats=("html",)))
    return (folder / "report.html").read_text(encoding="utf-8")


def test_no_section_where_nothing_is_to_be_said(simulate: Callable[..., Results]) -> None:
    """Results without sizes, folds and disagreements have no such section, nor one on all models at once."""
    view = view_of(simulate(TWO))
    assert differences.describe_differences(view) is None
    assert omnibus.describe_omnibus(view) is None


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


def test_sizes_and_agreement_stand_as_the_results_hold_them(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """Odds 2.50 with an open limit, 12.3 misses fewer, the four counts, and the baseline beside its metric."""
    text = re.sub(r"<[^>]*>", " ", page(with_differences(simulate(TWO)), tmp_path))
    text = " ".join(text.split())
    assert "2.50 [1.20, ∞]" in text
    assert "+12.3 [+4.0, +20.0]" in text  # misses that the first model avoids
    assert "Positive sizes favour the model named first" in text
    assert "900 75.0 % 25 2.1 % 10 0.8 % 265 22.1 %" in text
    assert re.search(r"majority class Decisions .*? Accuracy [^A-Z]*Wilson [^A-Z]* 0\.65", text)


def test_hostile_ids_and_answers_are_escaped(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """An id that is a script is shown as text, a direction mark by its code point; a wrong answer says so."""
    html = page(with_differences(simulate(TWO)), tmp_path)
    assert "<script>alert('x')" not in html
    assert "&lt;script&gt;alert(" in html
    assert "\u202e" not in html
    assert "49" not in re.findall(r"alert[^<]*", html)
    assert re.search(r'class="number m\d wrong">No', html)


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
    assert found.figure is not None
    assert "mean +0.0500" in found.figure.description
    axes = Canvas().subplots()
    found.figure.draw[0](axes)
    points, mean = axes.get_lines()[1:3]
    assert points.get_xdata() == pytest.approx([0.1, 0.0, 0.1, -0.05, 0.1])
    assert mean.get_xdata() == pytest.approx([0.05, 0.05])
    first = found.tables[0].rows[0]
    assert first.cells[:2] == ("5", "0.840")
    assert float(first.cells[2]) == pytest.approx(0.0962, abs=1e-3)
    assert "share training data" in found.figure.caption


def ranked(results: Results, letters: dict[str, str]) -> Results:
    """Give results average ranks 1, 2, 3 ... by name and these letters."""
    return dataclasses.replace(
        results,
        average_ranks=tuple(
            AverageRankRecord(metric="accuracy", model=m, average_rank=float(i + 1), by="datasets",
                blocks=14, critical_difference=1.25, level=0.95)
            for i, m in enumerate(results.models)
        ),
        ranking=tuple(
            RankingRecord(model=m, metric="accuracy", value=1 - i / 10, rank=i + 1,
                letters=letters[m]) for i, m in enumerate(results.models)
        ),
        omnibus=(OmnibusRecord(metric="accuracy", test="iman_davenport", statistic=4.59, df=3.0,
            p_value=0.008, models=results.models, df2=39.0, by="datasets", blocks=14),),
    )  # fmt: skip


def test_the_bars_of_the_diagram_are_the_letters(simulate: Callable[..., Results]) -> None:
    """Models that share a letter are joined, whatever Nemenyi's distance says: one table decides everything."""
    results = ranked(simulate({"a": 1.9, "b": 1.5, "c": 0.6}), {"a": "a", "b": "ab", "c": "b"})
    found = omnibus.describe_omnibus(view_of(results))
    assert found is not None
    assert found.figure is not None
    axes = Canvas().subplots()
    found.figure.draw[0](axes)
    bars = [line.get_xdata() for line in axes.get_lines() if line.get_linewidth() == 2.6]
    assert [list(map(float, bar)) for bar in bars] == [[1.0, 2.0], [2.0, 3.0]]
    assert found.table.rows[0].cells[2] == "4.59 (df 3, 39)"
    assert found.table.rows[0].cells[1] == "14 data sets"
    assert drawn(found.figure) == drawn(found.figure), "the same bytes twice"


def test_plots_draw_on_the_given_axes_and_survive_hostile_labels() -> None:
    """The axes come back, and a label is text, never mathematics."""
    axes = Canvas().subplots()
    assert strip([Strip("$x - <b>", (0.1, -0.2), 0, "m0_m1")], axes, axis_label="$d") is axes
    axes.figure.canvas.draw()
