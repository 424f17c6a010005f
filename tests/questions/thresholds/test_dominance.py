"""Who is above whom: by the exact curves, with the places where they cross, and what the verdict says of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.metrics.views import Scored
from evalreport.questions.thresholds.dominance import CLEAR, decided_both_ways, dominance
from evalreport.report.sections.decision import describe
from evalreport.report.view import view_of
from tests.samples.curves import counts_along, evaluated, rows

pytestmark = pytest.mark.usefixtures("primary_alone")

EXERCISE = next(
    e
    for e in json.loads((Path(__file__).parents[2] / "data" / "seed_examples.json").read_text())["examples"]
    if e["id"] == "ru8_exercise1"
)


def exercise(**options):
    """Evaluate the seminar's two classifiers on their eight examples."""
    truth = [label == "+" for label in EXERCISE["inputs"]["labels"]]
    return evaluated(
        {name: rows(truth, score=EXERCISE["inputs"][name]) for name in ("classifier1", "classifier2")},
        **options,
    )


def test_the_seminars_curves_cross():
    """Both areas are 11/16; classifier1 is higher by 1/4 left of FPR 1/4, classifier2 by 1/4 from 1/2 on."""
    (record,) = exercise().dominance
    assert (record.relation, record.clear) == ("crosses", True)
    assert (record.a_most, record.b_most) == (0.25, 0.25)
    assert record.a_most_at < 0.25 <= record.clear_crossings[0] <= 0.5 <= record.b_most_at
    assert len(record.clear_crossings) == 1


def crossing(n: int = 600, seed: int = 1) -> dict[str, dict]:
    """Return two models with equal areas, Phi(1 / sqrt 2): positives as wide as negatives, and three times as wide."""
    random = np.random.default_rng(seed)
    truth = np.arange(2 * n) < n
    narrow = random.normal(size=2 * n) + 1.0 * truth
    wide = np.where(truth, np.sqrt(5) + 3.0 * random.normal(size=2 * n), random.normal(size=2 * n))
    return {"narrow": rows(truth, score=narrow), "wide": rows(truth, score=wide)}


def test_the_seminars_eight_examples_say_nothing_of_a_winner_on_the_first_screen():
    """The curves cross, and eight examples decide it at no rate: a piece of information, no caution."""
    results = exercise(metrics=("roc_auc",))
    (verdict,) = results.verdicts
    assert verdict.verdict == "undecided"
    assert "winner" not in verdict.text
    assert not any("winner" in text or "cross" in text for text in describe(view_of(results)).cautions)
    assert [w.level for w in results.warnings if w.code == "curves_cross"] == ["info"]


def test_two_models_that_are_each_decidedly_ahead_somewhere_have_no_overall_winner():
    """A wide spread finds more at few false alarms, a narrow one at many: verdict, warning and report say so."""
    results = evaluated(crossing(), metrics=("roc_auc",))
    (record,) = results.dominance
    assert (record.relation, record.clear, record.decided) == ("crosses", True, True)
    assert "no overall winner" in results.verdicts[0].text
    assert any("no overall winner" in text for text in describe(view_of(results)).cautions)
    assert [w.level for w in results.warnings if w.code == "curves_cross"] == ["caution"]


def test_a_crossing_of_equal_models_is_decided_in_no_more_than_one_of_a_hundred():
    """60 pairs of 60 and 60 examples with equal curves: each would have to be ahead by chance, in both directions."""
    random = np.random.default_rng(5)
    positive = np.repeat([1.0, 0.0], 60)
    decided = 0
    for _ in range(60):
        first, second = (random.normal(size=120) + positive for _ in "ab")
        decided += decided_both_ways(Scored(first, positive), Scored(second, positive))
    assert decided <= 1


def test_clusters_are_not_tested_for_a_crossing():
    """The limits are of independent examples: nothing is decided, and nothing stands on the first screen."""
    source = crossing()
    for columns in source.values():
        columns["group"] = [str(i // 3) for i in range(1200)]
    results = evaluated(source, metrics=("roc_auc",), cluster="group")
    assert [r.decided for r in results.dominance] == [None]
    assert "winner" not in results.verdicts[0].text


def test_a_verdict_on_labels_keeps_its_own_sentence():
    """Where the primary metric is no area, crossing curves are told of beside the verdict, not in it."""
    truth = [label == "+" for label in EXERCISE["inputs"]["labels"]]
    scores = {n: np.array(EXERCISE["inputs"][n], float) for n in ("classifier1", "classifier2")}
    results = evaluated(
        {n: rows(truth, p_1=(s - s.min()) / np.ptp(s)) for n, s in scores.items()}, threshold=0.5
    )
    assert results.primary_metric == "accuracy"
    assert "winner" not in results.verdicts[0].text
    assert any(w.code == "curves_cross" for w in results.warnings)


def relation(a, b, truth):
    """Return how the curve of scores a lies to that of scores b."""
    (record,) = dominance([counts_along(a, truth), counts_along(b, truth)], {})
    return record


def test_above_below_and_same():
    """One swap of a neighbouring positive and negative puts a curve below; the other way round it is above."""
    truth = [1, 0, 1, 0]
    better, worse = [4, 3, 2, 1], [3, 4, 2, 1]
    assert relation(better, worse, truth).relation == "above"
    assert relation(worse, better, truth).relation == "below"
    assert relation(better, [8, 6, 4, 2], truth).relation == "same"
    record = relation(better, worse, truth)
    assert record.crossings == ()
    assert (record.a_most, record.b_most, record.b_most_at) == (0.5, 0.0, None)


def test_a_crossing_inside_ties_is_interpolated():
    """All tied is the diagonal; + - - + has TPR 1/2 from FPR 0 to 1: they cross at FPR 1/2."""
    record = relation([1, 1, 1, 1], [4, 3, 2, 1], [1, 0, 0, 1])
    assert record.crossings == (0.5,)
    assert record.clear_crossings == (0.5,)
    assert (record.a_most, record.b_most) == (0.5, 0.5)


SMALL = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), min_size=3, max_size=25
).filter(lambda drawn: len({positive for *_, positive in drawn}) == 2)


