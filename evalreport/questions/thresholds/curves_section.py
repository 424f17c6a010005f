"""Curves and calibration, recall by class, predicted against true values; further curves, folded away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evalreport import numbers
from evalreport.plots.curves import (
    FIRST,
    MOST_TOLD,
    compared_on,
    contenders,
    curve_of,
    has_equal_accuracy,
    precision_recall,
    prevalence_of,
    roc,
)
from evalreport.plots.pictures import Figure
from evalreport.plots.thresholds import (
    accuracy_rejection,
    error_rates,
    gain,
    lift,
    predicted_true,
    reliability,
    reliable,
    residuals,
    score_histogram,
    threshold_sweep,
)
from evalreport.report.naming import listed, metric_label
from evalreport.report.table import Row, Table, Tables, shaded
from evalreport.report.view import Model, View
from evalreport.schema.lookups import confusion_of
from evalreport.schema.metrics import ErrorTrendRecord, Quantity
from evalreport.texts import named, say
from evalreport.texts.labels import in_sentence
from evalreport.texts.visible import distinct_names, shorten, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES, MOST_MODELS, MOST_CONFUSED, MOST_NAMED, LONGEST = 12, 8, 3, 4, 20
WIDTH, HEIGHT = 4.8, 3.4
"""Inches of a figure in one of two columns: on a phone its letters are still read."""
ENDS, ALL_FOUND, AT = (0.1, 0.2, 0.4, 0.6), 0.98, 0.1
"""Where the axis of false positive rates may end, from which recall on, and the rate that is read off."""
CHANCE = 0.5
"""ROC AUC of an order that tells nothing."""
STEPS, WIDEST = 5, 0.1
"""How red a cell of the map may be, and the least span of recalls from the best of all down that all shades fill."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Figures side by side, the map of classes, and notes on models without curves."""

    figures: tuple[Figure, ...]
    classes: Table | None
    confusions: tuple[str, ...]
    notes: tuple[str, ...]


def describe(view: View) -> Curves | None:
    """Lay out the curves, and the map of classes; nothing where there are neither."""
    results = view.results
    kinds = {(c.curve, c.label) for c in results.curves}
    figures = []
    if ("roc", None) in kinds:
        figures.append(_roc(view))
    if reliable(results) and not results.calibration:
        figures.append(_reliability(view))
    if ("pr", None) in kinds:
        figures.append(_precision_recall(view))
    figures += _scores(view)
    classes, confusions = _class_map(view)
    drawn = {c.model for c in results.curves}
    missing = [m.name for m in view.models if m.id not in drawn]
    notes = (say("evidence.labels_only", names=listed(missing)),) if figures and missing else ()
    return Curves(tuple(figures), classes, confusions, notes) if figures or classes else None


def _values(view: View, metric: str) -> dict[str, float]:
    values = {m.id: view.value_of(m, Quantity(metric)) for m in view.models}
    return {model: value for model, value in values.items() if value is not None}


def _figure(
    view: View,
    name: str,
    title: str,
    plot: Callable[..., Axes],
    caption: list[str],
    *,
    about: str = "",
    **how: object,
) -> Figure:
    """Describe a figure of all models; ``about`` names the chart where the title is a finding."""
    return Figure(
        name=name, title=title, caption=" ".join(filter(None, caption)), width=WIDTH, height=HEIGHT,
        description=say("curves.described", title=about or title, names=listed([m.name for m in view.models], 12)),
        draw=(partial(plot, view.results, names=view.short, **how),),
    )  # fmt: skip


def _coloured(view: View, metric: str) -> str:
    leaders = contenders(view.results, metric)
    if len(view.models) == 1 or len(leaders) == len(view.models) <= MOST_TOLD:
        return ""
    on = compared_on(view.results, metric)
    label = view.primary_words if on == view.results.shown_metric else in_sentence(metric_label(Quantity(on)))
    if len(leaders) > MOST_TOLD:
        return say("evidence.coloured_of_many", n=FIRST, metric=label)
    return say("evidence.coloured", metric=label)


# --- binary tasks -----------------------------------------------------------------------------------------------------


