"""The names of a model's numbers: sums by unit, limits and quantiles of predictions, members of prediction sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalreport.predictions.arrays import Floats, required

COUNTED, ERRORS = ("tp", "fp", "fn"), ("errors", "total")
"""The sums of a unit: of what was counted, with ``tn`` where that is known; or of errors in a total."""
SUMS = (*COUNTED, "tn", *ERRORS)

NEARLY = 1e-9
"""Levels and quantiles that differ by less are one."""


def of_label(name: str, code: int) -> str:
    """Return the name of a sum of one label: ``tp@0`` is that of the first."""
    return f"{name}@{code}"


def low_of(level: float) -> str:
    """Return the name of the lower limits at a level: ``low@0.9``."""
    return f"low@{level:.12g}"


def high_of(level: float) -> str:
    """Return the name of the upper limits at a level."""
    return f"high@{level:.12g}"


def quantile_of(q: float) -> str:
    """Return the name of a quantile: ``q@0.05``."""
    return f"q@{q:.12g}"


def member_of(code: int) -> str:
    """Return the name of the numbers that say whether a class is in the prediction set, 1 or 0."""
    return f"in@{code}"


def numbers_of(names: Iterable[str], kind: str) -> tuple[float, ...]:
    """Return the levels of ``low``, or the quantiles of ``q``, among names, ascending.

    Examples
    --------
    >>> numbers_of(["q@0.95", "q@0.05", "tp"], "q")
    (0.05, 0.95)
    """
    pairs = (name.partition("@") for name in names)
    return tuple(sorted(float(number) for begins, _, number in pairs if begins == kind and number))


def quantiles(names: Iterable[str]) -> tuple[float, ...]:
    """Return the quantiles that a model gives, ascending."""
    return numbers_of(names, "q")


def levels(names: Iterable[str]) -> tuple[float, ...]:
    """Return the levels of the intervals that a model gives, ascending: named ones, or pairs of quantiles.

    Examples
    --------
    >>> levels(["q@0.05", "q@0.5", "q@0.95", "q@0.99"]), levels(["low@0.8", "high@0.8"])
    ((0.9,), (0.8,))
    """
    names = list(names)
    own = numbers_of(names, "low")
    if own:
        return own
    quantile_columns = quantiles(names)
    pairs = (
        q
        for q in quantile_columns
        if q < 0.5 and any(abs(1 - q - other) < NEARLY for other in quantile_columns)
    )
    return tuple(sorted(float(f"{1 - 2 * q:.12g}") for q in pairs))


def limits_at(numbers: Mapping[str, Floats], level: float) -> tuple[Floats, Floats] | None:
    """Return the lower and upper limits (n,) at a level; None where the model has none."""
    for wanted in levels(numbers):
        if abs(wanted - level) < NEARLY:
            if low_of(wanted) in numbers:
                return numbers[low_of(wanted)], numbers[high_of(wanted)]
            return _quantile(numbers, (1 - wanted) / 2), _quantile(numbers, (1 + wanted) / 2)
    return None


def quantile_at(numbers: Mapping[str, Floats], q: float) -> Floats | None:
    """Return the quantile (n,) of a model; None where it does not give it."""
    near = [own for own in quantiles(numbers) if abs(own - q) < NEARLY]
    return numbers[quantile_of(near[0])] if near else None


def _quantile(numbers: Mapping[str, Floats], q: float) -> Floats:
    column = required(quantile_at(numbers, q))
    return column


def places(names: Iterable[str]) -> dict[str, float]:
    """Return at which quantile each limit or quantile lies, by name in ascending order.

    Examples
    --------
    >>> places(["high@0.9", "low@0.9", "q@0.5"])
    {'low@0.9': 0.05, 'q@0.5': 0.5, 'high@0.9': 0.95}
    """
    places_of = {}
    for name in names:
        begins, _, number = name.partition("@")
        if begins in ("low", "high", "q") and number:
            x = float(number)
            places_of[name] = x if begins == "q" else round((1 - x if begins == "low" else 1 + x) / 2, 15)
    return dict(sorted(places_of.items(), key=lambda entry: entry[1]))
