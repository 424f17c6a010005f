"""A metric that is another one on another scale is treated as that one is: Gini = 2 AUC - 1, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.metrics.registry import METRICS, affine, affine_map
from evalreport.schema.results import Results
from tests.samples.cases import quick

ROUNDING = 1e-9


@pytest.fixture
def on_another_scale() -> Iterator[Callable[..., str]]:
    """Register metrics that are others on another scale, and take them out again."""
    added: list[str] = []

    def register(function: Callable[[Any], Any], of: str, label: str) -> str:
        affine(label, f"of {of}", of=of)(function)
        added.append(function.__name__)
        return function.__name__

    yield register
    for name in added:
        METRICS.remove(name)


def twice_auc(auc: Any) -> Any:
    """Twice the area under the ROC curve above that of guessing: 0 for guessing, 1 for a perfect order."""
    return 2 * auc - 1


def misranked(auc: Any) -> Any:
    """Probability that a positive example is scored below a negative one."""
    return 1 - auc


def twice_brier(brier: Any) -> Any:
    """Twice the Brier score."""
    return 2 * brier


def youden(balanced: Any) -> Any:
    """Twice the balanced accuracy above one half."""
    return 2 * balanced - 1


def percent_right(accuracy: Any) -> Any:
    """Right answers by hundred."""
    return 100 * accuracy


def models(n: int, strengths: tuple[float, ...] = (0.6, 1.1, 1.4)) -> dict[str, dict[str, Any]]:
    """Return models whose scores tell the classes more or less apart."""
    random = np.random.default_rng(4)
    truth = np.arange(n) % 3 == 0
    found = {}
    for place, strength in enumerate(strengths):
        score = strength * truth + random.normal(size=n)
        found[f"m{place}"] = {"y_true": truth.astype(int), "p_1": (1 / (1 + np.exp(1 - score))).round(4)}
    return found


def evaluated(metric: str, n: int, **options: Any) -> Results:
    """Return everything that is known of one metric."""
    return evalreport.evaluate(models(n), metrics=[metric], resamples=100, **options)


CASES = [
    (twice_auc, "roc_auc", 2.0, -1.0),
    (misranked, "roc_auc", -1.0, 1.0),
    (twice_brier, "brier", 2.0, 0.0),
    (youden, "balanced_accuracy", 2.0, -1.0),
    (percent_right, "accuracy", 100.0, 0.0),
]


def assert_mapped(low: Any, high: Any, of_base: tuple[Any, Any], slope: float, offset: float) -> None:
    """Limits are those of the base, mapped; None where that has none."""
    if of_base[0] is None:
        assert low is None
        assert high is None
        return
    mapped = sorted(slope * limit + offset for limit in of_base)
    assert (low, high) == (pytest.approx(mapped[0], abs=ROUNDING), pytest.approx(mapped[1], abs=ROUNDING))


@pytest.mark.parametrize("n", quick([45, 150], [45]))
@pytest.mark.parametrize(
    ("function", "of", "slope", "offset"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_every_interval_test_and_verdict_is_that_of_the_base(
    on_another_scale, function, of, slope, offset, n
):
    """Values and limits are mapped, differences scaled; methods, leading tests and p-values are the same."""
    name = on_another_scale(function, of, function.__name__)
    base, found = (evaluated(metric, n, intervals=("all",), tests=("all",)) for metric in (of, name))
    for before, after in zip(base.metrics, found.metrics, strict=True):
        assert after.value == pytest.approx(slope * before.value + offset, abs=ROUNDING)
        assert after.standard_error == pytest.approx(abs(slope) * before.standard_error, abs=ROUNDING)
        assert [i.method for i in after.intervals] == [i.method for i in before.intervals]
        for one, other in zip(before.intervals, after.intervals, strict=True):
            if other.method != "bootstrap_bca" or slope > 0:  # turned round, other order statistics bound it
                assert_mapped(other.low, other.high, (one.low, one.high), slope, offset)
    pairs = [[r for r in results.comparisons if r.b is not None] for results in (base, found)]
    assert [r.test for r in pairs[0]] == [r.test for r in pairs[1]]
    for before, after in zip(*pairs, strict=True):
        if before.p_value is None or after.test == "tost":  # the margin is in the metric's own unit
            continue
        assert after.p_value == pytest.approx(before.p_value, abs=ROUNDING), after.test
        assert after.recommended == before.recommended
        assert after.interval_method == before.interval_method
        assert_mapped(after.low, after.high, (before.low, before.high), slope, 0.0)
    for before, after in zip(base.verdicts, found.verdicts, strict=True):
        assert (after.about, after.verdict) == (before.about, before.verdict)


def test_gini_has_delong_and_the_limits_of_the_logit(on_another_scale):
    """The interval plus_delong decides; the value has the logit's limits, or Newcombe's where examples are few."""
    on_another_scale(twice_auc, "roc_auc", "Gini coefficient")
    found = evaluated("twice_auc", 150)
    assert {r.intervals[0].method for r in found.metrics} == {"logit"}
    leading = [r for r in found.comparisons if r.recommended]
    assert {(r.test, r.interval_method) for r in leading} == {("interval", "plus_delong")}
    assert {r.intervals[0].method for r in evaluated("twice_auc", 45).metrics} == {"newcombe_auc"}


def test_gini_below_chance_is_warned_of(on_another_scale):
    """An area below 1/2 is a Gini coefficient below 0: the same warning."""
    on_another_scale(twice_auc, "roc_auc", "Gini coefficient")
    for metric in ("twice_auc", "roc_auc"):
        results = evalreport.evaluate(models(90, (-1.0, 1.0)), metrics=[metric], resamples=200)
        assert [w.about for w in results.warnings if w.code == "worse_than_random"] == [("m0",)]


@pytest.mark.slow
def test_many_rows_are_resampled_by_bins_as_the_base_is(on_another_scale):
    """Replicates of very many examples follow from the same bins, so the limits are mapped, too."""
    on_another_scale(twice_auc, "roc_auc", "Gini coefficient")
    one, other = (
        evalreport.evaluate(
            models(210_000, (0.9, 1.0)), metrics=[metric], resamples=50, intervals=("bootstrap_normal",)
        )
        for metric in ("roc_auc", "twice_auc")
    )
    for before, after in zip(one.metrics, other.metrics, strict=True):
        for old, new in zip(before.intervals, after.intervals, strict=True):
            assert_mapped(new.low, new.high, (old.low, old.high), 2.0, -1.0)


def test_what_is_no_straight_line_is_refused():
    """A square, and a constant, are no other scale of anything."""
    assert affine_map(twice_auc, "roc_auc").limits(0.5, 0.75) == (0.0, 0.5)
    for function in (lambda value: value**2, lambda value: 0 * value + 1):
        with pytest.raises(ValueError, match="no straight line"):
            affine_map(function, "roc_auc")