def _roc(view: View) -> Figure:
    leaders = contenders(view.results, "roc_auc")[:FIRST]
    curves = [c for m in leaders if (c := curve_of(view.results, m, "roc", None)) is not None]
    upto = next((end for end in ENDS if all(np.interp(end, c.x, c.y) >= ALL_FOUND for c in curves)), 1.0)
    read = {
        p.model: p.value
        for p in view.results.operating_points
        if (p.criterion, p.at) == ("fixed_fpr", AT) and p.value is not None
    }
    shown = [m for m in view.models if m.id in read]
    ends = sorted(shown, key=lambda m: -read[m.id])[:: max(len(shown) - 1, 1)]
    found = say("evidence.found", model=ends[0].name, share=read[ends[0].id]) if ends else ""
    for m in ends[1:]:
        found = say("evidence.found_by_other", found=found, model=m.name, share=read[m.id])
    curved = {curve.model for curve in view.results.curves if curve.curve == "roc"}
    without = [m.name for m in view.models if m.id not in curved]
    caption = [
        say("evidence.point_only", names=listed(without)) if without and curved else "",
        *_roc_marks(view),
        say("evidence.cut", rate=upto) if upto < 1 else "",
        say("evidence.at_rate", rate=AT, found=found) if ends else "",
        _coloured(view, "roc_auc"),
    ]
    alone = view.models[0].id if len(view.models) == 1 else None
    return _figure(view, "roc", _roc_title(view), roc, caption, about=say("curves.roc_title"), upto=upto,
                   annotated=alone)  # fmt: skip


def _roc_marks(view: View) -> list[str]:
    """Explain the marks that are drawn: decisions of models that give labels, and what a single curve bears."""
    texts = []
    if view.results.confusion:
        texts.append(say("evidence.roc_own" if view.threshold_was_chosen else "evidence.roc_at_half"))
    texts.append(say("evidence.roc"))
    if len(view.models) == 1:
        texts.append(say("evidence.roc_annotated"))
        if has_equal_accuracy(view.results, view.models[0].id):
            texts.append(say("evidence.roc_equal"))
    return texts


def _roc_title(view: View) -> str:
    values = _values(view, "roc_auc")
    if len(view.models) == 1 and values:
        return say("finding.roc_one", share=next(iter(values.values())))
    if values and max(values.values()) < CHANCE:
        low, high = (extreme(values.values()) for extreme in (min, max))
        return say("finding.roc_inverted", low=low, high=high)
    if not values or compared_on(view.results, "roc_auc") != "roc_auc":
        return say("curves.roc_title")
    near = contenders(view.results, "roc_auc")
    behind = [m for m in values if m not in near]
    if not behind:
        return say("finding.roc_open")
    first, last = near[0], min(behind, key=lambda m: values[m])
    names = {"first": view.model(first).name, "last": view.model(last).name}
    above, below = (curve_of(view.results, m, "roc", None) for m in (first, last))
    if above is not None and below is not None:
        rates = np.linspace(0, 1, 401)
        lower = rates[np.interp(rates, above.x, above.y) < np.interp(rates, below.x, below.y)]
        if not len(lower):
            return say("finding.roc_throughout", **names)
        if not lower[-1]:
            return say("finding.roc_but_at_zero", **names)
        if lower[-1] <= ENDS[1]:
            return say("finding.roc_beyond", rate=float(np.ceil(100 * lower[-1]) / 100), **names)
    return say("finding.roc_behind", gap=values[first] - values[last], **names)


