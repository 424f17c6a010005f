"""A run warns where the study measured its intervals to be short, with what was measured, and nowhere else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.analysis import evaluate
from evalreport.intervals.proportions import wilson_limits
from evalreport.intervals.shortfalls import Shortfall, shortfall_of, shortfalls
from evalreport.options import Options
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.warnings.coverage import largest_losses
from research.studies.designs import Design
from research.studies.populations import every_design
from research.studies.rows import Row, read
from research.studies.shortfalls import ANY, size_of
from research.studies.tally import LEADING
from tests.samples.cases import every

DOCS = Path(__file__).resolve().parents[2] / "docs"
CODES = {"value": "short_interval", "difference": "short_difference_interval"}


def given(results: Results, code: str) -> list[WarningRecord]:
    """Return the warnings of one code."""
    return [w for w in results.warnings if w.code == code]


@cache
def study() -> tuple[list[Row], dict[str, Design]]:
    """Read the study's rows, and what draws its designs, once."""
    return [row for row in read(DOCS / "coverage.csv") if row.method == LEADING], {
        d.name: d for d in every_design()
    }


def worst_cell(one: Shortfall) -> Row:
    """Return the cell of the study in which a situation was measured at its worst."""
    (row,) = [
        row for row in study()[0]
        if row.sets and row.coverage == one.lowest and size_of(row) <= one.most
        and (row.kind, row.metric, row.leader) == (one.kind, one.metric, one.method)
        and (row.rarest > 0) == (one.by == "rarest")
    ][:1]  # fmt: skip
    return row


SITUATIONS = [one for one in shortfalls().values() if one.by in ("n", "rarest") and one.metric != ANY]


@pytest.mark.parametrize("one", SITUATIONS, ids=lambda one: f"{one.kind} {one.metric} {one.method} {one.by}")
def test_a_test_set_of_the_worst_cell_is_warned_of(one: Shortfall) -> None:
    """A test set as the study drew it where a situation was worst carries the warning, with the measured share."""
    cell = worst_cell(one)
    design = study()[1][cell.design]
    rarest = None
    for seed in range(20):
        predictions, _ = design.draw(np.random.default_rng([7, seed]), cell.size)
        if predictions.classes and predictions.y_true is not None:
            counts = np.bincount(predictions.y_true, minlength=len(predictions.classes))
            rarest = int(counts[counts > 0].min())
            if counts.min() == 0 or rarest > one.most:
                continue
        results = evaluate(predictions, options=Options(metrics=(cell.metric,), resamples=1000))
        rows = [m for m in results.metrics if m.slice is None and m.label is None and m.model == cell.model]
        leads = {row.intervals[0].method for row in rows if row.intervals}
        if one.kind == "difference" or one.method in leads:
            break
    if one.method == "ppi":
        assert any("covered" in warning.text for warning in given(results, "few_gold"))
        return
    (warning,) = given(results, CODES[one.kind])
    assert warning.about == (cell.metric,)
    assert f" in {100 * one.lowest:.0f}" in warning.text
    assert str(cell.size if rarest is None else rarest) in warning.text


def test_each_situation_ends() -> None:
    """One example more than a situation reaches to, and nothing is said."""
    for one in SITUATIONS:
        for more in (0, 1):
            size = one.most + more
            n, rarest = (size, None) if one.by == "n" else (10 * size, size)
            found = shortfall_of(one.kind, one.metric, one.method, n=n, rarest=rarest)
            assert (found == one) == (more == 0) or (found is not None and found.metric == ANY)


@pytest.mark.parametrize(
    "n, metric, warned",
    every(
        2,
        [
            (60, "rae", True),
            (60, "f1", False),
            (60, "pr_auc", False),
            (60, "accuracy", False),
            (2000, "rae", False),
        ],
    ),
)
def test_few_examples_and_an_interval_by_bca(n: int, metric: str, warned: bool) -> None:
    """Few examples and a BCa interval of the primary metric's differences give the warning, nothing else does."""
    random = np.random.default_rng(3)
    truth: np.ndarray = random.normal(size=n) if metric == "rae" else (random.random(n) < 0.5).astype(int)
    source: dict[str, dict[str, np.ndarray]] = {
        name: {"y_pred": truth + random.normal(size=n)} for name in ("a", "b")
    }
    if metric != "rae":
        for model in source.values():
            model["y_pred"] = np.where(random.random(n) < 0.8, truth, 1 - truth)
            model["score"] = random.random(n) + truth
    results = evalreport.evaluate(source, truth=truth, metrics=[metric], resamples=1000)
    assert bool(given(results, "short_difference_interval")) == warned


def regression(errors: dict[str, np.ndarray], **options: object) -> Results:
    """Evaluate models with these errors."""
    n = len(next(iter(errors.values())))
    truth = np.random.default_rng(1).normal(size=n)
    return evalreport.evaluate(
        {name: {"y_pred": truth + e} for name, e in errors.items()}, truth=truth, resamples=1000, **options
    )


