"""Definitions of the metrics, intervals and tests of a report, and what the data show of the tests' assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from evalreport import numbers
from evalreport.plots.pictures import Figure, count_sets, f1_at_recall
from evalreport.report.naming import (
    count_range,
    display_of,
    entry,
    label_of,
    origin_of,
    summary_of,
    why_it_leads,
)
from evalreport.report.sections.leaderboard import conflict
from evalreport.report.view import View
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.lookups import true_counts
from evalreport.schema.metrics import Quantity
from evalreport.schema.warnings import FEW_CLUSTERS, FEW_OF_A_CLASS, FEW_RESAMPLES
from evalreport.texts import coded, joined, named, say
from evalreport.texts.labels import sentence_start

ABOUT_NO_ASSUMPTION = frozenset({"caution.exploratory", "caution.beyond_margin"})
FEW_DISCORDANT = 25


@dataclass(frozen=True, slots=True)
class Method:
    """One metric, interval or test: its label, what it is in one line, and of what decides further lines."""

    label: str
    summary: str
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Glossary:
    """How to read intervals and tests, and every metric, interval and test that a number was made by."""

    principles: tuple[str, ...]
    metrics: tuple[Method, ...]
    intervals: tuple[Method, ...]
    tests: tuple[Method, ...]
    figures: tuple[Figure, ...] = ()


def describe_glossary(view: View) -> Glossary:
    """Describe every method that a number of this report was made by."""
    results = view.results
    metrics = dict.fromkeys(r.metric for r in results.metrics if r.value is not None)
    intervals = dict.fromkeys(r.intervals[0].method for r in results.metrics if r.intervals)
    intervals |= dict.fromkeys(r.interval_method for r in results.comparisons if r.interval_method)
    decide, every = deciding(view), bool(results.options.get("tests"))
    shown = [r for r in results.comparisons if every or r.test in decide or Quantity.of(r) == view.primary]
    tests = dict.fromkeys([*(r.test for r in shown if r.test), *(r.test for r in results.omnibus)])
    overlap = "methods.overlap_apart" if results.options.get("join") == "independent" else "methods.overlap"
    return Glossary(
        principles=(say(overlap), say("methods.exploratory")) if len(view.models) > 1 else (),
        metrics=tuple(_metric(name) for name in metrics),
        intervals=tuple(_interval(name) for name in intervals),
        tests=tuple(_test(view, n, n in decide) for n in sorted(tests, key=lambda n: n not in decide)),
    )


def pictures_of_counts(view: View) -> tuple[Figure, ...]:
    """Draw the counts that metrics such as F1 are made of, for the model that ranks first."""
    results = view.results
    first = next((m for m in view.models if any(c.model == m.id for c in results.confusion)), None)
    known = (display_of("metric", name) for name in dict.fromkeys(r.metric for r in results.metrics))
    wanted = {name for display in known if display is not None for name in display.figures}
    if first is None or results.positive is None:
        return ()
    figures = (
        Figure(
            name="count-sets", title=say("methods.sets_title"), caption=say("methods.sets", model=first.name),
            description=say("methods.sets_described", model=first.name),
            draw=(partial(count_sets, results, first.id),), width=4.4, height=2.2,
        ),
        Figure(
            name="f1-at-recall", title=say("methods.f1_title"), caption=say("methods.f1"),
            description=say("methods.f1_described"), draw=(f1_at_recall,), width=4.4, height=3.0,
        ),
    )  # fmt: skip
    return tuple(figure for figure in figures if figure.name in wanted)


def _metric(name: str) -> Method:
    """Define a metric by its summary and its formula."""
    formula = str(getattr(display_of("metric", name), "formula", "") or "")
    lines = (("", formula),) if formula else ()
    return Method(label_of("metric", name), summary_of("metric", name), lines)


def _interval(name: str) -> Method:
    """Define an interval by its summary, and say whether it is published or our own."""
    source = str(getattr(display_of("interval", name), "source", "") or "")
    lines = (origin_of(source),) if source else ()
    return Method(label_of("interval", name), summary_of("interval", name), lines)


def _test(view: View, name: str, decides: bool) -> Method:
    """Describe a test and why it is here; of one that decides, what the data show of its assumptions."""
    why, known = why_chosen(view, name), entry("test", name)
    origin = () if known is None else (origin_of(str(known.source)),)
    if known is None or not decides:
        return Method(label_of("test", name), f"{summary_of('test', name)} {sentence_start(why)}.", origin)
    lines = [
        ("null_hypothesis", str(known.null_hypothesis)),
        ("assumptions", str(known.assumptions)),
        ("why", why),
        ("here", holds_here(view, name)),
    ]
    parts = tuple((say(f"methods.{title}"), text) for title, text in lines if text)
    return Method(label_of("test", name), summary_of("test", name), (*parts, *origin))


def why_chosen(view: View, test: str) -> str:
    """Say why a test decides here, or why it is shown; nothing where there is no more to say than its summary."""
    if test in deciding(view):
        return why_it_leads(test, view.primary.metric, say("reasons.leads"))
    if test in view.results.options.get("tests", ()):
        return say("reasons.asked")
    return named("reasons.why_beside", test, say("reasons.beside"))


def deciding(view: View) -> frozenset[str]:
    """Name the tests that lead on the primary metric and on the one that the headline adds."""
    second = conflict(view)
    keys = (view.primary, None if second is None else second.key)
    rows = (r for r in view.results.comparisons if r.recommended and Quantity.of(r) in keys)
    return frozenset(r.test for r in rows if r.test)


def holds_here(view: View, test: str) -> str:
    """Say what the data show of a test's assumptions; what they cannot show is called assumed."""
    records = [r for r in view.results.comparisons if r.test == test and r.slice is None]
    texts = [*_of_examples(view, test), *_of_numbers(view, test, records), *_of_cautions(view, records)]
    return "; ".join(dict.fromkeys(texts))


