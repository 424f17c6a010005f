"""Tests of all models at once, and average ranks."""

from __future__ import annotations

from functools import partial

from evalreport import numbers
from evalreport.plots.pairs import critical_differences
from evalreport.plots.pictures import Figure
from evalreport.questions.ranks.records import OmnibusRecord
from evalreport.report.naming import label_of, metric_label
from evalreport.report.table import Row, Table, Tables, headings
from evalreport.report.view import View
from evalreport.schema.metrics import Quantity
from evalreport.texts import named, say

MOST_DRAWN = 24
"""Average ranks of more models are not drawn."""


def describe(view: View) -> Tables | None:
    """Lay out the diagram of average ranks with its tests, and tests that the line below the pairs does not name."""
    records = view.results.omnibus
    figure = _omnibus_figure(view)
    all_named_above = all(
        r.metric == view.primary.metric and r.p_value is not None and not r.caution for r in records
    )
    if figure is None and all_named_above:
        return None
    remarks = any(record.reason or record.caution for record in records)
    rows = tuple(_row(view, record, remarks) for record in records)
    names = (
        "table.metric",
        "omnibus.over",
        "table.statistic",
        "table.p",
        *(("table.remark",) if remarks else ()),
    )
    heads = headings(map(say, names), "text,text,number,number,remark")
    table = Table(say("omnibus.box"), heads, rows, say("omnibus.note"), first=say("table.test"))
    return Tables((table,) if rows else (), figures=() if figure is None else (figure,))


def _row(view: View, record: OmnibusRecord, remarks: bool) -> Row:
    degrees = [numbers.statistic(df) for df in (record.df, record.df2) if df is not None]
    text = numbers.statistic(record.statistic) + (f" (df {', '.join(degrees)})" if degrees else "")
    many = "" if record.blocks is None else f"{numbers.count(record.blocks)} "
    remark = (view.text(record.reason or record.caution or ""),) if remarks else ()
    ours = record.metric == view.primary.metric
    metric = view.primary_label if ours else metric_label(Quantity(record.metric))
    cells = (metric, many + named("omnibus.block", record.by), text,
             numbers.p_value(record.p_value), *remark)  # fmt: skip
    return Row(None, cells, label_of("test", record.test))


def _omnibus_figure(view: View) -> Figure | None:
    """Draw the ranks on the primary metric; the bars are the groups of the ranking, so they cannot differ."""
    records = [r for r in view.results.average_ranks if r.metric == view.results.shown_metric]
    if not 2 <= len(records) <= MOST_DRAWN:
        return None
    where = f"{numbers.count(records[0].blocks)} {named('omnibus.block', records[0].by)}"
    described = "; ".join(
        f"{view.short[r.model]} {r.average_rank:.2f}" for r in sorted(records, key=lambda r: r.average_rank)
    )
    return Figure(
        name="ranks",
        title=say("omnibus.title", blocks=where),
        description=say("omnibus.description", metric=view.primary_words, ranks=described),
        caption=say("omnibus.caption", metric=view.primary_words, blocks=where)
        + f" {say('omnibus.critical_difference')}",
        draw=(partial(critical_differences, view.results, names=view.short),),
        width=6.6,
        height=1.3 + 0.2 * len(records),
    )
