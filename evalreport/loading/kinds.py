"""Which columns are sums by unit, prediction intervals, quantiles or prediction sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalreport.errors import InputError
from evalreport.options import Options, Task
from evalreport.predictions.column_names import NAMELESS
from evalreport.predictions.numbers import COUNTED, ERRORS, high_of, low_of, quantile_of
from evalreport.texts.units import unit_of

LABEL, SET = "label", "y_set"
_BOUND = re.compile(r"y_(low|high)(?:@(\d+(?:\.\d*)?|\.\d+)%?)?")
_QUANTILE = re.compile(r"q_?(0?\.\d*[1-9]\d*)")
_LIKE_QUANTILE = re.compile(r"q_?(\d+(?:\.\d*)?|\.\d+)%?")
"""Named like a quantile, whether or not it is between 0 and 1: ``q_0.1``, ``q_10``, ``q_1.9``."""
_OTHERS = frozenset(("score", "outcome", "value", "gold"))


@dataclass(frozen=True, slots=True)
class FoundKind:
    """The columns of one of these tasks.

    Attributes
    ----------
    task
        ``sums``, ``intervals`` or ``sets``.
    numbers
        Name in ``ModelOutputs.numbers`` -> header.
    columns
        Standard name -> header, of the other columns.
    """

    task: Task
    numbers: Mapping[str, str]
    columns: Mapping[str, str]


def kind_of(
    names: Mapping[str, str], columns: Mapping[str, str], *, graded: bool, file: str, options: Options
) -> FoundKind | None:
    """Find the columns of sums, intervals or sets; None: the file is of another task.

    Parameters
    ----------
    names
        Name of each column -> its header.
    columns
        The standard columns that were found.
    graded
        Whether there are probabilities of classes.

    Raises
    ------
    InputError
        ``y_low`` and ``y_high`` without a level, one limit without the other, limits beside quantiles, or a quantile
        that is not between 0 and 1.
    """
    small = {name.lower(): header for name, header in names.items()}
    named = options.task in ("sums", "intervals", "sets")
    if (options.task is not None and not named) or (not named and (graded or _OTHERS & set(columns))):
        return None
    kind = _sums(small, columns, options, named=named) if options.task in (None, "sums") else None
    if kind is None and options.task in (None, "intervals"):
        kind = _intervals(small, columns, file, options)
    return _sets(small, columns) if kind is None and options.task in (None, "sets") else kind


def _sums(
    names: Mapping[str, str], columns: Mapping[str, str], options: Options, *, named: bool
) -> FoundKind | None:
    counted = set(names) >= set(COUNTED)
    if not counted and not set(names) >= set(ERRORS):
        return None
    truth = columns.get("y_true")
    of_label = names.get(LABEL)
    if not named and ("y_pred" in columns or truth not in (None, of_label)):
        return None
    used = (*COUNTED, "tn") if counted else ERRORS
    left = {"y_true", "y_pred", *_OTHERS}
    rest = {name: header for name, header in columns.items() if name not in left}
    if of_label is not None:
        rest[LABEL] = of_label
    if "id" not in rest and not NAMELESS & set(names.values()):
        asked = {options.cluster, options.weight, *(part.partition(":")[0] for part in options.slices)}
        units = [header for header in names.values() if unit_of(header) and header not in asked]
        rest |= {"id": units[0]} if len(units) == 1 else {}
    return FoundKind("sums", {name: names[name] for name in used if name in names}, rest)


def _intervals(
    names: Mapping[str, str], columns: Mapping[str, str], file: str, options: Options
) -> FoundKind | None:
    bounds: dict[str, str] = {}
    quantiles: dict[str, str] = {}
    for name, header in names.items():
        bound, quantile = _BOUND.fullmatch(name), _QUANTILE.fullmatch(name)
        if bound is not None:
            level = _level(bound[2], header, file, options)
            bounds[(low_of if bound[1] == "low" else high_of)(level)] = header
        elif quantile is not None:
            quantiles[quantile_of(float(quantile[1]))] = header
    refuse_no_quantiles((header for header in names.values() if quantiles or "." in header), file)
    if not bounds and not quantiles:
        return None
    if bounds and quantiles:
        first, other = (next(iter(some.values())) for some in (bounds, quantiles))
        raise InputError.of("limits_and_quantiles", file=file, line=1, column=first, quantile=other)
    for name, header in bounds.items():
        side, _, level_text = name.partition("@")
        other = f"{'high' if side == 'low' else 'low'}@{level_text}"
        if other not in bounds:
            lacking = header.lower().replace(side, other.partition("@")[0])
            raise InputError.of("one_limit", file=file, line=1, column=header, lacking=lacking)
    left = {name: header for name, header in columns.items() if name not in _OTHERS}
    return FoundKind("intervals", bounds or quantiles, left)


def refuse_no_quantiles(names: Iterable[str], file: str) -> None:
    """Refuse a column that is named like a quantile which is not between 0 and 1.

    Raises
    ------
    InputError
        With how quantiles are named.
    """
    for name in names:
        like = _LIKE_QUANTILE.fullmatch(name.strip().lower())
        if like is not None and not 0 < float(like[1]) < 1:
            percent = float(like[1])
            example = f"q_{percent / 100:g}" if 0 < percent < 100 else "q_0.05"
            raise InputError.of("no_quantile", file=file, line=1, column=name, example=example)


def _level(text: str | None, header: str, file: str, options: Options) -> float:
    """Return the level of an interval by its header, in percent, or by ``--level``."""
    if text is None:
        if options.level is None:
            raise InputError.of("no_level", file=file, line=1, column=header)
        return options.level
    number = float(text)
    level = number / 100 if number >= 1 else number
    if not 0 < level < 1:
        raise InputError.of("level_outside", file=file, line=1, column=header)
    return level


def _sets(names: Mapping[str, str], columns: Mapping[str, str]) -> FoundKind | None:
    if SET not in names:
        return None
    left = {name: header for name, header in columns.items() if name not in _OTHERS}
    return FoundKind("sets", {}, {**left, SET: names[SET]})


def refuse_wide(names: Sequence[str], file: str) -> None:
    """Refuse sums, intervals and sets in a wide table: there a model has one column.

    Raises
    ------
    InputError
        With the remedy.
    """
    small = {name.strip().lower() for name in names}
    if small >= set(COUNTED) or small >= set(ERRORS) or SET in small or any(map(_BOUND.fullmatch, small)):
        raise InputError.of("wide_with_several_columns", file=file, line=1)