def _precision_recall(view: View) -> Figure:
    values, share = _values(view, "average_precision"), prevalence_of(view.results)
    near = [m for m in contenders(view.results, "average_precision") if m in values]
    compared = len(view.models) == 1 or compared_on(view.results, "average_precision") == "average_precision"
    decimals = min(view.digits(Quantity("average_precision")).decimals, 3)
    if not near or not compared:
        title = say("curves.pr_title")
    elif len(view.models) == 1 and share is not None:
        title = say("finding.pr_one", value=values[near[0]], share=share, decimals=decimals)
    elif share is not None and max(values.values()) < share:
        title = say("finding.pr_inverted", high=max(values.values()), share=share, decimals=decimals)
    elif len(near) == 1:
        title = say(
            "finding.pr_leads", first=view.model(near[0]).name, value=values[near[0]], decimals=decimals
        )
    else:
        low, high = (extreme(values[m] for m in near) for extreme in (min, max))
        if round(low, decimals) == round(high, decimals):
            title = say("finding.pr_open_same", low=low, decimals=decimals)
        else:
            title = say("finding.pr_open", low=low, high=high, decimals=decimals)
    caption = [say("evidence.pr", share=share or 0.0), _coloured(view, "average_precision")]
    return _figure(view, "pr", title, precision_recall, caption, about=say("curves.pr_title"))


def _scores(view: View) -> list[Figure]:
    """Describe how the scores of the model that ranks first are distributed, by the median in each class."""
    first = view.models[0]
    own = {r.positive: r for r in view.results.score_histograms if r.model == first.id and r.n}
    if len(own) < len((True, False)):
        return []
    high, low = (own[side].median for side in (True, False))
    if high is None or low is None:
        return []
    positive, negative = (shorten(visible(own[side].true), LONGEST) for side in (True, False))
    key = "scores" if high != low else "scores_same"
    if key == "scores" and own[True].scale == "probability" and numbers.to_digits(high) == "1":
        key = "scores_near_one"
    title = say(f"finding.{key}", model=first.name, label=positive, other=negative, score=high, below=low)
    caption, about = named("distributions.caption", "scores"), named("distributions.title", "scores")
    return [_of_one(view, "scores", title, score_histogram, caption, about=about)]


def _reliability(view: View) -> Figure:
    drawn = [view.model(m.model) for m in reliable(view.results)]
    predicted, observed = _means(view, drawn[0])
    if view.results.positive is None:
        title = say("finding.confidence", model=drawn[0].name, right=observed, said=predicted)
        about = say("evidence.confidence")
    else:
        label, about = shorten(visible(view.results.positive), LONGEST), ""
        title = say("finding.mean_probability", model=drawn[0].name, predicted=predicted, observed=observed,
                    label=label)  # fmt: skip
    first = say("evidence.calibration_first") if len(drawn) < len(view.models) else ""
    limits = ""
    curves = [curve_of(view.results, m.id, "reliability", None) for m in drawn]
    if any(low is not None for curve in curves if curve is not None for low in curve.low or ()):
        limits = say("evidence.calibration_limits", level=numbers.percent(view.confidence))
    caption = [about, say("evidence.calibration", limits=limits), first]
    return _figure(view, "reliability", title, reliability, caption, about=say("curves.reliability_title"))


def _means(view: View, model: Model) -> tuple[float, float]:
    """Return the mean predicted probability and the observed frequency, from the bins of a reliability diagram."""
    curve = curve_of(view.results, model.id, "reliability", None)
    assert curve is not None
    assert curve.count
    predicted, observed = (float(np.average(values, weights=curve.count)) for values in (curve.x, curve.y))
    return predicted, observed


# --- several classes --------------------------------------------------------------------------------------------------


def _class_map(view: View) -> tuple[Table | None, tuple[str, ...]]:
    results = view.results
    if len(results.classes) < 3 or not results.confusion:
        return None, ()
    counts = {m.id: confusion_of(results, m.id) for m in view.models}
    models = [m for m in view.models if counts[m.id]]
    totals = {
        label: sum(n for (true, _), n in counts[models[0].id].items() if true == label)
        for label in results.classes
    }
    recalls = {
        m.id: {label: counts[m.id].get((label, label), 0.0) / n for label, n in totals.items() if n}
        for m in models
    }
    order = sorted(recalls[models[0].id], key=lambda label: recalls[models[0].id][label])
    if not order:
        return None, ()
    names = distinct_names(list(results.classes))
    shown, heads = order[:MOST_CLASSES], models[:MOST_MODELS]
    drawn = [recalls[m.id][label] for m in heads for label in shown]
    best = max(recall for m in heads for recall in recalls[m.id].values())
    span = max(best - min(drawn), WIDEST)
    rows = []
    for label in shown:
        own = [recalls[m.id][label] for m in heads]
        cells = tuple((f"{100 * recall:.0f}", round(STEPS * (best - recall) / span)) for recall in own)
        rows.append((names[label], numbers.count(round(totals[label])), cells))
    notes = [
        say("evidence.classes", first=models[0].name),
        view.weights_note,
        say("evidence.classes_cut", shown=len(shown), n=len(order)) if len(shown) < len(order) else "",
        say("evidence.models_cut", shown=len(heads), n=len(models)) if len(heads) < len(models) else "",
    ]
    title = _class_title(view, models, recalls, names)
    note, confusions = " ".join(filter(None, notes)), _confusions(models, counts, names, totals)
    return shaded(title, say("evidence.class"), heads, rows, note), confusions


