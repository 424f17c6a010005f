"""Ranks on the primary metric, and the letters that models which cannot be told apart share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from string import ascii_lowercase

from evalreport.metrics.estimate import Estimate
from evalreport.results import RankingRecord


def rank(estimates: Mapping[str, Estimate], decided: Collection[frozenset[str]]) -> tuple[RankingRecord, ...]:
    """Rank models by their value, best first; equal values share the better rank, missing ones come last.

    Parameters
    ----------
    estimates
        The primary metric's estimate by model.
    decided
        The pairs of models that the decision table tells apart.
    """

    def badness(name: str) -> float:
        estimate = estimates[name]
        if not estimate.defined:
            return float("inf")
        return -estimate.value if estimate.metric.greater_is_better else estimate.value

    order = sorted(estimates, key=lambda name: (badness(name), name))
    letters = compact_letters(order, decided)
    return tuple(
        RankingRecord(
            model=name,
            metric=estimates[name].quantity.spelled,
            value=estimates[name].value if estimates[name].defined else None,
            rank=1 + sum(badness(other) < badness(name) for other in order),
            letters=letters[name],
        )
        for name in order
    )


def compact_letters(models: Sequence[str], decided: Collection[frozenset[str]]) -> dict[str, str]:
    """Give models letters so that two share one exactly if they are not told apart.

    Insert and absorb (Piepho 2004, J Comput Graph Stat 13:456): begin with one group of all; split every group
    that holds a pair told apart; drop groups inside others. Letters run from the best-placed group on.

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
    place = {name: j for j, name in enumerate(models)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    return {name: "".join(_letter(j) for j, group in enumerate(groups) if name in group) for name in models}


def _letter(index: int) -> str:
    """Return a, b, ... z, a1, b1 ..."""
    return ascii_lowercase[index % 26] + (str(index // 26) if index >= 26 else "")
