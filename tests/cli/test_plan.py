"""`evalreport plan` and `er.plan`: the answers, and one message where an assumption is missing."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er


def test_the_plan_of_two_models_on_the_same_examples(run):
    """1,000 examples, 10 % discordant: 2.8 points, with the formula and the assumptions beside it."""
    done = run("plan", "-n", "1000", "--discordance", "0.1")
    assert done.code == 0
    assert "0.0280  exactly one is right on 10 %" in done.out
    assert "formula:" in done.out
    assert "assumes: independent examples" in done.out


def test_python_has_the_same_answers(run):
    """The number of examples that the text shows: 381 for +-5 points at one half (Wilson)."""
    (answer,) = er.plan(half_width=0.05, expected=0.5)
    assert answer.unit == "examples"
    assert [row.answer for row in answer.rows] == [381]
    assert "381" in run("plan", "--half-width", "0.05", "--expected", "0.5").out


def test_several_pairs_need_more():
    """Ten comparisons divide alpha by ten, and more examples are needed."""
    one, ten = (er.plan(difference=0.02, discordance=0.1, pairs=pairs)[0] for pairs in (1, 10))
    assert one.rows[0].answer < ten.rows[0].answer


def test_human_outcomes_beside_a_judge(run):
    """A judge with r = 0.8 of 2,000 answers: 200 human outcomes are worth 200 / (1 - 0.64 * 0.9) = 472."""
    words = ("plan", "-n", "2000", "--judge-correlation", "0.8", "--expected", "0.5")
    assert "people judge 200: worth 472 without the judge, whose half-width would be 0.069" in run(*words).out
    (answer,) = er.plan(examples=2000, judge_correlation=0.8, expected=0.5)
    assert answer.unit == "half-width"
    assert answer.rows[2].answer == pytest.approx(1.959964 * 0.5 / 471.7**0.5, rel=1e-4)
    assert len(answer.rows) == 6


def test_human_outcomes_by_the_judge_of_a_run(run, tmp_path):
    """--results takes correlation, deviation and number of answers from a run, by model and pair."""
    random = np.random.default_rng(1)
    people = (random.random((2, 300)) < 0.6).astype(float)
    judge = np.where(random.random((2, 300)) < 0.9, people, 1 - people)
    gold = np.where(np.arange(300) < 80, people, np.nan)
    models = {name: {"outcome": judge[k], "gold": gold[k]} for k, name in enumerate("ab")}
    results = er.evaluate(models, resamples=20)
    er.render(results, tmp_path / "pilot", formats=["json"])
    answers = er.plan(results=tmp_path / "pilot")
    r = np.corrcoef(judge[0, :80], people[0, :80])[0, 1]
    assert f": a, correlation of judge and people {r:.2g}," in str(answers[0].question)
    assert "300 answers" in str(answers[0].question)
    assert len(answers) == 4  # of each model, of the pair, and how many fresh examples confirm the leader
    assert er.plan(results=results) == answers
    assert str(answers[0].question) in run("plan", "--results", str(tmp_path / "pilot")).out


def test_results_without_a_judge_plan_nothing(run, tmp_path):
    """One message says what a pilot needs."""
    er.render(er.evaluate({"a": {"outcome": [0, 1, 1]}}, resamples=10), tmp_path / "run", formats=["json"])
    done = run("plan", "--results", str(tmp_path / "run"))
    assert done.code == 2
    assert "no judge that people checked" in done.err
    assert "--between" not in done.err


def test_results_with_attempts_say_what_to_ask(run, tmp_path):
    """Without a judge but with several attempts, the components of the last pair stand in the message, to be copied."""
    answers = {
        name: {"id": list("1122334455"), "attempt": [1, 2] * 5, "outcome": [0, 1, 1, 1, int(name == "a")] * 2}
        for name in "ab"
    }
    results = er.evaluate(answers, resamples=10)
    er.render(results, tmp_path / "run", formats=["json"])
    pair = results.attempt_variance[-1]
    said = run("plan", "--results", str(tmp_path / "run")).err
    asked = ["--between", f"{pair.between:.3g}", "--within", f"{pair.within:.3g}"]
    assert f"{' '.join(asked)} (a against b" in said
    assert run("plan", "-n", "200", *asked).code == 0


@pytest.mark.parametrize(
    "words, said",
    [
        (("--measure", "mean", "--difference", "0.1"), "--sd"),
        (("--difference", "0.5", "--discordance", "0.1"), "--discordance"),
        (("--expected", "0.9", "--expected", "0.8", "--expected", "0.7"), "at most two"),
        (("--difference", "-1"), "--difference"),
        (("--power", "1"), "--power"),
        (("--half-width", "nan"), "half-width"),
        (("--difference", "2"), "--difference 2: a difference of two proportions lies between 0 and 1"),
        (("--difference", "1", "--layout", "independent"), "lies between 0 and 1"),
        (("--difference", "1.5", "--layout", "one", "--against", "0.5"), "lies between 0 and 1"),
        (("--half-width", "0.5"), "--half-width 0.5: a proportion lies in [0, 1]"),
        (("--half-width", "2", "--measure", "auc"), "--half-width 2: an AUC lies in [0, 1]"),
        (("--difference", "0.1", "--sd", "0.3"), "--measure mean"),
        (("--difference", "0.1", "--against", "0.8"), "--layout one"),
        (("-n", "500", "--layout", "one", "--discordance", "0.1"), "--layout paired, --measure accuracy"),
        (("--half-width", "0.1", "--measure", "auc", "--discordance", "0.1"), "leave it out"),
        (("--difference", "0.1", "--power", "0.05"), "--power 0.05"),
        (("--difference", "1e-300"), "more than a trillion"),
        (("-n", str(10**13)), "examples must lie between 1 and 1e+12"),
    ],
)
def test_bad_plans_end_with_2_and_one_message(run, words: tuple[str, ...], said: str):
    """The message names the option; there is no traceback."""
    done = run("plan", *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--difference", "2", "--measure", "mean", "--sd", "1"),
        ("--difference", "2", "--layout", "folds", "--sd", "0.1"),
        ("--half-width", "2", "--between", "1", "--within", "1"),
        ("--difference", "0.97", "--layout", "independent"),
    ],
)
def test_what_is_no_proportion_may_be_greater_than_one(run, words: tuple[str, ...]):
    """Mean losses and fold differences have any size; a difference above every usual proportion has an answer too."""
    done = run("plan", *words)
    assert done.code == 0, done.err
    given = {words[i][2:]: words[i + 1] for i in range(0, len(words), 2)}
    numbers = {key.replace("-", "_"): float(text) for key, text in given.items() if text[0].isdigit()}
    answer = er.plan(**numbers, **{key: text for key, text in given.items() if not text[0].isdigit()})[0]
    assert answer.rows
    assert all(row.answer > 0 for row in answer.rows)
