"""All metrics, models side by side, single classes, and every test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evalreport import numbers
from evalreport.report.naming import entry, label_of, listed, summary_of
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.table import MOST_MODELS, Cell, Column, Row, Table, pair_row
from evalreport.report.view import Model, View, limits_at_zero
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.lookups import true_counts
from evalreport.schema.metrics import Interval, MetricRecord, Quantity
from evalreport.texts import coded, has, joined, named, say
from evalreport.texts.labels import sentence_start
from evalreport.texts.visible import visible

MOST_PAPER_CLASSES = 60
"""Rows of single classes in a PDF."""
MOST_CLASSES = 100
"""Classes whose values a page shows, the most frequent ones."""
MOST_TEST_ROWS = 300

RuleValues = Mapping[tuple[Quantity, str], float]
"""By metric and rule what a rule that needs no model reaches."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """All metrics, those that a brief report has, single classes, tests; ``missing`` says what has no value."""

    values: Table
    key_values: Table
    classes: Table | None
    classes_on_paper: Table | None
    tests: tuple[Table, ...]
    note: str
    missing: tuple[str, ...]


def describe(view: View) -> Metrics | None:
    """Lay out every metric."""
    keys = view.keys
    if not keys:
        return None
    valued = {Quantity.of(r) for r in view.results.metrics if r.value is not None} | {view.primary}
    rules = tuple(dict.fromkeys(r.name for r in view.results.baselines))
    rule_values = {(Quantity.of(r), r.name): r.value for r in view.results.baselines}
    classes, left = _classes_shown(view)
    labelled = dict.fromkeys(
        Quantity.of(r) for r in view.results.metrics if r.label in classes and r.slice is None
    )
    row = partial(_row, view, rules=rules, rule_values=rule_values)
    families = _families([key for key in keys if key in valued])
    table = _table(view, say("metrics.box"), rules, families, row)
    shown_first = key_metrics(view)
    of_key = [(title, note, [k for k in own if k in shown_first]) for title, note, own in families]
    by_class = on_paper = None
    if labelled:
        by_class = _table(view, say("metrics.classes"), rules, [("", "", list(labelled))], row)
        cut = say("metrics.classes_cut", shown=len(classes), n=left) if left else ""
        by_class, many = replace(by_class, note=cut), len(labelled) > MOST_PAPER_CLASSES
        on_paper = replace(
            by_class, rows=by_class.rows[:MOST_PAPER_CLASSES], note=say("report.cut") if many else cut
        )
    return Metrics(
        values=table,
        key_values=_table(view, table.title, rules, of_key, row),
        classes=by_class,
        classes_on_paper=on_paper,
        tests=tuple(_all_tests(view)),
        note=f"{say('metrics.note', level=numbers.percent(view.confidence))} {_rules(view)}".strip(),
        missing=_missing(view, [key for key in keys if key not in valued]),
    )


Family = tuple[str, str, list[Quantity]]
"""The title of metrics that are given the same, a note on it, and the metrics."""


def _table(
    view: View, title: str, rules: Sequence[str], families: Iterable[Family], row: Callable[[Quantity], Row]
) -> Table:
    """Return a row for each metric, in groups; a column for each model, and one for each rule that needs none."""
    rows: list[Row] = []
    for heading, note, keys in families:
        if heading and keys:
            rows.append(Row(None, (), Cell(heading, note)))
        rows += map(row, keys)
    heads: tuple[str | Model | Column, ...] = (
        *view.models,
        *(Column(named("metrics.rule", name, visible(name)), "number muted") for name in rules),
    )
    cut = MOST_MODELS - 1 if rules else MOST_MODELS
    return Table(title, heads, tuple(rows), look="metrics", first=say("table.metric"), cut=cut)


def _classes_shown(view: View) -> tuple[frozenset[str], int]:
    """Return the most frequent classes, and how many others there are."""
    classes, results = view.results.classes, view.results
    if len(classes) <= MOST_CLASSES:
        return frozenset(classes), 0
    sizes = dict.fromkeys(classes, 0.0) | true_counts(results)
    shown = sorted(classes, key=lambda label: -sizes[label])[:MOST_CLASSES]
    return frozenset(shown), len(classes) - len(shown)


def _families(keys: Sequence[Quantity]) -> list[Family]:
    """Group the metrics by what they are given, the primary metric's family first, headline metrics before others."""
    families: dict[str, list[Quantity]] = {}
    for key in keys:
        metric = entry("metric", key.metric)
        name = "other" if metric is None else str(metric.heading)
        families.setdefault(name if has(f"metrics.family.{name}") else "other", []).append(key)
    return [
        (
            say(f"metrics.family.{name}"),
            say(f"metrics.family_note.{name}"),
            sorted(own, key=lambda key: not _is_headline(key)),
        )
        for name, own in families.items()
    ]


