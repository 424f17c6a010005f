"""Error estimates and learning curves of algorithms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from evalreport import numbers
from evalreport.plots.estimates import LEAST_POINTS, learning_metric, learning_rows, points_of
from evalreport.plots.estimates import error_estimates as plot_estimates
from evalreport.plots.estimates import learning_curves as plot_learning
from evalreport.plots.pictures import Figure
from evalreport.questions.algorithms.records import (
    ErrorEstimateRecord,
    LearningFitRecord,
    LearningPointRecord,
)
from evalreport.report.naming import label_of, listed, metric_label
from evalreport.report.table import Cell, Row, Table, limited_cell
from evalreport.report.view import View
from evalreport.schema.inputs import JsonObject
from evalreport.texts import coded, named, say
from evalreport.texts.labels import in_sentence, sentence_start
from evalreport.texts.visible import visible

TOLD = ("interpolating_model", "no_information", "never_out_of_bag", "small_folds", "few_replicates")
"""Warnings that are repeated beside the estimates."""
MOST_CHOSEN = 8
SEEN_ELSEWHERE = frozenset({"missing_estimate.see_loocv", "missing_estimate.see_nested_cv"})
"""Why an estimate is missing where another one has its folds."""
ESTIMATORS = (
    "resubstitution", "holdout", "repeated_holdout", "cv", "stratified_cv", "loocv", "nested_cv",
    "bootstrap_optimism", "bootstrap_oob", "bootstrap_632", "bootstrap_632plus",
)  # fmt: skip
"""In the order of their rows."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the section shows; empty parts are left out."""

    heading: str
    figure: Figure | None
    main: Table | None
    others: tuple[Table, ...]
    tables: tuple[Table, ...]
    missing: str
    warnings: tuple[str, ...]


def describe(view: View) -> Estimates | None:
    """Lay out the section; nothing where a plain test set has no more to say than its own metrics."""
    records = view.results.error_estimates
    valued = [r for r in records if r.value is not None]
    resampled = any(r.estimator != "holdout" for r in valued)
    criteria = _criteria(view)
    if not (resampled or criteria.rows):
        return None
    metrics = list(dict.fromkeys(r.metric for r in valued)) if resampled else []
    tables = tuple(_table(view, metric, valued) for metric in metrics)
    return Estimates(
        heading=_found(view, metrics[0], valued) if metrics else "",
        figure=_figure(view, metrics[0], valued) if metrics else None,
        main=tables[0] if tables else None,
        others=_together(tables[1:]),
        tables=tuple(t for t in (_plus(view, valued), _chosen(view), criteria) if t.rows),
        missing=_missing(records) if resampled else "",
        warnings=tuple(view.text(w.text) for w in view.results.warnings if w.code in TOLD),
    )


def _found(view: View, metric: str, valued: Sequence[ErrorEstimateRecord]) -> str:
    """Say what the estimators that predict new examples give for the model that ranks first, and for the last."""
    first, last = view.models[0], view.models[-1]
    own = {
        (r.model, r.estimator): r.value
        for r in valued if r.metric == metric and r.value is not None and r.estimator != "resubstitution"
    }  # fmt: skip
    names = [name for name in _shown(valued, metric) if (first.id, name) in own]
    if not names:
        return ""
    decimals = numbers.decimals_of(r.standard_error for r in valued if r.metric == metric)
    values = {
        key: numbers.number(value, decimals) for key, value in sorted(own.items(), key=lambda item: item[1])
    }
    of_first = [value for (model, name), value in values.items() if model == first.id and name in names]
    params = {"model": first.name, "low": of_first[0], "high": of_first[-1]}
    key = "estimates_range"
    if len(names) == 1:
        label = in_sentence(named("estimates.estimator", names[0]))
        params |= {"estimator": label, "best": first.name, "last": last.name}
        params["high"] = values.get((last.id, names[0]), "")
        key = "estimates_one" if first is not last and params["high"] else "estimates_of_one"
    finding = say(f"finding.{key}", **params)
    if key == "estimates_one":
        finding = view.unless_decided(finding, first, last)
    return say("evidence.headed", section=named("heading", "estimates"), finding=finding)


def metric_words(view: View, metric: str) -> str:
    """Return the words for a metric as the results spell it."""
    return metric_label(view.called(metric))


