"""In cases: what the models get right and wrong, in counts, also by threshold, and where they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite

from evalreport import numbers
from evalreport.plots.lookups import confusion_of, outcomes_of
from evalreport.report.naming import MetricKey, label_of, listed, metric_label
from evalreport.report.view import (
    Cell,
    Model,
    Row,
    Table,
    View,
    metric_decimals,
    metric_record,
    text_of,
    unless_decided,
    value_of,
    weights_note,
)
from evalreport.report.visible import shorten, visible
from evalreport.schema.curves import OperatingPointRecord
from evalreport.texts import coded, in_words, named, say
from evalreport.texts.labels import in_sentence

LONGEST_LABEL = 24
ERRORS = ("medae", "mae", "rmse", "max_error", "bias_error")
"""Metrics of errors in the target's own units."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its right and its wrong part in percent of the whole width."""

    right: float
    wrong: float


@dataclass(frozen=True, slots=True)
class Case:
    """One model's row: bars and counts of the positives, then of the negatives; of several classes of all examples."""

    model: Model
    found: Bar
    alarms: Bar | None
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """What the section shows: bars of a binary or multiclass task, or a table of errors."""

    heading: str
    kind: str
    groups: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[Case, ...]
    table: Table | None
    note: str


def describe(view: View) -> Cases | None:
    """Lay out the counts; nothing where answers are neither right nor wrong, nor off by so much."""
    counts = {m: c for m in view.models if (c := confusion_of(view.results, m.id))}
    if counts and view.results.positive is not None:
        return _binary(view, counts, view.results.positive)
    if counts:
        return _of_classes(view, counts)
    return _errors(view) if view.results.task == "regression" else _outcomes(view)


Counts = dict[tuple[str, str], float]


def _binary(view: View, counts: dict[Model, Counts], positive: str) -> Cases:
    rows, found = [], []
    most = max(outcomes_of(view.results, m.id, positive)[1] for m in counts) or 1.0
    totals: tuple[float, float] = (0.0, 0.0)
    for model in counts:
        hits, alarms, missed, cleared = outcomes_of(view.results, model.id, positive)
        totals, whole = (hits + missed, alarms + cleared), (hits + missed + alarms + cleared) or 1.0
        found.append(hits)
        rows.append(
            Case(
                model,
                Bar(_percent(hits, totals[0]), _percent(missed, totals[0])),
                Bar(0.0, _percent(alarms, most)),
                (
                    numbers.count(hits), numbers.count(missed), numbers.number(1000 * missed / whole, 1),
                    numbers.count(alarms), numbers.number(1000 * alarms / whole, 1), numbers.count(cleared),
                ),
            )
        )  # fmt: skip
    label, n = shorten(visible(positive), LONGEST_LABEL), numbers.count(totals[0])
    known = {"label": label, "n": n, "most": numbers.count(max(found)), "least": numbers.count(min(found))}
    best = max(counts, key=lambda m: found[list(counts).index(m)])
    known["model"] = best.name
    key = "find"
    if max(found) >= totals[0]:
        key = "finds_all"
    elif len(rows) == 1 or max(found) == min(found):
        key = "one_finds" if len(rows) == 1 else "all_find"
    fits = not weights_note(view) and sum(totals) > view.results.n
    if fits:  # an example is counted in several fits: shares say what counts would not
        key += "_fits"
        known["most_share"] = numbers.share(max(found), totals[0])
    of = "weight_of_" if weights_note(view) else "predicted_" if fits else ""
    groups = (
        say(f"cases.{of}positives", n=n, label=label),
        say(f"cases.{of}negatives", n=numbers.count(totals[1])),
    )
    note = f"{say('cases.note')} {_what_counts(view, sum(totals))}".strip()
    heads = tuple(
        say(f"cases.{name}") for name in ("found", "missed", "per_1000", "alarms", "per_1000", "cleared")
    )
    return Cases(
        _headed(view, say(f"cases.{key}", **known)), "binary", groups, heads, tuple(rows), None, note
    )


def _of_classes(view: View, counts: dict[Model, Counts]) -> Cases:
    rows, wrong = [], {}
    n = 0.0
    for model, cells in counts.items():
        n = sum(cells.values()) or 1.0
        right = sum(count for (t, p), count in cells.items() if t == p)
        mistakes = sorted(
            ((count, t, p) for (t, p), count in cells.items() if t != p and count), reverse=True
        )
        wrong[model] = n - right
        confused = ", ".join(
            say("cases.confused", true=shorten(t, 12), predicted=shorten(p, 12), count=numbers.count(count))
            for count, t, p in mistakes[:3]
        )
        rows.append(_right_and_wrong(model, right, n, confused))
    fits = "_fits" if n > view.results.n and not weights_note(view) else ""
    heading = _headed(view, _fewest_and_most(view, wrong, n, "err", fits))
    heads = tuple(say(f"cases.{name}") for name in ("right", "wrong", "per_1000", "most_frequent"))
    what = (
        "all_weights" if weights_note(view) else "all_predictions" if n > view.results.n else "all_examples"
    )
    groups = (say(f"cases.{what}", n=numbers.count(n)),)
    return Cases(heading, "classes", groups, heads, tuple(rows), None, _what_counts(view, n))


