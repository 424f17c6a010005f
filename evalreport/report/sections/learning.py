"""Learning and complexity curves, and what a fitted power law foretells of more data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evalreport import numbers
from evalreport.algorithm_records import LearningFitRecord, LearningPointRecord
from evalreport.plots.learning import LearningCurve
from evalreport.plots.learning import learning as plot_learning
from evalreport.report.figures import Figure
from evalreport.report.naming import in_sentence
from evalreport.report.sections.estimates import metric_words
from evalreport.report.sections.leaderboard import Cell
from evalreport.report.view import Model, View, text_of
from evalreport.texts import named, say

MOST_PANELS, LEAST_POINTS = 6, 2


@dataclass(frozen=True, slots=True)
class PointRow:
    """One point: its place, and the errors on test and on training rows."""

    model: Model
    x: str
    test: Cell
    train: Cell
    fits: str
    used: bool


@dataclass(frozen=True, slots=True)
class FitRow:
    """One model's power law, or why there is none."""

    model: Model
    formula: str
    at: str
    predicted: Cell
    needed: str
    reason: str


@dataclass(frozen=True, slots=True)
class Learning:
    """What the section shows."""

    heading: str
    axis: str
    metric: str
    figure: Figure | None
    points: tuple[PointRow, ...]
    fits: tuple[FitRow, ...]
    with_need: bool
    notes: tuple[str, ...]


def describe(view: View) -> Learning | None:
    """Lay out the section; nothing without several training sizes or complexities."""
    points = view.results.learning_curves
    if not points:
        return None
    # The metric that was asked for first, where there is one beside the main loss.
    metric = list(dict.fromkeys(p.metric for p in points))[-1]
    own = [p for p in points if p.metric == metric]
    axis = own[0].axis
    fits = tuple(f for f in view.results.learning_fits if f.metric == metric)
    notes = [say("learning.note" if axis == "train_size" else "learning.note_complexity")]
    notes += [text_of(view, w.text) for w in view.results.warnings if w.code == "complexity_chosen_on_test"]
    return Learning(
        heading=say("heading.learning" if axis == "train_size" else "heading.complexity"),
        axis=named("learning.axis", axis),
        metric=in_sentence(metric_words(view, metric)),
        figure=_figure(view, own, fits),
        points=_points(view, own),
        fits=tuple(_fit(view, fit, own) for fit in fits),
        with_need=any(f.needed is not None for f in fits),
        notes=tuple(notes),
    )


def _decimals(points: Sequence[LearningPointRecord]) -> int:
    return numbers.decimals_of(p.standard_error for p in points)


def _points(view: View, points: Sequence[LearningPointRecord]) -> tuple[PointRow, ...]:
    decimals = _decimals(points)
    rows = []
    for model in view.models:
        by_place = {(p.x, p.part): p for p in points if p.model == model.id}
        for x in sorted({x for x, _ in by_place}):
            test, train = by_place.get((x, "test")), by_place.get((x, "train"))
            known = test or train
            assert known is not None
            rows.append(
                PointRow(
                    model,
                    f"{x:g}",
                    _cell(test, decimals),
                    _cell(train, decimals),
                    numbers.count(known.n_fits),
                    known.used,
                )
            )
    return tuple(rows)


def _cell(point: LearningPointRecord | None, decimals: int) -> Cell:
    if point is None:
        return Cell(numbers.MISSING)
    return Cell(
        numbers.number(point.value, decimals), numbers.interval(point.low, point.high, decimals), point.value
    )


def _fit(view: View, fit: LearningFitRecord, points: Sequence[LearningPointRecord]) -> FitRow:
    model, decimals = view.model(fit.model), _decimals(points)
    if fit.a is None or fit.b is None or fit.c is None:
        return FitRow(model, "", "", Cell(numbers.MISSING), "", text_of(view, fit.reason or ""))
    formula = f"{numbers.number(fit.a, decimals)} + {numbers.number(fit.b, 2)} · n^−{fit.c:.2f}"
    at = "" if fit.at is None else numbers.count(round(fit.at))
    predicted = Cell(
        numbers.number(fit.predicted, decimals), numbers.interval(fit.low, fit.high, decimals), fit.predicted
    )
    needed = numbers.MISSING
    if fit.needed is not None:
        limits = [
            numbers.count(round(v)) if v is not None else "∞" for v in (fit.needed_low, fit.needed_high)
        ]
        needed = f"{numbers.count(round(fit.needed))} [{limits[0]}, {limits[1]}]"
    return FitRow(model, formula, at, predicted, needed, "")


