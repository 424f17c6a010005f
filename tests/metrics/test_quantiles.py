"""Scores of prediction intervals and quantiles (METHODS 7F) and of prediction sets, against independent values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_pinball_loss

import evalreport as er
from evalreport.errors import InputError, UsageError
from tests.reference.third_round import each


def of_quantiles(case: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The reference's quantiles, a model a frame."""
    given = case["input"]
    names = [f"q_{tau}" for tau in given["taus"]]
    return {
        model: pd.DataFrame(own, columns=names).assign(y_true=given["y"], id=range(len(given["y"])))
        for model, own in given["q"].items()
    }


def values_of(results: er.Results, model: str) -> dict[str, float | None]:
    """Each metric's value over all examples."""
    return {
        m.metric: m.value for m in results.metrics if m.model == model and m.slice is None and m.label is None
    }


@each("quantiles")
def test_scores_of_quantiles_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Five quantiles of two models: coverage, width, interval score, pinball losses, weighted interval score."""
    results = er.evaluate(of_quantiles(case), resamples=20)
    assert (results.task, results.primary_metric) == ("intervals", "wis")
    for model, expected in case["expected"].items():
        found = values_of(results, model)
        assert found["coverage[level=0.9]"] == pytest.approx(expected["coverage90"], abs=1e-8)
        assert found["interval_width[level=0.9]"] == pytest.approx(expected["width90"], abs=1e-8)
        assert found["interval_score[level=0.9]"] == pytest.approx(expected["interval_score90"], abs=1e-8)
        assert found["wis"] == pytest.approx(expected["wis"], abs=1e-8)
        for tau, loss in expected["pinball"].items():
            assert found[f"pinball[q={float(tau):g}]"] == pytest.approx(loss, abs=1e-8)


@each("quantiles")
def test_pinball_losses_are_those_of_scikit_learn(case: Mapping[str, Any]) -> None:
    """And their mean is the mean over quantiles."""
    frames = of_quantiles(case)
    results = er.evaluate(frames, metrics=["mean_pinball", "pinball[q=0.25]"], resamples=20)
    y = case["input"]["y"]
    for model, frame in frames.items():
        each_of = [mean_pinball_loss(y, frame[f"q_{tau}"], alpha=tau) for tau in case["input"]["taus"]]
        found = values_of(results, model)
        assert found["mean_pinball"] == pytest.approx(np.mean(each_of), rel=1e-12)
        assert found["pinball[q=0.25]"] == pytest.approx(each_of[1], rel=1e-12)


def forecasts(n: int = 80, seed: int = 3) -> pd.DataFrame:
    """Intervals at 50 and 90 % of two models, a site, and a time."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 3, n)
    rows = []
    for model, spread in (("a", 1.0), ("b", 1.6)):
        own = centre + rng.normal(0, 0.3, n)
        rows.append(
            pd.DataFrame(
                {
                    "id": [f"e{k:03d}" for k in range(n)],
                    "model": model,
                    "y_true": centre + np.random.default_rng(seed + 1).normal(0, 1, n),
                    "y_low@90": own - 1.645 * spread,
                    "y_high@90": own + 1.645 * spread,
                    "y_low@50": own - 0.674 * spread,
                    "y_high@50": own + 0.674 * spread,
                    "site": np.where(np.arange(n) % 2, "x", "y"),
                    "time": np.arange(n),
                }
            )
        )
    return pd.concat(rows)


def test_intervals_without_a_median_are_weighted_over_their_number() -> None:
    """The sum of (1 - level)/2 IS / K, METHODS 7F, by numpy."""
    table = forecasts()
    results = er.evaluate(table, metrics=["wis"], resamples=20)
    own = table[table.model == "a"]
    total = 0.0
    for level in (50, 90):
        low, high, y = own[f"y_low@{level}"], own[f"y_high@{level}"], own.y_true
        alpha = 1 - level / 100
        score = (high - low) + 2 / alpha * ((low - y) * (y < low) + (y - high) * (y > high))
        total = total + alpha / 2 * score
    assert values_of(results, "a")["wis"] == pytest.approx((total / 2).mean(), rel=1e-12)
    assert any(record.what == "weighted interval score" for record in results.found)


def test_coverage_is_a_share_and_scores_are_losses() -> None:
    """Wilson's limits and McNemar with plus_two; hall_df and t_or_hall; gates on shares by Clopper and Pearson."""
    results = er.evaluate(
        forecasts(),
        metrics=["interval_score[level=0.9]", "coverage[level=0.9]"],
        gates=["a.coverage[level=0.9] >= 0.5", "a.interval_score[level=0.9] <= 1000"],
        slices=["site"],
        resamples=20,
    )
    first = {m.metric: m.intervals[0].method for m in results.metrics if m.model == "a" and m.slice is None}
    assert first == {"coverage[level=0.9]": "wilson", "interval_score[level=0.9]": "hall_df"}
    rows = {c.metric: (c.test, c.interval_method) for c in results.comparisons if c.recommended}
    assert rows == {
        "coverage[level=0.9]": ("mcnemar_midp", "plus_two"),
        "interval_score[level=0.9]": ("paired_t", "t_or_hall"),
    }
    assert [g.outcome for g in results.gates] == ["pass", "pass"]
    assert {m.slice.value for m in results.metrics if m.slice is not None} == {"x", "y"}


def test_one_level_is_scored_by_its_interval_score() -> None:
    """Of one level the weighted interval score says no more."""
    table = forecasts()[["id", "model", "y_true", "y_low@90", "y_high@90"]]
    plain = table.rename(columns={"y_low@90": "y_low", "y_high@90": "y_high"})
    results = er.evaluate(plain, level=0.9, resamples=20)
    assert results.primary_metric == "interval_score[level=0.9]"
    assert "wis" not in values_of(results, "a")
    same = er.evaluate(table, resamples=20)
    assert values_of(same, "a") == values_of(results, "a")


