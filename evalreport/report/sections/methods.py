"""Methods and limits: for each number which formula, which assumptions, and every warning."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalreport.plots.pictures import count_sets, f1_at_recall
from evalreport.report.figures import Figure
from evalreport.report.naming import entry, label_of
from evalreport.report.reasons import holds_here, why_chosen
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.view import View, text_of
from evalreport.texts import say


@dataclass(frozen=True, slots=True)
class Method:
    """One metric, interval or test: its label, what it is, further lines; ``is_key``: in a brief report too."""

    label: str
    summary: str
    lines: tuple[tuple[str, str], ...]
    is_key: bool = True


@dataclass(frozen=True, slots=True)
class Warned:
    """All warnings of one code."""

    code: str
    texts: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Methods:
    """What the section says."""

    found: tuple[tuple[str, str, str], ...]
    principles: tuple[str, ...]
    metrics: tuple[Method, ...]
    intervals: tuple[Method, ...]
    tests: tuple[Method, ...]
    warnings: tuple[Warned, ...]
    figures: tuple[Figure, ...] = ()


MOST_TEXTS = 8
# What intervals and tests are about, by design.
SCOPES = {
    "cross-validation": "methods.by_folds",
    "5x2cv": "methods.by_folds",
    "repeated-holdout": "methods.by_folds",
    "datasets": "methods.by_datasets",
    "bootstrap": "methods.by_fits",
    "seeds": "methods.by_seeds",
}


def describe(view: View) -> Methods:
    """Describe every method that a number of this report was made by."""
    results = view.results
    metrics = dict.fromkeys(r.metric for r in results.metrics)
    intervals = dict.fromkeys(i.method for r in results.metrics for i in r.intervals)
    intervals |= dict.fromkeys(r.interval_method for r in results.comparisons if r.interval_method)
    tests = dict.fromkeys([*(r.test for r in results.comparisons), *(r.test for r in results.omnibus)])
    short = {key.metric for key in key_metrics(view)}
    scope = say(SCOPES.get(results.design, "methods.conditional"))
    apart = results.options.get("join") == "independent"
    overlap = say("methods.overlap_apart" if apart else "methods.overlap")
    principles = [say("methods.not_equal"), overlap, scope, say("methods.exploratory")]
    return Methods(
        found=tuple((f.what, text_of(view, f.value), text_of(view, f.why)) for f in results.found),
        principles=tuple(principles if len(view.models) > 1 else [scope]),
        metrics=tuple(_method("metric", name, ("formula", "source"), name in short) for name in metrics),
        intervals=tuple(_method("interval", name, ("formula", "source")) for name in intervals),
        tests=tuple(_test(view, name) for name in tests),
        warnings=_warnings(view),
        figures=_pictures(view),
    )


def _pictures(view: View) -> tuple[Figure, ...]:
    """Show what metrics such as F1 are made of, on the counts of the model that ranks first."""
    results = view.results
    first = next((m for m in view.models if any(c.model == m.id for c in results.confusion)), None)
    known = (entry("metric", name) for name in dict.fromkeys(r.metric for r in results.metrics))
    wanted = {name for metric in known if metric is not None for name in metric.figures}
    if first is None or results.positive is None:
        return ()
    figures = (
        Figure(
            name="count-sets", title=say("methods.sets_title"), caption=say("methods.sets", model=first.name),
            description=say("methods.sets_described", model=first.name),
            draw=(lambda axes: count_sets(results, first.id, axes),), width=4.4, height=2.2,
        ),
        Figure(
            name="f1-at-recall", title=say("methods.f1_title"), caption=say("methods.f1"),
            description=say("methods.f1_described"), draw=(f1_at_recall,), width=4.4,
            height=3.0,
        ),
    )  # fmt: skip
    return tuple(figure for figure in figures if figure.name in wanted)


def _method(kind: str, name: str, attributes: tuple[str, ...], is_key: bool = True) -> Method:
    known = entry(kind, name)
    if known is None:
        return Method(label_of(kind, name), "", (), is_key)
    lines = tuple((say(f"methods.{a}"), str(getattr(known, a, "") or "")) for a in attributes)
    return Method(str(known.label), str(known.summary), tuple(line for line in lines if line[1]), is_key)


def _test(view: View, name: str) -> Method:
    """Describe a test, why it is here and what is known of its assumptions on these data."""
    method = _method("test", name, ("null_hypothesis", "assumptions", "source"))
    here = [(say("methods.why"), why_chosen(view, name)), (say("methods.here"), holds_here(view, name))]
    last = [line for line in method.lines if line[0] == say("methods.source")]
    first = [line for line in method.lines if line not in last]
    return replace(method, lines=(*first, *(line for line in here if line[1]), *last))


def _warnings(view: View) -> tuple[Warned, ...]:
    grouped: dict[str, list[str]] = {}
    for warning in view.results.warnings:
        grouped.setdefault(warning.code, []).append(text_of(view, warning.text))
    return tuple(
        Warned(
            code.replace("_", " ").replace("-", " "),
            tuple(texts[:MOST_TEXTS]),
            max(len(texts) - MOST_TEXTS, 0),
        )
        for code, texts in grouped.items()
    )
