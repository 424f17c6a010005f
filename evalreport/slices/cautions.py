"""What is to be warned of about slices: flagged ones, those too small to judge, columns with one value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalreport.config import Options
from evalreport.data.slicing import Division
from evalreport.numbers import count
from evalreport.records import DisparityRecord, FoundRecord, Slice, WarningRecord
from evalreport.slices.sides import Side

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
            text = f"Every example has the value {value} of {division.column}: there is nothing to compare."
            yield WarningRecord("one_slice", text, (division.column,), level="info")
        else:
            yield from _small(division, [s for s in sides if s.name.column == division.column])


def _flagged(
    division: Division, flagged: Sequence[DisparityRecord], rows: Sequence[DisparityRecord], options: Options
) -> WarningRecord:
    # The widest first: what a reader sees of a long list.
    ordered = sorted(flagged, key=lambda r: -abs(r.difference or 0.0))
    tests = len({(r.model, r.slice) for r in rows if r.p_adjusted is not None})
    adjusted = f"adjusted ({options.correction})" if options.correction != "none" else "not adjusted"
    text = " ".join(r.text or "" for r in ordered[:3])
    if len(ordered) > 3:
        text += f" {count(len(ordered) - 3)} more of {division.column} stand in the report."
    several = f" p-values are {adjusted} over all {count(tests)} slices and models." if tests > 1 else ""
    about = tuple(dict.fromkeys([division.column, *(r.slice.value for r in ordered)]))
    return WarningRecord("slice_differs", text + several, about)


def _small(division: Division, sides: Sequence[Side]) -> Iterator[WarningRecord]:
    reasons: dict[str, str] = {}
    for side in sides:
        if side.small is not None:
            reasons.setdefault(side.name.value, side.small)
    if not reasons:
        return
    listed = [f"{value} ({reason})" for value, reason in reasons.items()]
    more = f" and {count(len(listed) - MOST_NAMED)} more" if len(listed) > MOST_NAMED else ""
    text = f"Slices of {division.column} that are too small to be judged, shown without a flag: "
    yield WarningRecord(
        "small_slices", text + "; ".join(listed[:MOST_NAMED]) + more + ".", (division.column, *reasons)
    )


def judged_slices(sides: Sequence[Side]) -> frozenset[Slice]:
    """Return the slices that are large enough for every model."""
    small = {side.name for side in sides if not side.large}
    return frozenset({side.name for side in sides} - small)


def found_of(division: Division) -> FoundRecord:
    """Say how a column was divided."""
    values = "; ".join(division.values[:MOST_NAMED])
    if len(division.values) > MOST_NAMED:
        values += f"; and {count(len(division.values) - MOST_NAMED)} more"
    how = division.how or f"{count(len(division.values))} value{'s' * (len(division.values) != 1)}"
    return FoundRecord(f"slices of {division.column}", values, how)
