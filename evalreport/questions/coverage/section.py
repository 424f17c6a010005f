"""The section about prediction intervals: coverage beside width, by level, width, time, and tests of series."""

from __future__ import annotations

from functools import partial

from evalreport import numbers
from evalreport.plots.pictures import Figure
from evalreport.questions.coverage.charts import coverage_by_level, overall, width_by_level
from evalreport.questions.coverage.records import CoverageRecord, WidthRatioRecord
from evalreport.report.table import Row, Table, Tables, headings, plain_cell
from evalreport.report.view import Model, View
from evalreport.schema.pairs import RATIO, inverted, seen_from
from evalreport.texts import say

MOST_MODELS = 6


def describe(view: View) -> Tables | None:
    """Lay out coverage and width; nothing where there are no intervals."""
    models = [model for model in view.models if overall(view.results, model.id)]
    if not models:
        return None
    level = shown_level(view)
    return Tables(
        heading=sentence(view),
        text=say("coverage.about", n=view.results.n, level=numbers.percent(view.confidence)),
        figures=(_figure(view),),
        tables=(
            _by_level(view, models),
            *(t for by in ("width", "time") if (t := _by_parts(view, models, by, level)) is not None),
            *(t for t in (_series(view, models),) if t is not None),
        ),
    )


def shown_level(view: View) -> float:
    """Return the level that is spoken of: that of the tenths, else of the primary metric, else the largest."""
    parts = [r.level for r in view.results.coverages if r.by != "all"]
    known = sorted({r.level for r in view.results.coverages})
    primary = view.results.primary_metric or ""
    named = [level for level in known if f"[level={level:.12g}]" in primary]
    return parts[0] if parts else named[0] if named else known[-1]


def sentence(view: View) -> str:
    """Say how often the intervals of the first two models hold, and whose are narrower where that is decided."""
    level = shown_level(view)
    records = [
        (model, record)
        for model in view.models
        for record in overall(view.results, model.id)
        if record.level == level
    ][:2]
    if not records:
        return ""
    (first, of_first), *rest = records
    known = {"level": numbers.percent(level), "a": first.name, "held": _held(of_first)}
    if not rest:
        return say("coverage.one", **known)
    second, of_second = rest[0]
    known |= {"b": second.name, "other": _held(of_second)}
    ratio = _ratio(view, first, second, level)
    if ratio is None or ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return say("coverage.two", **known)
    narrower, by, low, high = (
        (first.name, 1 - ratio.ratio, 1 - ratio.high, 1 - ratio.low)
        if ratio.ratio < 1
        else (second.name, 1 - 1 / ratio.ratio, 1 - 1 / ratio.low, 1 - 1 / ratio.high)
    )
    percents = [numbers.percent(round(x, 3)) for x in (by, low, high)]
    return say(
        "coverage.two_widths", **known, narrower=narrower, by=percents[0], low=percents[1], high=percents[2]
    )


def _held(record: CoverageRecord) -> str:
    """Write a share with its limits: 84.1 % [82.5, 85.6]."""
    assert record.coverage is not None
    value = numbers.percent(round(record.coverage, 3))
    if record.low is None or record.high is None:
        return value
    return say("coverage.held", value=value, low=f"{100 * record.low:.1f}", high=f"{100 * record.high:.1f}")


def _ratio(view: View, a: Model, b: Model, level: float) -> WidthRatioRecord | None:
    """Return the ratio of two models' mean widths, turned round where the results hold the other one."""
    for record in view.results.width_ratios:
        if record.level == level and {record.a, record.b} == {a.id, b.id}:
            return seen_from(a.id, record, RATIO, by=inverted)
    return None


def _figure(view: View) -> Figure:
    title = say("coverage.picture", level=numbers.percent(view.confidence))
    draw = (
        partial(coverage_by_level, view.results, names=view.short),
        partial(width_by_level, view.results, names=view.short),
    )
    return Figure(
        name="coverage-by-level", title=title, caption="", width=8.0, height=3.4, columns=2, description=title,
        draw=draw,
    )  # fmt: skip


def _by_level(view: View, models: list[Model]) -> Table:
    rows = [
        Row(
            model,
            (
                numbers.percent(record.level),
                plain_cell(record.coverage, record.low, record.high, 3, strong=True),
                plain_cell(record.width, record.width_low, record.width_high, _decimals(record)),
            ),
        )
        for model in models
        for record in overall(view.results, model.id)
    ]
    heads = (say("coverage.head.level"), say("coverage.head.coverage"), say("coverage.head.width"))
    return Table(say("coverage.table"), headings(heads, "text"), tuple(rows))


def _decimals(record: CoverageRecord) -> int:
    width = record.width or 0.0
    return 0 if width >= 1000 else 1 if width >= 100 else 2 if width >= 10 else 3 if width >= 0.1 else 5


def _by_parts(view: View, models: list[Model], by: str, level: float) -> Table | None:
    own = [r for r in view.results.coverages if r.by == by and r.level == level]
    shown = [m for m in models if any(r.model == m.id for r in own)][:MOST_MODELS]
    if not shown:
        return None
    known = {(r.model, r.part): r for r in own}
    rows = []
    for part in sorted({r.part for r in own if r.part is not None}):
        cells = []
        for model in shown:
            record = known.get((model.id, part))
            cells.append(
                numbers.MISSING if record is None else plain_cell(record.coverage, record.low, record.high, 3)
            )
        rows.append(Row(None, tuple(cells), say("coverage.part", part=part)))
    return Table(
        say(f"coverage.by_{by}", level=numbers.percent(level)),
        tuple(m.name for m in shown),
        tuple(rows),
        say(f"coverage.note_{by}"),
        first=say(f"coverage.first_{by}"),
    )


def _series(view: View, models: list[Model]) -> Table | None:
    rows = []
    for model in models:
        for record in (r for r in view.results.coverage_tests if r.model == model.id):
            p = numbers.MISSING if record.p_value is None else numbers.p_value(record.p_value)
            statistic = numbers.MISSING if record.statistic is None else numbers.number(record.statistic, 2)
            cells = (
                numbers.percent(record.level),
                say(f"coverage.test.{record.test}"),
                f"{record.misses}",
                numbers.number((1 - record.level) * record.n, 1),
                statistic,
                p,
            )
            rows.append(Row(model, cells))
    if not rows:
        return None
    heads = tuple(
        say(f"coverage.head.{head}") for head in ("level", "test", "misses", "expected", "statistic", "p")
    )
    return Table(
        say("coverage.series"), headings(heads, "text,text"), tuple(rows), say("coverage.note_series")
    )
