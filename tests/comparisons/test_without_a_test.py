"""Metrics that no test tests for equality: values, intervals where honest, but no p-value and no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.schema.results import Results
from tests.samples.cases import every
from tests.samples.pairs import ids, run, values

WITHOUT = ("ece", "mce", "max_accuracy", "precision_at_10", "max_error")


def forecasts(seed: int = 0, n: int = 200) -> dict[str, dict[str, Any]]:
    """Return two calibrated models: one that knows the odds, and one that gives everybody the prevalence."""
    random = np.random.default_rng(seed)
    p = random.beta(1, 1, n)
    truth = (random.random(n) < p).astype(int).astype(str).tolist()
    columns = {
        "id": ids(n),
        "y_true": truth,
        "part": ["test"] * n,
        "g": (np.arange(n) % 2).astype(str).tolist(),
    }
    return {"knows": {**columns, "p_1": p.tolist()}, "constant": {**columns, "p_1": [0.5] * n}}


def found(metric: str, **options: Any) -> Results:
    """Return a run on one of these metrics."""
    if metric == "max_error":
        random = np.random.default_rng(1)
        truth, a, b = random.normal(size=(3, 60))
        return run(values(truth, a=truth + a, b=truth + b), metrics=(metric,), **options)
    return run(forecasts(), metrics=(metric,), **options)


@pytest.mark.parametrize("tests", every(3, [(), ("bootstrap_difference",), ("all",)]))
@pytest.mark.parametrize("metric", WITHOUT)
def test_there_is_a_difference_but_no_p_value_and_no_verdict(metric: str, tests: tuple[str, ...]) -> None:
    """One row a pair without a test, even where one is named; the record and a warning say why."""
    results = found(metric, tests=tests)
    (row,) = (r for r in results.comparisons if r.metric == metric)
    assert (row.test, row.statistic, row.p_value, row.p_adjusted, row.recommended) == (None,) * 4 + (False,)
    first, second = (next(m.value for m in results.metrics if m.model == name) for name in (row.a, row.b))
    assert row.difference == pytest.approx(first - second, abs=1e-12)
    assert row.reason
    assert (results.verdicts, results.ranking) == ([], [])
    assert "no_test" in {w.code for w in results.warnings}
    assert "several_comparisons" not in {w.code for w in results.warnings}
    assert results.headline is not None
    assert (results.headline.code, results.headline.tone) == ("blocked", "undecided")


@pytest.mark.slow
def test_two_calibrated_models_are_never_better_on_ece() -> None:
    """Whichever is ahead by chance; a test of exchangeable models decided 11 of 120 such data sets."""
    for seed in range(10):
        assert run(forecasts(seed), metrics=("ece",), resamples=20).verdicts == []


def test_it_is_no_p_value_beside_another_primary_metric_either() -> None:
    """The log loss is decided, and ECE stands beside it without a p-value."""
    results = run(forecasts(), metrics=("log_loss", "ece"))
    assert len(results.verdicts) == 1
    assert {r.metric: r.p_value is None for r in results.comparisons if r.leads} == {
        "log_loss": False,
        "ece": True,
    }


def test_what_is_not_named_is_not_compared_there() -> None:
    """A run that names no metric compares only where there is a test, or an interval made for the difference."""
    assert {r.metric for r in run(forecasts()).comparisons if r.test is None}.isdisjoint(WITHOUT)


def test_a_gate_on_the_difference_is_undecided() -> None:
    """Without an interval no gate passes or fails."""
    results = run(forecasts(), metrics=("ece",), gates=("knows.ece - constant.ece <= 0.5",))
    assert [gate.outcome for gate in results.gates] == ["undecided"]
    assert results.gates[0].value is not None


@pytest.mark.slow
def test_the_report_shows_the_values(tmp_path: Path) -> None:
    """Page and summary are written, with slices too, and the page has no rank 1."""
    results = run(forecasts(), metrics=("ece",), slices=("g",))
    evalreport.render(results, tmp_path, formats=("html", "md", "json"))
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.splitlines()[1].startswith("**No verdict: ECE has no test")
    assert "| 1 |" not in summary


@pytest.mark.parametrize(
    "metric", every(3, ["average_precision", "pr_auc", "partial_auc", "eer", "recall_at_10", "r_precision"])
)
def test_rank_metrics_are_decided_by_their_intervals(metric: str) -> None:
    """One p-value and one interval that agree; the bootstrap's share of replicates stands beside."""
    leading, beside = (r for r in run(forecasts(), metrics=(metric,)).comparisons if r.test is not None)
    assert (leading.test, leading.recommended, beside.test) == ("interval", True, "bootstrap_difference")
    assert leading.p_value is not None
    assert (leading.p_value <= 0.05) == (leading.low > 0 or leading.high < 0)
