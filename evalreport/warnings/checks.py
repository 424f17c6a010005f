"""A check: a function that yields warnings, the facts that it needs, and the state of each of its codes.

The parameters of a check are the facts that it needs, by name: ``predictions``, ``sample`` (it is then asked once a
sample), ``rows``, ``options``, the answer to a question by the question's name ... A fact that is missing, or one of
``needs`` that does not hold, makes the check not applicable, with that reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalreport.schema.warnings import WarningRecord

Facts = Mapping[str, object]
"""What is known of a run, by name; None: it has no such thing."""
Raise = Callable[..., Iterable[WarningRecord]]


@dataclass(frozen=True, slots=True)
class Check:
    """One function of warnings.

    Attributes
    ----------
    codes
        The codes that it can give.
    asks
        The facts that it needs: the names of its parameters.
    needs
        Names of further conditions.
    """

    codes: tuple[str, ...]
    raised: Raise
    asks: tuple[str, ...]
    needs: tuple[str, ...]

    def given(self, facts: Facts) -> Iterable[WarningRecord]:
        """Return its warnings; none where a fact is missing."""
        values = {name: facts.get(name) for name in self.asks}
        return () if any(value is None for value in values.values()) else self.raised(**values)


CHECKS: list[Check] = []
"""Every check of a run."""


def check(*codes: str, needs: Sequence[str] = ()) -> Callable[[Raise], Raise]:
    """Register a function that yields the warnings of some codes."""

    def register(raised: Raise) -> Raise:
        CHECKS.append(Check(codes, raised, tuple(inspect.signature(raised).parameters), tuple(needs)))
        return raised

    return register


def raised_by(
    checks: Sequence[Check], facts: Facts, of_samples: Sequence[Facts], first: Sequence[str]
) -> Iterator[WarningRecord]:
    """Yield the warnings of all checks.

    Parameters
    ----------
    facts
        Those of the run.
    of_samples
        Those of each sample: one of all models, or one a model with examples of its own.
    first
        The checks whose warnings come first, each by a code; of a sample those that are no mere information lead.
    """
    place = {code: k for k, code in enumerate(first)}
    leading = sorted((c for c in checks if c.codes[0] in place), key=lambda c: place[c.codes[0]])
    others = [c for c in checks if c.codes[0] not in place]
    for position, own in enumerate(of_samples):
        about = {**facts, **own}
        asked = [c for c in leading if "sample" in c.asks or position == 0]
        yield from sorted((w for c in asked for w in c.given(about)), key=lambda w: w.level == "info")
        yield from (w for c in others if "sample" in c.asks for w in c.given(about))
    yield from (w for c in others if "sample" not in c.asks for w in c.given(facts))