def _shown(valued: Sequence[ErrorEstimateRecord], metric: str) -> list[str]:
    """Name the estimators that have a row; where folds are stratified, plain folds say the same."""
    names = [name for name in ESTIMATORS if any(r.estimator == name and r.metric == metric for r in valued)]
    return [name for name in names if name != "cv" or "stratified_cv" not in names]


def _table(view: View, metric: str, valued: Sequence[ErrorEstimateRecord]) -> Table:
    own = {(r.model, r.estimator): r for r in valued if r.metric == metric}
    decimals = numbers.decimals_of(r.standard_error for r in own.values())
    rows = [
        Row(
            None,
            tuple(_cell(view, own.get((model.id, name)), decimals) for model in view.models),
            _label(name, own),
            about=named("estimates.about", name),
        )
        for name in _shown(valued, metric)
    ]
    words = metric_words(view, metric)
    return Table(
        say("estimates.title", metric=words), view.models, tuple(rows), look="estimates", first=words
    )


def _together(tables: tuple[Table, ...]) -> tuple[Table, ...]:
    """Lay tables of a single row, of one and the same estimator, out as one: a row for each metric."""
    labels = {row.label for table in tables for row in table.rows}
    if len(tables) < 2 or len(labels) > 1 or any(len(table.rows) > 1 for table in tables):
        return tables
    label = str(labels.pop())
    rows = tuple(Row(None, t.rows[0].cells, t.first) for t in tables)
    return (replace(tables[0], title=say("estimates.title", metric=label), rows=rows, first=label),)


def _label(name: str, own: dict[tuple[str, str], ErrorEstimateRecord]) -> str:
    """Name an estimator, with the number of folds, hold-outs or replicates."""
    label = named("estimates.estimator", name)
    details: JsonObject = next((dict(r.details) for (_, other), r in own.items() if other == name), {})
    folds, repeats = details.get("n_folds"), details.get("n_repeats", 1)
    if name in ("cv", "stratified_cv", "nested_cv") and folds:
        each = folds // max(repeats, 1)
        if repeats > 1:
            return say("estimates.repeated_folds", label=label, repeats=repeats, n=each)
        return say("estimates.folds", label=label, n=each)
    if name == "repeated_holdout" and folds:
        return say("estimates.times", label=label, n=folds)
    replicates = details.get("n_replicates")
    if name == "bootstrap_oob" and replicates:
        return say("estimates.replicates", label=label, n=replicates)
    if name == "holdout" and replicates:
        return say("estimates.mean_of_replicates", label=label, n=replicates)
    return label


def _cell(view: View, record: ErrorEstimateRecord | None, decimals: int) -> Cell:
    if record is None:
        return Cell(numbers.MISSING)
    return Cell(
        value=numbers.number(record.value, decimals),
        beside=numbers.interval(record.low, record.high, decimals),
        note=view.text(record.reason or ""),
    )


def _figure(view: View, metric: str, valued: Sequence[ErrorEstimateRecord]) -> Figure:
    own = {(r.model, r.estimator): r for r in valued if r.metric == metric}
    labels = {name: _label(name, own) for name in _shown(valued, metric)}
    last, label = list(labels.items())[-1]
    axis_label = metric_words(view, metric)
    words = in_sentence(axis_label)
    draw = partial(plot_estimates, metric=metric, labels=labels, axis_label=axis_label, legend=False)
    best = "; ".join(
        f"{m.name} {numbers.number(own[m.id, last].value, 3)}" for m in view.models if (m.id, last) in own
    )
    return Figure(
        name="estimates",
        title=say("estimates.title", metric=words),
        description=say("estimates.description", n=len(labels), metric=words, estimator=label, values=best),
        caption=say("estimates.caption", metric=words, level=numbers.percent(view.confidence)),
        draw=(partial(draw, view.results),),
        width=6.6,
        height=0.75 + len(labels) * max(0.3, 0.1 + 0.085 * len(view.models)),
    )


def _plus(view: View, valued: Sequence[ErrorEstimateRecord]) -> Table:
    own = {r.model: r for r in valued if r.estimator == "bootstrap_632plus" and r.metric == valued[0].metric}
    rows = tuple(
        Row(model, tuple(numbers.number(own[model.id].details[name], 3) for name in ("R", "gamma", "omega")))
        for model in view.models
        if model.id in own
    )
    return Table(
        say("estimates.plus_title"), ("R", "γ", "ω"), rows, say("estimates.plus"), look="small-table"
    )