def _is_headline(key: Quantity) -> bool:
    known = entry("metric", key.metric)
    return known is not None and bool(known.display.headline) and key.average in (None, "macro")


def _missing(view: View, keys: list[Quantity]) -> tuple[str, ...]:
    """Say which metrics no model has a value of, together where the reason is the same."""
    reasons = {
        Quantity.of(r): r.reason for r in reversed(view.results.metrics) if r.slice is None and r.reason
    }
    by_reason: dict[str, list[str]] = {}
    for key in keys:
        by_reason.setdefault(view.text(reasons.get(key, "")), []).append(view.label(key))
    with_reason, without = "metrics.not_computed_why", "metrics.not_computed"
    return tuple(
        say(with_reason if reason else without, names=listed(labels, 12), reason=reason)
        for reason, labels in by_reason.items()
    )


def _rules(view: View) -> str:
    """Say once what the rules do that need no model."""
    texts = {named("metrics.rule", r.name, visible(r.name)): visible(r.text) for r in view.results.baselines}
    rules = [say("metrics.rule_said", name=name, text=text) for name, text in texts.items()]
    return say("metrics.rules", rules="; ".join(rules)) if rules else ""


def _row(view: View, key: Quantity, *, rules: Sequence[str], rule_values: RuleValues) -> Row:
    metric, digits, label = entry("metric", key.metric), view.digits(key), view.label(key)
    by_model = view.records(key)
    leading = dict.fromkeys(
        r.intervals[0].method for r in by_model.values() if r.intervals and _limits(r.intervals[0], digits)
    )
    definition = [] if metric is None else [summary_of("metric", key.metric), str(metric.display.formula)]
    head = Cell(
        digits.headed(label + ("" if view.sign(key) > 0 else " ↓")),
        ", ".join(label_of("interval", method) for method in leading),
        about=" ".join(filter(None, definition)),
        strong=False,
    )
    cells = (_cell(view, label, by_model.get(model.id), digits) for model in view.models)
    return Row(
        None, (*cells, *(numbers.number(rule_values.get((key, name)), digits) for name in rules)), head
    )


def _cell(view: View, label: str, record: MetricRecord | None, digits: numbers.Digits) -> Cell:
    """Return a model's value with its interval and, where intervals were named, the others; its computation."""
    if record is None:
        return Cell(numbers.MISSING)
    value = numbers.number(record.value, digits)
    limits = [(label_of("interval", i.method), _limits(i, digits)) for i in record.intervals]
    every = [
        say("metrics.interval_by", method=method, interval=interval or numbers.MISSING)
        for method, interval in limits
    ]
    error = numbers.number(record.standard_error, digits.finer)
    whole = f"{value} {digits.unit}".strip()
    formula = f"{label} = {record.formula} = {whole}" if record.formula else f"{label} = {whole}"
    about = [formula, *every, say("metrics.error_and_n", error=error, n=record.n)]
    return Cell(
        value,
        limits[0][1] if limits else "",
        note=view.text(record.reason or ""),
        below=tuple(every[1:]) if view.results.options.get("intervals") else (),
        about="; ".join(about) if record.value is not None else "",
    )


def _limits(interval: Interval, digits: numbers.Digits) -> str:
    return numbers.interval(interval.low, interval.high, digits)


def _all_tests(view: View) -> Iterable[Table]:
    """Yield the tests of the primary metric and, where tests were named, those of the others."""
    records = [r for r in view.results.comparisons if r.slice is None]
    primary = [r for r in records if Quantity.of(r) == view.primary]
    others = [r for r in records if Quantity.of(r) != view.primary]
    if primary:
        named_tests = bool(view.results.options.get("tests"))
        elsewhere = say("metrics.exploratory_elsewhere") if others and not named_tests else ""
        notes = (say("metrics.tests_note"), limits_at_zero(view.results.verdicts), elsewhere)
        title = say("metrics.tests", metric=view.primary_words)
        yield _tests(view, primary, title, " ".join(filter(None, notes)))
        if others and named_tests:
            yield _tests(view, others, say("metrics.other_tests"), say("methods.exploratory"))


