"""Sizes of differences: each against its definition, and turned round when the models are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.comparisons.effects import standardised_limits
from evalreport.schema.comparisons import EffectRecord
from evalreport.schema.results import Results

pytestmark = pytest.mark.usefixtures("primary_alone")


def evaluate(models: dict[str, dict[str, Any]], **options: Any) -> Results:
    """Evaluate with the fewest replicates: no size rests on them."""
    return evalreport.evaluate(models, options=evalreport.Options(**{"resamples": 200, **options}))


def size(results: Results, effect: str, unit: str = "example", a: str = "a") -> EffectRecord:
    """Return the one record of an effect."""
    (found,) = [r for r in results.effects if (r.effect, r.unit, r.a) == (effect, unit, a)]
    return found


def judged(both: int, only_a: int, only_b: int, neither: int, names: tuple[str, str] = ("a", "b")) -> Results:
    """Evaluate two models with a given table of agreement, half of each cell positive where it is even."""
    truth, said = [], {name: [] for name in names}
    for count, right in ((both, (1, 1)), (only_a, (1, 0)), (only_b, (0, 1)), (neither, (0, 0))):
        for i in range(count):
            t = i % 2
            truth.append(str(t))
            for name, good in zip(names, right, strict=True):
                said[name].append(str(t if good else 1 - t))
    ids = [f"{i:05d}" for i in range(len(truth))]
    return evaluate({m: {"id": ids, "y_true": truth, "y_pred": y} for m, y in said.items()})


def test_sizes_of_a_table_of_agreement():
    """With b : c = 40 : 15 of 1,000: odds 40/15, g = 40/55 - 1/2, superiority 1/2 + 25/2000 (by hand)."""
    results = judged(800, 40, 15, 145)
    (table,) = results.agreement
    assert (table.both, table.only_a, table.only_b, table.neither) == (800, 40, 15, 145)
    assert size(results, "odds_ratio_discordant").value == pytest.approx(40 / 15)
    assert size(results, "cohen_g").value == pytest.approx(40 / 55 - 0.5)
    assert size(results, "rank_biserial").value == pytest.approx(25 / 55)
    assert size(results, "probability_of_superiority").value == pytest.approx(0.5125)


def test_limits_of_the_odds_are_wilson_s_of_the_share():
    """The share 40/55 has Wilson limits of statsmodels; the odds' are those, divided by one minus them."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(40, 55, method="wilson")
    odds = size(judged(800, 40, 15, 145), "odds_ratio_discordant")
    assert (odds.low, odds.high) == pytest.approx((low / (1 - low), high / (1 - high)))


def test_errors_per_1000_cases():
    """Errors of a alone and of b alone, by true class: 7 misses and 8 false alarms of b, 20 and 20 of a (of 1,000)."""
    results = judged(800, 15, 40, 145)
    # Of the 15 cells 8 are negatives (0, 2, 4 ...) and 7 positives; of the 40 half and half.
    assert size(results, "misses_per_1000").value == pytest.approx(20 - 7)
    assert size(results, "false_alarms_per_1000").value == pytest.approx(20 - 8)
    assert "13 more misses" in size(results, "misses_per_1000").text


def test_sizes_turn_round_with_the_models():
    """Swapping the two models turns every size and its limits."""
    ahead, behind = judged(800, 40, 15, 145), judged(800, 40, 15, 145, names=("z", "b"))
    odds, turned = size(ahead, "odds_ratio_discordant"), size(behind, "odds_ratio_discordant", a="b")
    assert turned.value == pytest.approx(1 / odds.value)
    assert (turned.low, turned.high) == pytest.approx((1 / odds.high, 1 / odds.low))
    for effect in ("cohen_g", "rank_biserial", "misses_per_1000", "false_alarms_per_1000"):
        assert size(behind, effect, a="b").value == pytest.approx(-size(ahead, effect).value)


def test_a_model_against_itself_has_no_size():
    """No discordant example: no odds, an even superiority, no errors more or fewer, nothing raised."""
    results = judged(80, 0, 0, 20)
    assert size(results, "probability_of_superiority").value == 0.5
    assert size(results, "misses_per_1000").value == 0
    assert not [r for r in results.effects if r.effect in ("odds_ratio_discordant", "cohen_g", "cohen_d")]


def test_all_disagreements_on_one_side_have_no_odds():
    """Odds of b : 0 are no number; their lower limit is."""
    odds = size(judged(80, 10, 0, 10), "odds_ratio_discordant")
    assert odds.value is None
    assert odds.low is not None
    assert odds.high is None