def _chosen(view: View) -> Table:
    """Count how often each model's search chose which parameters."""
    rows = []
    for model in view.models:
        counts = Counter(r.params for r in view.results.chosen_parameters if r.model == model.id)
        if counts:
            shown = [f"{visible(params)} ({count}×)" for params, count in counts.most_common(MOST_CHOSEN)]
            folds = numbers.count(sum(counts.values()))
            rows.append(Row(model, (folds, numbers.count(len(counts)), listed(shown, MOST_CHOSEN))))
    heads = tuple(say(f"estimates.chosen_{name}") for name in ("folds", "kinds", "parameters"))
    return Table(
        say("estimates.chosen_title"), heads, tuple(rows), say("estimates.nested"), look="small-table"
    )


def _criteria(view: View) -> Table:
    choices = {c.criterion: c for c in view.results.criterion_choices}
    rows = []
    for model in view.models if choices else ():
        cells = []
        for name, choice in choices.items():
            record = next((r for r in view.results.metrics if r.model == model.id and r.metric == name), None)
            decimals = numbers.decimals_of([choice.distance])
            value = numbers.MISSING if record is None else numbers.number(record.value, decimals)
            cells.append(("▸ " if choice.model == model.id else "") + value)
        rows.append(Row(model, tuple(cells)))
    heads = tuple(label_of("metric", name) for name in choices)
    return Table(
        say("estimates.criteria_title"), heads, tuple(rows), say("estimates.criteria"), look="small-table"
    )


def _missing(records: Sequence[ErrorEstimateRecord]) -> str:
    """Name the estimators that no model has, each with what would give it."""
    held = {r.estimator for r in records if r.value is not None}
    reasons: dict[str, str] = {}
    for record in records:
        code = coded(record.reason or "")[0]
        if record.estimator in held or record.reason is None or code in SEEN_ELSEWHERE:
            continue
        label = in_sentence(named("estimates.estimator", record.estimator))
        lacks_a_plan = code.startswith("missing_estimate.")
        way = say(f"estimates.scheme.{record.estimator}") if lacks_a_plan else record.reason
        reasons.setdefault(record.estimator, f"{label} ({way})")
    return say("estimates.missing", names=listed(list(reasons.values()), len(reasons))) if reasons else ""


MOST_PANELS = 6


@dataclass(frozen=True, slots=True)
class Learning:
    """What the section shows."""

    heading: str
    figure: Figure | None
    points: Table
    fits: Table | None
    notes: tuple[str, ...]


def describe_learning(view: View) -> Learning | None:
    """Lay out the section; nothing without several training sizes or complexities."""
    points = view.results.learning_curves
    if not points:
        return None
    metric = learning_metric(view.results)
    own = [p for p in points if p.metric == metric]
    axis = own[0].axis
    fits = [f for f in view.results.learning_fits if f.metric == metric]
    words = in_sentence(metric_words(view, metric))
    training = any(p.part == "train" and p.value is not None for p in own)
    of_training = say("learning.note_training") if training else ""
    notes = [
        say("learning.note" if axis == "train_size" else "learning.note_complexity", training=of_training)
    ]
    notes += [view.text(w.text) for w in view.results.warnings if w.code == "complexity_chosen_on_test"]
    return Learning(
        heading=_learning_found(view, own, axis),
        figure=_learning_figure(view, own),
        points=_points(view, own, words, training=training),
        fits=_fits(view, fits, words, _decimals(own)) if fits else None,
        notes=tuple(notes),
    )


def _learning_found(view: View, points: Sequence[LearningPointRecord], axis: str) -> str:
    """Say how far the error of the model that ranks first falls with more examples, or where each model's is lowest."""
    title = say("heading.learning" if axis == "train_size" else "heading.complexity")
    curves = {m: points_of([p for p in points if p.model == m.id], "test") for m in view.models}
    curves = {model: curve for model, curve in curves.items() if len(curve) >= LEAST_POINTS}
    if not curves:
        return title
    if axis == "train_size":
        model, curve = next(iter(curves.items()))
        (start, high, least, _), (end, low, _, most) = curve[0], curve[-1]
        decimals = _decimals(points)
        finding = say(
            "finding.learning_falls" if low < high else "finding.learning_flat", model=model.name, start=start,
            end=end, high=numbers.number(high, decimals), low=numbers.number(low, decimals),
        )  # fmt: skip
        if low < high and least is not None and most is not None and most >= least:
            finding = say("finding.undecided", finding=finding)  # their intervals overlap
    else:
        lowest = {model: min(curve, key=lambda point: point[1])[0] for model, curve in curves.items()}
        places = [say("finding.complexity_place", x=f"{x:g}", model=m.name) for m, x in lowest.items()]
        finding = say("finding.complexity", places=listed(places))
    return say("evidence.headed", section=title, finding=finding)