def _class_title(
    view: View, models: list[Model], recalls: dict[str, dict[str, float]], names: dict[str, str]
) -> str:
    worst = {m.id: min(recalls[m.id], key=lambda label: recalls[m.id][label]) for m in models}
    lowest = {m.id: recalls[m.id][worst[m.id]] for m in models}
    first, last = models[0], min(models, key=lambda m: lowest[m.id])
    low, label = lowest[first.id], names[worst[last.id]]
    if lowest[last.id] == 1:
        return say("finding.classes_all")
    if len(models) == 1:
        return say("finding.classes_one", label=label, low=low)
    if len(set(worst.values())) == 1 and max(lowest.values()) < 1:
        low, high = lowest[last.id], max(lowest.values())
        if round(low, 3) == round(high, 3):  # as they are shown
            return say("finding.classes_all_same", label=label, low=low)
        return say("finding.classes_same", label=label, low=low, high=high)
    if first is last:
        return say("finding.classes_lowest", model=first.name, low=low, label=label)
    title = say(
        "finding.classes", first=first.name, low=low, model=last.name, share=lowest[last.id], label=label
    )
    return view.unless_decided(title, first, last)


def _confusions(
    models: list[Model],
    counts: dict[str, dict[tuple[str, str], float]],
    names: dict[str, str],
    totals: dict[str, float],
) -> tuple[str, ...]:
    pairs = {pair for own in counts.values() for pair, n in own.items() if n and pair[0] != pair[1]}
    number = {pair: sum(own.get(pair, 0.0) for own in counts.values()) for pair in pairs}
    sentences = []
    for true, predicted in sorted(pairs, key=lambda pair: (-number[pair], pair))[:MOST_CONFUSED]:
        each = sorted(
            ((counts[m.id].get((true, predicted), 0.0), m) for m in models), key=lambda one: -one[0]
        )
        counts_of_models = [f"{m.name} {numbers.count(round(n))}" for n, m in each if n][:MOST_NAMED]
        sentences.append(
            say("evidence.confused", true=names[true], predicted=names.get(predicted, predicted), n=round(totals[true]),
                models=", ".join(counts_of_models))
        )  # fmt: skip
    return tuple(sentences)


# --- further curves, and values ---------------------------------------------------------------------------------------


# Name of the figure, of the curve, function.
CHARTS: tuple[tuple[str, str, Callable[..., Axes]], ...] = (
    ("rejection", "accuracy_rejection", accuracy_rejection),
    ("sweep", "sweep_f1", threshold_sweep),
    ("gain", "gain", gain),
    ("lift", "lift", lift),
)


def describe_gains(view: View) -> Tables | None:
    """Lay out the curves that no decision hangs on; nothing where no model gives scores or probabilities."""
    drawn = {c.curve for c in view.results.curves if c.label is None}
    figures = [
        _figure(view, name, named("gains.title", name), plot, [named("gains.caption", name)])
        for name, curve, plot in CHARTS
        if curve in drawn
    ]
    first = view.models[0]
    if "far" in drawn and curve_of(view.results, first.id, "far", None) is not None:
        title = say("curves.error_rates_title")
        figures.append(_of_one(view, "error-rates", title, error_rates, say("curves.error_rates")))
    if not figures:
        return None
    table = _risks(view)
    return Tables((table,) if table.rows else (), figures=tuple(figures))


