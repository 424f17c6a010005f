"""Which level a look has, after the looks before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from evalreport.comparisons.spending import look_levels, spent_at
from evalreport.questions.looks.records import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What was declared before the first look: how many there may be, and how their error is spent."""

    looks: int
    n_max: int | None
    pushes: bool
    alpha: float

    def share(self, look: int, n: int) -> float:
        """Return the share of the information at a look under the rule ``added``."""
        if self.n_max is None or look == self.looks:
            return look / self.looks
        return min(n / self.n_max, 1.0)


class Level(Struct, frozen=True, kw_only=True):
    """A look: its number of examples, its rule, its level, and the error spent by then."""

    n: int
    rule: Rule
    level: float
    spent: float


def next_level(taken: Sequence[Level], n: int, declared: Declared, *, added: bool) -> Level:
    """Return the next look.

    Parameters
    ----------
    taken
        The looks before.
    n
        The number of examples now.
    added
        Whether the same models saw more examples than at the last look; at the first look nothing speaks against it.
    """
    look = len(taken) + 1
    alpha, spent = declared.alpha, taken[-1].spent if taken else 0.0
    equal = alpha / declared.looks
    if declared.pushes:
        return Level(n=n, rule="other", level=equal, spent=spent + equal)
    if added and all(one.rule == "added" for one in taken):
        sizes = [*(one.n for one in taken), n]
        shares = [declared.share(k, size) for k, size in enumerate(sizes, 1)]
        return Level(
            n=n, rule="added", level=look_levels(sizes, shares, alpha)[-1], spent=spent_at(shares[-1], alpha)
        )
    rest = (alpha - spent) / (declared.looks - look + 1)
    if all(one.rule == "added" for one in taken):
        rest = min(equal, rest)
    return Level(n=n, rule="other", level=rest, spent=spent + rest)


def are_spent(taken: Sequence[Level], declared: Declared) -> bool:
    """Say whether no look is left: all were taken, or one at the largest number of examples spent everything."""
    return len(taken) >= declared.looks or (bool(taken) and taken[-1].spent >= declared.alpha * (1 - 1e-9))


def planned_levels(taken: Sequence[Level], declared: Declared) -> list[Level]:
    """Return the looks that are still to come, if equally many examples are added each time."""
    levels, last = list(taken), taken[-1]
    left = declared.looks - len(taken)
    step = last.n / len(taken)
    if declared.n_max is not None and declared.n_max > last.n and left:
        step = (declared.n_max - last.n) / left
    for k in range(1, left + 1):
        if are_spent(levels, declared):
            break
        levels.append(
            next_level(levels, max(round(last.n + k * step), levels[-1].n + 1), declared, added=True)
        )
    return levels[len(taken) :]
