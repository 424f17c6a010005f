"""Metrics of sums by unit are those of the rows that were summed; weights, slices and suites as for every metric."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from tests.samples.cases import every

OF_ROWS = ("f1", "precision", "recall", "jaccard", "f0_5", "f2", "accuracy", "specificity")


def answers(seed: int) -> pd.DataFrame:
    """Rows of two models in documents of unlike sizes."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 12, 30)
    unit = np.repeat(np.arange(30), size)
    truth = rng.random(len(unit)) < 0.4
    frames = []
    for model, right in (("a", 0.8), ("b", 0.7)):
        said = np.where(rng.random(len(unit)) < right, truth, ~truth)
        frames.append(
            pd.DataFrame(
                {
                    "id": np.arange(len(unit)),
                    "model": model,
                    "unit": unit,
                    "y_true": truth.astype(int),
                    "y_pred": said.astype(int),
                    "source": np.where(unit % 3 == 0, "web", "news"),
                }
            )
        )
    return pd.concat(frames)


def summed(rows: pd.DataFrame) -> pd.DataFrame:
    """The same by document."""
    y, f = rows.y_true == 1, rows.y_pred == 1
    table = rows.assign(tp=y & f, fp=~y & f, fn=y & ~f, tn=~y & ~f)
    sums = table.groupby(["unit", "model", "source"])[["tp", "fp", "fn", "tn"]].sum().reset_index()
    return sums.rename(columns={"unit": "id"})


def values(results: er.Results, column: str | None = None) -> dict[tuple[Any, ...], float | None]:
    """Values."""
    return {
        (m.model, m.metric, None if m.slice is None else m.slice.value): m.value
        for m in results.metrics
        if m.metric in OF_ROWS and (m.slice is None or m.slice.column == column)
    }


@pytest.mark.parametrize("seed", every(3, range(3)))
def test_point_values_of_sums_are_those_of_rows_with_clusters(seed: int) -> None:
    """Point values of sums are those of rows with clusters."""
    rows = answers(seed)
    of_rows = er.evaluate(rows, cluster="unit", slices=["source"], metrics=list(OF_ROWS), resamples=20)
    of_sums = er.evaluate(summed(rows), slices=["source"], metrics=list(OF_ROWS), resamples=20)
    assert of_sums.n == 30
    found, expected = values(of_sums, "source"), values(of_rows, "source")
    assert set(found) == set(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-12), key