def _of_one(
    view: View, name: str, title: str, plot: Callable[..., Axes], caption: str, *, about: str = ""
) -> Figure:
    """Describe a figure of the model that ranks first; ``about`` names the chart where the title is a finding."""
    first = view.models[0]
    return Figure(
        name=name, title=title, description=say("curves.described", title=about or title, names=first.name),
        caption=caption, width=WIDTH, height=HEIGHT, draw=(partial(plot, view.results, first.id, name=""),),
    )  # fmt: skip


def _risks(view: View) -> Table:
    known = {
        (s.model, s.quantity, s.at): s
        for s in view.results.curve_summaries
        if s.curve == "accuracy_rejection"
    }
    places = list(dict.fromkeys((quantity, at) for _, quantity, at in known))
    headings = tuple(
        say("gains.area") if at is None else say("gains.risk", share=numbers.percent(at)) for _, at in places
    )
    rows = []
    for model in view.models:
        cells = [known.get((model.id, *place)) for place in places]
        texts = (
            "" if c is None else f"{numbers.number(c.value)} {numbers.interval(c.low, c.high)}".strip()
            for c in cells
        )
        if any(cell is not None for cell in cells):
            rows.append(Row(model, tuple(texts)))
    note = say("gains.note", level=numbers.percent(view.confidence))
    return Table(say("gains.box"), headings, tuple(rows), note, look="points")


def describe_distributions(view: View) -> Tables | None:
    """Lay out predicted against true values and the errors of the leader; nothing where no values are predicted."""
    first = view.models[0]
    record = next((r for r in view.results.residuals if r.model == first.id), None)
    if record is None:
        return None
    about, of_residuals = (named("distributions.title", name) for name in ("predicted-true", "residuals"))
    mae, title = view.value_of(first, Quantity("mae")), about
    if mae is not None:
        title = say("finding.values", model=first.name, error=_error_size(view, mae))
    known = any(low is not None for low in record.bin_low)
    limits = say("evidence.residuals_limits", level=numbers.percent(view.confidence)) if known else ""
    shown = len(record.predicted)
    some = say("evidence.values_some", shown=shown, n=record.n) if shown < record.n else ""
    values = f"{say('evidence.values')} {some}".strip()
    tested = say("evidence.residuals", limits=limits)
    trend = _trend(first.name, record.trend, partial(_error_size, view))
    if record.trend is not None:
        by = "signs" if record.trend.p_signs is not None else "f"
        p = record.trend.p_value if record.trend.p_signs is None else record.trend.p_signs
        tested += " " + say(f"evidence.residuals_{by}", p=numbers.p_value(p))
    return Tables(
        (),
        figures=(
            _of_one(view, "predicted-true", title, predicted_true, values, about=about),
            _of_one(view, "residuals", trend, residuals, tested, about=of_residuals),
        ),
    )


def _error_size(view: View, value: float) -> str:
    """Write the size of an error: in the unit of the mean absolute error where that column has one."""
    digits = view.digits(Quantity("mae"))
    return digits.single(value) if digits.power else numbers.to_digits(value, 3)


def _trend(model: str, trend: ErrorTrendRecord | None, digits: Callable[[float], str]) -> str:
    """Return the title of the picture of errors: which of level, slope and curvature leads, where the test decides."""
    if trend is None or not trend.shown:
        return say(f"finding.residuals_{'unknown' if trend is None else 'even'}", model=model)
    coefficient = getattr(trend, trend.leads)
    if trend.leads == "curvature" and coefficient * trend.at_low > 0 and coefficient * trend.at_high > 0:
        key = "finding.residuals_ends_high" if coefficient > 0 else "finding.residuals_ends_low"
        return say(key, model=model, low=digits(abs(trend.at_low)), high=digits(abs(trend.at_high)))
    signs = {"level": ("high", "low"), "slope": ("rise", "fall"), "curvature": ("bend_up", "bend_down")}
    key = signs[trend.leads][coefficient < 0]
    return say(f"finding.residuals_{key}", model=model, size=digits(abs(coefficient)))
