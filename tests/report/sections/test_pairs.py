"""Where models differ: what the section shows is what the results hold, whatever the files said."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import evalreport as er
from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.report.sections.methods import describe as describe_methods
from evalreport.report.sections.pairs import of_the_only_pair
from evalreport.report.view import view_of
from evalreport.schema.results import Results
from tests.samples.differences import TWO, with_differences


def page(results: Results, folder: Path) -> str:
    """Return the HTML of a report."""
    render(results, folder, options=OutputOptions(formats=("html",)))
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
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


@pytest.mark.usefixtures("undrawn")
def test_hostile_ids_and_answers_are_escaped(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """An id that is a script is shown as text, a direction mark by its code point; a wrong answer says so."""
    html = page(with_differences(simulate(TWO)), tmp_path)
    assert "<script>alert('x')" not in html
    assert "&lt;script&gt;alert(" in html
    assert "\u202e" not in html
    assert "49" not in re.findall(r"alert[^<]*", html)
    assert re.search(r'class="number m\d wrong"[^>]*>No', html)


def pair_line(answers: dict[str, list[float]], truth: list[float], **options: object) -> str:
    """Return the line below the board of two models."""
    return of_the_only_pair(view_of(er.evaluate(answers, truth=truth, resamples=50, **options)))


@pytest.mark.usefixtures("primary_alone")
def test_an_equivalent_pair_has_the_p_of_the_two_one_sided_tests() -> None:
    """Four disagreements in 4,000 are within 0.02; McNemar’s p of 1 is no p of that."""
    truth = [float(i % 2) for i in range(4000)]
    other = [1 - t if i in (3, 4) else t for i, t in enumerate(truth)]
    one = [1 - t if i in (7, 8) else t for i, t in enumerate(truth)]
    line = pair_line({"one": one, "other": other}, truth, task="binary", positive="1", margin=0.02)
    assert "; equivalent, p < 0.001 by the two one-sided tests, " in line
    assert line.endswith(" Equivalent: the interval lies within ±0.02.")
    assert "margin" not in pair_line({"one": one, "other": other}, truth, task="binary", positive="1")


@pytest.mark.usefixtures("primary_alone")
def test_a_pair_without_a_test_has_no_p() -> None:
    """One example: a difference, and that it is undecided."""
    line = pair_line({"near": [3.1], "far": [2.1]}, [3.2], task="regression")
    assert line == "near − far on RMSE: −1.000; undecided."


@pytest.mark.usefixtures("primary_alone")
def test_a_margin_of_millions_is_written_in_words() -> None:
    """±20 million, not ±2e+07, wherever the page says it."""
    truth = [1e9 * (1 + (i % 7) / 3) for i in range(60)]
    answers = {
        name: [t + size * ((i % 5) - 2) for i, t in enumerate(truth)]
        for name, size in (("a", 1e6), ("b", 2e6))
    }
    view = view_of(er.evaluate(answers, truth=truth, resamples=50, task="regression", margin=2e7))
    assert of_the_only_pair(view).endswith("within ±20 million.")
    assert "±20 million." in describe_methods(view).text


@pytest.mark.usefixtures("primary_alone")
def test_of_a_decided_pair_the_better_model_is_named() -> None:
    """Where smaller is better the difference begins with the worse one, which "better" alone would praise."""
    truth = [float(i % 9) for i in range(80)]
    answers = {
        m: [t + by * (i % 3 - 1) for i, t in enumerate(truth)] for m, by in (("near", 0.5), ("far", 1.5))
    }
    line = pair_line(answers, truth, task="regression", metrics=["mae"])
    assert line.startswith("far − near on MAE: +")
    assert "; near is better, p < 0.001 by the paired t test, " in line