def _decimals(points: Sequence[LearningPointRecord]) -> int:
    return numbers.decimals_of(p.standard_error for p in points)


def _points(view: View, points: Sequence[LearningPointRecord], words: str, *, training: bool) -> Table:
    decimals = _decimals(points)
    rows = []
    for model in view.models:
        by_place = {(p.x, p.part): p for p in points if p.model == model.id}
        for x in sorted({x for x, _ in by_place}):
            test, train = by_place.get((x, "test")), by_place.get((x, "train"))
            known = test or train
            assert known is not None
            place = Cell(f"{x:g}", say("learning.compared")) if known.used else f"{x:g}"
            parts = (test, train) if training else (test,)
            values = [
                Cell(numbers.MISSING) if p is None else limited_cell(p.value, p.low, p.high, decimals)
                for p in parts
            ]
            rows.append(Row(model, (place, *values, numbers.count(known.n_fits))))
    heads = [named("learning.axis", points[0].axis), say("learning.test", metric=words)]
    heads += [say("learning.training")] if training else []
    return Table(say("learning.points_box"), (*heads, say("learning.fits")), tuple(rows), look="small-table")


def _fits(view: View, fits: Sequence[LearningFitRecord], words: str, decimals: int) -> Table:
    """Return each model's power law, or why there is none."""
    heads = [say("learning.law"), say("learning.at"), say("learning.extrapolated", metric=words)]
    if any(fit.needed is not None for fit in fits):
        heads.append(say("learning.needed"))
    rows = tuple(Row(view.model(fit.model), _law(view, fit, decimals)[: len(heads)]) for fit in fits)
    return Table(say("learning.more_data_box"), tuple(heads), rows, look="small-table")


def _law(view: View, fit: LearningFitRecord, decimals: int) -> tuple[Cell | str, ...]:
    if fit.a is None or fit.b is None or fit.c is None:
        return (view.text(fit.reason or ""),)
    formula = f"{numbers.number(fit.a, decimals)} + {numbers.number(fit.b, 2)} · n^−{fit.c:.2f}"
    at = "" if fit.at is None else numbers.count(round(fit.at))
    predicted = limited_cell(fit.predicted, fit.low, fit.high, decimals)
    needed = numbers.MISSING
    if fit.needed is not None:
        limits = [
            numbers.count(round(v)) if v is not None else "∞" for v in (fit.needed_low, fit.needed_high)
        ]
        needed = f"{numbers.count(round(fit.needed))} [{limits[0]}, {limits[1]}]"
    return formula, at, predicted, needed


# --- the figure -------------------------------------------------------------------------------------------------------


def _learning_figure(view: View, points: Sequence[LearningPointRecord]) -> Figure | None:
    curves = learning_rows(view.results, view.short)
    if not curves:
        return None
    axis = points[0].axis
    words, axis_words = metric_words(view, points[0].metric), named("learning.axis_in_sentence", axis)
    draw = partial(plot_learning, x_label=named("learning.axis", axis), y_label=words)
    last = "; ".join(
        say("learning.last", model=c.label, value=numbers.number(c.test[-1][1], 3), x=f"{c.test[-1][0]:g}")
        for c in curves
    )
    figure = Figure(
        name="learning",
        title=say("learning.title", metric=words, axis=axis_words),
        description=say("learning.description", metric=words, axis=axis_words, last=last),
        caption=say("learning.caption", metric=sentence_start(words), axis=axis_words),
        draw=(partial(draw, curves),),
        width=6.0,
        height=3.6,
    )
    if axis == "train_size" or len(curves) == 1:
        return figure
    panels = tuple(
        partial(draw, [replace(curve, label="")], legend=i == 0, title=curve.label)
        for i, curve in enumerate(curves[:MOST_PANELS])
    )
    return replace(figure, name="learning-panels", draw=panels).in_columns(height=3.1)
