"""The section on costs and the clause of the headline: every sentence is true of its situation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import evalreport
from evalreport.questions.attempts import section as questions
from evalreport.questions.costs import section as costs
from evalreport.questions.costs.records import ratio_between
from evalreport.report.view import view_of
from tests.questions.attempts.test_compute import answers, run


def models(shift, n=400, times=0.2):
    """Return two models of outcomes: the small one has ``shift`` more successes in a hundred and costs less."""
    rng = np.random.default_rng(5)
    size = rng.lognormal(0, 0.5, n)
    outcome = (np.arange(n) % 10 < 8).astype(int)
    other = outcome.copy()
    changed = np.arange(n) % 100 < abs(shift)
    other[changed] = 1 if shift > 0 else 0
    ids = [f"q{i:04}" for i in range(n)]
    return {
        "large": {"id": ids, "outcome": outcome, "cost": size},
        "small": {"id": ids, "outcome": other, "cost": times * size * rng.lognormal(0, 0.2, n)},
    }


def told(shift, **options):
    """Return the results, and the heading of the section."""
    results = evalreport.evaluate(models(shift), resamples=50, **options)
    return results, costs.describe(view_of(results)).heading


def test_the_headline_speaks_of_cost_where_quality_is_equivalent():
    """Ratio of means 0.2 by construction."""
    _, heading = told(0, margin=0.05)
    assert heading.startswith("Cost: small and large are equivalent (within ±0.05), and small costs 0.2")


def test_a_model_that_is_not_worse_by_the_margin_and_cheaper():
    """Four of a hundred successes lost in one direction alone."""
    results, heading = told(-2, margin=0.05)
    verdict = {v.verdict for v in results.verdicts}
    assert "costs 0.2" in str(results.headline.text) or verdict == {"better"}
    assert "small costs 0.2" in heading


@pytest.mark.parametrize(
    ("shift", "words"), [(20, "small is ahead on outcome"), (-20, "large is ahead on outcome")]
)
def test_a_decided_pair_says_who_is_ahead_and_what_the_cheaper_one_costs(shift, words):
    """A column of costs was given, so the first sentence says the decided ratio beside any lead."""
    results, heading = told(shift)
    assert words in heading
    assert "; small costs 0.2" in str(results.headline.text)


def test_an_open_pair_says_that_quality_is_undecided():
    """Without a margin nothing is equivalent."""
    rng = np.random.default_rng(1)
    both = models(0)
    both["small"]["outcome"] = rng.permutation(both["small"]["outcome"])
    results = evalreport.evaluate(both, resamples=50)
    heading = costs.describe(view_of(results)).heading
    assert heading.endswith("which is better on outcome is undecided")
    assert "; small costs 0.2" in str(results.headline.text)


def test_one_model_and_none():
    """One model has its mean alone; without costs there is no section."""
    alone = {"m": models(0)["large"]}
    view = view_of(evalreport.evaluate(alone, resamples=50))
    assert costs.describe(view).heading.startswith("Cost: m has a mean cost of 1.")
    without = {"m": {k: v for k, v in alone["m"].items() if k != "cost"}}
    assert costs.describe(view_of(evalreport.evaluate(without, resamples=50))) is None


def test_slices_have_a_table_of_means_and_ratios():
    """A row a slice; the ratio is to the model that the table above has it to, the dearest."""
    both = models(0)
    for own in both.values():
        own["lang"] = ["de", "en"] * 200
    view = view_of(evalreport.evaluate(both, slices=["lang"], resamples=50))
    _, table = costs.describe(view).tables
    assert table.title == "Mean cost of an answer by lang"
    assert [column.head for column in table.columns] == ["large", "small", "small ÷ large"]
    assert [row.label for row in table.rows] == ["de", "en"]
    ratios = {r.slice.value: r for r in view.results.cost_ratios if r.slice is not None}
    # The results hold large over small.
    assert [row.cells[2].value for row in table.rows] == [
        f"{1 / ratios[lang].ratio:.2f}" for lang in ("de", "en")
    ]


def test_questions_that_fell_are_named_with_their_text():
    """The gate says which model is the new one."""
    texts = ["first?", "second?"]
    results = run(
        answers([0, 10], question=texts),
        answers([10, 0], question=texts),
        gates=["regressions(new, old) <= 0"],
    )
    view = view_of(results)
    described = questions.describe(view)
    assert described.heading == "Questions: 1 of 2 fell from old to new, 1 rose, 0 are undecided"
    rows = described.parts[0].table.rows
    assert [(r.label, r.cells[0]) for r in rows] == [("fell ↓", "first? (q0)"), ("rose ↑", "second? (q1)")]
    assert str(results.headline.text).startswith(
        "A gate fails: new is worse than old on 1 question, needs ≤ 0. 2 questions do not show which of new and old "
    )
    assert "first?" in results.summary()


def test_too_few_attempts_are_said_in_place_of_the_table():
    """Twenty questions of four attempts: six would do."""
    results = run(
        answers([0] * 20, attempts=4), answers([4] * 20, attempts=4), gates=["regressions(new, old) <= 0"]
    )
    described = questions.describe(view_of(results))
    assert described.heading == "Questions: with 4 attempts none of 20 could have been decided"
    assert described.parts[0].table is None
    assert "6 attempts of each question" in described.parts[0].box
    assert "no question can be shown to be worse" in str(results.headline.text)


def test_a_limit_beside_1_does_not_look_like_1():
    """0.74 (0.550 to 0.997) is less; value and limits have the same decimals otherwise."""
    results, _ = told(0)
    ratio = ratio_between(results.cost_ratios, "cost", "small", "large")
    near = dataclasses.replace(ratio, ratio=0.741, low=0.5502, high=0.9968)
    assert costs._verb("cost", near) == "costs 0.74 times as much (0.550 to 0.997)"
    far = dataclasses.replace(ratio, ratio=0.8, low=0.7, high=1.04)
    assert costs._verb("cost", far) == "costs 0.80 times as much (0.70 to 1.04)"
