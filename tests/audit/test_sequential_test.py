"""Is a model worse than at its accepted runs: the runs that count, when it is an alarm, what gates make of it."""

from __future__ import annotations

import math
import shutil
from datetime import UTC, datetime

import numpy as np
import pytest
from scipy import stats

from evalreport.audit.evidence import drop_evidence, floor_evidence, mean_limits
from evalreport.audit.run_alarm import Scale, compare_run, share_of_run
from evalreport.cli import main
from evalreport.errors import UsageError
from evalreport.gates.outcomes import decide_gates
from evalreport.history.store import accept, prune, runs, standing
from evalreport.schema.results import to_json
from tests.samples.audits import audited, gate_of, right, share, write
from tests.samples.cases import every
from tests.samples.nights import BAD, GOOD, WEEK, answer, night, nights, series, warned


def below(p: float, n: int) -> float:
    """Return how far a share lies above its lower limit by Wilson at 95 %, over 1.96 (scipy)."""
    limits = stats.binomtest(round(p * n), n).proportion_ci(method="wilson")
    return float((p - limits.low) / stats.norm.isf(0.025))


def evidence(accepted: list[float], since: list[float], sizes: list[int]) -> float:
    """Return log e of accuracies with their binomial standard errors, from the numbers alone."""
    values = np.array([*accepted, *since])
    errors = np.sqrt(values * (1 - values) / np.array(sizes))
    errors[: len(accepted)] = [below(p, n) for p, n in zip(accepted, sizes, strict=False)]
    return float(drop_evidence(values[: len(accepted)], values[len(accepted) :], errors)[0])


def test_a_model_that_keeps_its_level_raises_nothing(history):
    """Five nights at the accepted level: no alarm, no warning of one, and the gate on alarms passes."""
    found = series(history, [GOOD] * 5, gates=("alarms <= 0",))
    row = answer(found, "worse")
    assert (row.alarm, row.test, row.run, row.look) == (False, "run_alarm", 1, 5)
    assert (row.details["t"], row.details["horizon"]) == (5, 365)
    assert row.effect_size == pytest.approx(0.0, abs=1e-12)
    assert "worse_than_accepted" not in warned(found)
    assert gate_of(found) == ("pass", "alarms: 0")


@pytest.mark.slow
def test_a_drop_after_good_runs_is_an_alarm_and_fails_the_gate(week):
    """A good week accepted, five good runs, five at 70 %: alarm, the look of the drop, warning, gate failed."""
    found = nights(
        week, [0.9, 0.91, 0.89, 0.92, 0.9, BAD, BAD, 0.71, 0.7, 0.69], begin=7, gates=("alarms <= 0",)
    )
    row = answer(found, "worse")
    assert row.alarm
    assert row.p_adjusted <= 0.05
    assert (row.details["accepted_nights"], row.details["nights"], row.details["change_look"]) == (7, 10, 6)
    assert str(row.text).startswith(
        "worse than the accepted runs: accuracy 0.690 on 200 new examples, 0.904 over 7 accepted runs (p = "
    )
    assert ", an alarm from " in str(row.text)
    assert str(row.text).endswith(
        "false in at most 5 % of series of 365 runs, if runs are independent and vary by themselves about normally, by"
        " at most 0.020 (standard deviation); runs with heavy tails (t with 4 degrees of freedom, standard deviation"
        " 0.02) gave a false alarm in up to 31 % of simulated years"
    )
    assert warned(found)["worse_than_accepted"].about == ("forest",)
    assert gate_of(found) == ("fail", "alarms: 1")