def _tests(view: View, records: list[ComparisonRecord], title: str, note: str) -> Table:
    """Lay out tests side by side, those that lead on a metric first."""
    names = list(dict.fromkeys(r.test for r in sorted(records, key=lambda r: not r.recommended) if r.test))

    tests: dict[tuple[Quantity, str, str | None], list[ComparisonRecord]] = {}
    for record in records:
        tests.setdefault((Quantity.of(record), record.a, record.b), []).append(record)
    place = {model.id: i for i, model in enumerate(view.models)}

    def order(own: list[ComparisonRecord]) -> tuple[tuple[bool, int], list[int]]:
        """Order metrics as in the table of all, pairs by the ranks of both models."""
        return _metric_order(view, own[0]), sorted(place.get(name or "", 0) for name in (own[0].a, own[0].b))

    pairs = sorted(tests.values(), key=order)
    left = len(pairs) - MOST_TEST_ROWS
    if left > 0:
        note += f" {say('metrics.more_tests', n=left)}"
    with_metric = len({Quantity.of(r) for r in records}) > 1
    beside = say("table.statistic")
    heads: tuple[str | Column, ...] = (
        *([Column(say("table.metric"), "text")] if with_metric else []),
        say("table.difference"),
        *(
            Column(label_of("test", name), about=_about_test(view, records, name), beside=beside)
            for name in names
        ),
    )
    rows = tuple(_test_row(view, own, names, with_metric) for own in pairs[:MOST_TEST_ROWS])
    return Table(title, heads, rows, note, look="tests every-test", first=say("table.pair"), sortable=True)


def _metric_order(view: View, record: ComparisonRecord) -> tuple[bool, int]:
    keys = view.keys
    key = Quantity.of(record)
    return not _is_headline(key), keys.index(key) if key in keys else len(keys)


def _test_row(view: View, own: list[ComparisonRecord], names: list[str], with_metric: bool) -> Row:
    """Return one pair's tests, better model first; on the primary metric the interval is the pair's one interval."""
    first = next((r for r in own if r.recommended), own[0])
    key = Quantity.of(first)
    digits = view.digits_of_difference(key)
    by_name = {r.test: r for r in own}
    models = sorted((view.model(name) for name in (first.a, first.b) if name), key=lambda m: m.index)
    label = (digits.headed(view.label(key)),) if with_metric else ()
    tests = tuple(_test_cell(view, by_name.get(name), models[0].id) for name in names)
    if len(models) == 1:
        limits = numbers.interval(first.low, first.high, digits)
        difference = Cell(numbers.number(first.difference, digits), limits)
        return Row(None, (*label, difference, *tests), models[0].name, models[0].key)
    a, b = models
    better, worse = (a, b) if view.sign(key) > 0 else (b, a)
    shown = view.comparison(key, better.id, worse.id)
    difference = Cell(numbers.MISSING)
    if shown is not None:
        limits = view.interval(shown, digits)
        difference = Cell(numbers.number(shown.difference, digits, signed=True), limits)
    return pair_row(a, b, (*label, difference, *tests))


def _test_cell(view: View, record: ComparisonRecord | None, first: str) -> Cell:
    """Return a p-value with its statistic; of a Bayesian test the posterior probabilities, the first model's first."""
    if record is None:
        return Cell(numbers.MISSING)
    if "a_better" in record.details:
        better, worse = (record.details[f"{side}_better"] for side in ("ab" if record.a == first else "ba"))
        text = say("metrics.posterior", better=better, within=record.details["within_margin"], worse=worse)
        return Cell(numbers.MISSING, text)
    degrees = "" if record.df is None else f" (df {numbers.statistic(record.df)})"
    statistic = "" if record.statistic is None else numbers.statistic(abs(record.statistic)) + degrees
    return Cell(numbers.p_value(record.p_value), statistic, record.p_value, view.text(record.reason or ""))


def _about_test(view: View, records: list[ComparisonRecord], name: str) -> str:
    """Describe a test, with the cautions that hold for every pair."""
    own = [r for r in records if r.test == name]
    parts = [{str(part): part for part in joined(r.caution or "") if part} for r in own]
    shared = [part for text, part in parts[0].items() if all(text in others for others in parts)]
    shared_texts = [view.text(part) for part in shared if coded(part)[0] != "caution.exploratory"]
    return " ".join([summary_of("test", name), *(f"{sentence_start(text)}." for text in shared_texts)])
