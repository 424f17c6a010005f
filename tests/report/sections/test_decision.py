"""Headline, board, terminal and summary are read from one decision table: they cannot contradict each other."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest

import evalreport as er
from evalreport.questions.thresholds.records import DominanceRecord
from evalreport.report.sections import cases, decision, failures, leaderboard
from evalreport.report.terminal import oneliner
from evalreport.report.view import view_of
from evalreport.schema.decisions import GateRecord, VerdictRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.texts.visible import short_names

Simulate = Callable[..., Results]


def decided(results: Results, kinds: dict[tuple[str, str], str]) -> Results:
    """Replace the decisions of some pairs."""
    verdicts = tuple(
        dataclasses.replace(
            v, verdict=kinds.get(v.about, v.verdict), text=f"{v.about[0]}, {v.about[1]}: said."
        )
        for v in results.verdicts
    )
    return dataclasses.replace(results, verdicts=verdicts)


def headline(results: Results) -> str:
    """Give the headline of results."""
    return decision.describe(view_of(results)).headline


def of_margin(results: Results) -> Results:
    """Declare a margin."""
    return dataclasses.replace(results, options=dict(results.options) | {"margin": 0.02})


def test_nothing_settled_is_said_whatever_the_numbers(simulate: Simulate) -> None:
    """When the decision table says that nothing is settled, no model leads, is behind or grey."""
    found = simulate()
    open_ = decided(found, {v.about: "undecided" for v in found.verdicts})
    assert headline(open_).startswith(
        "1,200 examples do not show which of the five models is best on accuracy: "
    )
    board = leaderboard.describe(view_of(open_))
    assert board is not None
    assert not any(row.behind for row in board.rows)
    assert "do not show which of the five models" in oneliner(open_)


def test_a_model_leads_only_where_it_beats_every_other(simulate: Simulate) -> None:
    """The leader is ahead of the next by the smallest of its differences; one open pair takes that away."""
    found = simulate()
    leader = view_of(found).models[0].id
    wins = {
        v.about: "better" if v.about[0] == leader else "worse" for v in found.verdicts if leader in v.about
    }
    assert headline(decided(found, wins)).startswith(
        "forest is ahead of all four others on accuracy: 0.8225, next boosting 0.8192, by 0.003 "
    )
    one_open = decided(found, wins | {next(iter(wins)): "undecided"})
    assert headline(one_open).startswith(
        "forest or boosting is best on accuracy (0.823, 0.819); 1,200 examples do not show which. "
    )
    assert headline(one_open).endswith("The other three are behind, the nearest by 0.069 [0.028, 0.111].")


def test_all_equivalent_is_said_only_when_every_pair_is(simulate: Simulate) -> None:
    """A pair that is open between two others is not passed over."""
    found = of_margin(simulate())
    every = {v.about: "equivalent" for v in found.verdicts}
    assert headline(decided(found, every)).startswith(
        "All five models are equivalent on accuracy (within ±0.02): "
    )
    open_pair = next(v.about for v in found.verdicts if "forest" not in v.about)
    but_one = decided(found, every | {open_pair: "undecided"})
    assert "equivalent" not in headline(but_one)


@pytest.mark.parametrize(
    "kind, words",
    [
        ("better", "forest is ahead of tree on accuracy: 0.815 against 0.600, by 0.215"),
        ("equivalent", "forest and tree are equivalent on accuracy (within ±0.02): 0.815 against 0.600"),
        ("non-inferior", "forest is not worse than tree on accuracy by more than 0.02: 0.815 against 0.600"),
    ],
)
def test_two_models(simulate: Simulate, kind: str, words: str) -> None:
    """Of two models every verdict has its sentence."""
    found = of_margin(simulate({"forest": 1.85, "tree": 0.6}))
    (pair,) = found.verdicts
    assert headline(decided(found, {pair.about: kind})).startswith(words)


def test_two_models_that_are_not_told_apart(simulate: Simulate) -> None:
    """What is undecided is neither close nor equal: the sentence gives the size and its interval."""
    found = simulate({"forest": 1.85, "tree": 0.6})
    (pair,) = found.verdicts
    said = headline(decided(found, {pair.about: "undecided"}))
    assert said.startswith(
        "1,200 examples do not show which of forest and tree is better on accuracy: 0.815 "
    )


def test_on_folds_the_headline_is_about_training_again(simulate: Simulate) -> None:
    """A verdict about algorithms says so."""
    found = simulate({"forest": 1.85, "tree": 0.6}, design="cross-validation")
    assert headline(found).startswith("forest is ahead of tree on accuracy when retrained: ")


def test_another_metric_on_which_contenders_differ_is_named(simulate: Simulate) -> None:
    """Where the primary metric leaves models together and the next does not, the board says so."""
    found = simulate()
    open_ = decided(found, {v.about: "undecided" for v in found.verdicts})
    second = tuple(
        dataclasses.replace(
            v, metric="roc_auc", verdict="better" if v.about == ("boosting", "tree") else "undecided"
        )
        for v in found.verdicts
    )
    both = dataclasses.replace(open_, second_verdicts=second)
    said = headline(both)
    assert said.startswith("1,200 examples do not show which of the five models is best on accuracy: ")
    board = leaderboard.describe(view_of(both))
    assert board is not None
    assert [panel.metric for panel in board.panels] == ["Accuracy", "ROC AUC"]


@pytest.mark.parametrize("baseline", ["tree", "forest"])
def test_against_a_baseline_only_its_pairs_are_spoken_of(simulate: Simulate, baseline: str) -> None:
    """The headline is about the baseline, differences are taken from it, and words stand in the place of brackets."""
    found = simulate()
    kept = tuple(v for v in found.verdicts if baseline in v.about)
    view = view_of(dataclasses.replace(found, baseline=baseline, verdicts=kept))
    board = leaderboard.describe(view)
    assert board is not None
    assert f"the baseline {baseline}" in decision.describe(view).headline
    assert board.n_brackets == 0
    assert [row.model.id for row in board.rows if row.word == "baseline"] == [baseline]


def test_cautions_are_about_contenders_and_about_the_test_first(simulate: Simulate) -> None:
    """Two at most, those about the verdict's own test first, none about nothing but models that are clearly behind."""
    warnings = (
        WarningRecord(code="class_never_predicted", text="About the labels."),
        WarningRecord(code="constant_scores", text="About tree.", about=("tree",)),
        WarningRecord(code="few_flagged", text="About the test."),
        WarningRecord(code="few_of_a_class", text="About a class."),
        WarningRecord(code="tied_scores", text="About ties.", level="info"),
    )
    found = simulate(warnings=warnings)
    said = decision.describe(view_of(found))
    assert said.cautions == ("About the test.", "About the labels.")
    assert (
        said.all_cautions == 4
    )  # as many as the appendix has, those about models that are behind among them
    both = WarningRecord(
        code="constant_scores", text="About both.", about=(view_of(found).models[0].id, "tree")
    )
    said = decision.describe(view_of(dataclasses.replace(found, warnings=(both,))))
    assert said.cautions == ("About both.",)