def test_the_evidence_follows_from_the_stored_runs(week):
    """It is that of the nights' accuracies and standard errors, computed here from the counts alone."""
    found = nights(week, [GOOD, 0.85, 0.8, 0.84], begin=7)
    expected = evidence(WEEK, [GOOD, 0.85, 0.8, 0.84], [200] * 11)
    row, kept = answer(found, "worse"), found.results.evidence[0]
    assert row.details["evidence"] == pytest.approx(math.exp(expected), rel=1e-9)
    assert (kept.accepted, kept.values_accepted) == ((1, 2, 3, 4, 5, 6, 7), pytest.approx(WEEK))
    assert kept.values_since == pytest.approx([GOOD, 0.85, 0.8, 0.84])
    assert (kept.value, kept.n_new, kept.n_since) == (pytest.approx(0.84), 200, 800)
    assert (kept.low, kept.high) == pytest.approx(
        mean_limits(np.array(kept.values_since), 0.05) or (None, None)
    )


@pytest.mark.slow
def test_a_larger_accepted_run_counts_as_one_night(history):
    """One accepted run of 1,000 among nights of 200: its accuracy is one value, with its own smaller error."""
    found = series(history, [GOOD, 0.8, 0.8, 0.8])
    expected = evidence([GOOD], [GOOD, 0.8, 0.8, 0.8], [1000, 200, 200, 200, 200])
    assert answer(found, "worse").details["evidence"] == pytest.approx(math.exp(expected), rel=1e-9)


def test_the_error_is_shared_by_the_models_of_a_run(history):
    """Two models: p counts twice, and the text names the evidence that an alarm takes."""
    for number, accuracy in enumerate((GOOD, GOOD, 0.8, 0.8)):
        source = night(accuracy, 200, first=5000 * number)
        source["tree"] = source["forest"]
        found, _, _ = audited(history, source)
    row = answer(found, "worse", "forest")
    # Twice for the two rules, twice for the two models.
    assert row.p_adjusted == pytest.approx(min(1.0, 4 * row.p_value / share_of_run(3, 365)), rel=1e-12)
    assert "an alarm from 80;" in row.text


def test_the_plain_test_stands_beside_it_and_raises_nothing(history):
    """`worse_this_run` has the p-value of the history section, labelled, and is never an alarm."""
    found = series(history, [0.8])
    row = answer(found, "worse_this_run")
    assert row.p_value == found.results.history[0].p_value
    assert (row.p_adjusted, row.alarm) == (None, False)


# --- the accepted nights --------------------------------------------------------------------------------------------


def test_fewer_than_three_accepted_runs_are_a_warning(history, week):
    """With one accepted run the warning says what to do; with a week of them there is none."""
    few = warned(series(history, [GOOD], series="one"))["few_accepted_nights"]
    assert str(few.text).startswith("1 accepted run is few: a small fall soon after shows late")
    assert "at least 3" in few.text
    assert "few_accepted_nights" not in warned(nights(week, [GOOD], begin=7))


@pytest.mark.slow
def test_accepted_nights_that_depend_on_each_other_are_said(history, week):
    """A slow wave over seven nights: its lag-1 correlation is tested, and the warning names the way out."""
    wave = [0.80, 0.83, 0.87, 0.91, 0.94, 0.95, 0.96]
    for number, accuracy in enumerate(wave):
        audited(history, night(accuracy, 200, first=10_000 * number))
    accept(history, *range(1, 8), time="2025-01-08T00:00:00Z")
    found, _, _ = audited(history, night(0.9, 200, first=90_000))
    d = np.array(wave) - np.mean(wave)
    row = answer(found, "worse")
    assert row.details["lag1_correlation"] == pytest.approx(float(d[1:] @ d[:-1] / (d @ d)), abs=1e-12)
    assert row.details["lag1_p_value"] < 0.05
    assert warned(found)["nights_depend"].about == ("forest",)
    assert "every night'" in warned(found)["nights_depend"].text
    assert "nights_depend" not in warned(nights(week, [GOOD], begin=7))


@pytest.mark.slow
def test_an_accepted_run_without_examples_of_its_own_is_no_night(history):
    """Runs 1 and 2 on the same examples, 3 on others, accepted together: two nights, and one left out is said."""
    for first in (0, 0, 5000):
        audited(history, night(GOOD if first else 0.9 - 0.01 * len(runs(history)), 200, first=first))
    accept(history, 1, 2, 3, time="2025-01-04T00:00:00Z")
    found, _, _ = audited(history, night(0.88, 200, first=9000))
    row = answer(found, "worse")
    assert row.details["accepted_nights"] == 2
    assert "over 2 accepted runs (1 accepted run left out: no examples or value of its own)" in row.text