def _headed(view: View, found: str) -> str:
    return say("cases.by_weight" if weights_note(view) else "cases.in_cases", found=found)


def _what_counts(view: View, n: float) -> str:
    """Say what was counted, where it is not each example once."""
    return weights_note(view) or (say("cases.note_fits") if n > view.results.n else "")


def _errors(view: View) -> Cases | None:
    keys = [MetricKey(name) for name in ERRORS]
    keys = [key for key in keys if any(value_of(view, m, key) is not None for m in view.models)]
    if not keys:
        return None
    rows = []
    # All are in the target's units: they have the decimals of the mean absolute error.
    decimals = metric_decimals(view, keys[min(1, len(keys) - 1)])
    for model in view.models:
        values = [value_of(view, model, key) for key in keys]
        rows.append(Row(model, tuple(Cell(numbers.number(value, decimals), order=value) for value in values)))
    heads = tuple(label_of("metric", key.metric) for key in keys)
    size = numbers.number(value_of(view, view.models[0], keys[0]), decimals)
    text = "cases.half" if keys[0].metric == ERRORS[0] else "cases.off"
    table = Table(say("cases.box"), heads, tuple(rows), look="cases", sortable=True)
    units = [named("cases.error", key.metric, "") for key in keys]
    note = " ".join(filter(None, (say("cases.error_units"), *units)))
    heading = say("cases.in_cases", found=say(text, model=view.models[0].name, size=size))
    return Cases(heading, "errors", (), (), (), table, note)


def _outcomes(view: View) -> Cases | None:
    """Count successes and failures where each outcome is 0 or 1."""
    rows, wrong = [], {}
    n = 0.0
    for model in view.models:
        record = metric_record(view, model.id, view.primary)
        if record is None or record.value is None or not record.trials:
            return None
        n, right = record.trials, record.value * record.trials
        wrong[model] = n - right
        rows.append(_right_and_wrong(model, right, n))
    if not rows or not view.greater_is_better:
        return None
    heading = say("cases.in_cases", found=_fewest_and_most(view, wrong, n, "fail"))
    heads = tuple(say(f"cases.{name}") for name in ("successes", "failures", "per_1000"))
    return Cases(
        heading, "classes", (say("cases.all_examples", n=numbers.count(n)),), heads, tuple(rows), None, ""
    )


def _right_and_wrong(model: Model, right: float, n: float, *further: str) -> Case:
    wrong = n - right
    counted = (numbers.count(round(right, 6)), numbers.count(round(wrong, 6)))
    bar = Bar(_percent(right, n), _percent(wrong, n))
    return Case(model, bar, None, (*counted, numbers.number(1000 * wrong / n, 1), *further))


def _fewest_and_most(view: View, wrong: dict[Model, float], n: float, kind: str, fits: str = "") -> str:
    """Say which model is wrong least often, and which most often."""
    best, worst = min(wrong, key=lambda m: wrong[m]), max(wrong, key=lambda m: wrong[m])
    fewest, most = (numbers.count(round(wrong[m], 6)) for m in (best, worst))
    key = f"cases.{kind}_one{fits}" if best is worst else f"cases.{kind}{fits}"
    found = say(key, best=best.name, worst=worst.name, n=numbers.count(n), fewest=fewest, most=most)
    return unless_decided(view, found, best, worst)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