def test_curves_of_models_that_are_behind_may_cross_unsaid(simulate: Simulate) -> None:
    """Curves that cross are a caution where both models lead; where one is clearly behind they are none."""
    found = simulate(warnings=(WarningRecord(code="curves_cross", text="Curves cross."),))
    ranks = [m.id for m in view_of(found).models]
    tied = decided(found, {v.about: "undecided" for v in found.verdicts if ranks[-1] not in v.about})

    def cautions(a: str, b: str) -> tuple[str, ...]:
        crossing = DominanceRecord(
            a=a, b=b, curve="roc", label=None, relation="crosses", crossings=(0.1,), a_most=0.1, a_most_at=0.05,
            b_most=0.1, b_most_at=0.5, clear=True, text="They cross.", decided=True,
        )  # fmt: skip
        return decision.describe(view_of(dataclasses.replace(tied, dominance=(crossing,)))).cautions

    (said,) = cautions(ranks[0], ranks[1])
    assert said.startswith(
        f"ROC curves cross ({ranks[0]} and {ranks[1]}): "
    )  # these, not any others that cross
    assert cautions(ranks[0], ranks[-1]) == ()


def test_gates_stand_first_in_the_order_of_failures(simulate: Simulate) -> None:
    """Failures, then undecided, then passes; of more than six the passes are one; the headline names a failure."""
    outcomes = ("pass", "fail", "undecided", "pass", "pass", "pass", "pass")
    gates = tuple(
        GateRecord(gate=f"forest.f1 >= 0.{i}", outcome=outcome, value=0.5, low=0.4, high=0.6, text="t")  # type: ignore[arg-type]
        for i, outcome in enumerate(outcomes)
    )
    said = decision.describe(view_of(simulate(gates=gates)))
    assert [gate.outcome for gate in said.gates] == ["fail", "undecided"]
    assert said.passed == 5
    assert said.headline.startswith("1 of 7 gates fails, 1 undecided: forest’s F1 ")
    assert ". forest or boosting is best on accuracy (" in said.headline
    few = decision.describe(view_of(simulate(gates=gates[:3])))
    assert [gate.outcome for gate in few.gates] == ["fail", "undecided", "pass"]
    assert (few.gates[0].subject, few.gates[0].bar) == ("forest.f1", "≥ 0.1")


