"""The ranking of the models on the primary metric, with shared letters for undecided pairs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from string import ascii_letters

from evalreport.comparisons.decisions import Decision
from evalreport.engine.distributions import levelled
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.schema.comparisons import RankingRecord

LETTERS = ascii_letters + "αβγδεζηθικλμνξοπρστυφχψω"

FIRST_FURTHER = 0x3400
"""After those: a long run of characters that Unicode counts as letters."""


def ranking_records(
    samples: Sequence[Sample], decisions: Sequence[Decision], primary: Quantity, options: Options
) -> tuple[RankingRecord, ...]:
    """Rank the models on the primary metric; letters follow the decisions. Without a test there is no order."""
    if definition(primary).untested:
        return ()
    pairs = {frozenset((d.comparison.a, d.comparison.b)): d.decided for d in decisions if d.family}
    decided = [pair for pair, is_decided in pairs.items() if is_decided]
    estimates = {m.name: s.estimates[m.name, primary] for s in samples for m in s.predictions.models}
    return rank(estimates, pairs, decided, lower_is_better=options.lower_is_better)


def rank(
    estimates: Mapping[str, Estimate],
    compared: Collection[frozenset[str]],
    decided: Collection[frozenset[str]],
    *,
    lower_is_better: bool = False,
) -> tuple[RankingRecord, ...]:
    """Rank models by their value, best first; equal values share the better rank, missing ones come last.

    Values that only rounding tells apart are equal.

    Parameters
    ----------
    estimates
        The primary metric's estimate by model.
    compared
        The pairs of models in the decision table. Where two models with a value were not compared (as with a
        baseline), no model has a letter: a shared letter would claim a test that was not made.
    decided
        The pairs that are decided.
    lower_is_better
        Whether the user declared outcomes or values to be better when lower.
    """

    def badness(name: str) -> float:
        estimate = estimates[name]
        if not estimate.comparable:
            return float("inf")
        if estimate.metric.scale.greater_is_better is None:
            return 0.0  # a bias of -5 is no better than one of +1: no model leads
        greater = greater_is_better(estimate.quantity, lower_is_better=lower_is_better)
        return -estimate.value if greater else estimate.value

    bad = dict(zip(estimates, levelled([badness(name) for name in estimates]), strict=True))
    order = sorted(estimates, key=lambda name: (bad[name], name))
    valued = [name for name in order if estimates[name].comparable]
    every = all(frozenset(pair) in compared for pair in combinations(valued, 2))
    letters = compact_letters(valued, decided) if every else {}
    return tuple(
        RankingRecord(
            model=name,
            metric=estimates[name].quantity.spelled,
            value=estimates[name].value if estimates[name].comparable else None,
            rank=1 + sum(bad[other] < bad[name] for other in order),
            letters=letters.get(name, ""),
        )
        for name in order
    )


def compact_letters(models: Sequence[str], decided: Collection[frozenset[str]]) -> dict[str, str]:
    """Give models letters so that two models share one exactly if their pair is undecided.

    Insert and absorb (Piepho 2004, J Comput Graph Stat 13:456): begin with one group of all; split every group
    that holds a decided pair; drop groups inside others. Letters run from the best-placed group on.

    Parameters
    ----------
    models
        In the order of their ranks.

    Examples
    --------
    >>> compact_letters(["A", "B", "C"], {frozenset("AC")})
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    groups: list[frozenset[str]] = [frozenset(models)]
    for pair in sorted(decided, key=sorted):
        split: list[frozenset[str]] = []
        for group in groups:
            split += [group - {name} for name in sorted(pair)] if pair <= group else [group]
        unique = list(dict.fromkeys(split))
        groups = [g for g in unique if not any(g < other for other in unique)]
    position = {name: j for j, name in enumerate(models)}
    groups.sort(key=lambda group: sorted(position[name] for name in group))
    return {name: "".join(_letter(j) for j, group in enumerate(groups) if name in group) for name in models}


def _letter(index: int) -> str:
    """Return a ... z, A ... Z, Greek, then others: always one character, so that none holds another."""
    return LETTERS[index] if index < len(LETTERS) else chr(FIRST_FURTHER + index - len(LETTERS))
