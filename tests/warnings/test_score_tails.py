"""A run says that scores have heavy tails where intervals of areas were measured to be short of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import special

import evalreport
from evalreport.intervals.shortfalls import shortfalls
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.warnings.score_tails import HEAVY, tail_weight
from tests.samples.cases import every

CODES = ("short_interval", "short_difference_interval")


def drawn(degrees: float, *, n: int = 1000, seed: int = 1, shift: float = 4.0) -> tuple[Any, list[Any]]:
    """Draw the truth, 40 % positive, and two models' scores by Student's t; infinite degrees: normal ones."""
    random = np.random.default_rng(seed)
    truth = (random.random(n) < 0.4).astype(int)
    scores = [
        random.normal(size=n) if np.isinf(degrees) else random.standard_t(degrees, size=n) for _ in "ab"
    ]
    return truth, [score + shift * truth for score in scores]


def run(
    truth: Any,
    scores: Sequence[Any],
    metrics: Sequence[str] = ("average_precision", "pr_auc"),
    **options: Any,
) -> Results:
    """Evaluate models by these scores, named a and b."""
    source: Mapping[str, Any] = {name: {"score": score} for name, score in zip("ab", scores, strict=False)}
    return evalreport.evaluate(source, truth=truth, metrics=list(metrics), resamples=2, **options)


def of_tails(results: Results) -> list[WarningRecord]:
    """Return the warnings of heavy tails."""
    return [w for w in results.warnings if w.code in CODES and "heavier tails" in str(w.text)]


def test_heavy_tails_are_said_with_what_was_measured() -> None:
    """Student's t with 4 degrees of freedom: a value's warning, and one of differences, with the study's figures."""
    warnings = of_tails(run(*drawn(4)))
    assert [w.code for w in warnings] == list(CODES)
    for kind, warning in zip(("value", "difference"), warnings, strict=True):
        assert warning.about == ("average_precision", "pr_auc")
        assert "the scores of a and b have heavier tails" in str(warning.text)
        assert "the error of average precision and PR AUC (trapezoid). In" in str(warning.text)
        for metric, name in (("average_precision", "average precision"), ("pr_auc", "PR AUC (trapezoid)")):
            method = {"value": "logit", "difference": "mover"}[kind]
            method = f"{'ap' if metric == 'average_precision' else metric}_{method}"
            row = shortfalls()[kind, metric, method, "tails"]
            span = f"{name} in {100 * row.lowest:.0f} to {100 * row.highest:.0f} % of samples"
            assert span in str(warning.text)


def test_only_models_with_such_scores_are_named() -> None:
    """One model's scores are normal, the other's are not: the difference rests on both."""
    truth, (heavy, _) = drawn(4)
    normal = drawn(np.inf, shift=2.3)[1][0]
    values, differences = of_tails(run(truth, [normal, heavy]))
    assert "the scores of b have" in str(values.text)
    assert "the scores of b have" in str(differences.text)


def test_of_many_models_the_first_are_named() -> None:
    """Eight copies of a model with heavy tails: five names, and how many more there are."""
    truth, (score, _) = drawn(4)
    source = {f"m{i}": {"score": score} for i in range(8)}
    results = evalreport.evaluate(source, truth=truth, metrics=["average_precision"], resamples=2)
    assert "the scores of m0, m1, m2, m3, m4 and 3 more have heavier tails" in str(of_tails(results)[0].text)


@pytest.mark.parametrize("seed", every(3, range(5)))
def test_normal_scores_are_not_warned_of(seed: int) -> None:
    """Neither as they are nor as probabilities."""
    truth, scores = drawn(np.inf, seed=seed, shift=2.3)
    assert not of_tails(run(truth, scores))
    assert not of_tails(run(truth, [special.expit(score) for score in scores]))


def test_probabilities_are_taken_on_the_logit_scale() -> None:
    """The same ranking as logits and as probabilities has the same tails; the first carries on beyond 0 and 1."""
    truth, (score, _) = drawn(4)
    positive = truth == 1
    assert tail_weight(special.expit(score), positive) == pytest.approx(
        tail_weight(score, positive), rel=1e-9
    )
    assert len(of_tails(run(truth, [special.expit(score)]))) == 1


def test_certain_and_right_is_no_heavy_tail() -> None:
    """Negatives with p = 0 and positives with p = 1 lie far from the other class."""
    truth, (score, _) = drawn(np.inf, shift=2.3)
    p = special.expit(score)
    p[np.flatnonzero(truth == 0)[:20]] = 0.0
    p[np.flatnonzero(truth == 1)[:20]] = 1.0
    assert tail_weight(p, truth == 1) < HEAVY
    assert not of_tails(run(truth, [p]))


@pytest.mark.parametrize(
    "case",
    every(3, ["low area", "few of a class", "many examples", "shared scores", "weights", "another metric"]),
)
def test_where_nothing_is_short_nothing_is_said(case: str) -> None:
    """Areas of at most 0.65; nine positives; 200,000 examples whose error many carry; and intervals of another kind."""
    options: dict[str, Any] = {}
    truth, (score, _) = drawn(4, n=200_000, shift=2.5) if case == "many examples" else drawn(4)
    if case == "low area":
        score = score - 3.6 * truth
    if case == "few of a class":
        rows = np.r_[np.flatnonzero(truth == 1)[:9], np.flatnonzero(truth == 0)]
        truth, score = truth[rows], score[rows]
    if case == "shared scores":
        score = np.round(score.clip(-3, 7))
    source: dict[str, Any] = {"a": {"score": score}}
    if case == "weights":
        source["a"]["w"] = np.random.default_rng(2).uniform(1, 2, len(truth))
        options = {"weight": "w"}
    metrics = ["roc_auc"] if case == "another metric" else ["average_precision"]
    assert not of_tails(evalreport.evaluate(source, truth=truth, metrics=metrics, resamples=2, **options))


def test_verdicts_rest_on_what_the_sentence_names() -> None:
    """Average precision has no exact test: its pair is decided by the interval that the warning speaks of."""
    results = run(*drawn(4))
    (leading,) = [row for row in results.comparisons if row.recommended and row.metric == "average_precision"]
    assert leading.test == "interval"
    assert "one of two equal models was called better" in str(of_tails(results)[1].text)


@pytest.mark.parametrize(("metric", "note"), [
    ("mse", "Verdicts rest on the test, not on these intervals."),
    ("rae", "Verdicts on RAE rest on these intervals."),
])  # fmt: skip
def test_a_short_difference_says_what_verdicts_rest_on(metric: str, note: str) -> None:
    """MSE has the paired t test; the relative absolute error has none, so its verdict is its interval's."""
    random = np.random.default_rng(3)
    truth = random.normal(size=40)
    source = {name: {"y_pred": truth + random.normal(size=40)} for name in "ab"}
    results = evalreport.evaluate(source, truth=truth, metrics=[metric], resamples=1000)
    (warning,) = [w for w in results.warnings if w.code == "short_difference_interval"]
    (leading,) = [row for row in results.comparisons if row.recommended and row.metric == metric]
    assert (leading.test == "interval") == ("on these" in note and "not on" not in note)
    assert str(warning.text).endswith(note)
