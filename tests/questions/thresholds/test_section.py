"""The table of thresholds: columns of the shares that were named, each with its threshold."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import UsageError
from evalreport.questions.thresholds import section
from evalreport.questions.thresholds.options import ThresholdOptions
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def ranked(**options: object) -> Results:
    """Return a run on 200 examples, 40 of them positive, with the scores of two models."""
    random = np.random.default_rng(8)
    truth = np.arange(200) < 40
    models = {name: {"p_1": np.round(0.4 * truth + 0.6 * random.random(200), 4)} for name in ("a", "b")}
    return er.evaluate(models, truth=truth.astype(int), positive="1", resamples=50, **options)


def test_named_shares_take_the_place_of_the_usual_columns() -> None:
    """95 % of 40 positives are 38: the threshold is the 38th largest score of a positive, by numpy."""
    results = ranked(finds="0.95,0.8", alarms="0.05")
    shown = section.describe(view_of(results))
    assert shown is not None
    assert shown.compared.headings[1:] == ("best F1", "false alarms ≤ 5 %", "finds ≥ 95 %", "finds ≥ 80 %")
    assert shown.heading.startswith("Thresholds: within 5 % false alarms ")
    for model, row in zip(
        ("a", "b"), sorted(shown.compared.rows, key=lambda row: row.model.name), strict=True
    ):
        point = next(
            p
            for p in results.operating_points
            if (p.model, p.criterion, p.at) == (model, "fixed_recall", 0.95)
        )
        own = np.round(0.4 + 0.6 * _draws(model)[:40], 4)
        assert point.threshold == np.sort(own)[-38]
        assert point.tp >= 38
        assert row.cells[3].below == (f"at {point.threshold:.3g}",)


def _draws(model: str) -> np.ndarray:
    random = np.random.default_rng(8)
    first, second = random.random(200), random.random(200)
    return first if model == "a" else second


@pytest.mark.slow
def test_without_names_the_columns_are_the_usual_ones() -> None:
    """1 and 10 % false alarms, 60 and 90 % found; so is the kind that was not named."""
    usual = section.compared_keys(ranked())
    assert [key[:2] for key in usual[1:]] == [
        ("fixed_fpr", 0.01), ("fixed_fpr", 0.1), ("fixed_recall", 0.6), ("fixed_recall", 0.9)
    ]  # fmt: skip
    assert [key[1] for key in section.compared_keys(ranked(finds="0.95"))[1:]] == [0.01, 0.1, 0.95]


@pytest.mark.parametrize(
    "text", ["95", "0", "-0.1", "a", "", "0.1,,0.2", "1.5", "0.1,0.2,0.3,0.4,0.5,0.6,0.7"]
)
def test_what_is_no_list_of_shares_is_refused(text: str) -> None:
    """Percentages, words, more than six."""
    with pytest.raises(UsageError, match="finds must be at most 6 shares above 0"):
        ThresholdOptions(finds=text).check_ranges()


@pytest.mark.slow
def test_a_list_of_many_models_is_cut_and_says_so() -> None:
    """Of seven models the first six have every criterion; the compared columns have all."""
    random = np.random.default_rng(8)
    truth = np.arange(100) < 40
    models = {f"m{k}": {"p_1": 0.4 * truth + 0.6 * random.random(100)} for k in range(7)}
    shown = section.describe(
        view_of(er.evaluate(models, truth=truth.astype(int), positive="1", resamples=50))
    )
    assert shown is not None
    assert (len(shown.compared.rows), len(shown.every.columns)) == (7, 6)
    assert shown.every_note.endswith("The first six of 7 models; all are in results.json.")