def test_bootstrap_replicates_draw_units() -> None:
    """The percentile interval of pooled F1 is that of numpy's own draws of documents, within their noise."""
    sums = summed(answers(7)).query("model == 'a'")
    results = er.evaluate(sums, metrics=["f1"], intervals=["bootstrap_percentile"], resamples=4000)
    found = next(i for i in results.metrics[0].intervals if i.method == "bootstrap_percentile")
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(sums), (4000, len(sums)))
    tp, fp, fn = (sums[name].to_numpy()[draws].sum(axis=1) for name in ("tp", "fp", "fn"))
    low, high = np.quantile(2 * tp / (2 * tp + fp + fn), [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_weights_count_a_unit_as_often_as_they_say() -> None:
    """Weights count a unit as often as they say."""
    sums = summed(answers(8)).query("model == 'a'").assign(w=lambda t: 1 + t["id"] % 3)
    results = er.evaluate(sums, weight="w", metrics=["precision"], resamples=20)
    expected = (sums.w * sums.tp).sum() / (sums.w * (sums.tp + sums.fp)).sum()
    record = results.metrics[0]
    assert record.value == pytest.approx(expected, rel=1e-12)
    assert record.intervals[0].method == "weighted_logit"


def test_macro_leaves_out_labels_without_a_denominator_and_says_which() -> None:
    """Macro leaves out labels without a denominator and says which."""
    rows = [("a", "X", 3, 1, 1), ("a", "Y", 0, 0, 0), ("b", "X", 2, 0, 1), ("b", "Y", 0, 0, 0)]
    table = pd.DataFrame(rows, columns=["id", "label", "tp", "fp", "fn"])
    results = er.evaluate(table, metrics=["f1_macro", "f1"], resamples=20)
    of_both = [m.value for m in results.metrics if m.average is not None]
    assert of_both == [pytest.approx(10 / 13), pytest.approx(10 / 13)]
    (said,) = [w for w in results.warnings if w.code == "labels_left_out"]
    assert "Y" in str(said.text)


def test_gates_ask_for_averages_and_for_labels() -> None:
    """Gates ask for averages and for labels."""
    rows = [(f"u{k}", label, 9, 1, 1) for k in range(40) for label in ("X", "Y")]
    table = pd.DataFrame(rows, columns=["id", "label", "tp", "fp", "fn"])
    gates = ["m.f1 >= 0.5", "m.f1_macro >= 0.5", "m.recall[class=X] >= 0.99"]
    results = er.evaluate({"m": table}, gates=gates, resamples=20)
    assert [gate.outcome for gate in results.gates] == ["pass", "pass", "fail"]


def test_models_with_test_sets_of_their_own_have_their_squares_added() -> None:
    """Models with test sets of their own have their squares added."""
    sums = summed(answers(9))
    a, b = (sums[sums.model == m].drop(columns="model") for m in ("a", "b"))
    b = b.assign(id=b["id"] + 1000)
    results = er.evaluate({"a": a, "b": b}, join="independent", metrics=["f1"], resamples=20)
    pair = next(c for c in results.comparisons if c.recommended)
    assert pair.interval_method == "square_and_add"


def test_a_suite_of_sums_is_the_mean_of_its_tasks() -> None:
    """A suite of sums is the mean of its tasks."""
    sums = summed(answers(10)).assign(task=lambda t: np.where(t["id"] < 15, "one", "two"))
    results = er.evaluate(sums, metrics=["recall"], resamples=20)
    own = sums[sums.model == "a"].groupby("task")[["tp", "fn"]].sum()
    value = next(m.value for m in results.metrics if m.model == "a" and m.slice is None)
    assert value == pytest.approx((own.tp / (own.tp + own.fn)).mean(), rel=1e-12)


def test_equal_totals_of_unlike_sums_are_no_same_answers() -> None:
    """Both have 9, 3 and 3 in all, in other images: the headline said that they give the same answers."""
    rows = {"image": ["i1", "i2", "i3"]}
    a = pd.DataFrame(rows | {"tp": [3, 5, 1], "fp": [1, 2, 0], "fn": [0, 1, 2]})
    b = pd.DataFrame(rows | {"tp": [2, 5, 2], "fp": [1, 2, 0], "fn": [1, 1, 1]})
    apart, same = (er.evaluate({"a": a, "b": other}, resamples=20).verdict for other in (b, a))
    assert apart.startswith("3 images do not show which of a and b is better on F1 (micro)")
    assert same.startswith("a and b have the same sums in all 3 images")


@pytest.mark.parametrize(
    ("column", "unit", "words"),
    every(
        3, [("document", "document", "documents"), ("image_id", "image", "images"), ("id", "unit", "units")]
    ),
)
def test_sentences_name_the_units(column: str, unit: str, words: str) -> None:
    """Slices, headline, cautions, estimand and the pages speak of what was drawn, and results.json does too."""
    sums = summed(answers(11)).rename(columns={"id": column})
    results = er.evaluate(sums, slices=["source"], resamples=20)
    records = json.dumps({name: part for name, part in results.to_dict().items() if name != "sentences"})
    assert results.unit == unit
    assert f"30 {words}" in results.to_markdown()
    for text in (records, results.to_markdown(), repr(results)):
        plain = text.replace("the positive examples that are found", "")  # what recall is
        assert words in plain
        places = [m.start() for m in re.finditer(r"(?<![._\w])[Ee]xamples?\b(?![-_])", plain)]
        assert [plain[max(at - 40, 0) : at + 40] for at in places] == []
    again = er.Results.from_json(results.to_json())
    assert again.to_json() == results.to_json()


def test_a_column_that_an_option_names_is_no_id() -> None:
    """Documents are the ids; patients are what --cluster names."""
    sums = summed(answers(12)).query("model == 'a'").drop(columns="model").rename(columns={"id": "doc"})
    table = sums.assign(patient=[f"p{k % 9}" for k in range(len(sums))]).reset_index(drop=True)
    assert er.evaluate({"a": table}, cluster="patient", resamples=20).unit == "doc"
    assert er.evaluate({"a": table}, resamples=20).unit == "unit"  # either could be it
