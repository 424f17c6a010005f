"""How this was decided; the appendix with cautions, definitions and what it takes to make this report again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from evalreport import numbers
from evalreport.gates.conditions import asks_an_audit
from evalreport.options import Options
from evalreport.plots.lookups import true_counts
from evalreport.plots.pictures import Figure, count_sets, f1_at_recall
from evalreport.report.naming import (
    Kind,
    count_range,
    display_of,
    entry,
    label_of,
    level_of_pairs,
    listed,
    summary_of,
    test_in_words,
)
from evalreport.report.sections import tasks
from evalreport.report.sections.leaderboard import conflict
from evalreport.report.sections.tasks import family
from evalreport.report.view import View, key_of, leading_comparison, n_cautions, text_of
from evalreport.report.visible import shorten, visible
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.texts import coded, has, in_words, joined, named, say
from evalreport.texts.labels import sentence_start

ABOUT_NO_ASSUMPTION = frozenset({"caution.exploratory", "caution.beyond_margin"})
FEW_DISCORDANT = 25
FEW_OF_A_CLASS = 30
FEW_RESAMPLES = 1000
FEW_CLUSTERS = 10


def why_chosen(view: View, test: str) -> str:
    """Say why a test decides here, or why it is shown; nothing where there is no more to say than its summary."""
    if test in deciding(view):
        return named("reasons.why", test, say("reasons.leads"))
    if test in view.results.options.get("tests", ()):
        return say("reasons.asked")
    return named("reasons.why_beside", test, say("reasons.beside"))


def deciding(view: View) -> frozenset[str]:
    """Name the tests that lead on the primary metric and on the one that the headline adds."""
    second = conflict(view)
    keys = {view.primary} | ({second.key} if second is not None else set())
    return frozenset(r.test for r in view.results.comparisons if r.recommended and key_of(r) in keys)


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
    check = None if known is None else _LARGE_SAMPLES if known.large_samples else _NUMBERS.get(known.needs)
    if check is not None:
        yield from check(view)
    lacking = sum(r.p_value is None and r.reason is not None for r in records)
    if lacking and not (known is not None and known.bayesian):
        yield say("reasons.refused", n=lacking, total=numbers.count(len(records)))


def _discordant(view: View) -> Iterator[str]:
    found = [r.only_a + r.only_b for r in view.results.agreement]
    if found:
        enough = min(found) >= FEW_DISCORDANT
        yield say("reasons.discordant" if enough else "reasons.discordant_few", many=count_range(found))


def _class_sizes(view: View) -> Iterator[str]:
    counts = true_counts(view.results)
    sizes = [counts.get(label, 0.0) for label in view.results.classes]
    if sizes:
        enough = min(sizes) >= FEW_OF_A_CLASS
        yield say("reasons.rarest" if enough else "reasons.rarest_few", n=min(sizes))


def _resamples(view: View) -> Iterator[str]:
    drawn = view.results.options.get("resamples")
    if isinstance(drawn, int):
        yield say("reasons.resamples" if drawn >= FEW_RESAMPLES else "reasons.resamples_few", n=drawn)


def _examples(view: View) -> Iterator[str]:
    yield say("reasons.mean", n=view.results.n)


def _clusters(view: View) -> Iterator[str]:
    """Say how many clusters of equal size they count as; where ids repeat that is the number of examples."""
    found = [r.clusters_effective for r in view.results.metrics if r.slice is None and r.clusters_effective]
    if found:
        enough = found[0] >= FEW_CLUSTERS
        yield say("reasons.groups" if enough else "reasons.groups_few", number=numbers.number(found[0], 1))


def _weights(view: View) -> Iterator[str]:
    found = [r.n_effective for r in view.results.metrics if r.slice is None and r.n_effective]
    if found:
        yield say("reasons.effective", number=numbers.number(found[0], 1))


_LARGE_SAMPLES = _discordant
_NUMBERS: dict[str, Callable[[View], Iterator[str]]] = {
    "placements": _class_sizes,
    "replicates": _resamples,
    "losses": _examples,
    "clusters": _clusters,
    "weights": _weights,
}
"""What the results show of the numbers that a test rests on, by what it needs."""


def _of_cautions(view: View, records: list[ComparisonRecord]) -> Iterator[str]:
    """Yield the cautions on the test's assumptions in this layout, its measured size among them."""
    for record in records:
        for part in joined(record.caution or ""):
            if part and coded(part)[0] not in ABOUT_NO_ASSUMPTION:
                yield text_of(view, part)


