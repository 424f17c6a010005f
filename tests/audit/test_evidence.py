"""Nights as units: the references, what may not change the evidence, and what a careful variance adds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special

from evalreport.audit.evidence import drop_evidence, floor_evidence, mean_limits, serial_correlation
from evalreport.audit.sequential_test import share_of_look
from tests.reference.second_round import agrees, each

ACCEPTED = np.array([0.85, 0.86, 0.84, 0.855, 0.845])
NIGHTS = np.array([0.85, 0.84, 0.86, 0.81, 0.80, 0.82])
UNEQUAL = np.where(np.arange(120) % 10 == 4, 10, 1000)


def night_by_night(record) -> list[float]:
    """Return log e after every night of a record."""
    accepted, nights = (np.array(record["inputs"][name]) for name in ("accepted", "nights"))
    return [float(drop_evidence(accepted, nights[: t + 1])[0]) for t in range(len(nights))]


@each("night_alarm")
def test_the_evidence_of_a_drop_is_the_reference(record):
    """Night by night to 1e-6, and the first alarm at 1 / alpha: R's numerical integration and a closed form."""
    assert record["inputs"]["g"] == [1]
    found, expected = night_by_night(record), record["value"]
    assert all(agrees(e, r, 1e-6) for e, r in zip(found, expected["log_e"], strict=True))
    first = next(t for t, e in enumerate(found, 1) if e >= -math.log(record["inputs"]["alpha"]))
    assert first == expected["first_alarm"]


@each("night_bet")
def test_the_evidence_against_a_floor_is_the_reference(record):
    """Night by night, and no alarm where there is none: R's cumulative sums."""
    given, expected = record["inputs"], record["value"]
    nights = np.array(given["nights"])
    found = [floor_evidence(nights[: t + 1], given["mu0"], 1.0) for t in range(len(nights))]
    assert all(agrees(e, r) for e, r in zip(found, expected["log_e"], strict=True))
    assert expected["first_alarm"] is None
    assert max(found) < -math.log(given["alpha"])


def test_one_beginning_is_the_integral_over_the_size_of_the_drop():
    """Three nights: only tau = 0 is there, whose ratio of t densities is integrated over a half-normal prior here."""
    accepted, nights = np.array([0.85, 0.87, 0.84, 0.86]), np.array([0.83, 0.84, 0.82])
    a, b = len(accepted), len(nights)
    within = ((accepted - accepted.mean()) ** 2).sum() + ((nights - nights.mean()) ** 2).sum()
    df, n_e = a + b - 2, a * b / (a + b)
    t = (nights.mean() - accepted.mean()) * math.sqrt(n_e / (within / df))

    def density(shift: float) -> float:
        """Student's t, not central, up to what does not depend on the shift (Johnson and Kotz, chapter 31)."""
        x = t / math.sqrt(df + t * t)
        whole, _ = integrate.quad(lambda y: y**df * math.exp(-((y - shift * x) ** 2) / 2), 0, 60)
        return math.exp(-shift * shift * df / (2 * (df + t * t))) * whole

    # The drop is -d standard deviations of a night, d half-normal.
    mixed, _ = integrate.quad(
        lambda d: density(-d * math.sqrt(n_e)) * math.exp(-d * d / 2) * math.sqrt(2 / math.pi), 0, 12
    )
    weight = 0.25 + 0.75 / 365
    expected = weight * mixed / density(0.0) + 0.75 * (365 - 3) / 365
    assert math.exp(drop_evidence(accepted, nights)[0]) == pytest.approx(expected, rel=1e-7)


def test_neither_unit_nor_level_matters():
    """Values in percent, or 1e6 higher: the same evidence; a loss is turned round by the caller."""
    plain = drop_evidence(ACCEPTED, NIGHTS)
    for moved in (lambda x: 100 * x, lambda x: 1e6 + x, lambda x: 1e-7 * x):
        log_e, start = drop_evidence(moved(ACCEPTED), moved(NIGHTS))
        assert log_e == pytest.approx(plain[0], abs=1e-6)
        assert start == plain[1] == 3


def test_many_series_at_once_are_each_alone():
    """Leading axes: the study's series night by night as an audit computes one."""
    generator = np.random.default_rng(4)
    accepted, nights = generator.normal(size=(3, 4)), generator.normal(size=(3, 9))
    errors = generator.uniform(0.1, 2, (3, 13))
    together = drop_evidence(accepted, nights, errors)
    for k in range(3):
        alone = drop_evidence(accepted[k], nights[k], errors[k])
        assert together[0][k] == pytest.approx(float(alone[0]), rel=1e-12)
        assert together[1][k] == alone[1]


def test_equal_nights_are_no_evidence_and_a_step_between_equal_ones_is():
    """All 1.0: less than even odds. All 1.0, then all 0.9: an alarm at the third night, and no division by zero."""
    ones = np.ones(7)
    assert drop_evidence(ones, np.ones(5))[0] < 0
    assert drop_evidence(ones, np.full(3, 0.9))[0] > math.log(20)


def test_errors_of_the_examples_make_evidence_smaller_and_never_larger():
    """200 series of unequal nights: at any errors at most the evidence without; at errors of 0 the same."""
    generator = np.random.default_rng(8)
    accepted, nights = generator.normal(size=(200, 5)), generator.normal(-0.5, 1, (200, 12))
    plain, _ = drop_evidence(accepted, nights)
    careful, _ = drop_evidence(accepted, nights, generator.uniform(0, 3, (200, 17)))
    assert (careful <= plain + 1e-12).all()
    assert (careful < plain - 0.1).mean() > 0.3
    assert np.allclose(drop_evidence(accepted, nights, np.zeros((200, 17)))[0], plain, atol=1e-12)


