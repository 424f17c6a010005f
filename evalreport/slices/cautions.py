"""What is to be warned of about slices: flagged ones, those too small to judge, columns with one value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalreport.config import Options
from evalreport.data.slicing import Division
from evalreport.records import DisparityRecord, FoundRecord, Slice, WarningRecord, warning
from evalreport.slices.sides import Side
from evalreport.texts import Message, Text

MOST_NAMED = 8


def slice_warnings(
    divisions: Sequence[Division], sides: Sequence[Side], rows: Sequence[DisparityRecord], options: Options
) -> Iterator[WarningRecord]:
    """Yield the warnings of every column: flagged slices first, then what could not be judged."""
    for division in divisions:
        flagged = [r for r in rows if r.flagged and r.slice.column == division.column and r.text]
        if flagged:
            yield _flagged(division, flagged, rows, options)
    for division in divisions:
        if len(division.values) == 1:
            value = division.values[0]
            about = (division.column,)
            yield warning("one_slice", about=about, level="info", value=value, column=division.column)
        else:
            yield from _small(division, [s for s in sides if s.name.column == division.column])


def _flagged(
    division: Division, flagged: Sequence[DisparityRecord], rows: Sequence[DisparityRecord], options: Options
) -> WarningRecord:
    # The widest first: what a reader sees of a long list.
    ordered = sorted(flagged, key=lambda r: -abs(r.difference or 0.0))
    tests = len({(r.model, r.slice) for r in rows if r.p_adjusted is not None})
    said = [r.text for r in ordered[:3]]
    if len(ordered) > 3:
        said.append(Message("disparity.more", n=len(ordered) - 3, column=division.column))
    if tests > 1 and options.correction != "none":
        said.append(Message("disparity.adjusted", correction=options.correction, n=tests))
    elif tests > 1:
        said.append(Message("disparity.not_adjusted", n=tests))
    about = tuple(dict.fromkeys([division.column, *(r.slice.value for r in ordered)]))
    return warning("slice_differs", about=about, said=tuple(said))


def _small(division: Division, sides: Sequence[Side]) -> Iterator[WarningRecord]:
    reasons: dict[str, Text] = {}
    for side in sides:
        if side.small is not None:
            reasons.setdefault(side.name.value, side.small)
    if not reasons:
        return
    about, column = (division.column, *reasons), division.column
    listed = [Message("too_small.listed", value=value, reason=reason) for value, reason in reasons.items()]
    shown, more = tuple(listed[:MOST_NAMED]), len(listed) - MOST_NAMED
    if more > 0:
        yield warning("small_slices", "more", about=about, column=column, listed=shown, n=more)
    else:
        yield warning("small_slices", "all", about=about, column=column, listed=shown)


def judged_slices(sides: Sequence[Side]) -> frozenset[Slice]:
    """Return the slices that are large enough for every model."""
    small = {side.name for side in sides if not side.large}
    return frozenset({side.name for side in sides} - small)


def found_of(division: Division) -> FoundRecord:
    """Say how a column was divided."""
    n = len(division.values)
    values = Message("division.values", names=division.values[:MOST_NAMED])
    if n > MOST_NAMED:
        values = Message("division.values_more", names=division.values[:MOST_NAMED], n=n - MOST_NAMED)
    return FoundRecord(
        f"slices of {division.column}", values, division.how or Message("sliceable.values", n=n)
    )
