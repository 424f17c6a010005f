"""What stands beside a table or a drawing says only what is in it, in the words of the report."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.metrics.registry import METRICS
from evalreport.report.sections import cases, curves, estimates
from evalreport.report.typography import held, unbroken
from evalreport.report.view import Row, Table, view_of
from evalreport.schema.results import Results
from evalreport.texts import has


def frame(predicted: Any, true: Any) -> dict[str, Any]:
    """Give one model's predictions as columns."""
    return {"id": list(range(len(true))), "y_true": list(true), "y_pred": list(predicted)}


@pytest.fixture(scope="module")
def regression() -> Results:
    """Two models of 260 values, one of them off by more."""
    random = np.random.default_rng(4)
    true = random.normal(150, 60, 260)
    near, far = (true + random.normal(0, spread, 260) for spread in (30, 50))
    return er.evaluate({"near": frame(near, true), "far": frame(far, true)}, task="regression", resamples=100)


def test_every_metric_stands_under_a_heading_of_its_own() -> None:
    """None is called unknown to this version, the one from a judge and people included."""
    assert [name for name, metric in METRICS.items() if not has(f"metrics.family.{metric.heading}")] == []


def test_answers_that_are_numbers_have_the_same_decimals(regression: Results) -> None:
    """One decimal where they lie 100 apart; the heading says the widest example with four digits."""
    found = cases.describe_failures(view_of(regression))
    assert found is not None
    texts = [answer.text for example in found.examples for answer in example.answers]
    assert {len(text.partition(".")[2]) for text in texts} == {1}
    widest = sorted(float(a.text.replace("−", "-")) for a in found.examples[0].answers)
    low, high = (float(x.replace("−", "-")) for x in found.heading.rsplit("from ", 1)[1].split(" to "))
    assert (low, high) == pytest.approx((widest[0], widest[-1]), abs=0.06)
    assert found.text == "The examples on which the models’ values lie furthest apart:"


def test_intervals_are_spoken_of_where_they_are_drawn(regression: Results) -> None:
    """Where examples are not independent the bins have no limits: no caption, and no heading, may rest on them."""
    captions = [f.caption for f in curves.describe_distributions(view_of(regression)).figures]  # type: ignore[union-attr]
    assert (
        f"{len(next(r for r in regression.residuals if r.model == 'near').predicted)} of 260 predictions are drawn"
        in captions[0]
    )
    assert "95 % intervals" in captions[1]
    bare = tuple(
        dataclasses.replace(r, bin_low=(None,) * len(r.bin_low), bin_high=(None,) * len(r.bin_high))
        for r in regression.residuals
    )
    of_bare = curves.describe_distributions(view_of(dataclasses.replace(regression, residuals=bare)))
    assert of_bare is not None
    assert "interval" not in of_bare.figures[1].caption
    assert of_bare.figures[1].title == "The errors of near along its predictions"


def test_a_calibration_without_limits_says_none() -> None:
    """Over fits that share examples a bin has no interval: the caption does not promise one."""
    random = np.random.default_rng(2)
    p = random.uniform(0.02, 0.98, 300)
    true = (random.uniform(size=300) < p).astype(int)
    columns = {"id": list(range(300)), "y_true": list(true), "p_1": list(p)}

    results = er.evaluate({"one": columns}, positive="1", resamples=50, metrics=["accuracy", "roc_auc"])

    def caption(results: Results) -> str:
        section = curves.describe(view_of(results))
        assert section is not None
        return next(f.caption for f in section.figures if f.name == "reliability")

    assert "with 95 % intervals" in caption(results)
    bare = tuple(dataclasses.replace(curve, low=None, high=None) for curve in results.curves)
    assert "interval" not in caption(dataclasses.replace(results, curves=bare))


def test_a_heading_holds_together_what_is_read_as_one() -> None:
    """A number stays with its sign, n with its number, and no short word stands alone in the last line."""
    said = held(
        "Scanner B fell from 94.6 % (n = 37) to 18.4 % (n = 38). Equal within ±0.01, p < 0.001 by 7.8."
    )
    for together in ("94.6\xa0%", "n\xa0=\xa037", "within\xa0±0.01", "p\xa0<\xa00.001", "by\xa07.8."):
        assert together in said


def test_words_with_a_hyphen_stay_on_one_line() -> None:
    """Marked up as one; what is hostile is escaped, and what is long may break."""
    assert str(unbroken("by mid-p, --test <b-c>")) == (
        'by <span class="unbroken">mid-p,</span> <span class="unbroken">--test</span> '
        '<span class="unbroken">&lt;b-c&gt;</span>'
    )
    assert "span" not in str(unbroken("a-" * 30))


def test_predictions_of_several_fits_are_not_called_examples() -> None:
    """Three classes, two folds' worth of fits: the counts are of predictions, and a note says so."""
    columns = {
        "id": [i % 60 for i in range(120)],
        "repeat": [i // 60 for i in range(120)],
        "fold": [i % 2 for i in range(120)],
        "y_true": ["abc"[i % 60 % 3] for i in range(120)],
        "y_pred": ["abc"[(i % 60 + (i % 7 == 0)) % 3] for i in range(120)],
    }
    results = er.evaluate({"one": columns}, metrics=["accuracy"], resamples=50)
    found = cases.describe(view_of(results))
    assert found is not None
    assert found.groups == ("120 predictions",)
    assert "Counted over all fits" in found.note


def test_estimates_of_one_kind_are_one_table() -> None:
    """A row for each metric, headed by the estimator; with two estimators each metric keeps its table."""
    rows = (Row(None, (), "5 folds", about="about"), Row(None, (), "Hold-out", about="about"))
    one, two = (Table("", (), rows[:1], first=metric) for metric in ("F1", "MCC"))
    (together,) = estimates._together((one, two))
    assert (together.first, [row.label for row in together.rows]) == ("5 folds", ["F1", "MCC"])
    several = (one, Table("", (), rows, first="MCC"))
    assert estimates._together(several) == several
