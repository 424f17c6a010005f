"""Conditions of gates: the grammar, and what is refused with its place."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.errors import UsageError
from evalreport.gates.conditions import parse, parsed
from evalreport.schema.metrics import Slice
from tests.samples.gates import metric, outcome, results_with


@pytest.mark.parametrize(
    "text, label, slices",
    [
        ("a.f1[sex=f] > 0", None, (("sex", "f"),)),
        ("a.recall[class=3,sex=f] > 0", "3", (("sex", "f"),)),
        ("a.recall[sex=f, class=3] > 0", "3", (("sex", "f"),)),
        ("a.recall[sex=f,region=north] > 0", None, (("sex", "f"), ("region", "north"))),
        ('a.recall["my, column"="a]b"] > 0', None, (("my, column", "a]b"),)),
        ('a.recall["class"=x] > 0', None, (("class", "x"),)),
        ("a.recall[class=a,b] > 0", "a,b", ()),
        ("a.recall[age=18 to under 40] > 0", None, (("age", "18 to under 40"),)),
        ("a.recall[sex*age=f * under 18] > 0", None, (("sex*age", "f * under 18"),)),
        (r'a.recall[v="say \"hi\""] > 0', None, (("v", 'say "hi"'),)),
    ],
)
def test_brackets_name_a_class_columns_or_both(text, label, slices):
    """Keys in any order, quotes where a name or value needs them; a comma splits only before another key."""
    (term,) = parse(text, models=["a"]).terms
    assert (term.label, term.slices) == (label, slices)


@pytest.mark.parametrize(
    "text, message",
    [
        ("a.f1[sex] > 0", "expected [class=LABEL], [COLUMN=VALUE]"),
        ("a.f1[sex=f,sex=m] > 0", "'sex' stands there twice"),
        ("a.f1[class=1,class=2] > 0", "'class' stands there twice"),
        ("a.f1[x=1,y=2,z=3] > 0", "at most 2 columns"),
        ("a.f1[sex=f > 0", "expected ']'"),
        ("a.f1[sex=f] - b.f1[sex=m] > 0", "the same examples on both sides"),
        ("a.f1[sex=f] - b.f1 > 0", "the same examples on both sides"),
    ],
)
def test_what_is_not_meant_is_refused_with_its_place(text, message):
    """The character is counted, the spelling is shown."""
    with pytest.raises(UsageError, match="character") as error:
        parse(text, models=["a", "b"])
    assert message in str(error.value)


def test_terms_are_found_before_the_limit_can_be_read():
    """What has to be computed does not depend on what it is compared with; nonsense names nothing."""
    (gate,) = parsed(["a.f1[sex=f] >= last - 0.02", "nonsense"], models=["a"])
    assert gate.terms[0].slices == (("sex", "f"),)


ACCURACY = results_with(
    [metric("forest", "accuracy", 0.92, 0.90, 0.94), metric("logreg", "accuracy", 0.8, 0.7, 0.9)]
)


def test_the_longest_known_name_wins_and_quotes_settle_doubts():
    """Names may hold dots, dashes, blanks, comparison signs and quotes."""
    models = ["gpt-5", "gpt-5-mini", "C4", "C4.5", "a > b", 'say "hi"', "n"]
    for text, names in {
        "gpt-5.f1 - gpt-5-mini.f1 > 0": ["gpt-5", "gpt-5-mini"],
        '"gpt-5".f1 - "gpt-5-mini".f1 > 0': ["gpt-5", "gpt-5-mini"],
        "C4.5.accuracy >= 0.8": ["C4.5"],
        '"C4.5".accuracy >= 0.8': ["C4.5"],
        "C4.accuracy>=.8": ["C4"],
        "a > b.f1 <= 1e-3": ["a > b"],
        r'"say \"hi\"".f1 < 1': ['say "hi"'],
        "n.accuracy > 0.5": ["n"],
    }.items():
        assert [term.model for term in parse(text, models=models).terms] == names, text


@pytest.mark.parametrize(
    "text, models, comparator, limit",
    [
        ("0.9 <= a.accuracy", "a", ">=", 0.9),
        ("0.9>a.accuracy", "a", "<", 0.9),
        ("a.rmse <= b.rmse", "ab", "<=", 0.0),
        ("b.rmse<a.rmse", "ba", "<", 0.0),
        ('a.f1 > "b".f1', "ab", ">", 0.0),
        ("-0.01 < a.f1 - b.f1", "ab", ">", -0.01),
        ("500 <= n", "", ">=", 500),
        ("0 >= alarms", "", "<=", 0),
        ("accepted - 0.02 <= a.f1", "a", ">=", -0.02),
    ],
)
def test_a_model_or_a_number_may_stand_on_either_side(text, models, comparator, limit):
    """The sides change places with the comparator; two models mean their difference."""
    gate = parse(text, models=["a", "b"])
    assert ("".join(t.model for t in gate.terms), gate.comparator, gate.limit) == (models, comparator, limit)
    assert (gate.reference, gate.count) == (
        "accepted" if "accepted" in text else None,
        "alarms" if "alarms" in text else "n",
    )
    assert gate.text == text


@pytest.mark.parametrize(
    "text, metrics, slices, limit, ratio",
    [
        ("a.net_benefit[at=0.1] >= 0.02", ["net_benefit[at=0.1]"], [()], 0.02, False),
        ("a.recall[at_fpr=0.1,sex=f] >= 0.7", ["recall[at_fpr=0.1]"], [(("sex", "f"),)], 0.7, False),
        ("recall[at_fpr=.05][sex=f] >= 0.7", ["recall[at_fpr=.05]"], [(("sex", "f"),)], 0.7, False),
        ("accuracy >= 0.7", ["accuracy"], [()], 0.7, False),
        ("f1[sex=f] / f1[sex=m] >= 0.8", ["f1", "f1"], [(("sex", "f"),), (("sex", "m"),)], 0.8, True),
        ("a.f1[sex=f] <= 1.25 * a.f1[sex=m]", ["f1", "f1"], [(("sex", "f"),), (("sex", "m"),)], 1.25, True),
    ],
)
def test_numbers_in_brackets_ratios_and_a_model_left_out(text, metrics, slices, limit, ratio):
    """A metric may have a number in brackets, two groups may be divided, and the only model need not be named."""
    gate = parse(text, models=["a"])
    assert [term.metric for term in gate.terms] == metrics
    assert [term.slices for term in gate.terms] == slices
    assert ({term.model for term in gate.terms}, gate.limit, gate.ratio) == ({"a"}, limit, ratio)


@pytest.mark.parametrize(
    "text", ["f1[sex=f] / f1 >= 0.8", "f1[sex=f] / recall[sex=m] >= 0.8", "f1[sex=f] / f1[sex=f] >= 1"]
)
def test_a_ratio_is_of_two_groups(text):
    """Anything else divided is refused."""
    with pytest.raises(UsageError, match="a ratio needs"):
        parse(text, models=["a"])


def test_averages_and_classes_are_spelled_as_for_metric():
    """For several classes bare f1 is macro; recall[class=3] is one class's own value."""
    rows = [
        metric("forest", "f1", 0.7, 0.6, 0.8, average="macro"),
        metric("forest", "f1", 0.9, 0.85, 0.95, average="micro"),
        metric("forest", "recall", 0.5, 0.4, 0.6, label="3"),
        metric("forest", "recall", 0.1, 0.0, 0.2, label="3", slice=Slice(column="site", value="x")),
    ]
    results = results_with(rows, task="multiclass")
    assert outcome("forest.f1 > 0", results).value == 0.7
    assert outcome("forest.f1_macro > 0", results).value == 0.7
    assert outcome("forest.f1_micro > 0", results).value == 0.9
    assert outcome("forest.recall[class=3] > 0", results).value == 0.5
    assert outcome('forest.recall[class="3"] > 0', results).value == 0.5