MOST_COLUMNS = 8
LONGEST_CELL = 40


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's answer to an example; ``word`` says right or wrong where that is known."""

    text: str
    word: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One example on which the models disagree."""

    id: str
    truth: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Failures:
    """What the section shows: what it found, and the examples with the answers of the models in rank order."""

    heading: str
    text: str
    answering: tuple[Model, ...]
    examples: tuple[Example, ...]
    note: str

    @property
    def with_truth(self) -> bool:
        """Whether any example has a true value: outcomes that were graded elsewhere have none."""
        return any(example.truth != numbers.MISSING for example in self.examples)


def describe_failures(view: View) -> Failures | None:
    """Lay out the examples on which the models disagree most; nothing where they agree on all."""
    records = view.results.disagreements
    if not records:
        return None
    held = {r.model for r in records}
    models = tuple(m for m in view.models if m.id in held)[:MOST_COLUMNS]
    examples, decimals = [], _answer_decimals(view)
    for _, of_one in groupby(records, key=lambda r: r.id):
        by_model = {r.model: r for r in of_one}
        first = next(iter(by_model.values()))
        answers = tuple(_answer(by_model[m.id].answer, by_model[m.id].correct, decimals) for m in models)
        truth = numbers.MISSING if first.truth is None else shorten(first.truth, LONGEST_CELL)
        examples.append(Example(shorten(first.id, LONGEST_CELL), truth, answers))
    left_out = [m.name for m in view.models if m.id in held and m not in models]
    heading, text = _found(view, records[0].id)
    note = say("report.left_out", names=listed(left_out)) if left_out else ""
    if view.results.judge_agreement:
        note = f"{say('judge.word')} {note}".strip()
    if not text:
        of_labels = coded(records[0].measure)[0] == "spread.disagreeing_pairs"
        text = say("failures.furthest_labels" if of_labels else "failures.furthest")
    return Failures(heading, text, models, tuple(examples), note)


def _answer_decimals(view: View) -> int | None:
    """Return the decimals of answers that are numbers, the same for all; None where they are labels, or 0 and 1."""
    records = view.results.disagreements
    values = [_as_number(r.answer) for r in records if r.correct is None]
    if len(values) < len(records) or any(value is None for value in values):
        return None
    if all(value is not None and value.is_integer() for value in values):
        return None
    return min(numbers.decimals_of([max(r.spread for r in records) / 100]), 6)


def _as_number(text: str) -> float | None:
    """Read an answer as a number; None where it is a label, or not finite."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _answer(text: str, correct: bool | None, decimals: int | None) -> Answer:
    if decimals is not None:
        text = numbers.number(float(text), decimals)
    word = "" if correct is None else say("differences.right" if correct else "differences.wrong")
    return Answer(shorten(text, LONGEST_CELL), word, correct is False)


def _found(view: View, first: str) -> tuple[str, str]:
    """Say on how many examples the models disagree and none is right; else the range of their answers."""
    counts = {record.label: record for record in view.results.unanimity}
    whole = counts.get(None)
    if whole is None:
        answers = [r.answer for r in view.results.disagreements if r.id == first]
        values = [value for text in answers if (value := _as_number(text)) is not None]
        if len(values) < len(answers):
            return say("failures.disagree"), ""
        low, high = (numbers.to_digits(end, 4) for end in (min(values), max(values)))
        key = "failures.widest" if view.results.task == "regression" else "failures.widest_outcome"
        return say(key, id=shorten(first, LONGEST_CELL), low=low, high=high), ""
    positive = counts.get(view.results.positive) if view.results.positive is not None else None
    n, number = len(view.models), in_words(len(view.models))
    if positive is not None and positive.all_wrong:
        heading = say(
            "failures.missed_by_all", n=n, number=number, all_wrong=positive.all_wrong, of=positive.n,
            label=str(positive.label),
        )  # fmt: skip
    else:
        key = "failures.wrong_for_all" if whole.all_wrong else "failures.wrong_for_none"
        heading = say(key, n=n, number=number, all_wrong=whole.all_wrong, of=whole.n)
    apart = whole.n - whole.all_right - whole.all_wrong
    return heading, say("failures.apart", n=apart, of=whole.n)


MOST_SENTENCES, LONGEST = 6, 20
COMPARED = (("best", None, "f1"), ("fixed_fpr", 0.01, ""), ("fixed_fpr", 0.1, ""), ("fixed_recall", 0.6, ""),
            ("fixed_recall", 0.9, ""))  # fmt: skip
"""The criteria that have a column, by name, rate and metric; all others are in the folded table."""
READ = ("fixed_fpr", 0.1)
"""The criterion that the heading speaks of, and its rate."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the section shows; ``every`` criterion by models and what follows it are folded away."""

    heading: str
    compared: Table
    note: str
    every: Table
    every_note: str
    curves: tuple[str, ...]
    changes: tuple[str, ...]


def describe_thresholds(view: View) -> Thresholds | None:
    """Lay out the table of models and criteria; nothing where no threshold was looked for."""
    points = view.results.operating_points
    if not points:
        return None
    first, decided = points[0], bool(view.results.confusion)
    models = tuple(m for m in view.models if any(p.model == m.id for p in points))
    known = {(p.criterion, p.at, p.metric if p.criterion == "best" else "", p.model): p for p in points}
    keys = [key for key in COMPARED if any(own[:3] == key for own in known)]
    heads = (*((say("evidence.as_given"),) if decided else ()), *map(_heading, keys))
    rows = []
    for model in models:
        given = (_as_given(view, model),) if decided else ()
        rows.append(Row(model, (*given, *(_found_at(known.get((*key, model.id))) for key in keys))))
    every, first_column = _by_criterion(view, models), say("evidence.found_alarms")
    return Thresholds(
        heading=_heading_of(view, {p.model: p for p in points if (p.criterion, p.at) == READ}),
        compared=Table(say("heading.thresholds"), heads, tuple(rows), look="found", first=first_column),
        note=say(
            "evidence.thresholds" if decided else "evidence.thresholds_chosen",
            label=shorten(visible(view.results.positive or ""), LONGEST),
            positives=round(first.tp + first.fn),
            negatives=round(first.fp + first.tn),
        ),
        every=Table(
            say("evidence.every_threshold"), models, every, look="metrics", first=say("thresholds.chosen_by")
        ),
        every_note=say("thresholds.best_note", level=numbers.percent(view.confidence)),
        curves=_first([text_of(view, r.text) for r in view.results.dominance]),
        changes=_first([text_of(view, r.text) for r in view.results.threshold_changes]),
    )