def test_accepting_runs_begins_anew(week):
    """After a drop the new level is accepted: the next night is look 1, and at that level no alarm."""
    nights(week, [BAD, 0.71, 0.69], begin=7)
    accept(week, 8, 9, 10, time="2025-01-20T00:00:00Z")
    assert standing(week, "default").accepted == (8, 9, 10)
    found, _, _ = audited(week, night(BAD, 200, first=190_000))
    row = answer(found, "worse")
    assert (row.run, row.look, row.alarm) == (10, 1, False)
    assert found.results.evidence[0].accepted == (8, 9, 10)


@pytest.mark.slow
def test_other_runs_beside_the_same_newest_one_begin_anew(history):
    """Run 3 accepted alone, then together with 1 and 2: nights since the first acceptance do not count twice."""
    series(history, [GOOD, GOOD])
    accept(history, 3, time="2025-01-03T00:00:00Z")
    found = nights(history, [0.8, 0.8], begin=3)
    assert answer(found, "worse").look == 2
    accept(history, 1, 2, 3, time="2025-01-06T00:00:00Z")
    found = nights(history, [0.8], begin=5)
    assert (answer(found, "worse").run, answer(found, "worse").look) == (3, 1)
    assert found.results.evidence[0].values_since == pytest.approx([0.8])


@pytest.mark.slow
def test_an_accepted_run_that_is_audited_again_is_compared_with_itself(week):
    """The failed job of a night that was accepted since passes, also where a later night was accepted with it."""
    nights(week, [BAD, BAD, BAD], begin=7, gates=("alarms <= 0",))
    accept(week, 9, 10, time="2025-01-20T00:00:00Z")
    found, run, added = audited(week, night(BAD, 200, first=80_000), gates=("alarms <= 0",))
    assert (run.id, added) == (9, False)
    assert gate_of(found)[0] == "pass"
    assert found.results.history[0].difference == 0


@pytest.mark.slow
def test_an_audit_that_is_repeated_says_the_same(week):
    """The same night again: not recorded twice, and the same bytes, evidence included."""
    first = nights(week, [GOOD, 0.8], begin=7)
    again, _, added = audited(week, night(0.8, 200, first=80_000))
    assert not added
    assert to_json(again.results) == to_json(first.results)


# --- new evidence ---------------------------------------------------------------------------------------------------


def test_the_same_examples_every_night_are_tested_in_pairs(history):
    """Half of McNemar's p, at this run's share of half of the error, whatever runs have in common."""
    audited(history, right(share(180, 200)))
    found, _, _ = audited(history, right(share(178, 200)))
    found, _, _ = audited(history, right(share(150, 200)))
    row = answer(found, "worse")
    assert (row.test, row.look) == ("mcnemar_midp", 2)
    assert row.p_adjusted == pytest.approx(2 * row.p_value / share_of_run(2, 365), rel=1e-12)
    assert row.alarm
    assert str(row.text).endswith("however the runs depend on each other")
    assert (found.results.evidence[0].n_new, found.results.evidence[0].reason) == (
        0,
        "the examples are those of the accepted run",
    )
    assert "few_accepted_nights" not in warned(found)


def test_a_rise_on_the_same_examples_is_called_one(history):
    """From 150 to 180 right of the same 200: the small p-value is said to be of a change for the better."""
    audited(history, right(share(150, 200)))
    found, _, _ = audited(history, right(share(180, 200)))
    row = answer(found, "worse")
    assert row.p_value > 0.999
    assert not row.alarm
    assert str(row.text).startswith("no alarm, the change is for the better: p")


