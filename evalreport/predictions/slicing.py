"""Which slice each example is in: the values of a column, bins of its numbers, or two columns at once.

    sex            the values as they are; more than ten numbers in four bins of about equal size
    age:4          four bins of about equal size; of a column of text the four most frequent values and the rest
    age:18,40,65   bins with these edges (one edge: age:40,)
    sex*age:4      every pair of values of the two
    date:month     periods of a column of dates: day, week (ISO), month, quarter or year

A column with exactly such a name takes precedence.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np

from evalreport.errors import UsageError
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.spelling import is_number
from evalreport.predictions.table import Column, Predictions
from evalreport.registry import unknown_name
from evalreport.texts import Message
from evalreport.texts import parts as in_parts

MOST_DIGITS = 17
"""Of an edge: as many as tell all numbers apart."""


def quantile_edges(values: Floats, n_bins: int, times: Indices | None = None) -> tuple[float, ...]:
    """Return inner edges of up to ``n_bins`` bins of about equal size, each with as few digits as tell its bins apart.

    Parameters
    ----------
    values
        (n,) finite numbers, at least one.
    n_bins
        Bins wanted, at least 1. Where many values are equal there are fewer: equal values stay in one bin.
    times
        (n,) how many examples have each value; None: one.

    Returns
    -------
    tuple of float
        Ascending; a bin goes from one edge, included, to the next, not included.

    Examples
    --------
    >>> quantile_edges(np.arange(100.0), 4)
    (25.0, 50.0, 75.0)
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 1.0]), 4)
    (1.0,)
    """
    ordered, above = np.sort(values), np.arange(1, len(values) + 1)
    if times is not None:
        above = np.cumsum(times[np.argsort(values)])
    places = np.ceil(np.arange(1, n_bins) * int(above[-1]) / n_bins).astype(np.int64)
    edges = np.unique(ordered[np.searchsorted(above, places[places < above[-1]], side="right")])
    edges = edges[edges > ordered[0]]
    if not len(edges) or all_whole(ordered):
        return tuple(map(float, edges))
    return tuple(_shortest(float(ordered[k - 1]), float(ordered[k])) for k in np.searchsorted(ordered, edges))


def _shortest(below: float, edge: float) -> float:
    """Return the number with the fewest digits above one value and up to the next: as an edge it moves no example.

    Examples
    --------
    >>> _shortest(991.4, 1004.9), _shortest(0.24379, 0.24384), _shortest(-3.2, -2.9), _shortest(-0.7, 0.4)
    (1000.0, 0.2438, -3.0, 0.0)
    """
    if below < 0 <= edge:
        return 0.0
    exact = Decimal(edge)
    with localcontext(prec=800):
        for place in range(exact.adjusted() + 1, exact.adjusted() - MOST_DIGITS, -1):
            rounded = float(exact.quantize(Decimal(1).scaleb(place), ROUND_FLOOR))
            if below < rounded <= edge:
                return rounded
    return edge


def bin_codes(values: Floats, edges: Sequence[float] | Floats) -> Indices:
    """Return which bin each value falls into: 0 below the first edge, and so on."""
    return np.searchsorted(np.asarray(edges, dtype=np.float64), values, side="right").astype(np.int64)


def bin_names(edges: Sequence[float], *, whole: bool) -> tuple[str, ...]:
    """Name the bins in words that need no quotes on a command line.

    Parameters
    ----------
    whole
        Whether all values are whole numbers, so that the last one inside a bin can be named.

    Examples
    --------
    >>> bin_names((18.0, 40.0), whole=True)
    ('under 18', '18 to 39', '40 or over')
    >>> bin_names((0.25, 0.5), whole=False)
    ('under 0.25', '0.25 to under 0.5', '0.5 or over')
    """
    if not edges:
        return ("all",)
    names = [f"under {spelled(edges[0])}"]
    for low, high in itertools.pairwise(edges):
        if whole and float(low).is_integer() and float(high).is_integer():
            last = f"{spelled(low)} to {spelled(high - 1)}" if high - low > 1 else spelled(low)
            names.append(last)
        else:
            names.append(f"{spelled(low)} to under {spelled(high)}")
    return (*names, f"{spelled(edges[-1])} or over")


def all_whole(values: Floats) -> bool:
    """Say whether all values are whole numbers, each of them exactly one."""
    return bool((np.abs(values) < 2.0**53).all() and (values == np.floor(values)).all())


def spelled(number: float) -> str:
    """Spell a number so that it reads back as itself.

    Examples
    --------
    >>> spelled(40.0), spelled(0.1), spelled(-0.0)
    ('40', '0.1', '0')
    """
    if number == 0:
        return "0"
    return str(int(number)) if abs(number) < 2.0**53 and float(number).is_integer() else repr(float(number))


PERIODS: Mapping[str, Callable[[date], str]] = {
    "day": lambda day: day.isoformat(),
    "week": lambda day: "{}-W{:02d}".format(*day.isocalendar()),
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year}",
}
"""Names of the periods of dates, in whose order they sort."""
MOST_VALUES = 50
"""The most slices of a column that are shown."""
MOST_NUMBERS_APART = 10
"""With more distinct numbers than this a column is divided into bins."""
USUAL_BINS = 4
MISSING = "(missing)"
OTHER = "(other)"


@dataclass(frozen=True, slots=True)
class Part:
    """One column of a slicing, and how its values are to be cut (the text after the colon); None: as they are."""

    column: str
    cut: str | None = None


@dataclass(frozen=True, slots=True)
class Division:
    """The rows divided by one column, or by two.

    Attributes
    ----------
    column
        The column's name; of two ``first*second``.
    columns
        Both names, or the one.
    values
        Names of the slices that hold a row, in order: numbers by value, text by code point, then the rest and the
        missing ones.
    parts
        (slices, columns): the value of each column in each slice.
    codes
        (n,) which slice each row is in.
    how
        How the slices were made; None where they are the column's values.
    """

    column: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    codes: Indices
    how: Message | None = None


def divisions(predictions: Predictions, texts: Iterable[str]) -> tuple[Division, ...]:
    """Divide the rows by every requested slicing, each once.

    Raises
    ------
    UsageError
        An unknown column, one that differs between models, too many values, or two ways to cut one column.
    """
    by_name: dict[str, Division] = {}
    spelling: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        division = divide(predictions, text)
        if division.column in by_name:
            first = spelling[division.column]
            raise UsageError(
                f"--slice {text}: --slice {first} divides {division.column!r} already: name one of them"
            )
        by_name[division.column], spelling[division.column] = division, text
    return tuple(by_name.values())


def divide(predictions: Predictions, text: str) -> Division:
    """Divide the rows by one slicing.

    Parameters
    ----------
    text
        As the command line spells it: ``sex``, ``age:4``, ``age:18,40,65``, ``sex*region``.

    Raises
    ------
    UsageError
        An unknown column, one that differs between models, a cut that cannot be made, or too many values.
    """
    columns: dict[str, Column] = {**predictions.keys, **predictions.metadata}
    own = {name for model in predictions.models for name in model.columns}
    parts = read_slicing(text, columns, own)
    single = [_divided(columns[part.column], part, text, predictions.multiplicity) for part in parts]
    division = single[0] if len(single) == 1 else _crossed(single[0], single[1])
    if len(division.values) > MOST_VALUES:
        raise _too_many(text, len(division.values), columns, parts)
    return division


def read_slicing(text: str, known: Collection[str], differing: Collection[str] = ()) -> tuple[Part, ...]:
    """Read one slicing: the column or the two columns that it names, each with its cut.

    Parameters
    ----------
    known
        Columns that can be sliced by.
    differing
        Columns whose values differ between models for the same example.

    Raises
    ------
    UsageError
        A column that is not there or differs between models, a wrong cut, more than two columns.

    Examples
    --------
    >>> read_slicing("sex*age:4", {"sex", "age"})
    (Part(column='sex', cut=None), Part(column='age', cut='4'))
    >>> read_slicing("sex*age", {"sex", "age", "sex*age"})
    (Part(column='sex*age', cut=None),)
    """
    whole = _part(text, known)
    if whole is not None:
        return (whole,)
    stars = [place for place, character in enumerate(text) if character == "*"]
    for place in stars:
        first, second = _part(text[:place].strip(), known), _part(text[place + 1 :].strip(), known)
        if first is not None and second is not None:
            if first.column == second.column:
                raise UsageError(f"--slice {text}: both columns are {first.column!r}")
            return first, second
    sides = [side.strip() for side in text.split("*")] if len(stars) == 1 else [text]
    name = next((side for side in sides if _part(side, known) is None), text)
    bare = name.rpartition(":")[0] if ":" in name and name.rpartition(":")[0] in known else None
    if bare is not None:
        cut = name.rpartition(":")[2]
        raise UsageError(
            f"--slice {text}: after {bare}: stands a number of bins ({bare}:4), edges in ascending order"
            f" ({bare}:18,40,65) or a period of dates ({bare}:month), not {cut!r}"
        )
    for differs in (name, name.rpartition(":")[0]):
        if differs in differing:
            raise UsageError(
                f"--slice {text}: the models have different values of {differs!r} for the same example, so a slice"
                " would not hold the same examples for every model: write the same facts for all of them"
            )
    if len(stars) > 1 and all(_part(side.strip(), known) for side in text.split("*")):
        raise UsageError(f"--slice {text}: at most two columns at once; name pairs of them")
    raise UsageError(f"--slice: {unknown_name('column', name, [*known])}")


def _part(text: str, known: Collection[str]) -> Part | None:
    if text in known:
        return Part(text)
    column, colon, cut = text.rpartition(":")
    return Part(column, cut) if colon and column in known and _is_cut(cut) else None


def _is_cut(text: str) -> bool:
    if text in PERIODS:
        return True
    if re.fullmatch(r"[0-9]{1,6}", text):
        return int(text) > 0
    if "," not in text:
        return False
    edges = text.removesuffix(",").split(",")
    if not all(is_number(edge) for edge in edges):
        return False
    numbers = [float(edge) for edge in edges]
    return all(low < high for low, high in itertools.pairwise(numbers))


def may_be_sliced_by(name: str, slices: Sequence[str], gates: Sequence[str]) -> bool:
    """Say whether an option may ask for slices of a column, so that its texts are kept as they are written."""
    named = any(name in text for text in slices)
    return named or any(f"{name}=" in gate or f'{name}"=' in gate for gate in gates)


def are_numbers(texts: Collection[str]) -> bool:
    """Say whether texts are quantities: numbers without the leading zeros of a code such as 007."""
    return bool(texts) and all(is_number(t) and not re.match(r"\s*[+-]?0\d", t) for t in texts)


# --- one column -----------------------------------------------------------------------------------------------------


def _divided(column: Column, part: Part, text: str, times: Indices | None) -> Division:
    if part.cut in PERIODS:
        return _periods(column, part, text)
    if column.categories is None:
        return _numbers(np.asarray(column.values, dtype=np.float64), part, times)
    codes = column.values.astype(np.int64)
    if are_numbers(column.categories) and (part.cut or len(column.categories) > MOST_NUMBERS_APART):
        values = np.array([*map(float, column.categories), np.nan])
        return _numbers(values[codes], part, times)
    if part.cut is None:
        return _named(part.column, column.categories, codes)
    if "," in part.cut:
        raise UsageError(
            f"--slice {text}: {part.column!r} holds text, which has no edges; {part.column}:10 keeps the ten most"
            " frequent values and puts the rest together"
        )
    return _most_frequent(column.categories, codes, part, times)


def _periods(column: Column, part: Part, text: str) -> Division:
    """Divide dates by periods, in their order; other texts and numbers are refused."""
    assert part.cut is not None
    name = PERIODS[part.cut]
    of_each = []
    for value in column.categories or ():
        try:
            of_each.append(name(date.fromisoformat(value.strip()[:10])))
        except ValueError:
            raise UsageError(
                f"--slice {text}: {part.column!r} holds {value!r}, which is no date: dates are written 2026-03-31"
            ) from None
    if not of_each:
        raise UsageError(f"--slice {text}: {part.column!r} holds no dates: dates are written 2026-03-31")
    names = sorted(set(of_each))
    place = np.array([*(names.index(own) for own in of_each), -1])
    how = Message("sliced.periods", period=part.cut, n=len(names))
    return _named(part.column, tuple(names), place[column.values.astype(np.int64)], how)


def _most_frequent(
    categories: tuple[str, ...], codes: Indices, part: Part, times: Indices | None
) -> Division:
    """Keep the most frequent values and put the others together."""
    given = codes >= 0
    each = None if times is None else times[given]
    counts = np.bincount(codes[given], each, minlength=len(categories))
    # Of values that are equally frequent those that stand first in order.
    kept = np.sort(np.argsort(-counts, kind="stable")[: int(required(part.cut))])
    if len(kept) == len(categories):
        return _named(part.column, categories, codes)
    place = np.full(len(categories) + 1, len(kept))
    place[kept], place[-1] = np.arange(len(kept)), -1
    names = tuple(categories[k] for k in kept)
    how = Message("sliced.most_frequent", kept=len(kept), values=len(categories))
    return _named(part.column, (*names, _unlike(OTHER, names)), place[codes], how)


def _numbers(values: Floats, part: Part, times: Indices | None) -> Division:
    given = ~np.isnan(values)
    distinct = np.unique(values[given])
    if part.cut is None and len(distinct) <= MOST_NUMBERS_APART:
        codes = np.where(given, np.searchsorted(distinct, values), -1)
        return _named(part.column, tuple(map(spelled, distinct)), codes)
    edges, how = _edges(values[given], part.cut, None if times is None else times[given])
    codes = np.where(given, bin_codes(np.where(given, values, 0.0), edges), -1)
    names = bin_names(edges, whole=all_whole(values[given]))
    return _named(part.column, names, codes, how)


def _edges(values: Floats, cut: str | None, times: Indices | None) -> tuple[tuple[float, ...], Message]:
    """Return the edges of the bins and say how they came about."""
    if cut is not None and "," in cut:
        edges = tuple(float(edge) for edge in cut.removesuffix(",").split(","))
        return edges, Message("sliced.edges", n=len(edges), edges=_spelled(edges))
    wanted = USUAL_BINS if cut is None else int(cut)
    edges = quantile_edges(values, wanted, times) if len(values) else ()
    how = (
        Message("sliced.bins", bins=len(edges) + 1, n=len(edges), edges=_spelled(edges))
        if edges
        else Message("sliced.one_bin")
    )
    fewer = len(edges) + 1 < wanted
    return edges, Message("sliced.fewer_bins", how=how, wanted=wanted) if fewer else how


def _spelled(edges: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(map(spelled, edges))


def _named(column: str, names: tuple[str, ...], codes: Indices, how: Message | None = None) -> Division:
    """Keep the slices that hold a row; empty cells are a slice of their own, the last one."""
    if (codes < 0).any():
        names, codes = (*names, _unlike(MISSING, names)), np.where(codes < 0, len(names), codes)
    used, compact = np.unique(codes, return_inverse=True)
    values = tuple(names[code] for code in used)
    parts = tuple((value,) for value in values)
    return Division(column, (column,), values, parts, compact.astype(np.int64).ravel(), how)


def _unlike(name: str, others: Collection[str]) -> str:
    """Give a made-up name that no value of the files has."""
    while name in others:
        name = f"({name})"
    return name


# --- two columns ----------------------------------------------------------------------------------------------------


def _crossed(first: Division, second: Division) -> Division:
    """Divide by both columns at once; pairs of values that no row has are no slices."""
    used, codes = np.unique(first.codes * len(second.values) + second.codes, return_inverse=True)
    parts = tuple(
        (first.values[c // len(second.values)], second.values[c % len(second.values)]) for c in used
    )
    values = [f"{a} * {b}" for a, b in parts]
    if len(set(values)) < len(values):
        # Values that hold the sign themselves: in quotes no two pairs read alike.
        values = [f"{_quoted(a)} * {_quoted(b)}" for a, b in parts]
    how = [Message("sliced.column", column=d.column, how=d.how) for d in (first, second) if d.how is not None]
    return Division(
        f"{first.column}*{second.column}",
        (first.column, second.column),
        tuple(values),
        parts,
        codes.astype(np.int64).ravel(),
        in_parts(*how) if how else None,
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- what can be sliced by ------------------------------------------------------------------------------------------


def _too_many(text: str, count: int, columns: Mapping[str, Column], parts: Sequence[Part]) -> UsageError:
    problem = f"--slice {text}: {count} slices, where at most {MOST_VALUES} are shown apart"
    first = parts[0].column
    cut = parts[0].cut or ""
    if cut in PERIODS:
        longer = [*PERIODS][[*PERIODS].index(cut) + 1 :]
        return UsageError(f"{problem}: take longer periods, for example {first}:{(longer or ['year'])[0]}")
    if len(parts) > 1:
        return UsageError(
            f"{problem}: put the values of a column together, for example {first}:5*{parts[1].column}:5"
        )
    categories = columns[first].categories
    if categories is None or are_numbers(categories):
        return UsageError(f"{problem}: ask for fewer bins, for example {first}:{USUAL_BINS}")
    return UsageError(f"{problem}: {first}:10 keeps the ten most frequent values and puts the rest together")


def are_dates(values: Sequence[str]) -> bool:
    """Say whether every text begins with a date, as those do that can be divided by periods.

    Examples
    --------
    >>> are_dates(["2026-03-31T12:00:00", "2026-04-01"]), are_dates(["2026-03-31", "soon"])
    (True, False)
    """
    try:
        return all(date.fromisoformat(value.strip()[:10]) for value in values)
    except ValueError:
        return False


def sliceable(predictions: Predictions) -> tuple[Message, ...]:
    """Say of every metadata column how many values it has, and how it can be sliced by."""
    return tuple(_values_of(column, name) for name, column in predictions.metadata.items())


def _values_of(column: Column, name: str) -> Message:
    if column.categories is None:
        given = column.values[~np.isnan(column.values)]
        count, numeric = len(np.unique(given)), True
        missing = len(given) < len(column.values)
    else:
        count, numeric = len(column.categories), are_numbers(column.categories)
        missing = bool((column.values < 0).any())
    facts = [Message("sliceable.values", n=count)]
    if numeric and count > MOST_NUMBERS_APART:
        facts.append(Message("sliceable.numbers", bins=USUAL_BINS, name=name))
    elif count > MOST_VALUES:
        many = "dates" if column.categories is not None and are_dates(column.categories) else "many"
        facts.append(Message(f"sliceable.{many}", name=name))
    if missing:
        facts.append(Message("sliceable.missing"))
    return Message("sliceable.column", name=name, said=facts)
