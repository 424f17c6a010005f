"""Is a model worse than at its accepted run: what counts as evidence, when it is an alarm, what gates make of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalreport.audit.confidence_sequences import condense, highest_mean, log_wealth, share_of_look
from evalreport.audit.gates import judge
from evalreport.audit.record import accept, prune
from evalreport.audit.store import runs
from evalreport.cli import main
from evalreport.errors import UsageError
from evalreport.results import to_json
from tests.audit_history.sources import audited, gate_of, right, share, write

from .nights import BAD, GOOD, answer, night, series, warned


def losses(accuracy: float, n: int):
    """Condense what ``night`` gets wrong."""
    return condense(1.0 - np.array(share(round(accuracy * n), n)))


def test_a_model_that_keeps_its_level_raises_nothing(history):
    """Ten nights at the accepted level: no alarm, no warning, and the gate on alarms passes."""
    found = series(history, [GOOD] * 10, gates=("alarms <= 0",))
    row = answer(found, "worse")
    assert (row.alarm, row.test, row.run, row.look) == (False, "betting", 1, 10)
    assert row.effect_size == pytest.approx(0.0, abs=1e-12)
    assert "worse_than_accepted" not in warned(found)
    assert gate_of(found) == ("pass", "alarms: 0")


def test_a_drop_after_good_nights_is_an_alarm_and_fails_the_gate(history):
    """Five good nights and two at 70 %: alarm, warning, limit below 0, gate failed."""
    found = series(history, [GOOD] * 5 + [BAD] * 2, gates=("alarms <= 0",))
    row = answer(found, "worse")
    assert row.alarm
    assert row.p_adjusted <= 0.05
    assert row.high < 0
    assert row.low is None
    assert row.text.startswith("worse than the accepted run: at some look since it has been at least 0.")
    assert warned(found)["worse_than_accepted"].about == ("forest",)
    assert gate_of(found) == ("fail", "alarms: 1")


def test_the_statistic_follows_from_the_stored_runs(history):
    """The wealth is that of the nights' losses at the accepted run's limit, computed here from the counts alone."""
    found = series(history, [GOOD, 0.85, 0.8])
    looks = [(k + 1, losses(a, 200)) for k, a in enumerate((GOOD, 0.85, 0.8))]
    limit = highest_mean(losses(GOOD, 1000), 0.8 * 0.05)
    assert answer(found, "worse").statistic == pytest.approx(math.exp(log_wealth(looks, limit)), rel=1e-9)


def test_the_p_value_is_the_smallest_error_at_which_there_is_an_alarm(history):
    """At a confidence just below 1 - p the same nights are an alarm, just above it they are none."""
    p = answer(series(history, [BAD]), "worse").p_adjusted
    for factor, alarm in ((1.01, True), (0.99, False)):
        found = series(history, [BAD], confidence=1 - factor * p, series=str(factor))
        assert answer(found, "worse").alarm is alarm


def test_the_error_is_shared_by_the_models_of_a_run(history):
    """Two models: each is judged at half of the error, so the limit of the accepted run is wider."""
    both = [night(GOOD, 1000, first=0), night(0.8, 200, first=5000)]
    for source in both:
        source["tree"] = source["forest"]
    audited(history, both[0])
    found, _, _ = audited(history, both[1])
    one = series(history, [0.8], series="one")
    assert answer(found, "worse", "forest").high > answer(one, "worse").high


def test_the_plain_test_stands_beside_it_and_raises_nothing(history):
    """`worse_this_run` has the p-value of the history section, labelled, and is never an alarm."""
    found = series(history, [0.8])
    row = answer(found, "worse_this_run")
    assert row.p_value == found.results.history[0].p_value
    assert (row.p_adjusted, row.alarm) == (None, False)
    assert row.text.startswith("this look alone, not corrected")


# --- new evidence ---------------------------------------------------------------------------------------------------


def test_the_same_examples_every_night_are_no_new_evidence(history):
    """The test of this look at its share of the error: p times 1/share, by McNemar on the pairs."""
    audited(history, right(share(180, 200)))
    found, _, _ = audited(history, right(share(178, 200)))
    found, _, _ = audited(history, right(share(150, 200)))
    row = answer(found, "worse")
    assert (row.test, row.look) == ("mcnemar_midp", 2)
    assert row.p_adjusted == pytest.approx(row.p_value / share_of_look(2), rel=1e-12)
    assert row.alarm
    assert "all examples were seen before: no new evidence" in row.text
    assert found.results.evidence[0].n_new == 0


def test_a_rise_on_the_same_examples_is_called_one(history):
    """From 150 to 180 right of the same 200: the small p-value is said to be of a change for the better."""
    audited(history, right(share(150, 200)))
    found, _, _ = audited(history, right(share(180, 200)))
    row = answer(found, "worse")
    assert row.p_value < 0.001
    assert not row.alarm
    assert row.text.startswith("not shown to be worse, the change being for the better: p < 0.001")


def test_of_a_moving_window_only_what_is_new_counts(history):
    """200 examples that move on by 50 a night: 50 new ones each, whichever run held the others."""
    audited(history, night(GOOD, 200, first=0))
    for shift in (50, 100, 150):
        found, _, _ = audited(history, night(GOOD, 200, first=shift))
        assert found.results.evidence[0].n_new == 50
    assert found.results.evidence[0].n_since == 150


def test_examples_of_any_run_since_are_known(history):
    """What the first night held comes back in the third: only the rest of it is new."""
    series(history, [GOOD, GOOD])
    found, _, _ = audited(history, night(GOOD, 300, first=10_000))
    assert found.results.evidence[0].n_new == 100
    assert found.results.evidence[0].value == pytest.approx((270 - 200) / 100)


def test_an_overlap_that_cannot_be_looked_up_is_no_evidence(history):
    """The predictions of the night that held these examples are pruned: none is new, and one look decides."""
    series(history, [GOOD, GOOD])
    prune(history, "default", [2], predictions_only=True)
    found, _, _ = audited(history, night(BAD, 300, first=10_000))
    assert (
        "run 2 held some of these examples, and its predictions are not kept" in answer(found, "worse").text
    )
    assert answer(found, "worse").test == "two_proportions_z"


def test_pruned_predictions_change_no_alarm_where_examples_are_new(history):
    """What the sequence needs stands in the runs' summaries, not in their predictions."""
    kept = series(history, [GOOD, 0.8, 0.8], series="kept")
    series(history, [GOOD, 0.8], series="pruned")
    chosen = [run.id for run in runs(history, "pruned")][1:]
    prune(history, "pruned", chosen, predictions_only=True)
    found, _, _ = audited(history, night(0.8, 200, first=30_000), series="pruned")
    assert answer(found, "worse").statistic == answer(kept, "worse").statistic