def test_limits_without_a_level_are_refused_with_the_option(tmp_path: Path) -> None:
    """Exit code 2, which names --level; --task regression leaves the columns out."""
    path = tmp_path / "m.csv"
    path.write_text("id,y_true,y_pred,y_low,y_high\na,1.5,1,0,2\nb,2.5,1,0,2\n")
    with pytest.raises(InputError, match=r"line 1, column 'y_low'.*--level 0\.9"):
        er.load(path)
    assert er.load(path, task="regression").task == "regression"


@pytest.mark.parametrize("columns", ["q_0.05,q_0.5,q_0.95", "y_low@90,y_low@20,y_high@20"])
def test_crossing_quantiles_are_refused_with_line_and_id_or_sorted(tmp_path: Path, columns: str) -> None:
    """Also limits of a wider level inside those of a narrower one."""
    path = tmp_path / "m.csv"
    if columns.startswith("q"):
        path.write_text(f"id,y_true,{columns}\na,1,0,1,2\nb,1,0,3,2\n")
    else:
        path.write_text(f"id,y_true,{columns},y_high@90\na,1,0,1,2,3\nb,1,0,3,2,4\n")
    with pytest.raises(InputError, match=r"line 3.*'b'.*--sort-quantiles"):
        er.load(path)
    found = er.load(path, sort_quantiles=True)
    assert [w.code for w in found.warnings if w.code == "quantiles_sorted"]
    ordered = sorted(float(values[1]) for values in found.models[0].numbers.values())
    assert ordered[1:3] == [2.0, 2.0] or ordered[1:3] == [2.0, 3.0]


def test_one_limit_alone_and_limits_beside_quantiles_are_refused(tmp_path: Path) -> None:
    """Each with the column that is missing or too much."""
    path = tmp_path / "m.csv"
    path.write_text("id,y_true,y_low@90\na,1,0\n")
    with pytest.raises(InputError, match="y_high@90"):
        er.load(path)
    path.write_text("id,y_true,y_low@90,y_high@90,q_0.5\na,1,0,2,1\n")
    with pytest.raises(InputError, match=r"q_0\.5"):
        er.load(path)


def test_a_level_that_is_not_given_is_said(tmp_path: Path) -> None:
    """The value is undefined with its reason; a level outside (0, 1) is no metric."""
    results = er.evaluate(forecasts(), metrics=["coverage[level=0.8]"], resamples=20)
    assert results.metrics[0].value is None
    assert "0.8" in str(results.metrics[0].reason)
    with pytest.raises(UsageError):
        er.evaluate(forecasts(), metrics=["coverage[level=90]"])


# --- prediction sets --------------------------------------------------------------------------------------------------


def sets() -> pd.DataFrame:
    """Sets of two models over three classes; one is empty."""
    truth = list("abcabcabca")
    small = ["a", "b", "c", "a", "c", "c", "a", "{}", "c", "a"]
    large = ["a|b", "b|a", "c", "a|c", "b|c", "c|a", "a|b|c", "b", "a|b", "a"]
    frames = [
        pd.DataFrame({"id": range(10), "model": m, "y_true": truth, "y_set": s})
        for m, s in (("small", small), ("large", large))
    ]
    return pd.concat(frames)


def test_sets_have_coverage_size_and_coverage_by_class_and_no_verdict() -> None:
    """By hand: small holds 8 of 10, 0.9 labels on average; large 9 of 10."""
    results = er.evaluate(sets(), resamples=20)
    assert (results.task, results.primary_metric) == ("sets", None)
    assert not results.verdicts
    assert values_of(results, "small") == {"coverage": 0.8, "set_size": 0.9}
    assert values_of(results, "large") == {"coverage": 0.9, "set_size": 1.8}
    by_class = {
        m.label: m.value for m in results.metrics if m.model == "small" and m.metric == "coverage" and m.label
    }
    assert by_class == {"a": 1.0, "b": pytest.approx(1 / 3), "c": 1.0}


def test_a_named_metric_of_sets_has_a_verdict() -> None:
    """McNemar's on which model's set holds the class."""
    results = er.evaluate(sets(), metrics=["coverage"], resamples=20)
    assert results.primary_metric == "coverage"
    assert [v.verdict for v in results.verdicts] == ["undecided"]


def test_an_empty_cell_is_a_missing_set_and_a_label_twice_is_refused(tmp_path: Path) -> None:
    """An empty set is {}."""
    path = tmp_path / "m.csv"
    path.write_text("id,y_true,y_set\n1,a,a\n2,b,\n")
    with pytest.raises(InputError, match="line 3"):
        er.load(path)
    path.write_text("id,y_true,y_set\n1,a,a\n2,b,b|b\n")
    with pytest.raises(InputError, match=r"line 3, column 'y_set'.*is no prediction set"):
        er.load(path)


@pytest.mark.parametrize("written", ['["a", "c"]', "['a', 'c']"])
def test_a_set_that_is_written_as_a_list_holds_its_labels(written: str) -> None:
    """As json.dumps and str write it: its labels are those of the truth, and no label is a whole list."""
    truth = ["a", "b", "c"] * 4
    table = pd.DataFrame({"id": range(12), "y_true": truth, "y_set": [written, "b", "[]"] * 4})
    results = er.evaluate({"m": table}, metrics=["coverage"], resamples=20)
    assert results.classes == ["a", "b", "c"]
    assert results.metrics[0].value == pytest.approx(8 / 12)
