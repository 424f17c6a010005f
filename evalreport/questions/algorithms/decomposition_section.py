"""Bias and variance: bars a model, their course over complexity, single replicates, the most variable examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from evalreport import numbers
from evalreport.plots.estimates import (
    along_axis,
    bar_terms,
    bias_variance,
    course,
    course_terms,
    decomposed,
    leading_parts,
    place_of,
    replicates,
)
from evalreport.plots.pictures import Figure
from evalreport.questions.algorithms.records import SQUARES_OF, DecompositionRecord
from evalreport.report.table import Cell, Row, Table
from evalreport.report.view import Model, View
from evalreport.schema.lookups import quarter
from evalreport.texts import named, say
from evalreport.texts.visible import shorten, visible

MOST_EXAMPLES, MOST_PANELS, LEAST_POINTS, LONGEST_CELL = 6, 6, 3, 40
TOLD = ("few_replicates", "noise_exceeds_bias")


@dataclass(frozen=True, slots=True)
class Decomposition:
    """What the section shows; empty parts are left out. ``table_notes`` are of the tables alone."""

    heading: str
    figures: tuple[Figure, ...]
    tables: tuple[tuple[str, Table], ...]
    examples: Table | None
    notes: tuple[str, ...]
    table_notes: tuple[str, ...]
    warnings: tuple[str, ...]


def describe(view: View) -> Decomposition | None:
    """Lay out the section; nothing without bootstrap replicates."""
    records = view.results.decomposition
    if not records:
        return None
    losses = list(dict.fromkeys(r.loss for r in records))
    notes: tuple[str, ...] = ()
    if any(r.loss in SQUARES_OF for r in records):
        known = any(r.noise is not None for r in records)
        notes = (say("decomposition.noise_apart" if known else "decomposition.noise_inside"),)
    return Decomposition(
        heading=_heading(view, losses[0]),
        figures=tuple(_figures(view, losses[0])),
        tables=tuple(_table(view, loss) for loss in losses),
        examples=_examples(view),
        notes=notes,
        table_notes=(say("decomposition.monte_carlo"), say("decomposition.averaged_note")),
        warnings=tuple(view.text(w.text) for w in view.results.warnings if w.code in TOLD),
    )


def _heading(view: View, loss: str) -> str:
    """Say how much of the expected loss is variance, for each model where its loss is least."""
    least: dict[Model, DecompositionRecord] = {}
    for model, record in _of(view, loss):
        if model not in least or record.expected_loss < least[model].expected_loss:
            least[model] = record
    shares = {
        m: leading_parts(r)[1] / r.expected_loss
        for m, r in least.items()
        if r.expected_loss > 0 and loss != "0-1"
    }
    if not shares:
        return say("heading.decomposition")
    low, high = min(shares, key=lambda m: shares[m]), max(shares, key=lambda m: shares[m])
    key = "finding.variance_one" if len(shares) == 1 else "finding.variance"
    finding = say(key, low=shares[low], first=low.name, high=shares[high], last=high.name)
    return say("evidence.headed", section=say("heading.decomposition"), finding=finding)


def _of(view: View, loss: str) -> list[tuple[Model, DecompositionRecord]]:
    """Return the records of one loss, models in rank order, each along its curve."""
    return [(view.model(record.model), record) for record in decomposed(view.results, loss)]


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(view: View, loss: str) -> tuple[str, Table]:
    rows = _of(view, loss)
    decimals = numbers.decimals_of(quarter(r.low, r.high) for _, r in rows)
    noise = any(r.noise is not None for _, r in rows)
    placed = any(place_of(r) is not None for _, r in rows)
    names = ("bias", "variance", "unbiased", "biased")
    if loss != "0-1":
        names = ("bias_unbiased", "variance_unbiased", "bias_plug_in", "variance_plug_in")
    by_train = any(r.train_size is not None and r.complexity is None for _, r in rows)
    heads = [say("decomposition.training_size" if by_train else "decomposition.complexity")] if placed else []
    heads += [say("decomposition.expected_loss"), *(say(f"decomposition.{name}") for name in names)]
    heads += [say("decomposition.noise")] if noise else []
    heads += [say("decomposition.averaged")] if loss != "kohavi_wolpert" else []
    notes = [named("decomposition.note", "squared" if loss in SQUARES_OF else loss, "")]
    notes += [
        say("decomposition.some_left_out", used=numbers.count(n), total=numbers.count(total))
        for n, total in dict.fromkeys((r.n_unbiased, r.n) for _, r in rows)
        if n is not None and n < total
    ]
    title = named("decomposition.loss", loss, visible(loss))
    shown = tuple(Row(m, (*([_place(r)] if placed else []), *_cells(r, decimals, noise))) for m, r in rows)
    label = say("decomposition.box", loss=title)
    table = Table(label, tuple(heads), shown, " ".join(filter(None, notes)), look="decomposition")
    return say("evidence.parts", loss=title), table


def _place(record: DecompositionRecord) -> str:
    place = place_of(record)
    return "" if place is None else f"{place:g}"


def _cells(record: DecompositionRecord, decimals: int, noise: bool) -> tuple[Cell, ...]:
    def cell(
        value: float | None,
        low: float | None = None,
        high: float | None = None,
        monte_carlo: float | None = None,
    ) -> Cell:
        spread = "" if monte_carlo is None else f" ± {numbers.number(monte_carlo, decimals)}"
        beside = numbers.interval(low, high, decimals) + spread
        return Cell(numbers.number(value, decimals), beside.strip(), value)

    r = record
    bias = cell(r.bias, r.bias_low, r.bias_high, r.bias_monte_carlo)
    variance = cell(r.variance, r.variance_low, r.variance_high, r.variance_monte_carlo)
    cells = [cell(r.expected_loss, r.low, r.high, r.expected_loss_monte_carlo)]
    if r.loss == "0-1":
        cells += [bias, variance, cell(r.variance_unbiased), cell(r.variance_biased)]
    else:
        unbiased = cell(r.bias_unbiased, r.bias_unbiased_low, r.bias_unbiased_high)
        cells += [unbiased, cell(r.variance_unbiased), bias, variance]
    cells += [cell(r.noise)] if noise else []
    cells += [cell(r.aggregated_loss)] if r.loss != "kohavi_wolpert" else []
    return tuple(cells)


def _examples(view: View) -> Table | None:
    rows = []
    for model in view.models:
        own = [r for r in view.results.example_variance if r.model == model.id][:MOST_EXAMPLES]
        for r in own:
            decimals = 3 if r.loss != "squared" else numbers.decimals_of([r.variance / 10])
            texts = (shorten(visible(text), LONGEST_CELL) for text in (r.id, r.truth, r.main_prediction))
            sizes = (numbers.number(size, decimals) for size in (r.variance, r.expected_loss))
            rows.append(Row(model, (*texts, *sizes, numbers.count(r.n_replicates))))
    heads = (
        "table.id", "table.true", "decomposition.main_prediction", "decomposition.variance",
        "decomposition.expected_loss", "decomposition.replicates",
    )  # fmt: skip
    note = say("decomposition.examples_note")
    table = Table(say("decomposition.examples"), tuple(map(say, heads)), tuple(rows), note, look="examples")
    return table if rows else None


# --- figures ----------------------------------------------------------------------------------------------------------


def _figures(view: View, loss: str) -> list[Figure]:
    curves = _courses(view, loss)
    figures = []
    if not any(len(own) > 1 for own in curves.values()):
        figures.append(_bars(view, loss))
    if curves:
        figures.append(_course(view, curves, loss))
    drawn = _replicates(view)
    return figures if drawn is None else [*figures, drawn]


def _bars(view: View, loss: str) -> Figure:
    records = decomposed(view.results, loss)
    first, second = bar_terms(records)
    words = named("decomposition.loss", loss)
    key = (
        "decomposition.bars_caption_noise" if any(r.noise for r in records) else "decomposition.bars_caption"
    )
    limited = any(r.low is not None for r in records)
    interval = say("decomposition.bars_interval") if limited else ""
    parts = [(view.short[r.model], *leading_parts(r)) for r in records]
    described = "; ".join(
        say(
            "decomposition.bars_value",
            model=name,
            first=numbers.number(bias, 3),
            second=numbers.number(variance, 3),
        )
        for name, bias, variance in parts
    )
    return Figure(
        name="decomposition",
        title=say("decomposition.bars_title"),
        description=say("decomposition.bars_description", first=first, second=second, values=described),
        caption=say(key, loss=words, first=first, second=second, interval=interval),
        draw=(partial(bias_variance, view.results, loss=loss, names=view.short),),
        width=6.6,
        height=1.05 + 0.36 * len(records),
    )


def _courses(view: View, loss: str) -> dict[str, list[DecompositionRecord]]:
    """Return each model's course; where every model is one point of a family, that of all models together."""
    records = decomposed(view.results, loss)
    courses = {m.name: along_axis([r for r in records if r.model == m.id]) for m in view.models}
    long_courses = {name: own for name, own in courses.items() if len(own) >= LEAST_POINTS}
    family = along_axis(records)
    several = len({place_of(r) for r in family}) == len(family) == len(view.models) >= LEAST_POINTS
    return long_courses or ({"": family} if several else {})