def test_without_ids_nothing_is_known_to_be_new(history):
    """Row numbers: the test of this look decides, at its share."""
    for accuracy in (GOOD, 0.5):
        source = night(accuracy, 300, first=0)
        del source["forest"]["id"]
        found, _, _ = audited(history, source)
    row = answer(found, "worse")
    assert row.test == "two_proportions_z"
    assert "without a column id nothing says which examples are new" in row.text
    assert row.alarm


def test_of_clusters_each_counts_once_and_only_if_it_is_new(history):
    """40 clusters of 5 rows; half of them were at the accepted run: 20 new units, each with its mean loss."""
    audited(history, night(GOOD, 200, first=0, who=[f"c{k // 5}" for k in range(200)]), cluster="who")
    later = night(GOOD, 200, first=900, who=[f"c{20 + k // 5}" for k in range(200)])
    found, _, _ = audited(history, later, cluster="who")
    record = found.results.evidence[0]
    assert (record.unit, record.n_new) == ("cluster", 20)
    # Clusters c40 to c59 hold rows 100 to 199, of which the last 20 are wrong.
    assert record.value == pytest.approx(0.8)


def test_accepting_a_run_begins_anew(history):
    """After a drop the new level is accepted: the next night is look 1, and at that level no alarm."""
    series(history, [BAD, BAD])
    accept(history, 3, time="2025-01-01T00:00:00Z")
    found, _, _ = audited(history, night(BAD, 200, first=90_000))
    row = answer(found, "worse")
    assert (row.run, row.look, row.alarm) == (3, 1, False)