@dataclass(frozen=True, slots=True)
class Method:
    """One metric, interval or test: its label, what it is in one line, and of what decides further lines."""

    label: str
    summary: str
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Warned:
    """All warnings of one code; ``info`` where they change no reading of the verdict."""

    code: str
    info: bool
    texts: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Methods:
    """What the section says: one paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Cautions:
    """Properties found in the files, and all warnings."""

    found: tuple[tuple[str, str, str], ...]
    warnings: tuple[Warned, ...]
    all_cautions: int

    @property
    def in_brief(self) -> bool:
        """Whether anything is left in a brief report, which has no information."""
        return any(not warned.info for warned in self.warnings)


@dataclass(frozen=True, slots=True)
class Glossary:
    """How to read intervals and tests, and every metric, interval and test that a number was made by."""

    principles: tuple[str, ...]
    metrics: tuple[Method, ...]
    intervals: tuple[Method, ...]
    tests: tuple[Method, ...]
    figures: tuple[Figure, ...] = ()


MOST_TEXTS = 3
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
    """Say how this was decided: the test, the correction, the interval, and what the verdict is about."""
    results = view.results
    parts = []
    leading = leading_comparison(view, view.primary)
    if leading is not None and results.verdicts:
        second = conflict(view)
        other = None if second is None else leading_comparison(view, second.key)
        same = second is not None and other is not None and other.test == leading.test
        words = (
            listed([view.primary_words, second.words]) if second is not None and same else view.primary_words
        )
        parts.append(_deciding(view, leading.test, words, len(results.verdicts)))
        if results.options.get("margin") is not None:
            parts.append(say("methods.equivalence", margin=f"{results.options['margin']:g}"))
        if leading.interval_method:
            by = label_of("interval", leading.interval_method)
            parts.append(say("methods.one_interval", method=by, level=level_of_pairs(results)))
        if second is not None and other is not None and not same:
            parts.append(_deciding(view, other.test, second.words, len(results.second_verdicts)))
    if results.suite:
        parts.append(_of_suite(view))
    parts.append(
        tasks.scope(view) or say(SCOPES.get(results.design, "methods.conditional"), n=len(view.models))
    )
    known = entry("metric", view.primary.metric)
    if known is not None and known.needs == "gold" and results.judge_agreement:
        parts.append(_of_people(view))
    if any(record.verdict == "undecided" for record in results.verdicts):
        parts.append(say("methods.not_equal"))
    return Methods(" ".join(parts))


def _of_suite(view: View) -> str:
    """Say of a suite what a value is a mean of, that its tasks are fixed, and how the tasks were decided."""
    results = view.results
    number = in_words(len(results.suite))
    micro = results.options.get("average") == "examples"
    text = say("suite.method_examples" if micro else "suite.method_tasks", number=number)
    return " ".join(filter(None, (text, family(view))))


def _of_people(view: View) -> str:
    """Say what an estimate from a judge and a few people assumes, whether that was tested, and what it is about."""
    results = view.results
    counts = [r.n_gold for r in results.judge_agreement if r.model is not None]
    declared = bool(results.options.get("gold_sampled"))
    sampling = "declared" if declared else "tested" if results.gold_sampling else "all"
    return say(
        "judge.assumes", gold=count_range(counts), n=results.n, sampling=say(f"judge.sampling_{sampling}")
    )


def _deciding(view: View, test: str, metric: str, n_pairs: int) -> str:
    """Say which test decides the pairs on a metric, why, and how its p-values are adjusted."""
    correction = str(view.results.options.get("correction", "none"))
    adjusted = ""
    if n_pairs > 1 and correction != "none" and has(f"correction.{correction}"):
        adjusted = say("methods.adjusted", correction=named("correction", correction), n=n_pairs)
    why = named("reasons.why", test, "")
    text = say("methods.decided_by", n=n_pairs, metric=metric, test=test_in_words(test), adjusted=adjusted)
    return text + (f" {sentence_start(why)}." if why else "")


def describe_cautions(view: View) -> Cautions | None:
    """Lay out the properties found in the files, and the warnings."""
    found = tuple(
        (named("found_what", f.what.replace(" ", "_"), f.what), text_of(view, f.value), text_of(view, f.why))
        for f in view.results.found
    )
    warnings = _warnings(view)
    n = n_cautions(view.results.warnings)
    return Cautions(found, warnings, n) if found or warnings else None


def describe_glossary(view: View) -> Glossary:
    """Describe every method that a number of this report was made by."""
    results = view.results
    metrics = dict.fromkeys(r.metric for r in results.metrics if r.value is not None)
    intervals = dict.fromkeys(r.intervals[0].method for r in results.metrics if r.intervals)
    intervals |= dict.fromkeys(r.interval_method for r in results.comparisons if r.interval_method)
    decide, every = deciding(view), bool(results.options.get("tests"))
    shown = [r for r in results.comparisons if every or r.test in decide or key_of(r) == view.primary]
    tests = dict.fromkeys([*(r.test for r in shown), *(r.test for r in results.omnibus)])
    overlap = "methods.overlap_apart" if results.options.get("join") == "independent" else "methods.overlap"
    return Glossary(
        principles=(say(overlap), say("methods.exploratory")) if len(view.models) > 1 else (),
        metrics=tuple(_method("metric", name, "formula") for name in metrics),
        intervals=tuple(_method("interval", name, "source") for name in intervals),
        tests=tuple(
            _test(view, name, name in decide) for name in sorted(tests, key=lambda n: n not in decide)
        ),
    )


def pictures_of_counts(view: View) -> tuple[Figure, ...]:
    """Draw the counts that metrics such as F1 are made of, for the model that ranks first."""
    results = view.results
    first = next((m for m in view.models if any(c.model == m.id for c in results.confusion)), None)
    known = (entry("metric", name) for name in dict.fromkeys(r.metric for r in results.metrics))
    wanted = {name for metric in known if metric is not None for name in metric.display.figures}
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
            description=say("methods.f1_described"), draw=(f1_at_recall,), width=4.4,
            height=3.0,
        ),
    )  # fmt: skip
    return tuple(figure for figure in figures if figure.name in wanted)


def _method(kind: Kind, name: str, attribute: str) -> Method:
    """Define a metric or an interval in one line: its summary, and its formula or its source."""
    text = str(getattr(display_of(kind, name), attribute, "") or "")
    line = ((say(f"methods.{attribute}"), text),) if text else ()
    return Method(label_of(kind, name), summary_of(kind, name), line)


def _test(view: View, name: str, decides: bool) -> Method:
    """Describe a test and why it is here; of one that decides, what the data show of its assumptions."""
    why, known = why_chosen(view, name), entry("test", name)
    if not decides or known is None:
        return Method(label_of("test", name), f"{summary_of('test', name)} {sentence_start(why)}.")
    lines = [
        ("null_hypothesis", str(known.null_hypothesis)),
        ("assumptions", str(known.assumptions)),
        ("why", why),
        ("here", holds_here(view, name)),
        ("source", str(known.source)),
    ]
    found = tuple((say(f"methods.{title}"), text) for title, text in lines if text)
    return Method(label_of("test", name), summary_of("test", name), found)


def _warnings(view: View) -> tuple[Warned, ...]:
    grouped: dict[tuple[str, bool], list[str]] = {}
    for warning in view.results.warnings:
        grouped.setdefault((warning.code, warning.level == "info"), []).append(text_of(view, warning.text))
    return tuple(
        Warned(
            code.replace("_", " ").replace("-", " "),
            info,
            tuple(texts[:MOST_TEXTS]),
            max(len(texts) - MOST_TEXTS, 0),
        )
        for (code, info), texts in grouped.items()
    )


LISTS = ("metrics", "intervals", "tests", "slices", "gates")
"""Options whose flag is in the singular: it is given once for each."""


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input file."""

    path: str
    model: str
    rows: str
    digest: str


