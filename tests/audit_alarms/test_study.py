"""The study of alarms: its fast simulation is the product's own rule, and its page is that of its table."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from evalreport.audit.confidence_sequences import condense, highest_mean, log_wealth
from evalreport.intervals.proportions import newcombe_independent_limits
from studies import audits, audits_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def rows():
    """The committed table."""
    return list(audits.read(DOCS / "audit-alarms.csv"))


def test_the_simulated_sequence_is_the_rule_of_an_audit():
    """20 series of 12 nights of 60, half of them falling: night by night the same decision as log_wealth's."""
    generator = np.random.default_rng(2)
    then = generator.binomial(300, 0.1, 20)
    wrong = generator.binomial(60, np.repeat([0.1, 0.3], 10)[:, None], (20, 12))
    found = audits._sequence(wrong, 60, then, 300, restart=True)
    for series in range(20):
        reference = condense(np.repeat([1.0, 0.0], [then[series], 300 - then[series]]))
        limit = highest_mean(reference, 0.8 * 0.05)
        looks = [(k + 1, condense(np.repeat([1.0, 0.0], [x, 60 - x]))) for k, x in enumerate(wrong[series])]
        decided = [log_wealth(looks[: k + 1], limit) >= -math.log(0.2 * 0.05) for k in range(12)]
        assert found[series].tolist() == decided
    assert found.any()
    assert not found.all()


def test_the_simulated_gate_is_newcombes_interval():
    """20 of 200 wrong then and 35 of 200 now: the lower limit of the difference of the intervals' own function."""
    low = audits.newcombe_low(np.array([35 / 200]), 200, np.array([20 / 200]), 200)
    assert low[0] == pytest.approx(newcombe_independent_limits((35, 200), (20, 200), 0.95)[0], rel=1e-12)


def test_first_nights_are_counted_from_one_and_from_the_drop():
    """Alarms at nights 58, 3 and never, after a drop behind night 56: one early, one at its second night."""
    found = audits.summary(np.array([58, 3, 0]), drop=0.01)
    assert found["alarmed_before"] == pytest.approx(1 / 3)
    assert (found["within_1"], found["within_2"], found["within_365"]) == (0.0, 0.5, 0.5)
    assert (found["median_days"], found["days_of_90_percent"]) == (2, "")


def test_the_same_seed_gives_the_same_table():
    """Two runs of a setting, and none of another in between."""
    setting = audits.SETTINGS[0]
    first, second = (
        audits.new_examples(setting, 0.05, 50, np.random.default_rng([1, 0, 50])) for _ in range(2)
    )
    assert all((first[rule] == second[rule]).all() for rule in first)


def test_the_committed_alarm_keeps_its_promise_and_the_plain_test_does_not(rows):
    """Over a year at most 5 % of the series see a false alarm of the sequence; more than half one of the plain test."""
    still = {
        (r["rule"], r["nightly"], r["accepted"]): r["within_365"]
        for r in rows
        if r["drop"] == 0 and r["examples"] == "new"
    }
    assert max(share for (rule, *_), share in still.items() if rule == "sequence") <= 0.05
    assert min(share for (rule, *_), share in still.items() if rule == "per_run") > 0.5
    assert still["per_run", 200, 2000] > 0.95


def test_page_and_table_belong_together(rows):
    """The committed page is what the committed table makes."""
    assert (DOCS / "audit-alarms.md").read_text(encoding="utf-8") == audits_page.page(rows)