def test_an_audit_that_is_repeated_says_the_same(history):
    """The same night again: not recorded twice, and the same bytes, evidence included."""
    first = series(history, [GOOD, 0.8])
    again, _, added = audited(history, night(0.8, 200, first=20_000))
    assert not added
    assert to_json(again.results) == to_json(first.results)


# --- other metrics --------------------------------------------------------------------------------------------------


def test_a_score_between_0_and_1_is_bet_on_as_it_is(history):
    """Brier score: the p of the wrong class rises from 0.1 to 0.4 on new examples; the loss rises from 0.01 to 0.16."""

    def probabilities(p: float, n: int, first: int):
        truth = [str(k % 2) for k in range(n)]
        given = [p if t == "0" else 1 - p for t in truth]
        return {"forest": {"id": [f"e{first + k}" for k in range(n)], "y_true": truth, "p_1": given}}

    audited(history, probabilities(0.1, 300, 0), metrics=("brier",))
    found, _, _ = audited(history, probabilities(0.4, 300, 1000), metrics=("brier",))
    row = answer(found, "worse")
    assert (row.test, row.alarm, row.high) == ("betting", True, None)
    assert 0 < row.low < 0.15
    assert row.effect_size == pytest.approx(0.15, abs=1e-9)


@pytest.mark.parametrize(("lower", "alarm"), [(False, False), (True, True)])
def test_of_outcomes_the_user_says_which_is_better(history, lower, alarm):
    """The share of 1 rises from 0.2 to 0.6: worse only where lower is better."""
    for first, ones in ((0, 60), (1000, 180)):
        ids = [f"e{first + k}" for k in range(300)]
        source = {"forest": {"id": ids, "outcome": [1] * ones + [0] * (300 - ones)}}
        found, _, _ = audited(history, source, metrics=("mean_outcome",), lower_is_better=lower)
    assert (answer(found, "worse").test, answer(found, "worse").alarm) == ("betting", alarm)


def test_a_test_by_resampling_says_where_its_replicates_cannot_decide(history):
    """F1 falls on new examples: 50 replicates give no p-value that is small enough; as many as are asked for do."""
    audited(history, right(share(180, 200)), metrics=("f1",))
    worse = right(share(60, 200), first=1000)
    found, _, _ = audited(history, worse, metrics=("f1",), gates=("alarms <= 0",))
    row = answer(found, "worse")
    assert (row.test, row.p_value, row.alarm) == ("bootstrap_difference", pytest.approx(2 / 51), False)
    assert gate_of(found)[0] == "undecided"
    needed = int(row.reason.removeprefix("50 replicates cannot decide at this look: --resamples ").split()[0])
    assert needed == math.ceil(51 * (2 / 51) / share_of_look(1) / 0.05)
    audited(history, right(share(180, 200)), metrics=("f1",), series="more")
    found, _, _ = audited(history, worse, metrics=("f1",), resamples=needed, series="more")
    assert answer(found, "worse").alarm


# --- gates ----------------------------------------------------------------------------------------------------------


def test_the_first_run_of_a_series_passes(history):
    """Nothing is accepted yet: no questions, and gates on them pass, saying so."""
    found, _, _ = audited(history, right(share(9, 10)), gates=("alarms <= 0", "drifts <= 0"))
    assert (found.results.audit, found.results.evidence) == ((), ())
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
        judge(found.results, ["alarms <= 0"])
    with pytest.raises(UsageError, match="already compares with the accepted run"):
        judge(found.results, ["alarms <= accepted"])


def test_a_quiet_audit_is_not_quiet_about_an_alarm(tmp_path, monkeypatch, capsys):
    """With -q a good night prints nothing; a drop is a line on standard error, and the exit is still 0."""
    monkeypatch.chdir(tmp_path)
    said = []
    for number, accuracy in enumerate((GOOD, GOOD, 0.5)):
        folder = write(tmp_path / f"models{number}", share(round(accuracy * 300), 300), first=1000 * number)
        words = ["audit", str(folder), "--history", "sqlite:///audits.db", "-q", "-m", "accuracy"]
        assert main([*words, "--resamples", "1000", "-f", "json"]) == 0
        said.append(capsys.readouterr().err.splitlines())
    assert said[:2] == [[], []]
    (line,) = [line for line in said[2] if "worse_than_accepted" in line]
    assert line.startswith("warning: forest: worse than the accepted run")