def _first(sentences: Sequence[str]) -> tuple[str, ...]:
    left = len(sentences) - MOST_SENTENCES
    more = (say("evidence.more_sentences", n=left),) if left > 0 else ()
    return (*sentences[:MOST_SENTENCES], *more)


def _heading_of(view: View, fixed: dict[str, OperatingPointRecord]) -> str:
    """Say who finds most within the rate of false alarms that is read off."""
    order = sorted((m for m in view.models if m.id in fixed), key=lambda m: -fixed[m.id].tp)
    if not order:
        return ""
    found = [round(fixed[m.id].tp) for m in order]
    total = round(fixed[order[0].id].tp + fixed[order[0].id].fn)
    known = {"rate": READ[1], "first": order[0].name, "found": found[0], "total": total}
    if len(order) == 1:
        finding = say("finding.threshold_one", **known)
    elif found[0] == found[-1]:
        finding = say("finding.threshold_same", **known)
    elif found[1] == found[-1]:
        finding = say("finding.threshold_two", n=len(order) - 1, rest=found[-1], last=order[-1].name, **known)
    else:
        finding = say("finding.threshold", low=found[-1], high=found[1], **known)
    if found[0] != found[-1]:
        finding = unless_decided(view, finding, order[0], order[-1])
    return say("evidence.headed", section=say("heading.thresholds"), finding=finding)


def _as_given(view: View, model: Model) -> Cell:
    """Count the positives found and the false alarms of a model's own decisions."""
    positive = view.results.positive
    if not any(predicted == positive for _, predicted in confusion_of(view.results, model.id)):
        return Cell(numbers.MISSING)
    tp, fp, *_ = outcomes_of(view.results, model.id, positive)
    return _counted(tp, fp)


def _found_at(point: OperatingPointRecord | None) -> Cell:
    if point is None or point.threshold is None:
        return Cell(numbers.MISSING)
    return _counted(point.tp, point.fp) if point.tn or not point.fp else Cell("", say("evidence.flag_all"))


def _counted(found: float, alarms: float) -> Cell:
    return Cell(numbers.count(round(found)), f"/ {numbers.count(round(alarms))}")


def _heading(key: tuple[str, float | None, str]) -> str:
    criterion, at, metric = key
    if at is None:
        return say("evidence.best", metric=in_sentence(metric_label(MetricKey(metric))))
    return say(f"evidence.{criterion}", rate=at)


def _by_criterion(view: View, models: Sequence[Model]) -> tuple[Row, ...]:
    """Lay out criteria by models: the threshold, what it finds at how many false alarms, and the value there."""
    known = {(p.criterion, p.at, p.metric, p.model): p for p in view.results.operating_points}
    rows = []
    for criterion, at, metric in dict.fromkeys(key[:3] for key in known):
        label = named("thresholds.criterion", criterion, "")
        if not label:
            label = _heading((criterion, at, metric))
            if at is not None:
                words = in_sentence(metric_label(MetricKey(metric)))
                label = say("thresholds.and_value", label=label, metric=words)
        cells = tuple(_at(view, known.get((criterion, at, metric, model.id))) for model in models)
        rows.append(Row(None, cells, label))
    return tuple(rows)


def _at(view: View, point: OperatingPointRecord | None) -> Cell:
    if point is None:
        return Cell(numbers.MISSING)
    found, alarms = numbers.count(point.tp), numbers.count(point.fp)
    value = f"{numbers.number(point.value)} {numbers.interval(point.low, point.high)}".strip()
    return Cell(_threshold(view, point), f"{found} / {alarms}", below=value)


def _threshold(view: View, point: OperatingPointRecord) -> str:
    """Write a threshold with enough digits to distinguish it from neighbouring scores."""
    if point.threshold is None:
        return say("thresholds.no_call")
    scores = [e for r in view.results.score_histograms if r.model == point.model for e in r.edges]
    return numbers.to_digits(point.threshold, numbers.digits_apart(scores))