@given(SMALL)
def test_relation_agrees_with_a_fine_grid(drawn):
    """On 2,001 false positive rates, away from steps: the largest leads are found, and no crossing is missed."""
    a, b, truth = (np.array(column) for column in zip(*drawn, strict=True))
    truth = truth.astype(bool)
    record, turned = relation(a, b, truth), relation(b, a, truth)
    one, other = counts_along(a, truth), counts_along(b, truth)
    grid = np.linspace(0, 1, 2001)
    gap = np.interp(grid, one.fpr, one.tpr) - np.interp(grid, other.fpr, other.tpr)
    assert record.a_most >= gap.max() - 1e-9
    assert record.b_most >= -gap.min() - 1e-9
    signs = np.sign(np.where(np.abs(gap) < 1e-9, 0, gap))
    signs = signs[signs != 0]
    assert len(record.crossings) >= (np.diff(signs) != 0).sum()
    assert (record.a_most, record.b_most) == (turned.b_most, turned.a_most)
    assert record.crossings == pytest.approx(turned.crossings)
    assert {record.relation, turned.relation} in ({"above", "below"}, {"crosses"}, {"same"})
    assert record.clear == (min(record.a_most, record.b_most) >= CLEAR)


def test_wiggles_are_not_clear():
    """Two rankings of one noisy kind cross often and never clearly."""
    random = np.random.default_rng(0)
    truth = random.random(4000) < 0.5
    scores = random.normal(size=4000) + 1.5 * truth
    record = relation(scores, scores + 0.05 * random.normal(size=4000), truth)
    assert record.relation == "crosses"
    assert not record.clear
    assert record.clear_crossings == ()
    assert "not clearly" in record.text


def test_a_model_with_labels_only_is_a_point():
    """FPR 1/4, TPR 1/2 lies below the perfect curve and on no other; between two points one may dominate."""
    truth = [1] * 4 + [0] * 4
    results = evaluated(
        {
            "ranks": rows(truth, p_1=[0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]),
            "said": rows(truth, y_pred=["1", "1", "0", "0", "1", "0", "0", "0"]),
            "worse": rows(truth, y_pred=["1", "0", "0", "0", "1", "1", "0", "0"]),
        }
    )
    known = {(r.a, r.b, r.curve): r for r in results.dominance}
    below, above = known["said", "ranks", "roc_point"], known["said", "worse", "points"]
    assert (below.relation, below.b_most, below.b_most_at) == ("below", 0.5, 0.25)
    assert (below.a_most, below.a_most_at) == (0.0, None)
    # (1/4, 1/2) is 1/4 above (1/2, 1/4).
    assert (above.relation, above.a_most, above.b_most) == ("above", 0.25, 0.0)


def test_with_a_baseline_only_its_pairs_are_compared():
    """Every pair holds the baseline."""
    truth = [1, 0, 1, 0, 1, 0]
    models = {n: rows(truth, score=np.roll(np.arange(6.0), i)) for i, n in enumerate("abc")}
    results = evaluated(models, baseline="b")
    assert {(r.a, r.b) for r in results.dominance} == {("a", "b"), ("b", "c")}


@pytest.mark.slow
def test_of_more_than_20_models_only_the_pairs_of_the_best_are_compared():
    """As in `comparisons`: of 1,770 pairs of 60 equal models some 860 seem to cross, by chance."""
    truth = [1, 0, 1, 0, 1, 0]
    models = {f"m{i:02}": rows(truth, score=np.roll(np.arange(6.0), i % 5 + 1)) for i in range(20)}
    assert len(evaluated(models).dominance) == 190
    results = evaluated(models | {"best": rows(truth, score=truth)})
    assert len(results.dominance) == 20
    assert all("best" in (r.a, r.b) for r in results.dominance)