def test_one_model_is_held_against_the_rule_that_needs_none() -> None:
    """A single model's headline says what always predicting the most frequent class would have."""
    truth = ["a" if i % 4 else "b" for i in range(200)]
    predicted = [t if i % 10 else "b" for i, t in enumerate(truth)]
    results = er.evaluate({"only": predicted}, truth=truth, positive="a", metrics=["accuracy"], resamples=50)
    assert re.fullmatch(
        r"only’s accuracy is 0\.950 \[.*\]; always predicting “a” would have 0\.750\.", headline(results)
    )


def test_a_verdict_turned_round(simulate: Simulate) -> None:
    """Seen from the other model the limits change sign and place, and not worse becomes undecided."""
    record = VerdictRecord(
        about=("forest", "knn"),
        metric="accuracy",
        verdict="non-inferior",
        level=0.99,
        low=-0.01,
        high=0.03,
        text="t",
    )
    view = view_of(dataclasses.replace(simulate(), verdicts=(record,)))
    turned = view.verdict("knn", "forest")
    assert turned is not None
    assert (turned.verdict, turned.low, turned.high) == ("undecided", -0.03, 0.01)


def test_models_that_no_example_defeats_are_not_wrong_on_0() -> None:
    """Where every example is right for some model the heading says so."""
    truth = ["a", "b"] * 10
    models = {"one": ["a", "a"] * 10, "two": ["b", "b"] * 10}
    said = failures.describe_failures(view_of(er.evaluate(models, truth=truth, resamples=50)))
    assert said is not None
    assert said.heading == "Where it fails: on no example are both models wrong"


def test_sums_of_weights_are_not_called_examples() -> None:
    """Under --weight the headings, the counts and the line of examples say that weights were added up."""
    truth = ["ill"] * 10 + ["well"] * 10
    rows = {"y_pred": ["ill"] * 8 + ["well"] * 12, "w": [3.0] * 10 + [1.0] * 10}
    results = er.evaluate({"one": rows}, truth=truth, positive="ill", weight="w", resamples=50)
    view = view_of(results)
    said = cases.describe(view)
    assert said is not None
    assert said.heading == "By weight: 80.0 % of the weight of “ill” is found"
    assert said.groups == ("“ill”, weights of 30", "others, weights of 10")
    assert said.note.endswith("Counts are sums of the weights of “w”, of 20 examples in all.")
    assert decision.about(view).startswith("20 examples; “ill” has 75.0 % of their weight")
    several = {"y_pred": ["a", "b", "c", "a"] * 5, "w": [0.5] * 20}
    view = view_of(er.evaluate({"one": several}, truth=["a", "b", "c", "b"] * 5, weight="w", resamples=50))
    said = cases.describe(view)
    assert said is not None
    assert (said.heading, said.groups) == ("By weight: one errs on 2.5 of 10", ("weights of 10",))


