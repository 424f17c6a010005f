"""`evalreport plan`: text for people, JSON for scripts, one message where an assumption is missing."""

from __future__ import annotations

import json

import pytest


def test_the_plan_of_two_models_on_the_same_examples(run):
    """1,000 examples, 10 % discordant: 2.8 points, with the formula and the assumptions beside it."""
    done = run("plan", "-n", "1000", "--discordance", "0.1")
    assert done.code == 0
    assert "0.0280  exactly one is right on 10 %" in done.out
    assert "formula:" in done.out
    assert "assumes: independent examples" in done.out


def test_json_holds_the_same_answers(run):
    """A script reads the number of examples that the text shows: 381 for +-5 points at one half (Wilson)."""
    words = ("plan", "--half-width", "0.05", "--expected", "0.5")
    (answer,) = json.loads(run(*words, "-f", "json").out)["answers"]
    assert answer["unit"] == "examples"
    assert [row["answer"] for row in answer["rows"]] == [381]
    assert "381" in run(*words).out


def test_several_pairs_need_more(run):
    """Ten comparisons divide alpha by ten, and more examples are needed."""
    one, ten = (
        json.loads(
            run("plan", "--difference", "0.02", "--discordance", "0.1", "--pairs", pairs, "-f", "json").out
        )
        for pairs in ("1", "10")
    )
    assert one["answers"][0]["rows"][0]["answer"] < ten["answers"][0]["rows"][0]["answer"]


@pytest.mark.parametrize(
    "words, said",
    [
        (("--measure", "mean", "--difference", "0.1"), "--sd"),
        (("--difference", "0.5", "--discordance", "0.1"), "--discordance"),
        (("--expected", "0.9", "--expected", "0.8", "--expected", "0.7"), "at most two"),
        (("--difference", "-1"), "--difference"),
        (("--power", "1"), "--power"),
        (("--half-width", "nan"), "half-width"),
    ],
)
def test_bad_plans_end_with_2_and_one_message(run, words: tuple[str, ...], said: str):
    """The message names the option; there is no traceback."""
    done = run("plan", *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1