def _of_examples(view: View, test: str) -> Iterator[str]:
    known = entry("test", test)
    if known is None or not known.of_examples or view.results.design == "datasets":
        return
    cluster = view.results.options.get("cluster")
    if cluster:
        yield say("reasons.clusters", column=cluster)
    elif view.results.design == "test-set":
        yield say("reasons.independence")


def _of_numbers(view: View, test: str, records: list[ComparisonRecord]) -> Iterator[str]:
    known = entry("test", test)
    check = None if known is None else _discordant if known.large_samples else _NUMBERS.get(known.needs)
    if check is not None:
        yield from check(view)
    lacking = sum(r.p_value is None and r.reason is not None for r in records)
    if lacking and not (known is not None and known.bayesian):
        yield say("reasons.refused", n=lacking, total=numbers.count(len(records)))


def _discordant(view: View) -> Iterator[str]:
    counts = [r.only_a + r.only_b for r in view.results.agreement]
    if counts:
        few = min(counts) < FEW_DISCORDANT
        yield say("reasons.discordant_few" if few else "reasons.discordant", many=count_range(counts))


def _class_sizes(view: View) -> Iterator[str]:
    counts = true_counts(view.results)
    least = min((counts.get(label, 0.0) for label in view.results.classes), default=None)
    if least is not None:
        yield say("reasons.rarest" if least >= FEW_OF_A_CLASS else "reasons.rarest_few", n=least)


def _resamples(view: View) -> Iterator[str]:
    drawn = view.results.options.get("resamples")
    if isinstance(drawn, int):
        yield say("reasons.resamples" if drawn >= FEW_RESAMPLES else "reasons.resamples_few", n=drawn)


def _examples(view: View) -> Iterator[str]:
    yield say("reasons.mean", n=view.results.n)


def _clusters(view: View) -> Iterator[str]:
    """Say how many clusters of equal size they count as; where ids repeat that is the number of examples."""
    sizes = [r.clusters_effective for r in view.results.metrics if r.slice is None and r.clusters_effective]
    if sizes:
        enough = sizes[0] >= FEW_CLUSTERS
        yield say("reasons.groups" if enough else "reasons.groups_few", number=numbers.number(sizes[0], 1))


def _weights(view: View) -> Iterator[str]:
    sizes = [r.n_effective for r in view.results.metrics if r.slice is None and r.n_effective]
    if sizes:
        yield say("reasons.effective", number=numbers.number(sizes[0], 1))


_NUMBERS: dict[str, Callable[[View], Iterator[str]]] = {
    "placements": _class_sizes,
    "replicates": _resamples,
    "losses": _examples,
    "mean_losses": _examples,
    "clusters": _clusters,
    "weights": _weights,
}
"""What the results show of the numbers that a test rests on, by what it needs."""


def _of_cautions(view: View, records: list[ComparisonRecord]) -> Iterator[str]:
    """Yield the cautions on the test's assumptions in this layout, its measured size among them."""
    for record in records:
        for part in joined(record.caution or ""):
            if part and coded(part)[0] not in ABOUT_NO_ASSUMPTION:
                yield view.text(part)
