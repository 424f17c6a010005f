"""Curves and calibration, gain and lift, and how predictions are distributed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from evalreport import numbers
from evalreport.plots.curves import MOST_BANDS, MOST_TOLD, precision_recall, prevalence_of, roc
from evalreport.plots.distributions import predicted_true, residuals, score_histogram, value_calibration
from evalreport.plots.pictures import Draw
from evalreport.plots.thresholds import accuracy_rejection, error_rates, gain, lift, reliability, sweep
from evalreport.report.characters import shorten, visible
from evalreport.report.figures import Figure, grid
from evalreport.report.naming import MetricKey, listed, metric_label
from evalreport.report.view import Model, Row, View, metric_decimals, metric_record
from evalreport.texts import named, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES = 9
MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class Curves:
    """Figures side by side, figures of many panels, and what is missing and why."""

    beside: tuple[Figure, ...]
    wide: tuple[Figure, ...]
    notes: tuple[str, ...]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures."""
        return (*self.beside, *self.wide)


def describe(view: View) -> Curves | None:
    """Lay out the curves; nothing where no model has scores."""
    curves = view.results.curves
    figures = []
    by_decisions = view.results.positive is not None and bool(view.results.confusion)
    if by_decisions or any(c.curve == "roc" for c in curves):
        caption = say("curves.roc" if any(c.curve == "roc" for c in curves) else "curves.roc_points")
        figures.append(
            _figure(view, "roc", say("curves.roc_title"), "roc_auc", roc, caption + _about_roc(view))
        )
    if any(c.curve == "pr" for c in curves):
        note = say("curves.pr")
        prevalence = prevalence_of(view.results)
        if prevalence is not None:
            note += " " + say("curves.prevalence", share=numbers.percent(round(prevalence, 3)))
        figures.append(
            _figure(view, "pr", say("curves.pr_title"), "average_precision", precision_recall, note)
        )
    panels = [*_error_rates(view), *_reliability(view)]
    if not figures and not panels:
        return None
    wide = [figure for figure in figures if figure.columns > 1]
    return Curves(tuple(f for f in figures if f.columns == 1), (*wide, *panels), _notes(view))


