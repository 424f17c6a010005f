"""What the rules of the headline pass on: a lead, and the pieces of text that several of them need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalreport.headline.facts import Facts, Limited, Pair, amount, number_of, oriented
from evalreport.metrics.registry import JUDGED
from evalreport.schema import lookups
from evalreport.schema.decisions import Tone
from evalreport.texts import Message, say
from evalreport.texts.visible import visible

OF_ALGORITHMS = frozenset({"cross-validation", "5x2cv", "repeated-holdout"})
"""Designs whose verdict is about training again."""
OF_RUNS = frozenset(
    {"same_answers", "reversed", "no_skill", "equivalent", "non_inferior", "ahead", "undecided", "single"}
)
"""Leads that are about the models of one run."""
MOST_NAMES = 3
"""Models that a sentence names one by one."""
FEW_OF_A_CLASS = 100
"""Fewer examples of a class than this limit a metric that rests on both classes."""
SMALL_SHARE = 1 / 3
"""A class that is at most this share of all is named beside the number of examples."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What leads: its code, its text without a full stop, and whom it is about.

    ``first`` and ``second`` are the models of the sentence, the better one first; ``tone`` None: neutral, or good where
    gates were asked and all pass.
    """

    code: str
    text: Message
    first: str | None = None
    second: str | None = None
    tone: Tone | None = None
    about: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)


def size(pair: Pair, *, turn: bool = False) -> Message:
    """Return by how much a pair differs, with its interval, unless that was cut at 0."""
    by = pair.by
    if turn:
        by = oriented(by.value, by.low, by.high, -1)
    if by.low is None or by.high is None:
        return number_of(abs(by.value))
    if pair.cut:
        return number_of(by.value, by)
    return amount(by)


def beside_margin(facts: Facts, pair: Pair, text: Message, *, turn: bool = False) -> Message:
    """Say of a decided difference on which side of the declared margin its interval lies."""
    margin, by = facts.margin, pair.by
    if margin is None or by.low is None or by.high is None or pair.cut:
        return text
    low, high = (-by.high, -by.low) if turn else (by.low, by.high)
    side = "beyond" if low > margin else "within" if high < margin else "either"
    return Message(f"headline.margin.{side}", by=text, margin=margin)


def one_of(names: Sequence[str]) -> str:
    """Join names by *or*."""
    *first, last = names
    return say("list.or", names=", ".join(first), last=last) if first else last


def all_of(number: int) -> str:
    """Name all of several models: both, all three."""
    return say("headline.all_of", n=number, number=number)


def margin_of(facts: Facts) -> float:
    """Return the declared margin of a lead that rests on one."""
    assert facts.margin is not None
    return facts.margin


def value_of(facts: Facts, model: str) -> Limited:
    """Return a ranked model's value of the primary metric."""
    return facts.value(model, facts.quantity) or Limited(0.0)


def units(facts: Facts) -> Message:
    """Name what was drawn, and how many: examples, questions, clusters, folds, seeds, data sets."""
    results = facts.results
    column = results.options.get("cluster")
    clusters = next((r.clusters for r in results.metrics if r.slice is None and r.clusters), None)
    if column and clusters:
        return Message("headline.units.clusters", n=clusters, column=visible(str(column)))
    judged = [r.n_gold for r in results.judge_agreement if r.model is not None]
    if judged and facts.primary is not None and facts.primary.metric == JUDGED:
        return Message("headline.units.judged", n=max(judged))
    fits = {(f.repeat, f.fold) for f in results.folds}
    if results.design == "datasets":
        return Message("headline.units.datasets", n=len(fits) or results.n)
    if results.design == "seeds" and fits:
        return Message("headline.units.seeds", n=len(fits))
    if results.design in OF_ALGORITHMS and fits:
        repeats, folds = (len({fit[i] for fit in fits}) for i in (0, 1))
        if folds == 1 and repeats > 1:
            return Message("headline.units.holdouts", n=repeats)
        if repeats > 1 and repeats * folds == len(fits):
            return Message("headline.units.repeats", repeats=repeats, folds=folds)
        return Message("headline.units.folds", n=len(fits))
    if any(m.metric.startswith(("pass@", "pass^")) for m in results.metrics):
        return Message("headline.units.questions", n=results.n)
    rare = rarest_class(facts)
    if rare is not None:
        return Message("headline.units.rare", label=visible(rare[0]), n=rare[1], of=results.n)
    return Message("headline.units.examples", n=results.n)


def rarest_class(facts: Facts) -> tuple[str, int] | None:
    """Return the class of two whose few examples limit the primary metric, and how many it has; else None."""
    results, primary = facts.results, facts.primary
    if results.task != "binary" or primary is None or results.design != "test-set":
        return None
    if results.options.get("weight") or facts.metric(primary).scale.share_of_right:
        return None
    counts = lookups.true_counts(results) or _calibrated(facts)
    if len(counts) != 2:
        return None
    label = min(counts, key=lambda c: (counts[c], c))
    if not 0 < counts[label] < FEW_OF_A_CLASS or counts[label] > SMALL_SHARE * results.n:
        return None
    return label, int(counts[label])


def _calibrated(facts: Facts) -> dict[str, float]:
    """Count the classes by the record of calibration, where no model has labels."""
    positive, n = facts.results.positive, facts.results.n
    row = next((r for r in facts.results.calibration if r.slice is None and r.observed is not None), None)
    other = next((c for c in facts.results.classes if c != positive), None)
    if row is None or positive is None or other is None or row.observed is None or row.left_out:
        return {}
    return {positive: row.observed, other: n - row.observed}


def primary_words(facts: Facts) -> Message | str:
    """Name the primary metric, with the weights, that the verdict is about training again, and on how many rows."""
    words: Message | str = facts.words(facts.quantity)
    column = facts.results.options.get("weight")
    if column:
        words = Message("headline.weighted", metric=words, column=visible(str(column)))
    if facts.results.design not in OF_ALGORITHMS:
        return words
    rows = {
        p.x for p in facts.results.learning_curves if p.used and p.axis == "train_size" and p.part == "test"
    }
    if len(rows) == 1:
        return Message("headline.with_rows", metric=words, rows=int(rows.pop()))
    return Message("headline.retrained", metric=words)