def test_cases_count_what_the_confusion_counts() -> None:
    """Found and missed make the positives, alarms and cleared the others; per 1,000 is of all examples."""
    truth = ["ill"] * 40 + ["well"] * 160
    predicted = ["ill"] * 30 + ["well"] * 10 + ["ill"] * 8 + ["well"] * 152
    models = {"one": predicted, "two": truth}
    results = er.evaluate(models, truth=truth, positive="ill", metrics=["accuracy"], resamples=50)
    said = cases.describe(view_of(results))
    assert said is not None
    assert said.heading == "In cases: two finds all 40 “ill”"
    assert {row.model.id: row.cells for row in said.rows}["one"] == ("30", "10", "50.0", "8", "40.0", "152")
    (whole, *by_class) = results.unanimity
    assert (whole.n, whole.all_right, whole.all_wrong) == (200, 182, 0)
    assert {r.label: (r.n, r.all_right, r.all_wrong) for r in by_class} == {
        "ill": (40, 30, 0),
        "well": (160, 152, 0),
    }
    missed = failures.describe_failures(view_of(results))
    assert missed is not None
    assert missed.text == "The models disagree on 18 of 200 examples; some of them:"


@pytest.mark.parametrize(
    "names, short",
    [
        (["runs/forest", "runs/knn"], ["forest", "knn"]),
        (["model_a", "model_b"], ["model_a", "model_b"]),
        (["exp-forest-final", "exp-logreg-final"], ["forest", "logreg"]),
        (["only"], ["only"]),
        (["new-prompt", "old-prompt"], ["new-prompt", "old-prompt"]),
        (["w/ augmentation", "w/o augmentation"], ["w/ augmentation", "w/o augmentation"]),
    ],
)
def test_short_names(names: list[str], short: list[str]) -> None:
    """What all names share is left out up to a joint, if five characters of each remain, behind a folder three."""
    assert list(short_names(names).values()) == short


@pytest.mark.parametrize(
    "sizes, said",
    [((4,) * 30, "in 30 clusters of “patient”"), ((2,) * 40 + (40,), "in 41 clusters of “patient” (worth ")],
)
def test_clusters_stand_beside_the_examples_and_in_what_would_settle(
    sizes: tuple[int, ...], said: str
) -> None:
    """120 examples; what is needed is a number of clusters: the examples that are, divided by their mean size."""
    patient = np.repeat(np.arange(len(sizes)), sizes)
    n = len(patient)
    rng = np.random.default_rng(4)
    right = rng.random(n) < 0.8
    other = np.where(rng.random(n) < 0.3, rng.random(n) < 0.75, right)
    models = {
        name: {"outcome": values.astype(float), "patient": [f"p{i}" for i in patient]}
        for name, values in (("forest", right), ("svm", other))
    }
    results = er.evaluate(models, cluster="patient", resamples=50)
    assert {r.clusters for r in results.metrics} == {len(sizes)}
    view = view_of(results)
    about, settle = decision.about(view), decision.describe(view).settle
    assert f"{n} examples, {said}" in about
    assert ("effective" in about) == ("effective" in said)
    assert "clusters" in settle
    reach = (
        f"(now {len(sizes)})",
        f"these {len(sizes)} clusters",
        "(80 % power), if the difference is really",
    )
    assert any(words in settle for words in reach)
    assert "examples" not in settle


def test_without_clusters_none_are_counted() -> None:
    """Independent examples are not said to be clusters."""
    models = {"forest": {"outcome": [1.0, 0.0] * 40}, "svm": {"outcome": [1.0, 1.0, 0.0, 0.0] * 20}}
    results = er.evaluate(models, resamples=50)
    assert {r.clusters for r in results.metrics} == {None}
    assert "cluster" not in decision.about(view_of(results))


