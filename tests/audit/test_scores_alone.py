"""An audit before the true values are known: scores only, and nothing about quality."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.audit.drift import noise_of_index, stability_index
from evalreport.errors import InputError
from evalreport.history.store import runs
from tests.samples.audits import audited, options


def cases(seed, *, shift=0.0, first=0, known=True, n=400):
    """Return one model's probabilities of numbered cases, with rating grades; ``shift`` moves all of them."""
    generator = np.random.default_rng(seed)
    truth = (np.arange(n) % 7 == 0).astype(int)
    scores = np.clip(0.2 + shift + 0.3 * truth + generator.normal(0, 0.15, n), 0.01, 0.99)
    columns = {"id": [f"c{first + k}" for k in range(n)], "p_1": scores, "grade": list("ABC" * n)[:n]}
    return {"pd": {**columns, "y_true": truth.astype(str)} if known else columns}


GIVEN = {"metrics": ("roc_auc",), "grade": "grade"}


def before_the_truth(history, shift, **given):
    """Accept a run with true values, then audit another one without."""
    audited(history, cases(1), **GIVEN)
    from evalreport.audit.auditing import audit

    later = cases(2, shift=shift, first=1000, known=False)
    return audit(later, options=options(**GIVEN, **given), history=history)


def test_moved_scores_lead_and_nothing_is_said_about_quality(history):
    """Scores 0.1 higher: the headline names them and the share of labels; no metric, no comparison of models."""
    found = before_the_truth(history, 0.1).results
    assert (found.metrics, found.comparisons, found.history, found.primary_metric) == ([], [], [], None)
    assert (found.headline.code, found.headline.tone) == ("data_changed", "undecided")
    text = str(found.headline.text)
    assert text.startswith("Scores moved: scores of pd: ")
    assert text.endswith("; the true values are not known, so nothing is said about quality.")
    assert {row.question for row in found.audit} == {
        "examples",
        "column",
        "predicted_labels",
        "scores",
        "missing",
    }


def test_scores_that_did_not_move_are_said_calmly(history):
    """No alarm, a neutral sentence."""
    found = before_the_truth(history, 0.0).results
    assert (found.headline.code, found.headline.tone) == ("no_alarm", "neutral")
    assert "nothing is said about quality" in str(found.headline.text)
    assert not any(row.alarm for row in found.audit)


def test_gates_on_quality_are_undecided_and_those_on_rows_are_decided(history):
    """A gate on a metric, on alarms, on n and on drifts."""
    gates = ("pd.roc_auc >= 0.7", "alarms <= 0", "n >= 100", "drifts <= 0")
    found = before_the_truth(history, 0.1, gates=gates).results
    assert [gate.outcome for gate in found.gates] == ["undecided", "undecided", "pass", "fail"]


def test_it_is_not_recorded_so_that_the_same_cases_are_new_later(history):
    """The cases come again with their true values: all of them count as new."""
    found = before_the_truth(history, 0.0)
    assert not found.kept
    assert len(runs(history)) == 1
    later, _, added = audited(history, cases(2, first=1000), **GIVEN)
    assert added
    assert later.results.evidence[0].n_new == 400


def test_the_first_run_of_a_series_needs_true_values(history):
    """Nothing is accepted that could say what the task is."""
    with pytest.raises(InputError, match="true value"):
        audited(history, cases(1, known=False), **GIVEN)


def test_the_stability_index_of_chance_alone_is_as_said():
    """Two samples of one distribution in ten categories, 4,000 times: mean and 95 % point within Monte Carlo error."""
    generator = np.random.default_rng(8)
    share = np.full(10, 0.1)
    drawn = [
        stability_index(generator.multinomial(1000, share), generator.multinomial(500, share))
        for _ in range(4000)
    ]
    said = noise_of_index(10, 1000, 500)
    assert np.mean(drawn) == pytest.approx(said["psi_by_noise"], rel=0.03)
    assert np.mean(np.array(drawn) <= said["psi_by_noise_95"]) == pytest.approx(0.95, abs=0.012)