# --- the figure -------------------------------------------------------------------------------------------------------


def _figure(
    view: View, points: Sequence[LearningPointRecord], fits: Sequence[LearningFitRecord]
) -> Figure | None:
    curves = _curves(view, points, fits)
    if not curves:
        return None
    axis = points[0].axis
    together = axis == "train_size" or len(curves) == 1
    shown = [curves] if together else [[curve] for curve in curves[:MOST_PANELS]]
    words, axis_label = metric_words(view, points[0].metric), named("learning.axis", axis)
    axis_words = named("learning.axis_in_sentence", axis)

    def panel(some: Sequence[LearningCurve], first: bool) -> Callable[[object], None]:
        """Return what draws some of the curves onto axes."""

        def onto(axes: object) -> None:
            named = some if together else [replace(curve, label="") for curve in some]
            drawn = plot_learning(
                named, axes, x_label=axis_label, y_label=words if first else "", legend=together or first
            )
            if not together:
                drawn.set_title(some[0].label, fontsize=9, parse_math=False)

        return onto

    columns = min(len(shown), 3)
    last = "; ".join(
        say("learning.last", model=c.label, value=numbers.number(c.test[-1][1], 3), x=f"{c.test[-1][0]:g}")
        for c in curves
        if c.test
    )
    return Figure(
        name="learning" if together else "learning-panels",
        title=say("learning.title", metric=words, axis=axis_words),
        description=say("learning.description", metric=words, axis=axis_words, last=last),
        caption=say("learning.caption", metric=words[0].upper() + words[1:], axis=axis_words),
        draw=tuple(panel(some, i == 0) for i, some in enumerate(shown)),
        width=6.0 if columns == 1 else 3.1 * columns,
        height=3.6 if columns == 1 else 3.1 * -(-len(shown) // columns),
        columns=columns,
    )


def _curves(
    view: View, points: Sequence[LearningPointRecord], fits: Sequence[LearningFitRecord]
) -> list[LearningCurve]:
    found = []
    for model in view.models:
        own = [p for p in points if p.model == model.id]
        test = _drawn(own, "test")
        if len(test) >= LEAST_POINTS:
            used = next((p.x for p in own if p.used and p.part == "test"), None)
            ahead = _ahead(next((f for f in fits if f.model == model.id), None), test)
            found.append(
                LearningCurve(model.short, test, _drawn(own, "train"), used, model.index, model.key, ahead)
            )
    if found:
        return found
    # A family: each model is one point of a curve that all of them make.
    test, train = _drawn(points, "test"), _drawn(points, "train")
    if len(test) < LEAST_POINTS:
        return []
    first = view.models[0]
    return [LearningCurve(say("learning.all_models"), test, train, None, first.index, "all")]


Drawn = tuple[tuple[float, float, float | None, float | None], ...]


def _drawn(points: Sequence[LearningPointRecord], part: str) -> Drawn:
    return tuple(
        sorted((p.x, p.value, p.low, p.high) for p in points if p.part == part and p.value is not None)
    )


def _ahead(fit: LearningFitRecord | None, test: Drawn) -> Drawn:
    """Give the fitted law from the last point on, to twice the largest size."""
    if fit is None or fit.a is None or fit.b is None or fit.c is None or fit.at is None:
        return ()
    start = test[-1][0]
    places = [start * (fit.at / start) ** (k / 8) for k in range(9)]
    curve = [(x, fit.a + fit.b * x**-fit.c, None, None) for x in places]
    return (*curve[:-1], (fit.at, fit.a + fit.b * fit.at**-fit.c, fit.low, fit.high))