def test_a_fall_of_one_run_is_an_alarm_at_once(history):
    """One accepted run of 1,000 at 90 %, the next at 78 %: p by scipy from Wilson's limits, of 90 % the lower one."""
    found = series(history, [0.78], n=1000)
    row = answer(found, "worse")
    assert (row.alarm, row.test) == (True, "run_alarm")
    width = np.ptp(stats.binomtest(780, 1000).proportion_ci(method="wilson")) / 2 / stats.norm.isf(0.025)
    error = math.sqrt(width**2 + below(0.9, 1000) ** 2 + 2 * 0.02**2)
    assert row.p_value == pytest.approx(stats.t.sf(0.12 / error, 999), rel=1e-9)
    assert row.effect_size == pytest.approx(-0.12)


def test_pairs_agree_with_the_reference(history):
    """65 right then and wrong now, 25 the other way, of 1,000, at the third run: half of McNemar's mid-p, an alarm."""
    both, lost, gained = [1] * 800, [1] * 65 + [0] * 25, [0] * 65 + [1] * 25
    audited(history, right([*both, *lost, *[0] * 110]))
    for extra in (1, 2):
        audited(history, right([*both, *lost, *[1] * extra, *[0] * (110 - extra)]))
    found, _, _ = audited(history, right([*both, *gained, *[0] * 110]))
    row = answer(found, "worse")
    assert (row.details["t"], row.alarm) == (3, True)
    assert row.p_value == pytest.approx(1.01416446040728e-05, rel=1e-8)  # run_alarm_6: Python, mpmath
    assert row.p_adjusted == pytest.approx(0.05 * row.p_value / 0.00107591324200913, rel=1e-8)


@pytest.mark.slow
def test_answers_of_an_earlier_run_again_are_no_new_look(history):
    """The accepted run's answers, or those of a later run, once more: the place in the year does not move."""
    audited(history, right(share(180, 200)))
    audited(history, right(share(180, 200)), resamples=60)
    for _ in range(2):
        found, _, _ = audited(history, right(share(176, 200)), resamples=50 + len(runs(history)))
    assert [evidence_of(run)["compared"] for run in runs(history)[1:]] == [0, 1, 1]
    assert answer(found, "worse").details["t"] == 1


def evidence_of(run):
    """Return what a run kept for later ones."""
    return run.summary["evidence"]


@pytest.mark.slow
def test_half_of_the_examples_of_the_accepted_run_are_compared_pair_by_pair(history):
    """150 of 200 examples are common: their pairs decide; of 99 the new ones do."""
    audited(history, night(GOOD, 200, first=0))
    found, _, _ = audited(history, right(share(100, 200), first=50))
    row = answer(found, "worse")
    assert (row.test, row.alarm) == ("mcnemar_midp", True)
    assert "pair by pair on the same 150 examples" in row.text
    found, _, _ = audited(history, right(share(100, 200), first=101))
    assert answer(found, "worse").test == "run_alarm"


@pytest.mark.slow
def test_a_declared_difference_between_runs_takes_the_place_of_the_estimate(history):
    """0.90 then, 0.80 now: with runs that differ by 0.05 no alarm; on the same examples neither."""
    sources = [night(GOOD, 1000, first=0), night(0.8, 1000, first=5000), night(0.8, 1000, first=0)]
    for between, alarms in ((None, [True, True]), (0.05, [False, False])):
        name = f"between {between}"
        audited(history, sources[0], series=name, between_runs=between)
        found = [audited(history, s, series=name, between_runs=between)[0] for s in sources[1:]]
        assert [answer(f, "worse").alarm for f in found] == alarms
    scale = Scale(greater_is_better=True, least=0.0, greatest=1.0)
    row = answer(found[0], "worse")
    assert row.details["between_runs"] == 0.05
    p = compare_run([(0.9, 0.0095)], (0.8, 0.0126), of=scale, least_n=1000, between_runs=0.05).p_value
    assert row.p_value == pytest.approx(p, rel=0.02)


@pytest.mark.slow
def test_the_place_in_the_year_survives_an_acceptance(week):
    """Runs since the first count on where others are accepted; a weekly series has 52 of them a year."""
    for number in (8, 9):
        found, run, _ = audited(week, night(GOOD, 200, first=10_000 * number))
        accept(week, run.id, time="2025-01-20T00:00:00Z")
    assert answer(found, "worse").details["t"] == 8