def test_few_large_errors_are_named() -> None:
    """One error of 40 among 399 of size 1: the warning has the model, the example, its share and the way out."""
    usual = np.where(np.arange(400) % 2 == 0, 1.0, -1.0)
    wild = usual.copy()
    wild[123] = 40.0
    (warning,) = given(
        regression({"usual": usual, "wild": wild}, metrics=["rmse", "mae"]), "few_large_losses"
    )
    assert warning.about == ("wild", "rmse")
    assert "The largest of the 400 squared errors of wild (id 123) makes up 80 %" in warning.text
    assert str(warning.text).endswith("MAE depends less on them.")


@pytest.mark.parametrize(("n", "share", "alone", "much"), [
    (1000, 0.10, True, False),
    (1000, 0.12, True, True),
    (1000, 0.19, False, False),
    (1000, 0.22, False, True),
    (30, 0.35, True, False),
    (30, 0.45, True, True),
])  # fmt: skip
def test_how_much_is_much(n: int, share: float, alone: bool, much: bool) -> None:
    """0.1 + 9/n of the sum in one loss, 0.2 + 9/n in the largest sqrt(n)/3 of them; the share said is the true one."""
    few = 1 if alone else int(np.ceil(np.sqrt(n) / 3))
    losses = np.full(n, (1 - share) / (n - few))
    losses[:few] = share / few
    found = largest_losses(losses, n)
    assert found is not None
    examples, carried, is_much = found
    assert is_much == much
    assert carried == pytest.approx(losses[examples].sum() / losses.sum())
    if much:
        assert set(examples) <= set(range(few))
    of_probabilities = largest_losses(losses, n, of_probabilities=True)
    assert of_probabilities is not None
    assert not of_probabilities[2]


def test_one_probability_may_be_too_much() -> None:
    """Of losses of probabilities, most of them nearly 0, half of the sum in one is much, and less is not."""
    for largest, much in ((90.0, False), (110.0, True)):
        found = largest_losses(np.array([largest, *[1.0] * 100]), 101, of_probabilities=True)
        assert found is not None
        assert found[2] == much


def test_no_losses_no_shares() -> None:
    """Where every loss is 0 there is no largest one; where one is infinite there is no share."""
    assert largest_losses(np.zeros(50), 50) is None
    assert largest_losses(np.array([1.0, np.inf]), 2) is None


def test_normal_errors_are_not_warned_of() -> None:
    """Of 40 test sets of 200 normal errors at most a tenth is warned of; of t3 errors at least nine tenths are."""
    random, warned = np.random.default_rng(11), {"normal": 0, "t3": 0}
    for _ in range(40):
        for name, errors in (("normal", random.normal(size=200)), ("t3", random.standard_t(3, size=200))):
            found = largest_losses(errors**2, 200)
            warned[name] += found is not None and found[2]
    assert warned["normal"] <= 4
    assert warned["t3"] >= 36


def test_one_loss_is_judged_by_what_the_losses_are_of() -> None:
    """A share of 0.3 in one of 400 losses is much of squared errors and not of log losses, which allow one half."""
    others = 0.1  # Every other loss; the largest is x with x / (x + 399 * 0.1) = 0.3.
    largest = 0.3 / 0.7 * 399 * others
    losses = np.array([largest, *[others] * 399])
    squared = regression({"m": np.sqrt(losses)}, metrics=["mse"])
    (warning,) = given(squared, "few_large_losses")
    assert "makes up 30 %" in warning.text
    truth = np.arange(400) % 2
    of_true = np.exp(-losses)
    models = {"m": {"p_1": np.where(truth == 1, of_true, 1 - of_true)}}
    assert not given(
        evalreport.evaluate(models, truth=truth, metrics=["log_loss"], resamples=100), "few_large_losses"
    )


@pytest.mark.parametrize(("failures", "n", "said"), [(0, 100, False), (1, 100, True), (4, 100, True), (5, 100, False),
                                                     (1, 15, False), (96, 100, True)])  # fmt: skip
def test_a_share_near_an_end_says_how_wilson_s_interval_jumps(failures: int, n: int, said: bool) -> None:
    """One to four failures, or successes, a twentieth at the most: a remark, which limits no verdict."""
    results = evaluate(
        {"a": {"outcome": [0.0] * failures + [1.0] * (n - failures)}}, options=Options(resamples=2)
    )
    remarks = [w for w in given(results, "short_interval") if w.level == "info"]
    assert bool(remarks) == said
    assert all("84 % at worst" in str(w.text) for w in remarks)


def test_the_rates_near_an_end_are_those_of_an_enumeration() -> None:
    """Wilson at n = 100: 92.1 % where one failure is expected, 83.8 % at worst, by the binomial chances of scipy."""
    n, k = 100, np.arange(101)
    low, high = np.array([wilson_limits(float(x), n, 0.95) for x in k]).T
    expected = np.linspace(0.02, 5, 500)
    held = [stats.binom.pmf(k, n, m / n)[(low <= m / n) & (m / n <= high)].sum() for m in (*expected, 1.0)]
    assert (round(100 * held[-1]), round(100 * min(held))) == (92, 84)
