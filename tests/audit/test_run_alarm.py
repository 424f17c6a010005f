"""The one-run alarm: reference values, how its error is shared, and what is allowed for between runs."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from evalreport.audit.evidence import drop_evidence
from evalreport.audit.run_alarm import (
    Scale,
    compare_run,
    horizon_of,
    least_between,
    one_sided,
    same_rows_between_runs,
    share_of_run,
)
from tests.reference.third_round import assert_agrees, cases_of

SHARE = Scale(greater_is_better=True, least=0.0, greatest=1.0)
LOSS = Scale(greater_is_better=False, least=0.0, greatest=math.inf)


def pairs(given):
    """Return values with their standard errors."""
    return [(run["value"], run["se"]) for run in given]


def level(t, given):
    """Return the level of the t-th compared run, half of 5 % being this rule's."""
    return 0.025 * share_of_run(t, given["H"]) / given["m"]


def cases(path):
    """Return the reference cases of one kind of examples; those of the same ids are in ``test_sequential_test``."""
    found = [case for case in cases_of("run_alarm") if case["input"]["path"] == path]
    return pytest.mark.parametrize("case", found, ids=lambda case: case["id"])


@cases("other_examples")
def test_one_run_against_the_accepted_ones_is_the_reference(case):
    """Reference, tau, standard error, z, p and the level of the t-th run: Python, agreeing with mpmath."""
    given = case["input"]
    of = SHARE if given["better"] == "higher" else LOSS
    found = compare_run(
        pairs(given["accepted"]),
        pairs([given["now"]])[0],
        of=of,
        least_n=given["k"],
        between_runs=given["between_runs"],
    )
    now = {"reference": found.reference, "tau": found.between, "se": found.standard_error, "z": found.z,
           "df": found.df, "p": found.p_value, "level": level(given["t"], given),
           "alarm": found.p_value <= level(given["t"], given)}  # fmt: skip
    assert_agrees(now, case)


@cases("series")
def test_a_series_of_runs_is_the_reference(case):
    """p, level and log e of every run, and the first alarm of either rule: Python, agreeing with mpmath."""
    of = SHARE if case["input"]["better"] == "higher" else LOSS
    given, expected = case["input"], case["expected"]
    accepted, later = pairs(given["accepted"]), pairs(given["runs"])
    p = [compare_run(accepted, run, of=of, least_n=given["k"]).p_value for run in later]
    levels = [level(t, given) for t in range(1, len(later) + 1)]
    values = [np.array([value for value, _ in runs]) for runs in (accepted, later)]
    log_e = [
        float(drop_evidence(values[0], values[1][: t + 1], horizon=given["H"])[0]) for t in range(len(later))
    ]
    assert p == pytest.approx(expected["p"], rel=1e-8)
    assert levels == pytest.approx(expected["level"], rel=1e-8)
    assert log_e == pytest.approx(expected["log_e"], rel=1e-8)
    either = [a <= b or e >= math.log(40 * given["m"]) for a, b, e in zip(p, levels, log_e, strict=True)]
    assert either.index(True) + 1 == expected["first_alarm"]


@pytest.mark.parametrize("horizon", [12, 52, 365])
def test_the_shares_of_a_year_add_up_to_less_than_one(horizon):
    """1 / (2 t (t + 1)) adds up to (1 - 1 / (H + 1)) / 2, the rest to 1 / 2."""
    total = math.fsum(share_of_run(t, horizon) for t in range(1, horizon + 1))
    assert total == pytest.approx(1 - 0.5 / (horizon + 1), rel=1e-12)


@pytest.mark.parametrize(
    ("days", "runs"),
    [([], 365), ([1, 1, 1], 365), ([2.9], 365), ([7, 7, 30], 52), ([14], 52), ([30, 31], 12)],
)
def test_the_cadence_says_how_many_runs_a_year_has(days, runs):
    """The median distance: under 3 days, under 15, more; unknown counts as nightly."""
    times = [datetime(2026, 1, 1, tzinfo=UTC)]
    for day in days:
        times.append(times[-1] + timedelta(days=day))
    assert horizon_of(times) == runs


@pytest.mark.parametrize(
    ("of", "reference", "tau"),
    [
        (SHARE, 0.85, 0.02),
        (SHARE, 0.99, 0.005),
        (Scale(greater_is_better=False, least=0.0, greatest=1.0), 0.01, 0.005),
        (Scale(greater_is_better=True, least=-math.inf, greatest=1.0), 0.98, 0.01),
        (LOSS, 4.2, 0.084),
        (Scale(greater_is_better=False, least=0.0, greatest=math.inf, squared=True), 16.0, 0.64),
        (Scale(greater_is_better=True, least=-math.inf, greatest=math.inf), -50.0, 1.0),
        (Scale(greater_is_better=True, least=-math.inf, greatest=math.inf, sd_of_rows=3.0), 0.1, 0.15),
        (Scale(greater_is_better=None, least=0.0, greatest=1.0), 0.5, 0.02),
    ],
)
def test_what_is_allowed_for_between_runs_depends_on_the_scale(of, reference, tau):
    """By hand: half of the way to the best value, at most 0.02; relative where there is no bound."""
    assert least_between(reference, of) == pytest.approx(tau, rel=1e-12)


def test_five_accepted_runs_show_how_much_runs_differ():
    """Far apart, their own spread is allowed for; four of them do not count, nor any beside a declared one."""
    runs = [(0.88, 0.01), (0.82, 0.01), (0.905, 0.01), (0.85, 0.01), (0.795, 0.01)]
    found = compare_run(runs, (0.85, 0.01), of=SHARE, least_n=1000)
    # Squares of 0.03, -0.03, 0.055, 0 and -0.055 over four: 0.0019625, less 0.0001.
    assert found.estimated == found.between == pytest.approx(math.sqrt(0.0019625 - 0.0001), rel=1e-9)
    assert compare_run(runs[:4], (0.85, 0.01), of=SHARE, least_n=1000).between == 0.02
    declared = compare_run(runs, (0.85, 0.01), of=SHARE, least_n=1000, between_runs=0.005)
    assert declared.between == 0.005


def test_without_a_direction_a_change_either_way_counts():
    """0.6 and 0.4 against 0.5 have the same two-sided p-value."""
    either = Scale(greater_is_better=None, least=0.0, greatest=1.0)
    p = [compare_run([(0.5, 0.01)], (x, 0.01), of=either, least_n=50).p_value for x in (0.6, 0.4)]
    one_way = compare_run([(0.5, 0.01)], (0.4, 0.01), of=SHARE, least_n=50).p_value
    assert p[0] == pytest.approx(p[1], rel=1e-9)
    assert p[1] == pytest.approx(2 * one_way, rel=1e-9)


def test_on_the_same_examples_half_of_the_two_sided_p_counts():
    """A change for the better has nearly the whole of it; a declared difference between runs makes it larger."""
    assert one_sided(0.01, worse=True) == 0.005
    assert one_sided(0.01, worse=False) == 0.995
    assert (
        same_rows_between_runs(0.04, 0.01, 1000, 0.0) < 1e-4 < same_rows_between_runs(0.04, 0.01, 1000, 0.01)
    )