def _course(view: View, curves: Mapping[str, list[DecompositionRecord]], loss: str) -> Figure:
    shown = dict(list(curves.items())[:MOST_PANELS])
    by_train = all(r.complexity is None for r in view.results.decomposition)
    axis = say(f"decomposition.{'training_size' if by_train else 'complexity'}_in_sentence")
    first, second, third = course_terms(loss)
    least = {name: min(own, key=lambda r: r.expected_loss) for name, own in shown.items()}
    lowest = "; ".join(
        say("decomposition.least", model=name or say("decomposition.all_models"), x=_place(record))
        for name, record in least.items()
    )
    parts = [f"{named('decomposition.loss', loss)}."]
    if not by_train:
        parts.append(say("decomposition.course"))
    if len(curves) > len(shown):
        parts.append(say("report.first_of", shown=len(shown), n=len(curves)))
    known = {"first": first, "second": second, "third": third, "axis": axis, "lowest": lowest}
    return Figure(
        name="complexity",
        title=say("decomposition.course_title", axis=axis),
        description=say("decomposition.course_description", **known),
        caption=" ".join(parts),
        draw=tuple(
            partial(course, own, legend=i == 0, title=name) for i, (name, own) in enumerate(shown.items())
        ),
    ).in_columns(height=3.1)


def _replicates(view: View) -> Figure | None:
    drawn = {c.model for c in view.results.replicate_predictions}
    shown = [m for m in view.models if m.id in drawn][:MOST_PANELS]
    if not shown:
        return None
    return Figure(
        name="replicates",
        title=say("decomposition.replicates_title"),
        description=say("decomposition.replicates_description", n=len(shown)),
        caption=say("decomposition.replicates_caption"),
        draw=tuple(
            partial(replicates, view.results, m.id, legend=i == 0, name=m.name) for i, m in enumerate(shown)
        ),
    ).in_columns(height=3.0)