def alarmed(p: float, n, *, accepted: int, sd: float = 0.0, series: int = 60, careful: bool = True) -> float:
    """Return the share of series of 120 nights at a constant level in which evidence reached 20."""
    generator = np.random.default_rng(11)
    sizes = np.concatenate([np.full(7, accepted), np.broadcast_to(n, 120)])
    level = np.clip(generator.normal(p, sd, (series, 127)), 0, 1)
    values = generator.binomial(sizes, level) / sizes
    errors = np.sqrt(values * (1 - values) / sizes) if careful else None
    found = np.zeros(series, dtype=bool)
    for t in range(127 - 7):
        given = None if errors is None else errors[:, : 8 + t]
        found |= drop_evidence(values[:, :7], values[:, 7 : 8 + t], given)[0] >= math.log(20)
    return float(found.mean())


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.0, 0.02])
def test_nights_that_vary_raise_few_false_alarms(sd):
    """1,000 examples a night at sd 0 and 0.02: at most 5 % of 60 short series, two Monte Carlo errors beside it."""
    assert alarmed(0.85, 1000, accepted=1000, sd=sd) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n", "accepted"), [(0.97, UNEQUAL, 1000), (0.85, 10_000, 100)])
def test_unequal_nights_need_the_errors_of_their_examples(p, n, accepted):
    """One night in ten of 10 examples, or accepted nights of 100: over 5 % false alarms without, none with them."""
    assert alarmed(p, n, accepted=accepted, careful=False) > 0.05
    assert alarmed(p, n, accepted=accepted) == 0


def test_the_bets_win_on_a_loss_as_on_its_complement():
    """Error rates against a ceiling of 0.2 are accuracies against a floor of 0.8."""
    assert floor_evidence(1 - NIGHTS, 0.2, 0.0) == pytest.approx(floor_evidence(NIGHTS, 0.8, 1.0), rel=1e-12)
    assert floor_evidence(np.full(40, 0.7), 0.8, 1.0) > math.log(20)


def test_no_chain_of_nights_makes_the_bets_pay():
    """Two-point nights whose mean depends on the last but is never below the floor: the mean of e is at most 1."""
    floor, paths = 0.8, [((), 1.0)]
    for _ in range(
        6
    ):  # a good night (1.0) is followed by one of mean 0.8, a bad one (0.5) by one of mean 0.9
        paths = [
            ((*x, value), weight * (share if value == 1.0 else 1 - share))
            for x, weight in paths
            for share in ((0.6,) if not x or x[-1] == 1.0 else (0.8,))
            for value in (1.0, 0.5)
        ]
    assert sum(weight for _, weight in paths) == pytest.approx(1)
    mean = sum(w * math.exp(floor_evidence(np.array(x), floor, 1.0)) for x, w in paths)
    assert mean <= 1 + 1e-12


def test_limits_of_the_mean_hold_at_every_night_at_once():
    """200 series of 60 normal nights: at most 5 % ever leave the true mean out; two nights have no limits yet."""
    generator = np.random.default_rng(6)
    missed = 0
    for series in generator.normal(3.0, 2.0, (200, 60)):
        limits = [mean_limits(series[:t], 0.05) for t in range(1, 61)]
        assert limits[0] is limits[1] is None
        missed += any(found is not None and not found[0] <= 3.0 <= found[1] for found in limits)
    assert missed <= 10


def test_the_moments_of_the_correlation_are_those_of_independent_nights():
    """All 5,040 orders of 7 normal scores: p below 0.05 in 4 to 7 % of them, and mean -1/7."""
    from itertools import permutations

    scores = special.ndtri((np.arange(1, 8) - 0.375) / 7.25)
    found = [serial_correlation(np.array(order)) for order in permutations(scores)]
    assert np.mean([r for r, _ in found]) == pytest.approx(-1 / 7, abs=1e-12)
    assert 0.04 <= np.mean([p <= 0.05 for _, p in found]) <= 0.07


def test_what_has_no_correlation_is_not_tested():
    """Three nights, and nights that are all equal."""
    assert serial_correlation(np.array([0.8, 0.9, 0.7])) is None
    assert serial_correlation(np.full(9, 0.1 + 0.2)) is None


def test_the_shares_of_all_looks_add_up_to_the_whole():
    """Half telescopes to 1/2 - 1/(2(k + 1)), half is 1/4 + 1/8 + ... by years: ten years leave what both leave."""
    looks = 3650
    left = 0.5 / (looks + 1) + 0.5 * 2.0**-10
    assert sum(share_of_look(look) for look in range(1, looks + 1)) == pytest.approx(1 - left, rel=1e-9)


def test_beyond_a_year_the_evidence_goes_on():
    """400 good nights, then 12 bad ones: no weight is left for a new beginning, and the drop is seen all the same."""
    generator = np.random.default_rng(3)
    nights = np.concatenate([generator.normal(0.85, 0.01, 400), generator.normal(0.80, 0.01, 12)])
    accepted = generator.normal(0.85, 0.01, 7)
    assert drop_evidence(accepted, nights[:400])[0] < math.log(20)
    assert drop_evidence(accepted, nights)[0] >= math.log(20)