@pytest.mark.slow
def test_a_caution_that_the_first_sentence_says_is_not_said_twice() -> None:
    """Neither finds 'z', and one left answers empty: the sentence or a caution says each, and not both."""
    truth = ["w", "x", "y", "z"] * 50
    a = [t if t != "z" else "y" for t in truth]
    b = [t if t in "xw" else "x" for t in truth]

    def shown(**said: list[str]) -> decision.Decision:
        models = {name: {"y_true": truth, "y_pred": labels} for name, labels in said.items()}
        return decision.describe(view_of(er.evaluate(models, resamples=50)))

    of_one = shown(a=a, c=[t if t != "z" else "w" for t in truth])
    assert "neither ever finds “z”" in of_one.headline
    assert not any("never predict" in text for text in of_one.cautions)
    # Of two that are alike b never finds y either, which the sentence does not say.
    of_two = shown(d=[t if t in "wy" else "w" for t in truth], b=b)
    assert "neither ever finds “z”" in of_two.headline
    assert any("'y'" in text for text in of_two.cautions)


def test_very_small_numbers_have_one_unit_on_the_whole_page() -> None:
    """Errors of about 2e-8: the sentence, the board, the heads and the titles are in units of 10⁻⁹."""
    random = np.random.default_rng(3)
    truth = random.gamma(2, 1e-7, 200)
    models = {
        name: {"y_true": truth.tolist(), "y_pred": (truth + shift + random.normal(0, wide, 200)).tolist()}
        for name, shift, wide in (("a", 1e-8, 2e-8), ("b", 1.2e-8, 3.5e-8))
    }
    view = view_of(er.evaluate(models, task="regression", resamples=50))
    shown = decision.describe(view)
    assert shown.board is not None
    assert shown.board.title == "Ranked by RMSE (×10⁻⁹)"
    assert shown.board.panels[0].metric == "RMSE (×10⁻⁹)"
    assert re.search(
        r"by \d+\.\d+×10⁻⁹ \[\d+\.\d+, \d+\.\d+\]×10⁻⁹; both predict too high, by ", shown.headline
    )
    errors, apart = cases.describe(view), failures.describe_failures(view)
    assert errors is not None
    assert apart is not None
    assert re.search(r"are off by \d\d\.\d+×10⁻⁹ or less$", errors.heading)
    assert apart.heading.count("×10⁻⁹") == 2
    assert apart.text == "The examples on which the models’ values lie furthest apart (×10⁻⁹):"


def test_that_examples_are_few_is_the_first_caution() -> None:
    """Of eight examples: few, and too few disagreements; not that fewer than 20 are flagged."""
    truth = ["spam", "ham"] * 4
    forest = ["spam", "ham", "spam", "ham", "spam", "spam", "spam", "ham"]
    logreg = ["ham", "ham", "spam", "spam", "spam", "ham", "ham", "ham"]
    view = view_of(er.evaluate({"forest": forest, "logreg": logreg}, truth=truth, resamples=50))
    assert list(decision.describe(view).by_code) == ["few_examples", "few_discordant"]


def test_of_one_example_nothing_is_said_of_intervals_that_it_has_not() -> None:
    """No interval can be too short or a gap larger than it says."""
    found = er.evaluate({"k": [2.1], "m": [3.1]}, truth=[3.2], task="regression", resamples=50)
    codes = {warning.code for warning in found.warnings}
    assert "one_example" in codes
    assert not codes & {"short_interval", "gap_may_be_larger"}


@pytest.mark.usefixtures("primary_alone")
def test_a_bar_below_0_has_the_sign_of_the_value_beside_it() -> None:
    """In the sentence and on the chip; the gate itself stands as typed."""
    truth, new = ["a", "b"] * 20, ["b", "b"] * 20
    gate = "new.accuracy - old.accuracy > -0.02"
    view = view_of(er.evaluate({"new": new, "old": truth}, truth=truth, gates=[gate], resamples=50))
    told = decision.describe(view)
    assert "needs > −0.02" in told.headline
    assert [(g.subject, g.bar) for g in told.gates] == [("new.accuracy - old.accuracy", "> −0.02")]