def values(seed: int = 1, n: int = 80) -> tuple[dict[str, dict[str, Any]], np.ndarray]:
    """Return two regression models and the differences of their absolute errors."""
    random = np.random.default_rng(seed)
    truth = random.normal(10, 3, n)
    first, second = truth + random.normal(size=n), truth + 1.4 * random.normal(size=n)
    ids = [f"{i:03d}" for i in range(n)]
    models = {
        name: {"id": ids, "y_true": truth.tolist(), "y_pred": said.tolist()}
        for name, said in (("a", first), ("b", second))
    }
    return models, np.abs(first - truth) - np.abs(second - truth)


def test_sizes_of_mean_losses():
    """Cohen's d is mean over standard deviation; superiority counts wins (smaller losses); scipy gives the ranks."""
    models, d = values()
    results = evaluate(models, metrics=("mae",))
    assert size(results, "cohen_d").value == pytest.approx(d.mean() / d.std(ddof=1))
    assert size(results, "probability_of_superiority").value == pytest.approx((d < 0).mean())
    # scipy: the statistic is the smaller rank sum; r = 1 - 2 W / (n (n + 1) / 2) for the favoured side.
    w = stats.wilcoxon(d).statistic
    n = len(d)
    assert abs(size(results, "rank_biserial").value) == pytest.approx(1 - 4 * w / (n * (n + 1)))
    assert size(results, "rank_biserial").value > 0, "a has the smaller errors"


@pytest.mark.parametrize(("n", "seed"), [(100, 2), (400, 3)])
def test_the_limits_of_cohen_s_d_know_skewness_and_kurtosis(n: int, seed: int):
    """Var(d) = (1 - d skewness + d^2 (kurtosis - 1) / 4) / n by scipy's moments, with t(n - 1)."""
    models, d = values(seed, n)
    found = size(evaluate(models, metrics=("mae",)), "cohen_d")
    by_hand = d.mean() / d.std(ddof=1)
    moments = stats.skew(d), stats.kurtosis(d, fisher=False)
    variance = (1 - by_hand * moments[0] + by_hand**2 * (moments[1] - 1) / 4) / n
    half = stats.t.ppf(0.975, n - 1) * math.sqrt(variance)
    assert (found.low, found.high) == pytest.approx((by_hand - half, by_hand + half), rel=1e-9)


def test_below_100_examples_cohen_s_d_has_no_limits():
    """The value stays."""
    models, d = values(n=99)
    found = size(evaluate(models, metrics=("mae",)), "cohen_d")
    assert found.value == pytest.approx(d.mean() / d.std(ddof=1))
    assert (found.low, found.high) == (None, None)


def test_the_limits_of_cohen_s_d_do_not_depend_on_the_unit():
    """Differences in any unit have the same limits."""
    d = np.random.default_rng(4).exponential(size=120) - 0.7
    expected = standardised_limits(d, 0.95)
    for scale in (1e-150, 1e12):
        assert standardised_limits(scale * d, 0.95) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_cohen_s_d_has_no_interval_without_width():
    """A quarter 1.5 and the rest 0.5: d times skewness is 2, and the variance (1 - d skewness / 2)^2 / n is 0."""
    differences = np.tile([0.5, 0.5, 0.5, 1.5], 1_000_000)
    assert stats.skew(differences) * differences.mean() / differences.std() == pytest.approx(2)
    assert standardised_limits(differences, 0.95) == (None, None)


