"""Bias and variance: bars a model, their course over complexity, single replicates, the most variable examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from evalreport import numbers
from evalreport.algorithm_records import DecompositionRecord
from evalreport.plots.decomposition import (
    Bar,
    Course,
    Predicted,
    course,
    replicate_predictions,
    stacked_parts,
)
from evalreport.report import wording_algorithms as wording
from evalreport.report.characters import shorten, visible
from evalreport.report.figures import Figure
from evalreport.report.sections.leaderboard import Cell
from evalreport.report.view import Model, View, text_of

MOST_EXAMPLES, MOST_PANELS, LEAST_POINTS, LONGEST_CELL = 6, 6, 3, 40
TOLD = ("few_replicates", "noise_exceeds_bias")


@dataclass(frozen=True, slots=True)
class PartRow:
    """One model's parts (at one complexity, where there are several)."""

    model: Model
    at: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class PartTable:
    """The decomposition under one loss."""

    title: str
    at: str
    heads: tuple[str, ...]
    rows: tuple[PartRow, ...]
    note: str


@dataclass(frozen=True, slots=True)
class VariableRow:
    """One of the most variable examples of a model."""

    model: Model
    id: str
    truth: str
    main: str
    variance: str
    loss: str
    replicates: str


@dataclass(frozen=True, slots=True)
class Decomposition:
    """What the section shows; empty parts are left out."""

    figures: tuple[Figure, ...]
    tables: tuple[PartTable, ...]
    examples: tuple[VariableRow, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    words: Mapping[str, str]


WORDS: Mapping[str, str] = {"variable": wording.VARIABLE}


def describe(view: View) -> Decomposition | None:
    """Lay out the section; nothing without bootstrap replicates."""
    records = view.results.decomposition
    if not records:
        return None
    losses = list(dict.fromkeys(r.loss for r in records))
    notes = [wording.MONTE_CARLO, wording.AVERAGED]
    if any(r.loss in ("squared", "brier") for r in records):
        known = any(r.noise is not None for r in records)
        notes.insert(0, wording.NOISE_APART if known else wording.NOISE_INSIDE)
    return Decomposition(
        figures=tuple(_figures(view, losses[0])),
        tables=tuple(_table(view, loss) for loss in losses),
        examples=tuple(_examples(view)),
        notes=tuple(notes),
        warnings=tuple(text_of(view, w.text) for w in view.results.warnings if w.code in TOLD),
        words=WORDS,
    )


def _of(view: View, loss: str) -> list[tuple[Model, DecompositionRecord]]:
    """Give the records of one loss, models in rank order, each along its curve."""
    return [
        (m, r) for m in view.models for r in view.results.decomposition if r.model == m.id and r.loss == loss
    ]


def _at(record: DecompositionRecord) -> float | None:
    return record.complexity if record.complexity is not None else record.train_size


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(view: View, loss: str) -> PartTable:
    rows = _of(view, loss)
    decimals = numbers.decimals_of(
        (r.high - r.low) / 4 if r.low is not None and r.high is not None else None for _, r in rows
    )
    noise = any(r.noise is not None for _, r in rows)
    along = any(_at(r) is not None for _, r in rows)
    heads = ["Expected loss", "Bias" if loss == "0-1" else "Bias²", "Variance"]
    heads += ["unbiased", "biased"] if loss == "0-1" else ["with K − 1"]
    heads += ["Noise"] if noise else []
    heads += ["Averaged"] if loss != "kohavi_wolpert" else []
    by_train = any(r.train_size is not None and r.complexity is None for _, r in rows)
    return PartTable(
        title=wording.LOSSES.get(loss, visible(loss)),
        at="" if not along else "Training size" if by_train else "Complexity",
        heads=tuple(heads),
        rows=tuple(
            PartRow(m, "" if (x := _at(r)) is None else f"{x:g}", _cells(r, decimals, noise)) for m, r in rows
        ),
        note=wording.DECOMPOSITION.get(loss, wording.DECOMPOSITION["squared"] if loss == "brier" else ""),
    )


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
    cells = [
        cell(r.expected_loss, r.low, r.high, r.expected_loss_monte_carlo),
        cell(r.bias, r.bias_low, r.bias_high, r.bias_monte_carlo),
        cell(r.variance, r.variance_low, r.variance_high, r.variance_monte_carlo),
        cell(r.variance_unbiased),
    ]
    cells += [cell(r.variance_biased)] if r.loss == "0-1" else []
    cells += [cell(r.noise)] if noise else []
    cells += [cell(r.aggregated_loss)] if r.loss != "kohavi_wolpert" else []
    return tuple(cells)


def _examples(view: View) -> list[VariableRow]:
    rows = []
    for model in view.models:
        own = [r for r in view.results.example_variance if r.model == model.id][:MOST_EXAMPLES]
        for r in own:
            decimals = 3 if r.loss != "squared" else numbers.decimals_of([r.variance / 10])
            rows.append(
                VariableRow(
                    model,
                    shorten(visible(r.id), LONGEST_CELL),
                    shorten(visible(r.truth), LONGEST_CELL),
                    shorten(visible(r.main_prediction), LONGEST_CELL),
                    numbers.number(r.variance, decimals),
                    numbers.number(r.expected_loss, decimals),
                    numbers.count(r.n_replicates),
                )
            )
    return rows


# --- figures ----------------------------------------------------------------------------------------------------------


def _figures(view: View, loss: str) -> list[Figure]:
    rows = _of(view, loss)
    curves = _courses(view, rows)
    figures = []
    if not any(len(own.x) > 1 for _, own in curves):
        figures.append(_bars(rows, loss))
    if curves:
        figures.append(_course(view, curves, loss))
    drawn = _replicates(view)
    if drawn is not None:
        figures.append(drawn)
    return figures


def _bars(rows: Sequence[tuple[Model, DecompositionRecord]], loss: str) -> Figure:
    net = loss == "0-1"
    bars = [
        Bar(m.short, r.bias, _net(r), r.noise or 0.0, r.expected_loss, r.low, r.high, m.key) for m, r in rows
    ]
    words = wording.LOSSES.get(loss, loss)
    first = "bias" if net else "bias²" if any(r.noise for _, r in rows) else "bias² + noise"
    if net:
        names = ("bias", "net variance (unbiased − biased)")
    else:
        names = (first, "variance")

    def draw(axes: object) -> None:
        stacked_parts(bars, axes, axis_label=f"Expected loss: {words}", names=names)

    noise = "noise, " if any(b.noise for b in bars) else ""
    described = "; ".join(
        f"{b.label} {numbers.number(b.bias, 3)} and {numbers.number(b.variance, 3)}" for b in bars
    )
    return Figure(
        name="decomposition",
        title="Bias and variance of each model",
        description=f"{names[0]} and {names[1]}: {described}.",
        caption=f"{words}: {noise}{names[0]} and {names[1]} add up to the expected loss (the mark), with its"
        " interval over examples.",
        draw=(draw,),
        width=6.6,
        height=1.05 + 0.36 * len(bars),
    )


def _net(record: DecompositionRecord) -> float:
    if record.variance_biased is None or record.variance_unbiased is None:
        return record.variance
    return record.variance_unbiased - record.variance_biased


def _courses(view: View, rows: Sequence[tuple[Model, DecompositionRecord]]) -> list[tuple[str, Course]]:
    """Give each model's course; where every model is one point of a family, that of all models together."""
    along = [(m, r) for m, r in rows if _at(r) is not None]
    found = []
    for model, own in groupby(along, key=lambda pair: pair[0]):
        records = sorted((r for _, r in own), key=lambda r: _at(r) or 0.0)
        if len(records) >= LEAST_POINTS:
            found.append((model.short, _parts(records)))
    family = sorted((r for _, r in along), key=lambda r: _at(r) or 0.0)
    several = len({_at(r) for r in family}) == len(family) == len(view.models) >= LEAST_POINTS
    return found or ([("", _parts(family))] if several else [])


def _parts(records: Sequence[DecompositionRecord]) -> Course:
    return Course(
        tuple(_at(r) or 0.0 for r in records),
        tuple(r.bias for r in records),
        tuple(_net(r) for r in records),
        tuple(r.expected_loss for r in records),
    )


def _course(view: View, curves: Sequence[tuple[str, Course]], loss: str) -> Figure:
    shown = curves[:MOST_PANELS]
    by_train = all(r.complexity is None for r in view.results.decomposition)
    axis = "Training size" if by_train else "Complexity"
    net = loss == "0-1"
    names = ("bias", "net variance", "expected loss") if net else ("bias²", "variance", "expected loss")

    def panel(title: str, parts: Course, legend: bool) -> Callable[[object], None]:
        def onto(axes: object) -> None:
            drawn = course(parts, axes, axis_label=axis, names=names, legend=legend)
            if title:
                drawn.set_title(title, fontsize=9, parse_math=False)

        return onto

    columns = min(len(shown), 3)
    lowest = "; ".join(
        f"{name or 'all models'} least at {parts.x[parts.total.index(min(parts.total))]:g}"
        for name, parts in shown
    )
    more = f" The first {len(shown)} of {len(curves)} models." if len(curves) > len(shown) else ""
    return Figure(
        name="complexity",
        title=f"Bias and variance against {axis.lower()}",
        description=f"{names[0]}, {names[1]} and {names[2]} against {axis.lower()}: {lowest}.",
        caption=f"{wording.LOSSES.get(loss, loss)}. {wording.COURSE if not by_train else ''}{more}".strip(),
        draw=tuple(panel(name, parts, i == 0) for i, (name, parts) in enumerate(shown)),
        width=4.6 if columns == 1 else 3.1 * columns,
        height=3.1 * -(-len(shown) // columns),
        columns=columns,
    )


def _replicates(view: View) -> Figure | None:
    curves = view.results.replicate_predictions
    shown = [m for m in view.models if any(c.model == m.id for c in curves)][:MOST_PANELS]
    if not shown:
        return None

    def panel(model: Model, legend: bool) -> Callable[[object], None]:
        own = [c for c in curves if c.model == model.id]
        single = tuple((c.x, c.y) for c in own if c.curve == "replicate")
        mean, truth = (next((c.x, c.y) for c in own if c.curve == kind) for kind in ("mean", "truth"))

        def onto(axes: object) -> None:
            drawn = replicate_predictions(
                Predicted(single, mean, truth, model.index, model.key), axes, legend=legend
            )
            drawn.set_title(model.short, fontsize=9, parse_math=False)

        return onto

    columns = min(len(shown), 3)
    return Figure(
        name="replicates",
        title="What single replicates predict",
        description=f"Predictions of single replicates, their mean and the truth against x, for {len(shown)} models.",
        caption=wording.REPLICATES,
        draw=tuple(panel(model, i == 0) for i, model in enumerate(shown)),
        width=4.6 if columns == 1 else 3.1 * columns,
        height=3.0 * -(-len(shown) // columns),
        columns=columns,
    )
