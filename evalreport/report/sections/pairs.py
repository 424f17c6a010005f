"""Pairs of models, and all models at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations

from evalreport import numbers
from evalreport.plots.pairs import Difference, Ranked, critical_differences, forest, p_values
from evalreport.records import AverageRankRecord, OmnibusRecord
from evalreport.report.characters import distinct_names
from evalreport.report.figures import Figure
from evalreport.report.naming import MetricKey, family_words, label_of, level_of_pairs, metric_label
from evalreport.report.view import (
    Model,
    Row,
    View,
    comparison_between,
    difference_decimals,
    ranking_record,
    text_of,
    verdict_between,
)
from evalreport.texts import named, say

MOST_FOREST_ROWS = 15
LEAST_MAPPED, MOST_MAPPED = 4, 14
# What a number alone would hide; "better" and "worse" its sign shows.
TOLD = ("undecided", "non-inferior", "equivalent")
MOST_BESIDE, LONGEST_BESIDE = 6, 18


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One cell: row minus column; ``kind`` is the verdict, None on the diagonal or without a test."""

    kind: str | None
    difference: str
    word: str
    p: str
    column: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One model's row of the pairwise table."""

    model: Model
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the section shows; ``heads`` names the columns, ``narrow`` where the table fits beside the figure."""

    figure: Figure | None
    map: Figure | None
    models: tuple[Model, ...]
    heads: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    note: str
    narrow: bool

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The map beside the figure, where there is one."""
        return () if self.map is None else (self.map,)


def describe(view: View) -> Pairs | None:
    """Lay out the pairs; nothing where there is one model or no comparison."""
    if len(view.models) < 2 or not view.results.verdicts:
        return None
    rows = tuple(
        MatrixRow(row, tuple(_matrix_cell(view, row, column) for column in view.models))
        for row in view.models
    )
    tests = {
        r.test for r in view.results.comparisons
        if r.recommended and r.metric == view.primary.metric and r.slice is None
    }  # fmt: skip
    correction = str(view.results.options.get("correction", "none"))
    family = family_words(correction, len(view.results.verdicts), f"{1 - view.confidence:.4g}")
    labels = sorted(label_of("test", name) for name in tests) or [""]
    test = reduce(lambda first, last: say("list.and", names=first, last=last), labels)
    note = say("pairs.note", metric=view.primary_words, test=test, family=family)
    heads = tuple(distinct_names([m.id for m in view.models], LONGEST_BESIDE).values())
    return Pairs(_figure(view), _map(view), view.models, heads, rows, note, _narrow(view))


def _narrow(view: View) -> bool:
    """Say whether the table fits beside the figure."""
    return len(view.models) <= MOST_BESIDE and all(len(m.name) <= LONGEST_BESIDE for m in view.models)


def _matrix_cell(view: View, row: Model, column: Model) -> MatrixCell:
    if row is column:
        return MatrixCell(None, numbers.MISSING, "", "", column.key)
    verdict = verdict_between(view, row.id, column.id)
    record = comparison_between(view, view.primary, row.id, column.id)
    if verdict is None or record is None:
        return MatrixCell(None, "", "", "", column.key)
    p = numbers.p_phrase(record.p_adjusted if record.p_adjusted is not None else record.p_value)
    word = named("pairs.word", verdict.verdict)
    decimals = difference_decimals(view, view.primary)
    return MatrixCell(
        verdict.verdict, numbers.number(record.difference, decimals, signed=True), word, p, column.key
    )


def _figure(view: View) -> Figure | None:
    rows = forest_rows(view)
    if not rows:
        return None
    margin = view.results.options.get("margin")
    direction = say("pairs.first_is_better" if view.greater_is_better else "pairs.first_is_better_left")
    axis_label = say("pairs.axis", metric=view.primary_words, direction=direction)

    caption = say("pairs.caption", metric=view.primary_words, level=level_of_pairs(view.results))
    if any(0 in (row.low, row.high) for row in rows):
        caption += " " + say("pairs.at_zero")
    if margin is not None:
        caption += " " + say("pairs.margin", margin=f"{margin:g}")
    description = "; ".join(f"{row.label} {row.text}" for row in rows)
    return Figure(
        name="forest",
        title=say("pairs.title", metric=view.primary_words),
        description=description,
        caption=caption,
        draw=(partial(forest, rows, axis_label=axis_label, margin=margin),),
        # Beside the table the figure is as wide as its column; alone it grows with its labels.
        width=4.7 if _narrow(view) else max(4.7, 3.3 + 0.06 * max(len(row.label) for row in rows)),
        height=0.6 + 0.27 * max(len(rows), 3),
    )