def test_sizes_over_folds_have_no_limits():
    """Folds share training data: their sizes stand, without limits; the pooled odds lose theirs too."""
    n = 120
    random = np.random.default_rng(5)
    truth = [str(i % 2) for i in range(n)]
    ids, fold = [f"{i:03d}" for i in range(n)], [str(i // 24) for i in range(n)]
    models = {
        m: {"id": ids, "fold": fold, "y_true": truth,
            "y_pred": [t if random.random() < p else "1" if t == "0" else "0" for t in truth]}
        for m, p in (("a", 0.9), ("b", 0.7))
    }  # fmt: skip
    results = evaluate(models)
    x = np.array([r.value for r in results.folds if r.metric == "accuracy" and r.model == "a"])
    x -= np.array([r.value for r in results.folds if r.metric == "accuracy" and r.model == "b"])
    d = size(results, "cohen_d", "fold")
    assert d.value == pytest.approx(x.mean() / x.std(ddof=1))
    assert (d.low, d.high) == (None, None)
    assert size(results, "odds_ratio_discordant").low is None


def test_disagreements_put_the_widest_first():
    """The example with most pairs apart and the widest probabilities stands first; agreed ones nowhere."""
    ids, truth = ["q1", "q2", "q3", "q4"], ["1", "1", "0", "0"]
    p = {"a": [0.9, 0.9, 0.2, 0.1], "b": [0.8, 0.4, 0.3, 0.2], "c": [0.7, 0.6, 0.9, 0.3]}
    models = {m: {"id": ids, "y_true": truth, "p_1": v} for m, v in p.items()}
    records = evaluate(models).disagreements
    assert list(dict.fromkeys(r.id for r in records)) == ["q3", "q2"]
    assert [(r.model, r.answer, r.correct) for r in records[:3]] == [
        ("a", "0", True), ("b", "0", True), ("c", "1", False)
    ]  # fmt: skip
    assert records[0].truth == "0"


def test_disagreements_are_at_most_twenty_examples():
    """A hundred examples on which two models disagree: twenty are listed, by id where nothing else tells them apart."""
    records = judged(0, 100, 0, 0).disagreements
    assert [r.id for r in records[::2]] == [f"{i:05d}" for i in range(20)]


def test_of_disagreements_that_are_alike_every_kind_has_its_turn():
    """Thirty false alarms of a come before its only miss and b's only miss by their ids; both are among the twenty."""
    ids, truth = [f"e{i:03d}" for i in range(60)], ["0"] * 50 + ["1"] * 10
    a = ["1"] * 30 + ["0"] * 20 + ["0"] + ["1"] * 9
    b = ["0"] * 50 + ["1"] + ["0"] + ["1"] * 8
    models = {name: {"id": ids, "y_true": truth, "y_pred": answers} for name, answers in (("a", a), ("b", b))}
    listed = [r.id for r in evaluate(models).disagreements[::2]]
    assert listed[:3] == ["e000", "e050", "e051"]
    assert listed[3:] == [f"e{i:03d}" for i in range(1, 18)]


def test_disagreements_of_numbers():
    """Regression: the example with the largest distance between answers stands first."""
    models, _ = values()
    first = np.array(models["a"]["y_pred"]) - np.array(models["b"]["y_pred"])
    record = evaluate(models).disagreements[0]
    assert record.id == f"{int(np.abs(first).argmax()):03d}"
    assert record.spread == pytest.approx(np.abs(first).max())
    assert record.correct is None


def test_limits_of_a_superiority_are_half_those_of_the_difference():
    """Superiority is (1 + difference) / 2, and so are its limits: those of Bonett and Price (2012), by hand.

    36 right twice, 12 and 2 once: one more in each cell of the two, (13 - 3) / 52 -+ t(.975; 49) of its error.
    """
    superiority = size(judged(36, 12, 2, 0), "probability_of_superiority")
    assert superiority.value == pytest.approx(0.6)
    half = stats.t.ppf(0.975, 49) * math.sqrt((16 / 52 - (10 / 52) ** 2) / 52)
    assert superiority.low == pytest.approx(0.5 + (10 / 52 - half) / 2, abs=1e-12)
    assert superiority.high == pytest.approx(0.5 + (10 / 52 + half) / 2, abs=1e-12)


def test_limits_of_misses_are_those_of_paired_proportions():
    """Of 50 examples 20 are missed twice, 12 by a only, 2 by b only: 1,000 times Newcombe's (1998) method 10, by hand.

    32/50 and 22/50 with their Wilson limits of statsmodels; phi = (20 * 16 - 12 * 2 - 50/2) / sqrt(32 * 18 * 22 * 28).
    """
    from statsmodels.stats.proportion import proportion_confint

    truth, ids = ["1"] * 40 + ["0"] * 10, [f"{i:02d}" for i in range(50)]
    right = ["1"] * 6 + ["0"] * 10  # What neither gets wrong: six positives and all negatives.
    said = {"a": ["0"] * 32 + ["1"] * 2 + right, "b": ["0"] * 20 + ["1"] * 12 + ["0"] * 2 + right}
    models = {m: {"id": ids, "y_true": truth, "y_pred": y} for m, y in said.items()}
    misses = size(evaluate(models, positive="1"), "misses_per_1000")
    (low_a, high_a), (low_b, high_b) = (proportion_confint(x, 50, method="wilson") for x in (32, 22))
    phi = (20 * 16 - 12 * 2 - 25) / np.sqrt(32 * 18 * 22 * 28)

    def both(one: float, other: float) -> float:
        return float(np.sqrt(one**2 - 2 * phi * one * other + other**2))

    low = 0.2 - both(0.64 - low_a, high_b - 0.44)
    high = 0.2 + both(high_a - 0.64, 0.44 - low_b)
    assert misses.value == pytest.approx(200)
    assert (misses.low, misses.high) == pytest.approx((1000 * low, 1000 * high))