@dataclass(frozen=True, slots=True)
class Reproducibility:
    """What the section says."""

    command: str
    signature: str
    options: tuple[tuple[str, str], ...]
    inputs: tuple[InputRow, ...]
    environment: tuple[tuple[str, str], ...]
    verify: str


def describe_reproducibility(view: View) -> Reproducibility:
    """Say how the report came about."""
    results = view.results
    names = {m.id: m.full for m in view.models}
    inputs = tuple(
        InputRow(
            shorten(visible(i.path), 80),
            say("reproducibility.several") if i.model is None else names.get(i.model, visible(i.model)),
            numbers.count(i.rows),
            i.sha256,
        )
        for i in results.inputs
    )
    return Reproducibility(
        command=command(results.options, results.models),
        signature=results.signature,
        options=tuple(
            (key.replace("_", " "), _shown(value))
            for key, value in sorted(results.options.items())
            if value is not None
            and value is not False
            and value not in ((), [])
            and (key != "average" or results.suite)  # else it changes nothing
        ),
        inputs=inputs,
        environment=tuple(sorted(results.environment.items())),
        verify=say("reproducibility.verify"),
    )


def command(options: Mapping[str, Any], models: Sequence[str]) -> str:
    """Write the command that gives these results: every option that differs from its default."""
    # A gate about an earlier run needs a history, and so an audit.
    audited = any(asks_an_audit(gate, models=models) for gate in options.get("gates") or ())
    words = ["evalreport audit MODELS --history URL" if audited else "evalreport run MODELS"]
    for field in fields(Options):
        value = options.get(field.name, field.default)
        value = tuple(value) if isinstance(value, list) else value
        if value == field.default or value is None:
            continue
        name = field.name.removesuffix("s") if field.name in LISTS else field.name
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        else:
            values = value if isinstance(value, tuple) else (value,)
            words += [f"{flag} {shlex.quote(visible(str(v)))}" for v in values]
    return " ".join(words)


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(visible(str(v)) for v in value)
    return visible(str(value))
