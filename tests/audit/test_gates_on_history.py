"""Gates about earlier runs: how they are read, and what decides them."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError
from evalreport.gates.outcomes import parse
from evalreport.history.run_differences import square_and_add
from evalreport.history.store import accept, prune
from evalreport.intervals.proportions import tango_limits
from tests.samples.audits import audited, gate_of, options, right, share
from tests.samples.cases import every

ACCEPTED = "forest.accuracy >= accepted - 0.03"
LAST = "forest.accuracy >= last - 0.03"


@pytest.mark.parametrize(
    "text, reference, limit",
    [
        ("forest.accuracy >= accepted - 0.02", "accepted", -0.02),
        ("forest.accuracy>=accepted-0.02", "accepted", -0.02),
        ("forest.accuracy > last + .5", "last", 0.5),
        ("forest.accuracy >= last", "last", 0.0),
        ("n >= accepted − 100", "accepted", -100.0),
        ("forest.recall[class=0,sex=f] < last + 1e-3", "last", 0.001),
    ],
)
def test_a_gate_may_name_an_earlier_run(text, reference, limit):
    """What is added to the earlier value is the limit of the difference."""
    gate = parse(text, models=["forest"])
    assert (gate.reference, gate.limit) == (reference, limit)


@pytest.mark.parametrize(
    "text, message",
    [
        ("forest.accuracy >= accepted 0.02", "character 29: expected + or - and a number after accepted"),
        ("forest.accuracy >= accepted - ", "expected + or - and a number"),
        ("forest.accuracy >= accepted - 0.02 x", "expected the end of the gate"),
        ("forest.accuracy >= acceptable", "or accepted or last"),
        ("forest.f1 - tree.f1 > accepted - 0.01", "the difference of two models has no accepted value"),
        ("accepted >= 0.9", "unknown model 'accepted'"),
    ],
)
def test_a_gate_that_is_wrong_says_where(text, message):
    """The character, and what was expected there."""
    with pytest.raises(UsageError, match="gate ") as caught:
        parse(text, models=["forest", "tree"])
    assert message in str(caught.value)


def test_a_run_without_history_refuses_such_a_gate():
    """`evalreport run` has no earlier run: it says which command has."""
    with pytest.raises(UsageError, match="evalreport audit MODELS --history URL"):
        evalreport.evaluate(right(share(9, 10)), options=options(gates=(ACCEPTED,)))


def test_the_first_run_passes_so_that_a_series_can_begin(history):
    """Neither an accepted run nor one that passed is there; what is wrong with a gate is still said."""
    found, _, _ = audited(history, right(share(50, 100)), gates=(ACCEPTED, LAST, "n >= last"))
    assert {gate.outcome for gate in found.results.gates} == {"pass"}
    assert "no run was accepted yet" in gate_of(found)[1]
    assert "no earlier run exited 0" in gate_of(found, 1)[1]
    with pytest.raises(UsageError, match="not computed"):
        audited(history, right(share(50, 100)), gates=("forest.f1 >= last",), series="other")


@pytest.mark.parametrize(
    "now, outcome",
    [
        # Nothing lost: Tango's limits for b = c = 0 of 400 lie within 0.03.
        (share(360, 400), "pass"),
        # 40 of 400 lost: the whole interval of -0.10 lies below -0.03.
        (share(320, 400), "fail"),
        # 12 of 400 lost: -0.03 itself.
        (share(348, 400), "undecided"),
    ],
)
def test_the_interval_of_the_paired_difference_decides(history, now, outcome):
    """90 % then, on the same 400 examples."""
    audited(history, right(share(360, 400)))
    found, _, _ = audited(history, right(now), gates=(ACCEPTED, LAST))
    assert [gate.outcome for gate in found.results.gates] == [outcome, outcome]
    gate, change = found.results.gates[0], found.results.history[0]
    assert gate.value == change.difference
    assert (gate.low, gate.high) == tango_limits(0, 360 - sum(now), 400, 0.95)
    assert "pair by pair on the same 400 examples" in gate.text


@pytest.mark.parametrize("lost, outcome", [(4, "undecided"), (5, "fail")])
def test_at_no_change_the_test_decides(history, lost, outcome):
    """Lost and not won back: McNemar's mid-p is 2^-lost, 0.0625 for four and 0.03125 for five examples."""
    audited(history, right(share(360, 400)))
    found, _, _ = audited(history, right(share(360 - lost, 400)), gates=("forest.accuracy >= accepted",))
    assert found.results.history[0].p_value == pytest.approx(2.0**-lost)
    assert found.results.gates[0].outcome == outcome