@pytest.mark.parametrize(
    "text, message",
    [
        ("forst.accuracy > 0", "character 1: unknown model 'forst'; did you mean forest?"),
        ("forest.accuracy - logrg.accuracy > 0", "character 19: unknown model 'logrg'; did you mean logreg?"),
        ("forest.acuracy > 0", "character 8: unknown metric 'acuracy'; did you mean"),
        ("forest.accuracy", "character 16: expected one of >=, >, <=, < and a number"),
        ("forest.accuracy >=", "character 19: expected a number"),
        ("forest.accuracy >= nan", "character 20: expected a number"),
        ("forest.accuracy >= 1e999", "too large"),
        ("forest.accuracy >= 90 %", "not '%'; write a share as a number, 0.5 for 50 %"),
        ("forest.accuracy >= 0.9 and n > 100", "not 'and n > 100'; give each condition a --gate of its own"),
        ("forest.accuracy >= 0.9; n > 100", "not '; n > 100'; give each condition a --gate of its own"),
        ("forest.accuracy >= 0.9, n > 100", "not ', n > 100'; give each condition a --gate of its own"),
        (
            "gates.txt",
            "'gates.txt' is no condition, such as logreg.accuracy >= 0.9; several are given with a --gate each",
        ),
        ("forest accuracy >= 0.9", "character 7: expected a dot and a metric after the model: forest.METRIC"),
        ("roc_auc >= 0.9", "character 1: roc_auc is a metric: name the model before it, as in"),
        ("forest.accuracy == 0.9", "character 17: '==' can never be decided by an interval"),
        ("forest.accuracy - forest.accuracy > 0", "two models, and both are 'forest'"),
        ("forest.accuracy - logreg.f1 > 0", "one metric, not accuracy and f1"),
        ("forest.accuracy >= logreg.f1", "character 20: a difference needs one metric"),
        ("forest.accuracy >= logrg.accuracy", "character 20: unknown model 'logrg'; did you mean logreg?"),
        ("0.9 <= forest.accuracy <= 1", "character 24: expected the end of the gate"),
        ("0.9 <= 0.95", "character 1: unknown model '0'"),
        ("forest accuracy > 0", "character 7: expected a dot and a metric after the model"),
        ("forest. > 0", "character 8: expected the name of a metric"),
        ('"forest.accuracy > 0', "a quote is opened and not closed"),
        ("forest.recall[class=3 > 0", "expected ']'"),
        ("forest.mcc > 0", "mcc is not computed for forest; add -m mcc"),
        ("forest.accuracy - logreg.accuracy > 0", "forest and logreg are not compared"),
        ("forest.rmse > 0", "metric 'rmse' is for regression tasks; these data are binary"),
        ("", "expected MODEL.METRIC or n"),
        ("n", "unknown model 'n'"),
    ],
)
def test_what_cannot_be_read_or_found_is_refused_with_its_place(text, message):
    """A malformed gate, or one about something the results do not hold, is bad usage: exit code 2."""
    with pytest.raises(UsageError) as caught:
        outcome(text, ACCURACY)
    assert message in str(caught.value)
    assert repr(text) in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_is_a_gate_or_a_usage_error(text):
    """No input makes the parser fail otherwise."""
    with contextlib.suppress(UsageError):
        parse(text, models=["forest", "n"])
