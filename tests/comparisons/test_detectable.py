"""What would settle an undecided pair: never a difference below the one that was seen and not decided."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from tests.samples.cases import every, quick
from tests.samples.pairs import labels, run


def of(results: evalreport.Results) -> list[tuple[float, float, float | None]]:
    """Return, of every undecided pair, the difference seen, the one that would be shown, and the examples needed."""
    seen = {
        (r.a, r.b): r.difference
        for r in results.comparisons
        if r.recommended and r.metric == results.primary_metric
    }
    return [
        (abs(seen[v.about] or 0.0), v.detectable.difference, v.detectable.needed)
        for v in results.verdicts
        if v.verdict == "undecided" and v.detectable is not None
    ]  # fmt: skip


@pytest.mark.parametrize("metric", quick(["f1", "mcc", "accuracy", "roc_auc"], ["f1", "roc_auc"]))
@pytest.mark.parametrize("n", every(2, [20, 60]))
def test_what_would_be_shown_is_more_than_what_was_seen_and_not_decided(metric: str, n: int) -> None:
    """Of three models, by whatever test leads: as far as no number of examples is named."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        truth = (np.arange(n) % 3 == 0).astype(int)
        source = {
            m: {
                "y_pred": (truth + rng.normal(0, s, n) > 0.5).astype(int),
                "score": truth + rng.normal(0, s, n),
            }
            for m, s in (("a", 0.5), ("b", 0.8), ("c", 1.1))
        }
        results = evalreport.evaluate(source, truth=truth, positive="1", metrics=[metric], resamples=50)
        assert all(shown > seen for seen, shown, needed in of(results) if needed is None)


@pytest.mark.parametrize(
    ("metric", "n", "seed"),
    [("mcc", 12, 3), ("mcc", 20, 5), ("roc_auc", 12, 5), ("balanced_accuracy", 20, 5)],
)
def test_where_less_was_said_to_be_shown_than_was_seen_it_goes_by_the_limits(
    metric: str, n: int, seed: int
) -> None:
    """In these sets 2.8 standard errors are less than the undecided difference: the limits that decide say more.

    What is shown exceeds the limit's distance from the estimate, by z(0.8) standard errors.
    """
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) % 3 == 0).astype(int)
    source = {
        m: {"y_pred": (truth + rng.normal(0, s, n) > 0.5).astype(int), "score": truth + rng.normal(0, s, n)}
        for m, s in (("a", 0.3), ("b", 1.6))
    }
    results = evalreport.evaluate(source, truth=truth, positive="1", metrics=[metric], resamples=50)
    ((seen, shown, needed),) = of(results)
    (verdict,) = results.verdicts
    assert needed is None
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low < 0 < verdict.high
    side = seen - verdict.low
    assert shown > side > seen


@pytest.mark.usefixtures("primary_alone")
def test_five_data_sets_can_show_nothing() -> None:
    """An exact signed-rank test of five cannot reach 0.05: no difference is named, and no model is called chosen."""
    values = {"a": [0.80, 0.81, 0.79, 0.78, 0.82], "b": [0.82, 0.84, 0.80, 0.80, 0.85]}
    source = {name: {"dataset": list("vwxyz"), "value": of_model} for name, of_model in values.items()}
    results = evalreport.evaluate(source, resamples=50)
    (verdict,) = results.verdicts
    assert verdict.detectable is None
    assert "cannot decide by this test" in str(verdict.text)
    summary = results.to_markdown()
    assert "would show" not in summary
    assert "may be best" not in summary


def test_examples_that_are_needed_are_said_to_be_for_80_per_cent_power() -> None:
    """The sentence on the first screen names the power."""
    truth = np.arange(200) % 2
    hits = {"a": np.arange(200) % 5 != 0, "b": np.arange(200) % 4 != 1}
    results = run(
        labels(truth.tolist(), **{m: np.where(h, truth, 1 - truth).tolist() for m, h in hits.items()})
    )
    assert "(80 % power)" in results.to_markdown()


def two_sets(n_a: int, n_b: int) -> evalreport.Results:
    """Run two test sets of their own: 80 % and 75 % right."""
    sizes = {"a": (n_a, 0.80), "b": (n_b, 0.75)}
    source = {
        m: {"id": [f"{m}{i}" for i in range(n)], "outcome": (np.arange(n) < share * n).astype(int)}
        for m, (n, share) in sizes.items()
    }
    return evalreport.evaluate(source, join="independent", resamples=20)


@pytest.mark.usefixtures("primary_alone")
def test_two_test_sets_are_told_how_many_of_each() -> None:
    """(z(.975) + z(.8)) standard errors are the difference seen: 2.8016^2 (0.16 / 200 + 0.1875 / 400) / 0.05^2 = 3.983.

    So 3.983 times 200 and 400, rounded up to two digits.
    """
    results = two_sets(200, 400)
    (verdict,) = results.verdicts
    assert verdict.detectable is not None
    assert verdict.detectable.of_each == (800, 1600)
    assert verdict.detectable.needed == 2400
    assert "about 800 examples of a and 1600 of b" in str(verdict.text).replace(",", "")
    assert "about 800 examples of a and 1,600 of b (80 % power)" in results.to_markdown()


@pytest.mark.usefixtures("primary_alone")
def test_two_large_test_sets_name_the_difference_that_they_show() -> None:
    """Where the number would be fewer than are there: "these two test sets would show"."""
    source = {
        m: {"id": [f"{m}{i}" for i in range(n)], "outcome": (np.arange(n) < share * n).astype(int)}
        for m, n, share in (("a", 400, 0.80), ("b", 400, 0.75), ("c", 400, 0.93))
    }
    results = evalreport.evaluate(source, join="independent", correction="holm", resamples=20)
    record = next(v for v in results.verdicts if v.about == ("a", "b"))
    assert record.verdict == "undecided"
    assert record.detectable is not None
    # Two of three pairs are decided, so Holm's step of the third is the whole 5 %: 2.8016 (0.16 + 0.1875)^0.5 / 20.
    assert record.detectable.difference == pytest.approx(2.8016 * 0.3475**0.5 / 20, rel=1e-3)