def test_other_examples_decide_by_the_independent_difference(history):
    """The same 90 % on 400 others fits more than a loss of 0.03: undecided, where paired it would pass."""
    audited(history, right(share(360, 400)))
    found, _, _ = audited(history, right(share(360, 400), first=9000), gates=(ACCEPTED,))
    outcome, text = gate_of(found)
    assert outcome == "undecided"
    assert "as independent samples (n = 400 then, 400 now)" in text


def test_a_count_is_compared_with_the_earlier_count_at_once(history):
    """No interval: both are known."""
    audited(history, right(share(90, 100)))
    found, _, _ = audited(history, right(share(81, 90)), gates=("n >= accepted - 5", "n >= accepted - 10"))
    assert [gate.outcome for gate in found.results.gates] == ["fail", "pass"]
    assert gate_of(found)[1] == "n = 90 now, 100 at the accepted run 1"


def test_last_is_the_last_that_exited_0_and_accepted_does_not_slide(history):
    """Runs of 90, 80 (failed) and 88 %: `last` skips the failed one, and `accepted` stays with the first."""
    audited(history, right(share(360, 400)))
    audited(history, right(share(320, 400)), exit_code=1)
    audited(history, right(share(352, 400)))
    found, run, _ = audited(history, right(share(348, 400)), gates=(ACCEPTED, LAST))
    assert (run.accepted_run, run.last_run) == (1, 3)
    assert [round(gate.value, 4) for gate in found.results.gates] == [-0.03, -0.01]


def test_the_same_run_again_ends_the_same(history):
    """It is compared with what stood there before it, not with itself or with later runs."""
    audited(history, right(share(360, 400)))
    first, run, added = audited(history, right(share(320, 400)), gates=(ACCEPTED, LAST), exit_code=1)
    audited(history, right(share(380, 400)))
    again, same, repeated = audited(history, right(share(320, 400)), gates=(ACCEPTED, LAST))
    assert (added, repeated) == (True, False)
    assert same == run
    assert again.results == first.results


def test_the_first_run_again_ends_the_same(history):
    """It is pinned by itself, but it was not compared with itself: a gate that asks for more still passes."""
    gate = "forest.accuracy > accepted + 0.01"
    first, _, _ = audited(history, right(share(90, 100)), gates=(gate,))
    again, _, added = audited(history, right(share(90, 100)), gates=(gate,))
    assert not added
    assert again.results.gates == first.results.gates


def test_a_run_that_is_accepted_afterwards_passes_when_it_is_run_again(history):
    """Whoever accepts the new level and repeats the failed job is not refused forever."""
    audited(history, right(share(360, 400)))
    failed, run, _ = audited(history, right(share(320, 400)), gates=(ACCEPTED,), exit_code=1)
    accept(history, run.id, time="2025-01-01T00:00:00Z")
    again, _, added = audited(history, right(share(320, 400)), gates=(ACCEPTED,))
    assert (gate_of(failed)[0], gate_of(again)[0], added) == ("fail", "pass", False)


@pytest.mark.slow
def test_a_pruned_reference_leaves_the_gate_undecided(history):
    """The run that a repeated run was compared with is gone: no guess."""
    for place, correct in enumerate((360, 359, 358, 357)):
        audited(history, right(share(correct, 400)), gates=(LAST,) if place == 1 else ())
    accept(history, 2, time="2025-01-01T00:00:00Z")
    assert prune(history, "default", [1]) == [1]
    again, _, _ = audited(history, right(share(359, 400)), gates=(LAST,))
    assert gate_of(again) == ("undecided", "run 1, which it was compared with, was pruned")


def test_a_reference_without_the_model_leaves_the_gate_undecided(history):
    """A renamed model is not silently compared with nothing."""
    audited(history, right(share(90, 100), model="tree"))
    found, _, _ = audited(history, right(share(90, 100)), gates=(ACCEPTED,))
    outcome, text = gate_of(found)
    assert outcome == "undecided"
    assert "holds no model 'forest'" in text


def test_a_smaller_loss_passes_a_gate_from_above(history):
    """For errors the gate reads `<= accepted + X`."""
    truth = [float(place) for place in range(60)]
    ids = [f"e{place}" for place in range(60)]

    def off(by: float) -> dict[str, dict[str, object]]:
        said = [t + (by if place % 2 else -by) * (1 + place % 3) for place, t in enumerate(truth)]
        return {"forest": {"id": ids, "y_true": truth, "y_pred": said}}

    gates = ("forest.mae <= accepted + 0.1",)
    audited(history, off(1.0), metrics=("mae",))
    better, _, _ = audited(history, off(0.5), metrics=("mae",), gates=gates)
    worse, _, _ = audited(history, off(2.0), metrics=("mae",), gates=gates)
    assert (gate_of(better)[0], gate_of(worse)[0]) == ("pass", "fail")


