"""All models at once: omnibus tests, and the critical-difference diagram of average ranks."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.plots.ranks import Ranked, critical_differences
from evalreport.records import AverageRankRecord, OmnibusRecord
from evalreport.report.figures import Figure
from evalreport.report.naming import MetricKey, label_of, metric_label
from evalreport.report.view import View, ranking_record, text_of
from evalreport.texts import named, say

MOST_DRAWN = 24


@dataclass(frozen=True, slots=True)
class OmnibusRow:
    """One test of all models."""

    metric: str
    test: str
    blocks: str
    statistic: str
    p: str
    remark: str


@dataclass(frozen=True, slots=True)
class Omnibus:
    """What the section shows."""

    rows: tuple[OmnibusRow, ...]
    figure: Figure | None
    note: str
    remarks: bool


def describe(view: View) -> Omnibus | None:
    """Lay out the omnibus tests and the diagram; nothing where there is neither."""
    rows = tuple(_row(view, record) for record in view.results.omnibus)
    figure = _figure(view)
    remarks = any(row.remark for row in rows)
    return Omnibus(rows, figure, say("omnibus.note"), remarks) if rows or figure is not None else None


def _row(view: View, record: OmnibusRecord) -> OmnibusRow:
    degrees = [numbers.statistic(df) for df in (record.df, record.df2) if df is not None]
    text = numbers.statistic(record.statistic) + (f" (df {', '.join(degrees)})" if degrees else "")
    many = "" if record.blocks is None else f"{numbers.count(record.blocks)} "
    return OmnibusRow(
        metric=metric_label(MetricKey(record.metric)),
        test=label_of("test", record.test),
        blocks=many + named("omnibus.block", record.by),
        statistic=text,
        p=numbers.p_value(record.p_value),
        remark=text_of(view, record.reason or record.caution or ""),
    )


def _figure(view: View) -> Figure | None:
    """Draw the ranks on the primary metric; the bars are the letters of the leaderboard, so they cannot differ."""
    records = [r for r in view.results.average_ranks if r.metric == view.results.primary_metric]
    if len(records) < 2 or len(records) > MOST_DRAWN:
        return None
    models = [
        Ranked(view.model(r.model).short, r.average_rank, view.model(r.model).index, view.model(r.model).key)
        for r in records
    ]
    groups, distance = _groups(view, records), records[0].critical_difference

    def draw(axes: object) -> None:
        critical_differences(models, axes, groups=groups, critical_difference=distance)

    where = f"{numbers.count(records[0].blocks)} {named('omnibus.block', records[0].by)}"
    described = "; ".join(f"{m.label} {m.rank:.2f}" for m in sorted(models, key=lambda m: m.rank))
    return Figure(
        name="ranks",
        title=say("omnibus.title", blocks=where),
        description=say("omnibus.description", metric=view.primary_words, ranks=described),
        caption=say("omnibus.caption", metric=view.primary_words, blocks=where)
        + f" {say('omnibus.critical_difference')}",
        draw=(draw,),
        width=6.6,
        height=1.1 + 0.17 * len(models) + 0.16 * len(groups),
    )


def _groups(view: View, records: list[AverageRankRecord]) -> list[list[int]]:
    """Return the places of the models that share a letter."""
    letters = {r.model: (place.letters if (place := ranking_record(view, r.model)) else "") for r in records}
    every = sorted(set("".join(letters.values())))
    groups = [[i for i, r in enumerate(records) if letter in letters[r.model]] for letter in every]
    return [group for group in groups if len(group) > 1]
