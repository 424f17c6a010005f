"""Records of a pair of models, seen from either of the two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

OfPair = TypeVar("OfPair", bound=Any)
DIFFERENCE, RATIO = ("difference", "low", "high"), ("ratio", "low", "high")
"""The fields of what is turned round: a value alone, or with its lower and its upper limit."""


def negated(value: float | None) -> float | None:
    """Turn a difference round, where there is one; 0 has no sign."""
    return None if value is None else 0.0 - value


def inverted(ratio: float | None) -> float | None:
    """Turn a ratio round; None where there is none."""
    return 1 / ratio if ratio else None


def seen_from(
    model: str | None,
    record: OfPair,
    *values: tuple[str, ...],
    by: Callable[[float | None], float | None] = negated,
) -> OfPair:
    """Return a record of a pair with this model as ``a``: turned round where it is the other one.

    Parameters
    ----------
    values
        The fields that are turned round, as in ``DIFFERENCE``, which is meant where none is given.
    by
        Turns one number round.
    """
    if record.a == model:
        return record
    sides = {"a": record.b, "b": record.a}
    for value, *limits in values or (DIFFERENCE,):
        sides[value] = by(getattr(record, value))
        sides |= {name: by(getattr(record, other)) for name, other in zip(limits, limits[::-1], strict=True)}
    return dataclasses.replace(record, **sides)
