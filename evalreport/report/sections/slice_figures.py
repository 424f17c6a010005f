"""The figure of one column that was sliced by: a panel for each model, its slices from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalreport.plots.slices import SliceValue, slice_values
from evalreport.records import DisparityRecord, MetricRecord
from evalreport.report.characters import shorten
from evalreport.report.figures import Figure
from evalreport.report.naming import listed
from evalreport.report.view import Model, View, key_of, metric_record
from evalreport.texts import named, say

Panel = tuple[Model, tuple[SliceValue, ...]]

MOST_PANELS = 6
PANELS_A_ROW = 3
LONGEST_LABEL = 26


def figures_of(
    view: View,
    column: str,
    place: int,
    names: Mapping[str, str],
    found: tuple[Sequence[MetricRecord], Sequence[DisparityRecord]],
) -> tuple[Figure, ...]:
    """Describe the figures of one column on the primary metric, each a row of panels: no figure outgrows a page.

    Parameters
    ----------
    names
        The slices' names as they are shown, by value, in order.
    found
        The metrics within the slices, and their tests against the other examples.
    """
    records, rest = found
    of_primary = {(r.model, r.slice.value): r for r in records if r.slice and key_of(r) == view.primary}
    if all(r.value is None for r in of_primary.values()):
        return ()
    tested = {(r.model, r.slice.value): r for r in rest}
    shown = view.models[:MOST_PANELS]
    panels = [(model, _rows(view, model, names, of_primary, tested)) for model in shown]
    limits = _limits(view, panels)
    caption = say("slices.figure")
    if len(view.models) > len(shown):
        caption += " " + say("report.first_of", shown=len(shown), n=len(view.models))
    starts = range(0, len(panels), PANELS_A_ROW)
    return tuple(
        _figure(view, column, f"slices-{place}-{row}", panels[i : i + PANELS_A_ROW], limits,
                caption if i + PANELS_A_ROW >= len(panels) else "")
        for row, i in enumerate(starts)
    )  # fmt: skip


def _figure(
    view: View,
    column: str,
    name: str,
    panels: Sequence[Panel],
    limits: tuple[float, float] | None,
    caption: str,
) -> Figure:
    title = say("slices.by", metric=view.primary_label, column=shorten(column))
    draw = tuple(_panel(view, model, rows, limits, labelled=i == 0) for i, (model, rows) in enumerate(panels))
    # The last row has as many places as the others, so that all panels have one size.
    columns = min(len(view.models), PANELS_A_ROW)
    n_rows = len(panels[0][1])
    return Figure(
        name=name,
        title=title,
        description=_description(title, panels),
        caption=caption,
        draw=draw,
        width={1: 5.0, 2: 7.0, 3: 9.0}[columns],
        height=0.85 + 0.185 * n_rows,
        columns=columns,
    )


def _rows(
    view: View,
    model: Model,
    names: Mapping[str, str],
    records: dict[tuple[str, str], MetricRecord],
    tested: dict[tuple[str, str], DisparityRecord],
) -> tuple[SliceValue, ...]:
    found = []
    for value, name in names.items():
        record, test = records.get((model.id, value)), tested.get((model.id, value))
        first = record.intervals[0] if record is not None and record.intervals else None
        word = ""
        if test is not None and test.flagged and test.difference:
            word = named("chip", "better" if (test.difference > 0) == view.greater_is_better else "worse")
        found.append(
            SliceValue(
                label=name,
                value=None if record is None else record.value,
                low=None if first is None else first.low,
                high=None if first is None else first.high,
                word=word,
                judged=test is None or test.p_value is not None or not test.reason,
            )
        )
    return tuple(found)


def _limits(view: View, panels: Sequence[tuple[Model, Sequence[SliceValue]]]) -> tuple[float, float] | None:
    """Return one scale for all panels, so that they can be compared."""
    ends = [
        end for _, rows in panels for row in rows for end in (row.value, row.low, row.high) if end is not None
    ]
    ends += [
        record.value
        for model, _ in panels
        if (record := metric_record(view, model.id, view.primary)) is not None and record.value is not None
    ]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    margin = 0.04 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - margin, high + margin


def _panel(
    view: View,
    model: Model,
    rows: tuple[SliceValue, ...],
    limits: tuple[float, float] | None,
    *,
    labelled: bool,
) -> Callable[[Any], Any]:
    record = metric_record(view, model.id, view.primary)
    first = record.intervals[0] if record is not None and record.intervals else None
    whole = (
        None if record is None else record.value,
        None if first is None else first.low,
        None if first is None else first.high,
    )

    def draw(axes: Any) -> Any:
        return slice_values(
            rows, axes, index=model.index, key=model.key, whole=whole, title=model.short,
            axis_label=view.primary_label, limits=limits, labelled=labelled,
        )  # fmt: skip

    return draw


def _description(title: str, panels: Sequence[Panel]) -> str:
    flagged = [
        say("slices.described_flagged", slice=row.label, word=row.word, model=model.short)
        for model, rows in panels
        for row in rows
        if row.word
    ]
    said = say("curves.described", title=title, names=listed([model.short for model, _ in panels], 12))
    flags = (
        say("slices.described_flags", slices=listed(flagged, 12)) if flagged else say("slices.described_none")
    )
    return f"{said} {flags}"