@pytest.mark.slow
def test_runs_a_week_apart_have_a_year_of_52(history):
    """The distance of the first two runs fixes it, also where later ones come faster."""
    for number, day in enumerate((1, 8, 9)):
        when = datetime(2026, 3, day, tzinfo=UTC)
        found, _, _ = audited(history, night(GOOD, 200, first=1000 * number), time=when)
    assert answer(found, "worse").details["horizon"] == 52


@pytest.mark.slow
def test_accepted_runs_that_differ_by_themselves_are_a_warning(history):
    """Five accepted runs between 0.80 and 0.92: more than the promise allows for, and what to declare is said."""
    for number, accuracy in enumerate((0.80, 0.92, 0.81, 0.91, 0.86)):
        audited(history, night(accuracy, 1000, first=10_000 * number))
    accept(history, 1, 2, 3, 4, 5, time="2025-01-08T00:00:00Z")
    found, _, _ = audited(history, night(0.86, 1000, first=90_000))
    text = warned(found)["runs_differ"].text
    assert "differ by themselves by 0.05" in text
    assert "--between-runs X" in text


@pytest.mark.slow
def test_pruned_predictions_change_no_alarm_where_examples_are_new(history):
    """What a night needs stands in the runs' summaries, not in their predictions."""
    kept = series(history, [GOOD, 0.8, 0.8], series="kept")
    series(history, [GOOD, 0.8], series="pruned")
    chosen = [run.id for run in runs(history, "pruned")][1:]
    prune(history, "pruned", chosen, predictions_only=True)
    found, _, _ = audited(history, night(0.8, 200, first=30_000), series="pruned")
    assert answer(found, "worse").details == answer(kept, "worse").details


# --- other metrics --------------------------------------------------------------------------------------------------


def told(history, sources, **given):
    """Audit sources of new examples; return the last audit with every night's value and standard error."""
    rows = []
    for source in sources:
        found, _, _ = audited(history, source, **given)
        rows.append(next(m for m in found.results.metrics if m.slice is None))
    return found, np.array([row.value for row in rows]), np.array([row.standard_error for row in rows])


@pytest.mark.slow
def test_every_metric_has_nights(history):
    """F1 on new examples: its values by night are compared, with their standard errors, and nothing is resampled."""
    sources = [right(share(correct, 200), first=1000 * k) for k, correct in enumerate((180, 182, 140, 142))]
    found, values, errors = told(history, sources, metrics=("f1",))
    row = answer(found, "worse")
    expected, _ = drop_evidence(values[:1], values[1:], errors)
    assert row.details["evidence"] == pytest.approx(math.exp(expected), rel=1e-9)


def errors_of(size: float, number: int, n: int = 100, shift: float = 0.0):
    """Return a regression whose errors have a size and a mean, on examples of their own that weigh 1 and 2."""
    truth = [math.sin(k + 100 * number) for k in range(n)]
    said = [y + size * (-1) ** k + shift for k, y in enumerate(truth)]
    ids, weights = [f"e{1000 * number + k}" for k in range(n)], [1.0 + k % 2 for k in range(n)]
    return {"forest": {"id": ids, "y_true": truth, "y_pred": said, "w": weights}}


@pytest.mark.parametrize("sizes", every(2, [[1.0, 1.02, 1.31, 1.3], [1.3, 1.31, 1.02, 1.0]]))
def test_of_a_loss_a_rise_is_worse(history, sizes):
    """MAE that rises, or falls: evidence of its negative; and bets against a ceiling, 0 being the best."""
    sources = [errors_of(size, number) for number, size in enumerate(sizes)]
    found, values, errors = told(history, sources, metrics=("mae",))
    expected, _ = drop_evidence(-values[:1], -values[1:], errors)
    assert answer(found, "worse").details["evidence"] == pytest.approx(math.exp(expected), rel=1e-9)
    gates = ("forest.mae <= 1.1 every night",)
    found, _, _ = audited(history, errors_of(1.2, 9), metrics=("mae",), gates=gates)
    bets = floor_evidence(np.append(values[1:], 1.2), 1.1, 0.0)
    assert answer(found, "worse").statistic == pytest.approx(math.exp(bets), rel=1e-9)