def _map(view: View) -> Figure | None:
    """Draw the p-values of all pairs, where they are more than a glance at the table takes in."""
    if not LEAST_MAPPED <= len(view.models) <= MOST_MAPPED:
        return None
    names = {model.id: model.short for model in view.models}
    longest = max(map(len, names.values()))
    # Cells are wide where they are few, so that the map is read at the size of the text.
    cells = len(view.models) - 1
    return Figure(
        name="p-values",
        title=say("pairs.map_title", metric=view.primary_words),
        description=say("pairs.map_described"),
        caption=say("pairs.map"),
        draw=(partial(p_values, view.results, names=names),),
        width=max(0.62 * cells + 0.3 + 0.07 * longest, 6.6),
        height=0.46 * cells + 0.3 + 0.045 * longest,
    )


def forest_rows(view: View) -> list[Difference]:
    """Give the pairs, higher rank first, the largest difference on top; of very many only those with the leader."""
    if view.results.baseline is not None:
        baseline = view.model(view.results.baseline)
        pairs = [(m, baseline) for m in view.models if m is not baseline]
    else:
        pairs = list(combinations(view.models, 2))
        if len(pairs) > MOST_FOREST_ROWS:
            pairs = [(view.models[0], m) for m in view.models[1 : MOST_FOREST_ROWS + 1]]
    rows = [row for a, b in pairs if (row := _forest_row(view, a, b)) is not None]
    return sorted(rows, key=lambda row: -abs(row.difference))


def _forest_row(view: View, a: Model, b: Model) -> Difference | None:
    record = comparison_between(view, view.primary, a.id, b.id)
    verdict = verdict_between(view, a.id, b.id)
    if record is None or verdict is None or record.difference is None:
        return None
    text = numbers.number(record.difference, difference_decimals(view, view.primary), signed=True)
    if verdict.verdict in TOLD:
        text += f" {named('pairs.word', verdict.verdict)}"
    label = a.short if view.results.baseline is not None else f"{a.short} − {b.short}"
    return Difference(
        label, record.difference, record.low, record.high, text, a.index,
        a.key if view.results.baseline is not None else f"{a.key}_{b.key}",
    )  # fmt: skip


MOST_DRAWN = 24


@dataclass(frozen=True, slots=True)
class Omnibus:
    """What the section shows."""

    rows: tuple[Row, ...]
    figure: Figure | None
    note: str
    remarks: bool


def describe_omnibus(view: View) -> Omnibus | None:
    """Lay out the omnibus tests and the diagram; nothing where there is neither."""
    remarks = any(record.reason or record.caution for record in view.results.omnibus)
    rows = tuple(_row(view, record, remarks) for record in view.results.omnibus)
    figure = _omnibus_figure(view)
    return Omnibus(rows, figure, say("omnibus.note"), remarks) if rows or figure is not None else None


def _row(view: View, record: OmnibusRecord, remarks: bool) -> Row:
    degrees = [numbers.statistic(df) for df in (record.df, record.df2) if df is not None]
    text = numbers.statistic(record.statistic) + (f" (df {', '.join(degrees)})" if degrees else "")
    many = "" if record.blocks is None else f"{numbers.count(record.blocks)} "
    remark = (text_of(view, record.reason or record.caution or ""),) if remarks else ()
    cells = (metric_label(MetricKey(record.metric)), many + named("omnibus.block", record.by), text,
             numbers.p_value(record.p_value), *remark)  # fmt: skip
    return Row(None, cells, label_of("test", record.test))


def _omnibus_figure(view: View) -> Figure | None:
    """Draw the ranks on the primary metric; the bars are the letters of the leaderboard, so they cannot differ."""
    records = [r for r in view.results.average_ranks if r.metric == view.results.primary_metric]
    if len(records) < 2 or len(records) > MOST_DRAWN:
        return None
    models = [
        Ranked(view.model(r.model).short, r.average_rank, view.model(r.model).index, view.model(r.model).key)
        for r in records
    ]
    groups, distance = _groups(view, records), records[0].critical_difference
    where = f"{numbers.count(records[0].blocks)} {named('omnibus.block', records[0].by)}"
    described = "; ".join(f"{m.label} {m.rank:.2f}" for m in sorted(models, key=lambda m: m.rank))
    return Figure(
        name="ranks",
        title=say("omnibus.title", blocks=where),
        description=say("omnibus.description", metric=view.primary_words, ranks=described),
        caption=say("omnibus.caption", metric=view.primary_words, blocks=where)
        + f" {say('omnibus.critical_difference')}",
        draw=(partial(critical_differences, models, groups=groups, critical_difference=distance),),
        width=6.6,
        height=1.1 + 0.17 * len(models) + 0.16 * len(groups),
    )


def _groups(view: View, records: list[AverageRankRecord]) -> list[list[int]]:
    """Return the places of the models that share a letter."""
    letters = {r.model: (place.letters if (place := ranking_record(view, r.model)) else "") for r in records}
    every = sorted(set("".join(letters.values())))
    groups = [[i for i, r in enumerate(records) if letter in letters[r.model]] for letter in every]
    return [group for group in groups if len(group) > 1]
