"""Wilcoxon's test and its limits with ties: reference values, enumeration of all signs, and cases by hand."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.engine.ranks import mid_ranks, signed_rank_tail
from evalreport.intervals.normal import hodges_lehmann
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean, PairedMean
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sampling import Sampling
from evalreport.schema.comparisons import ComparisonRecord
from tests.reference.second_round import agrees, each


def over_data_sets(first: list[float], second: list[float]) -> ComparisonRecord:
    """Return the leading row of two models' values on as many data sets."""
    names = [f"d{k:02d}" for k in range(len(first))]
    source = {m: {"dataset": names, "value": list(v)} for m, v in (("a", first), ("b", second))}
    results = evalreport.evaluate(source, resamples=20)
    (found,) = (row for row in results.comparisons if row.recommended)
    assert found.test == "wilcoxon"
    return found


@each("wilcoxon")
def test_wilcoxon_agrees_with_exact_rank_tests(record: Mapping[str, Any]) -> None:
    """Statistic and both tails are exactRankTests' and coin's, with ties, zeros and differences written in binary."""
    given, value = record["inputs"], record["value"]
    first = given.get("d", given.get("a"))
    second = given.get("b", [0.0] * len(first))
    found = over_data_sets(first, second)
    assert found.statistic == value["w_plus"]
    assert found.details["n"] == value["n_used"]
    assert agrees(found.p_value, value["p_two_sided"])
    moved = np.round(np.subtract(first, second), 10)
    moved = moved[moved != 0]
    assert agrees(signed_rank_tail(-moved), value["p_greater"])
    assert agrees(signed_rank_tail(moved), value["p_less"])


def test_four_equal_differences_say_little() -> None:
    """Four equal differences are all of one sign in 2 of 16 patterns: p = .125, and no limits at 95 %."""
    found = over_data_sets([0.9, 0.8, 0.7, 0.6], [0.8, 0.7, 0.6, 0.5])
    assert found.p_value == 0.125
    assert (found.low, found.high) == (None, None)
    assert "too few" in (found.reason or "")


@pytest.mark.parametrize("seed", range(5))
def test_the_distribution_is_that_of_all_signs(seed: int) -> None:
    """The tail is the share of the 2^m sign patterns whose positive rank sum is as small, enumerated."""
    random = np.random.default_rng(seed)
    d = random.integers(1, 4, size=9) * random.choice([-1.0, 1.0], size=9)
    ranks = mid_ranks(np.abs(d))
    observed = ranks[d > 0].sum()
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=9)]
    assert signed_rank_tail(d) == np.mean(np.array(sums) <= observed)


def limits_of(differences: np.ndarray, level: float = 0.95) -> tuple[float | None, float | None]:
    """Return the Hodges-Lehmann limits of differences."""
    sampling = Sampling(n=len(differences))
    estimate = Estimate(
        model="a", quantity=Quantity("mae"), value=0.0, range=(0, 9), sampling=sampling, evidence=Mean()
    )
    bounds = hodges_lehmann(
        Difference(
            a=estimate,
            b=estimate,
            value=0.0,
            range=(-9, 9),
            sampling=sampling,
            evidence=PairedMean(CountedRows(differences)),
        ),
        level,
    )
    return bounds.low, bounds.high


@pytest.mark.parametrize("seed", range(8))
def test_limits_with_ties_hold_the_shifts_that_are_not_rejected(seed: int) -> None:
    """With ties the limits are the ends of the shifts with p > 1 - level, the test made anew at each of a fine grid."""
    random = np.random.default_rng(seed)
    d = np.round(random.normal(0.5, 1.0, size=12) * 4) / 4
    low, high = limits_of(d)
    # Averages of two differences are multiples of 1/8: the p-value is constant between them.
    grid = np.arange(-6, 6, 1 / 8) + 1 / 16
    kept = [x for x in grid if 2 * min(signed_rank_tail(d - x), signed_rank_tail(x - d)) > 0.05]
    assert low == pytest.approx(min(kept) - 1 / 16)
    assert high == pytest.approx(max(kept) + 1 / 16)


def test_limits_turn_with_the_differences() -> None:
    """The limits of b - a are those of a - b, turned, with a tie and without."""
    d = np.random.default_rng(3).normal(0.3, 1.0, size=25)
    for differences in (d, np.append(d[:-1], d[0])):
        low, high = limits_of(differences)
        assert low is not None
        assert high is not None
        assert limits_of(-differences) == (-high, -low)