@pytest.mark.parametrize("lower", every(2, [False, True]))
def test_of_outcomes_the_user_says_which_is_better(history, lower):
    """The share of 1 rises from 0.2 to 0.6: evidence of the negative share where lower is better."""
    sources = []
    for number, ones in enumerate((60, 62, 180, 182)):
        ids = [f"e{1000 * number + k}" for k in range(300)]
        sources.append({"forest": {"id": ids, "outcome": [1] * ones + [0] * (300 - ones)}})
    found, values, errors = told(history, sources, metrics=("mean_outcome",), lower_is_better=lower)
    sign = -1 if lower else 1
    expected, _ = drop_evidence(sign * values[:1], sign * values[1:], errors)
    assert answer(found, "worse").details["evidence"] == pytest.approx(math.exp(expected), rel=1e-9)


@pytest.mark.parametrize("sign", every(2, [1, -1]))
def test_a_metric_without_direction_is_watched_both_ways(history, sign):
    """The mean error of a regression, 0, then near 1 or -1: the mean of both evidences."""
    sources = [errors_of(1.0, k, shift=sign * shift) for k, shift in enumerate((0.0, 0.1, 1.0, 1.1))]
    found, values, errors = told(history, sources, metrics=("bias_error",))
    errors[0] *= math.sqrt(100 / 99) * stats.t.isf(0.025, 99) / stats.norm.isf(0.025)
    ways = [float(drop_evidence(way * values[:1], way * values[1:], errors)[0]) for way in (1, -1)]
    assert answer(found, "worse").details["evidence"] == pytest.approx(np.exp(ways).mean(), rel=1e-9)


# --- gates ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_declared_floor_is_what_the_alarm_is_about(week):
    """A gate about every night: bets against it, whatever was accepted; it fails where they are an alarm."""
    gate = "forest.accuracy >= 0.85 every night"
    falling = [0.3] * 6
    found = nights(week, falling, begin=7, gates=(gate, "alarms <= 0"))
    row = answer(found, "worse")
    assert row.test == "night_bet"
    assert row.statistic == pytest.approx(math.exp(floor_evidence(np.array(falling), 0.85, 1.0)), rel=1e-9)
    assert (row.alarm, row.effect, row.effect_size) == (True, "from_floor", pytest.approx(-0.55))
    assert str(row.text).startswith(
        f"beyond its declared limit ({gate}): accuracy averaged 0.300 over 6 runs"
    )
    assert str(row.text).endswith("however the runs depend on each other")
    assert gate_of(found) == ("fail", row.text)
    assert gate_of(found, 1) == ("fail", "alarms: 1")
    assert found.results.gates[0].value == pytest.approx(0.3)
    assert {"few_accepted_nights", "nights_depend"}.isdisjoint(warned(found))


def test_a_floor_that_is_not_refuted_passes(history):
    """One bad night is no proof; and before anything is accepted the gate passes, as all that need a past do."""
    gates = ("forest.accuracy >= 0.85 every night",)
    found = series(history, [], gates=gates)
    assert gate_of(found) == (
        "pass",
        "no run was accepted yet: nothing to compare with, so that the series can begin",
    )
    found = nights(history, [0.7], gates=gates)
    assert gate_of(found)[0] == "pass"
    assert str(answer(found, "worse").text).startswith("not shown to be beyond its declared limit")


def test_a_floor_on_examples_that_were_seen_is_undecided(history):
    """Bets need new examples: on the same ones the pairs decide about the accepted run, and nobody about the floor."""
    audited(history, night(GOOD, 200, first=0))
    found, _, _ = audited(history, night(BAD, 200, first=0), gates=("forest.accuracy >= 0.85 every night",))
    assert gate_of(found)[0] == "undecided"
    assert str(gate_of(found)[1]).startswith("not decided: there is no run of new examples since; worse than")