def with_sex(pattern, **given):
    """The model on examples of which every other one is f, the others m."""
    source = right(pattern, **given)
    source["forest"]["sex"] = ["f" if place % 4 < 2 else "m" for place in range(len(pattern))]
    return source


@pytest.mark.parametrize("first, paired", every(2, [(0, True), (5000, False)]))
def test_a_slice_is_compared_with_the_same_slice_then(history, first, paired):
    """All that was lost was lost among f: 200 of 400 examples, 180 right then and 120 now; m is as it was."""
    then = [int(place % 40 >= 4) for place in range(400)]
    now = [int(place % 40 >= 4 and not (place % 4 < 2 and place % 40 < 16)) for place in range(400)]
    gates = ("forest.accuracy[sex=f] >= accepted - 0.05", "forest.accuracy[sex=m] >= accepted - 0.08")
    audited(history, with_sex(then), gates=gates)
    found, _, _ = audited(history, with_sex(now, first=first), gates=gates)
    fell, kept = found.results.gates
    assert fell.outcome == "fail"
    assert fell.value == pytest.approx(-60 / 200)
    assert (kept.outcome, kept.value) == ("pass", 0.0)
    assert ("pair by pair on the same 200 examples" in fell.text) == paired


def test_a_slice_that_the_earlier_run_did_not_keep_is_said(history):
    """Other examples, and the column was not asked for then."""
    audited(history, with_sex(share(90, 100)))
    gates = ("forest.accuracy[sex=f] >= accepted - 0.05",)
    found, _, _ = audited(history, with_sex(share(90, 100), first=5000), gates=gates)
    assert gate_of(found)[0] == "undecided"
    assert "kept no examples with sex = f" in gate_of(found)[1]


def priced(factor, *, sd=0.1, n=60):
    """Answers of 60 questions that cost so many times as much as one."""
    rng = np.random.default_rng(3)
    return {
        "new": {
            "id": [f"q{i}" for i in range(n)], "outcome": [1, 0] * (n // 2),
            "cost": factor * rng.lognormal(0, sd, n), "lang": ["de", "de", "en"] * (n // 3),
        }
    }  # fmt: skip


@pytest.mark.parametrize(("factor", "outcome"), every(3, [(0.99, "pass"), (1.1, "undecided"), (2.0, "fail")]))
def test_a_mean_cost_is_compared_with_that_of_an_earlier_run(history, factor, outcome):
    """By the limits of both runs (Zou and Donner), as of two independent samples."""
    gate = "new.cost_mean <= accepted + 0.1"
    then, _, _ = audited(history, priced(1.0), metrics=(), gates=(gate,))
    assert gate_of(then)[0] == "pass"
    now, _, _ = audited(history, priced(factor), metrics=(), gates=(gate,))
    record, (before, after) = now.results.gates[0], (found.results.costs[0] for found in (then, now))
    expected = square_and_add(*((r.mean, r.low, r.high) for r in (after, before)))
    assert (record.outcome, record.low, record.high) == (outcome, expected.low, expected.high)
    assert "at the accepted run 1" in str(record.text)


@pytest.mark.slow
def test_other_figures_of_costs_over_runs(history):
    """A bill is known exactly; a percentile without an upper limit decides nothing; slices; what was not there."""
    audited(history, priced(1.0), metrics=(), slices=("lang",))
    gates = (
        "new.cost_sum <= last + 1", "new.cost_p95 <= last + 9", "new.cost_mean[lang=de] <= last + 9",
        "new.cost_median[lang=en] <= last - 9",
    )  # fmt: skip
    found, _, _ = audited(history, priced(2.0), metrics=(), gates=gates)
    assert [g.outcome for g in found.results.gates] == ["fail", "undecided", "pass", "fail"]
    without = {name: values for name, values in priced(1.0)["new"].items() if name != "cost"}
    audited(history, {"new": without}, metrics=(), series="other")
    later, _, _ = audited(
        history, priced(1.0), metrics=(), series="other", gates=("new.cost_mean <= accepted",)
    )
    assert gate_of(later)[0] == "undecided"
    assert "has no cost_mean of new" in gate_of(later)[1]


def test_a_cost_every_night_is_refused(history):
    """The bets are about the primary metric."""
    with pytest.raises(UsageError, match="hold a cost against a number"):
        audited(history, priced(1.0), metrics=(), gates=("new.cost_mean <= 2 every night",))
