"""Penalised criteria come from training rows alone, by their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError
from tests.samples.metrics import ids

RNG = np.random.default_rng(5)

N = 120

X = RNG.normal(size=(N, 3))


def with_test_rows(columns: dict[str, list[object]]) -> dict[str, list[object]]:
    """Append the same rows as test rows: criteria must not read them."""
    rows = {name: [*values, *values] for name, values in columns.items()}
    n = len(columns["y_true"])
    return rows | {"id": [*ids(n), *(f"t{i}" for i in ids(n))], "part": ["train"] * n + ["test"] * n}


def logistic(predictors: int) -> tuple[dict[str, list[object]], Any]:
    """Fit a logistic regression on some predictors; return its training rows and the fit."""
    import statsmodels.api as sm

    truth = (RNG.random(N) < 1 / (1 + np.exp(-X[:, 0]))).astype(int) if predictors == 0 else TRUTH
    fit = sm.Logit(truth, sm.add_constant(X[:, :predictors])).fit(disp=0)
    p = fit.predict()
    rows = {
        "y_true": [str(t) for t in truth],
        "y_pred": [str(int(v >= 0.5)) for v in p],
        "p_1": p.tolist(),
        "n_parameters": [predictors + 1.0] * N,
        "vc_dimension": [predictors + 1.0] * N,
    }
    return with_test_rows(rows), fit


TRUTH = (RNG.random(N) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


def criteria(source: object, **options: object) -> dict[tuple[str, str], float | None]:
    """Return the criteria of a run by (model, metric)."""
    results = evalreport.evaluate(source, resamples=50, **options)
    names = ("aic", "bic", "mdl", "vc_bound")
    return {(row.model, row.metric): row.value for row in results.metrics if row.metric in names}


def test_logistic_regression_agrees_with_statsmodels() -> None:
    """AIC is statsmodels' by training example, BIC is statsmodels', MDL is half of BIC."""
    (one, fit_one), (three, fit_three) = logistic(1), logistic(3)
    found = criteria({"one": one, "three": three})
    for name, fit in (("one", fit_one), ("three", fit_three)):
        assert found[name, "aic"] == pytest.approx(fit.aic / N, rel=1e-9)
        assert found[name, "bic"] == pytest.approx(fit.bic, rel=1e-9)
        assert found[name, "mdl"] == pytest.approx(fit.bic / 2, rel=1e-9)


def test_vc_bound_by_hand() -> None:
    """The bound is the training error rate and the lecture's confidence term, with eta = 1 - confidence."""
    rows, _ = logistic(3)
    wrong = np.mean([a != b for a, b in zip(rows["y_true"][:N], rows["y_pred"][:N], strict=True)])
    term = math.sqrt((4 * (math.log(2 * N / 4) + 1) - math.log(0.05 / 4)) / N)
    assert criteria({"m": rows})["m", "vc_bound"] == pytest.approx(wrong + term, rel=1e-12)


def test_linear_regression_by_hand() -> None:
    """In regression the noise is that of the largest model's residuals, SSE / (N - d), for every model."""
    import statsmodels.api as sm

    target = X[:, 0] + RNG.normal(size=N)
    source, sse = {}, {}
    for predictors in (1, 3):
        fit = sm.OLS(target, sm.add_constant(X[:, :predictors])).fit()
        sse[predictors + 1] = fit.ssr
        rows = {"y_true": target.tolist(), "y_pred": fit.fittedvalues.tolist()}
        source[f"m{predictors + 1}"] = with_test_rows(rows | {"n_parameters": [predictors + 1.0] * N})
    noise = sse[4] / (N - 4)
    found = criteria(source)
    for d in (2, 4):
        assert found[f"m{d}", "aic"] == pytest.approx(sse[d] / N + 2 * d / N * noise, rel=1e-12)
        expected = N / noise * (sse[d] / N + math.log(N) * d / N * noise)
        assert found[f"m{d}", "bic"] == pytest.approx(expected, rel=1e-12)
        likelihood = -N / 2 * (math.log(2 * math.pi * sse[d] / N) + 1)
        assert found[f"m{d}", "mdl"] == pytest.approx(-likelihood + d / 2 * math.log(N), rel=1e-12)


def test_without_a_residual_the_noise_is_unknown() -> None:
    """A largest model that repeats its training targets leaves SSE / (N - d) = 0: AIC and BIC are null, MDL is not."""
    target = RNG.normal(size=N)
    rows = {"y_true": target.tolist(), "n_parameters": [1.0] * N}
    exact = with_test_rows(rows | {"y_pred": target.tolist(), "n_parameters": [5.0] * N})
    found = criteria({"mean": with_test_rows(rows | {"y_pred": [float(target.mean())] * N}), "exact": exact})
    assert found["mean", "aic"] is None
    assert found["mean", "bic"] is None
    likelihood = -N / 2 * (math.log(2 * math.pi * target.var()) + 1)
    assert found["mean", "mdl"] == pytest.approx(-likelihood + math.log(N) / 2, rel=1e-12)


def test_test_predictions_are_refused() -> None:
    """Without training rows a named criterion is null with its reason, and one not named does not appear."""
    source = {"m": {"id": ids(4), "y_true": list("1010"), "y_pred": list("1000"), "n_parameters": [2.0] * 4}}
    assert criteria(source) == {}
    results = evalreport.evaluate(source, metrics=["accuracy", "aic"], resamples=50)
    (row,) = (r for r in results.metrics if r.metric == "aic")
    assert row.value is None
    assert row.reason is not None
    assert "training" in row.reason


def test_a_criterion_cannot_be_the_primary_metric() -> None:
    """A verdict is about test predictions, so the first metric must be."""
    source = {"m": {"id": ids(4), "y_true": list("1010"), "y_pred": list("1000")}}
    with pytest.raises(UsageError, match="criterion of training rows"):
        evalreport.evaluate(source, metrics=["aic"])