@pytest.mark.parametrize(
    ("gates", "said"),
    every(
        3,
        [
            (("forest.f1 >= 0.8 every night",), "every night is about the primary metric, accuracy"),
            (("forest.accuracy <= 0.8 every night",), "write >= or >"),
            (
                ("forest.accuracy >= 1 every night",),
                "bets between the limit and the greatest value of accuracy, 1",
            ),
            (
                ("forest.accuracy >= 0.8 every night", "forest.accuracy >= 0.7 every night"),
                "twice about forest",
            ),
            (
                ("forest.accuracy >= accepted every night",),
                "one model's metric over all its examples, and a number",
            ),
            (("alarms <= 0 every night",), "one model's metric over all its examples, and a number"),
        ],
    ),
)
def test_what_no_night_can_be_asked_is_refused(history, gates, said):
    """Another metric, the wrong direction, no room to bet, two floors, an earlier run, a count."""
    audited(history, night(GOOD, 200, first=0))
    with pytest.raises(UsageError) as error:
        audited(history, night(GOOD, 200, first=900), gates=gates, metrics=("accuracy", "f1"))
    assert said in str(error.value)


def test_the_first_run_of_a_series_passes(history):
    """Nothing is accepted yet: no questions, and gates on them pass, saying so."""
    found, _, _ = audited(history, right(share(9, 10)), gates=("alarms <= 0", "drifts <= 0"))
    assert (found.results.audit, found.results.evidence) == ([], [])
    assert gate_of(found) == ("pass", "no earlier accepted run: nothing to compare")


def test_a_model_that_the_accepted_run_lacks_leaves_the_gate_undecided(history):
    """Nobody can say whether it became worse; a failed gate of another model would stand."""
    audited(history, right(share(90, 100)))
    source = right(share(90, 100), first=1000)
    source["tree"] = source["forest"]
    found, _, _ = audited(history, source, gates=("alarms <= 0",))
    assert gate_of(found)[0] == "undecided"
    assert "not decided for tree" in gate_of(found)[1]


def test_gates_of_audits_are_refused_where_there_is_none(history):
    """In a run without history, and compared with an earlier run."""
    found, _, _ = audited(history, right(share(9, 10)))
    with pytest.raises(UsageError, match="alarms are counted by an audit"):
        decide_gates(found.results, ["alarms <= 0"])
    with pytest.raises(UsageError, match="every night is known to a history"):
        decide_gates(found.results, ["forest.accuracy >= 0.5 every night"])
    with pytest.raises(UsageError, match="already compares with the accepted run"):
        decide_gates(found.results, ["alarms <= accepted"])


@pytest.mark.slow
def test_a_quiet_audit_is_not_quiet_about_an_alarm(accepted_week, tmp_path, monkeypatch, capsys):
    """With -q a night without alarm prints nothing; an alarm is a line on standard error, and the exit is still 0.

    Without -q every audit says the promise and what it rests on.
    """
    monkeypatch.chdir(tmp_path)
    shutil.copy(accepted_week, "audits.db")
    said = []
    for number, accuracy in enumerate((0.88, 0.88, 0.6)):
        folder = write(
            tmp_path / f"models{number}", share(round(accuracy * 200), 200), first=70_000 + 1000 * number
        )
        words = ["audit", str(folder), "--history", "sqlite:///audits.db", "-m", "accuracy"]
        assert main([*words, *(["-q"] if number != 1 else []), "--resamples", "1000", "-f", "json"]) == 0
        said.append(capsys.readouterr().err.splitlines())
    assert said[0] == []
    assert any(line.startswith("forest: no alarm") for line in said[1])
    (line,) = [
        line
        for line in said[1]
        if line.startswith("an alarm about a model on new examples is false in at most")
    ]
    assert "if runs are independent" in line
    (line,) = [line for line in said[2] if "worse_than_accepted" in line]
    assert line.startswith("caution: forest: worse than the accepted runs")