def _figure(
    view: View, kind: str, title: str, metric: str, plot: Callable[..., Axes], caption: str
) -> Figure:
    labels = list(dict.fromkeys(c.label for c in view.results.curves if c.curve == kind)) or [None]
    names, has_value = (
        _names(view, MetricKey(metric)),
        any(r.metric == metric and r.value is not None for r in view.results.metrics),
    )
    if has_value and labels == [None]:
        caption += " " + say("curves.legend", metric=metric_label(MetricKey(metric)))
    shown = labels[:MOST_CLASSES]
    more = {"annotated": _annotated(view)} if kind == "roc" and labels == [None] else {}
    titles = {k: say("curves.against_rest", label=shorten(visible(k), 30)) for k in shown if k is not None}

    def draw(label: str | None, legend: bool) -> Draw:
        def onto(axes: Axes) -> None:
            plot(view.results, axes, label=label, names=names, legend=legend, **more)
            if label is not None:
                axes.set_title(titles[label], fontsize=9, parse_math=False)

        return onto

    if len(labels) > len(shown):
        caption += " " + say("report.first_classes", shown=len(shown), n=len(labels))
    columns = 1 if len(shown) == 1 else 2 if len(shown) in (2, 4) else 3
    rows = -(-len(shown) // columns)
    return Figure(
        name=kind, title=title, description=_description(view, title, names), caption=caption,
        draw=tuple(draw(label, legend=i == 0) for i, label in enumerate(shown)),
        width=4.4 if columns == 1 else 3.3 * columns, height=4.2 if columns == 1 else 3.3 * rows, columns=columns,
        outer=True,
    )  # fmt: skip


def _annotated(view: View) -> str | None:
    """Give the model whose thresholds stand beside its curve: the first in rank that has one."""
    drawn = {c.model for c in view.results.curves if c.curve == "roc" and c.label is None}
    return next((m.id for m in view.models if m.id in drawn), None)


def _about_roc(view: View) -> str:
    of_roc = [c for c in view.results.curves if c.curve == "roc"]
    text = ""
    if any(c.band for c in of_roc):
        text += " " + say("curves.roc_band", level=numbers.percent(view.confidence))
        if len(view.models) > MOST_BANDS:
            text += " " + say("curves.bands_of_two")
    first = _annotated(view)
    if first is not None and view.results.operating_points:
        text += " " + say("curves.roc_thresholds", model=view.model(first).name)
    return text


def _panels(view: View, curve: str) -> tuple[list[Model], str]:
    """Give the models that have such a curve, in rank order, and what the caption says of those left out."""
    drawn = {c.model for c in view.results.curves if c.curve == curve}
    models = [m for m in view.models if m.id in drawn]
    more = len(models) - MOST_PANELS
    return models[:MOST_PANELS], (
        " " + say("report.first_of_all", shown=MOST_PANELS, n=len(models)) if more > 0 else ""
    )


def _error_rates(view: View) -> list[Figure]:
    models, left_out = _panels(view, "far")
    if not models:
        return []
    names = listed([m.short for m in models], 12)
    return [
        grid(
            "error-rates", say("curves.error_rates_title"), say("curves.error_rates_described", names=names),
            say("curves.error_rates") + left_out,
            [partial(error_rates, view.results, m.id, name=m.short, legend=False) for m in models],
        )
    ]  # fmt: skip


def _reliability(view: View) -> list[Figure]:
    models, left_out = _panels(view, "reliability")
    if not models:
        return []
    caption = say("curves.reliability")
    if view.results.positive is None:
        caption += " " + say("curves.reliability_of_classes")
    if any(c.curve == "reliability" and c.band for c in view.results.curves):
        caption += " " + say("curves.reliability_limits", level=numbers.percent(view.confidence))
    names = listed([m.short for m in models], 12)
    return [
        grid(
            "reliability", say("curves.reliability_title"), say("curves.reliability_described", names=names),
            caption + left_out, [partial(reliability, view.results, m.id, name=m.short) for m in models],
        )
    ]  # fmt: skip


def _names(view: View, key: MetricKey) -> dict[str, str]:
    decimals = min(metric_decimals(view, key), 3)
    names = {}
    for model in view.models:
        record = metric_record(view, model.id, key)
        value = (
            "" if record is None or record.value is None else f" ({numbers.number(record.value, decimals)})"
        )
        names[model.id] = model.short + value
    return names


def _description(view: View, title: str, names: dict[str, str]) -> str:
    drawn = {c.model for c in view.results.curves}
    of = listed([" ".join(names[m.id].split()) for m in view.models if m.id in drawn], 12)
    return say("curves.described", title=title, names=of)


def _notes(view: View) -> tuple[str, ...]:
    drawn = {c.model for c in view.results.curves if c.curve in ("roc", "reliability")}
    missing = [m.name for m in view.models if m.id not in drawn]
    notes = []
    if missing and any(c.curve == "roc" for c in view.results.curves):
        notes.append(say("curves.labels_only", names=listed(missing)))
    if len(view.models) > MOST_TOLD:
        notes.append(say("curves.highlighted"))
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class Gains:
    """The figures, and the numbers of the accuracy-rejection curves."""

    figures: tuple[Figure, ...]
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str


# Name of the figure, of the curve, function.
CHARTS: tuple[tuple[str, str, Callable[..., Axes]], ...] = (
    ("rejection", "accuracy_rejection", accuracy_rejection),
    ("sweep", "sweep_f1", sweep),
    ("gain", "gain", gain),
    ("lift", "lift", lift),
)


def describe_gains(view: View) -> Gains | None:
    """Lay out the curves; nothing where no model gives scores or probabilities."""
    names = {m.id: m.short for m in view.models}
    figures = []
    for name, curve, plot in CHARTS:
        drawn = {c.model for c in view.results.curves if c.curve == curve}
        if name == "sweep":
            drawn &= {c.model for c in view.results.curves if c.curve == "reliability"}
        if drawn:
            of = listed([m.short for m in view.models if m.id in drawn], 12)
            figures.append(_gain_figure(view, name, of, plot, names))
    if not figures:
        return None
    headings, rows = _risks(view)
    note = say("gains.note", level=numbers.percent(view.confidence)) if rows else ""
    return Gains(tuple(figures), headings, rows, note)


def _gain_figure(view: View, name: str, of: str, plot: Callable[..., Axes], names: dict[str, str]) -> Figure:
    title = named("gains.title", name)
    return Figure(
        name=name, title=title, description=say("curves.described", title=title, names=of),
        caption=named("gains.caption", name), width=4.4, height=3.4,
        draw=(partial(plot, view.results, names=names),),
    )  # fmt: skip


def _risks(view: View) -> tuple[tuple[str, ...], tuple[Row, ...]]:
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
        if any(cell is not None for cell in cells):
            rows.append(
                Row(
                    model,
                    tuple(
                        ""
                        if cell is None
                        else f"{numbers.number(cell.value)} {numbers.interval(cell.low, cell.high)}".strip()
                        for cell in cells
                    ),
                )
            )
    return headings, tuple(rows)


@dataclass(frozen=True, slots=True)
class Distributions:
    """The figures, each with a panel for every model."""

    figures: tuple[Figure, ...]


def describe_distributions(view: View) -> Distributions | None:
    """Lay out the figures; nothing where the results hold neither scores nor values."""
    figures: list[Figure] = []
    scored = _models(view, {record.model for record in view.results.score_histograms})
    if scored:
        figures.append(_distribution_figure(view, "scores", score_histogram, scored))
    valued = _models(view, {record.model for record in view.results.residuals})
    if valued:
        level = numbers.percent(view.confidence)
        limited = any(low is not None for record in view.results.residuals for low in record.bin_low)
        bins = say("distributions.bins", level=level) if limited else ""
        figures += [
            _distribution_figure(view, "predicted-true", predicted_true, valued),
            _distribution_figure(view, "residuals", residuals, valued),
            _distribution_figure(view, "value-calibration", value_calibration, valued, also=bins),
        ]
    return Distributions(tuple(figures)) if figures else None


def _models(view: View, held: set[str]) -> list[Model]:
    return [model for model in view.models if model.id in held]


def _distribution_figure(
    view: View, name: str, plot: Callable[..., Axes], models: list[Model], *, also: str = ""
) -> Figure:
    shown = models[:MOST_PANELS]
    title = named("distributions.title", name)
    parts = [named("distributions.caption", name), also]
    if len(models) > len(shown):
        parts.append(say("report.first_of_all", shown=len(shown), n=len(models)))
    names = listed([model.short for model in shown], MOST_PANELS)
    return grid(
        name,
        title,
        say("curves.described", title=title, names=names),
        " ".join(filter(None, parts)),
        [partial(plot, view.results, model.id, name=model.short) for model in shown],
        shared=True,
    )
