"""How many examples turned round undo a verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import evalreport as er
from evalreport.questions.fragility import section
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def midp(b: int, c: int) -> float:
    """Return McNemar's mid-p by scipy."""
    k, n = min(b, c), b + c
    return 1.0 if b == c else float(2 * binom.cdf(k, n, 0.5) - binom.pmf(k, n, 0.5))


def judged(both: int, only_a: int, only_b: int, neither: int, **options: object) -> Results:
    """Return a run on right and wrong answers with these counts."""
    a = [1] * (both + only_a) + [0] * (only_b + neither)
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    truth = [1] * len(a)
    truth[-1] = 0
    a[-1], b[-1] = 1 - a[-1], 1 - b[-1]
    models = {"a": {"y_pred": a}, "b": {"y_pred": b}}
    return er.evaluate(models, truth=truth, positive="1", metrics="accuracy", resamples=50, **options)


@pytest.mark.parametrize("counts", [(60, 30, 8, 2), (60, 8, 30, 2), (60, 12, 1, 5), (100, 6, 0, 3)])
def test_mcnemar_s_number_is_the_least_by_enumeration(counts: tuple[int, int, int, int]) -> None:
    """Each turned example takes one from the winner's side and gives it to the other: scipy's mid-p, one by one."""
    (record,) = judged(*counts).fragility
    more, fewer = max(counts[1:3]), min(counts[1:3])
    least = next(k for k in range(1, more) if midp(more - k, fewer + k) > 0.05)
    assert (record.turned, record.of, record.method, record.metric) == (
        least,
        sum(counts),
        "exact",
        "accuracy",
    )
    assert {record.a, record.b} == {"a", "b"}


def test_nothing_is_fragile_where_nothing_is_decided() -> None:
    """Ten against eight discordant examples decide nothing."""
    results = judged(60, 10, 8, 2)
    assert results.fragility == []
    assert section.describe(view_of(results)) is None


def test_the_number_is_that_of_the_family_after_holm() -> None:
    """Three models: the pair that Holm tests at a third of 5 % is undone by fewer than alone."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    models = {
        name: {"y_pred": np.where(rng.random(400) < right, truth, 1 - truth)}
        for name, right in (("a", 0.9), ("b", 0.8), ("c", 0.7))
    }
    three = er.evaluate(models, truth=truth, positive="1", metrics="accuracy", resamples=50)
    two = er.evaluate(
        {k: models[k] for k in ("a", "c")}, truth=truth, positive="1", metrics="accuracy", resamples=50
    )
    of_three = next(r.turned for r in three.fragility if {r.a, r.b} == {"a", "c"})
    assert of_three <= two.fragility[0].turned


def test_a_greedy_number_undoes_the_verdict_and_one_less_does_not() -> None:
    """RMSE: the answers to the examples of the largest influence exchanged by hand and evaluated anew."""
    rng = np.random.default_rng(4)
    truth = rng.normal(size=120)
    values = {"good": truth + 0.5 * rng.normal(size=120), "poor": truth + 0.9 * rng.normal(size=120)}

    def run(first: np.ndarray, second: np.ndarray) -> Results:
        models = {"good": {"y_pred": first}, "poor": {"y_pred": second}}
        return er.evaluate(models, truth=truth, task="regression", metrics="rmse", resamples=50)

    results = run(values["good"], values["poor"])
    (record,) = results.fragility
    assert record.method == "greedy"
    error = {name: (own - truth) ** 2 for name, own in values.items()}
    root = {name: np.sqrt(own.mean()) for name, own in error.items()}
    gain = error["poor"] / root["poor"] - error["good"] / root["good"]
    order = np.argsort(-gain, kind="stable")

    def verdict(turned: int) -> str:
        first, second = values["good"].copy(), values["poor"].copy()
        rows = order[:turned]
        first[rows], second[rows] = second[rows], first[rows]
        return run(first, second).verdicts[0].verdict

    assert verdict(record.turned) == "undecided"
    assert verdict(record.turned - 1) in ("better", "worse")
    shown = section.describe(view_of(results))
    assert shown is not None
    assert shown.tables[0].rows[0].cells[0].value == str(record.turned)


def test_a_ranking_has_a_number_too() -> None:
    """ROC AUC is decided by its interval: the number is greedy, and of all examples."""
    rng = np.random.default_rng(6)
    truth = np.arange(300) % 2
    models = {name: {"score": by * truth + rng.normal(size=300)} for name, by in (("a", 2.0), ("b", 0.6))}
    (record,) = er.evaluate(models, truth=truth, positive="1", metrics="roc_auc", resamples=50).fragility
    assert (record.method, record.of) == ("greedy", 300)
    assert 1 <= record.turned <= 150


def test_a_design_without_single_examples_says_so() -> None:
    """Five data sets a model are decided by a test over data sets: no example can be turned round."""
    rng = np.random.default_rng(1)
    rows = [
        {"dataset": f"d{k}", "model": model, "value": 0.8 + 0.1 * (model == "a") + 0.01 * rng.random()}
        for k in range(12)
        for model in ("a", "b")
    ]
    import pandas as pd

    results = er.evaluate(pd.DataFrame(rows), value="value", resamples=50)
    assert [(r.turned, r.method, r.reason is not None) for r in results.fragility] == [(None, None, True)]


def test_metrics_of_labels_are_undone_by_the_kinds_of_answers() -> None:
    """F1 of 400 examples: exchanged by hand, the verdict is open at that number and not at one less."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    first, second = (np.where(rng.random(400) < right, truth, 1 - truth) for right in (0.9, 0.78))

    def run(a: np.ndarray, b: np.ndarray) -> Results:
        models = {"a": {"y_pred": a}, "b": {"y_pred": b}}
        return er.evaluate(models, truth=truth, positive="1", metrics="f1", resamples=50)

    (record,) = run(first, second).fragility
    assert record.method == "greedy"
    # Where only a is right turning round a positive moves F1 most: these come first.
    order = np.concatenate(
        [np.flatnonzero((truth == k) & (first == truth) & (second != truth)) for k in (1, 0)]
    )

    def verdict(turned: int) -> str:
        a, b, rows = first.copy(), second.copy(), order[:turned]
        a[rows], b[rows] = b[rows], a[rows]
        return run(a, b).verdicts[0].verdict

    assert verdict(record.turned) == "undecided"
    assert verdict(record.turned - 1) in ("better", "worse")
