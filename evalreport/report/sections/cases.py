"""In cases: right and wrong answers of each model, in counts; errors of numbers in their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalreport import numbers
from evalreport.questions.thresholds.options import shares_of
from evalreport.questions.thresholds.records import OperatingPointRecord, ThresholdChangeRecord
from evalreport.report.naming import label_of
from evalreport.report.table import Cell, Row, Table
from evalreport.report.view import Model, View
from evalreport.schema.lookups import confusion_of, outcomes_of
from evalreport.schema.metrics import Quantity
from evalreport.texts import named, say
from evalreport.texts.visible import short_names, shorten, visible

LONGEST_LABEL, LONGEST_CLASS = 24, 12
ERRORS = ("medae", "mae", "rmse", "max_error", "bias_error")
"""Metrics of errors in the target's own units."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its right and its wrong part in percent of the whole width, and the counts that it shows in words."""

    right: float
    wrong: float
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One model's row: bars of positives and of false alarms, on one scale, or one of all examples; and counts."""

    model: Model
    bars: tuple[Bar, ...]
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
    """Lay out what each model finds, misses and raises falsely; examples counted in several fits as shares."""
    chosen = _at_another_threshold(view, positive)
    outcomes = {model: outcomes_of(view.results, model.id, positive) for model in counts}
    outcomes |= {model: own for model in counts if (own := chosen.outcomes.get(model.id)) is not None}
    outside = set(view.results.classes)
    empty = {
        model: sum(n for (true, said), n in cells.items() if said not in outside and true != positive)
        for model, cells in counts.items()
    }
    hits, alarms, missed, cleared = outcomes[next(reversed(outcomes))]
    totals = (hits + missed, alarms + cleared)
    fits = not view.weights_note and sum(totals) > view.results.n
    label = shorten(visible(positive), LONGEST_LABEL)
    of = "weight_of_" if view.weights_note else "predicted_" if fits else ""
    groups = (say(f"cases.{of}positives", n=totals[0], label=label), say(f"cases.{of}negatives", n=totals[1]))
    threshold = say("cases.note" if view.threshold_was_chosen else "cases.note_at_half")
    note = f"{chosen.note or threshold} {_what_counts(view, sum(totals))}".strip()
    note += "".join(
        f" {say('cases.empty', model=m.name, n=n_empty)}" for m, n_empty in empty.items() if n_empty
    )
    heads = tuple(
        say(f"cases.{name}")
        for name in ("found", "missed", "missed_per_1000", "alarms", "alarms_per_1000", "cleared")
    )
    shares = "_fits" if fits else "_weights" if view.weights_note else ""
    finding = _finding({model: hits for model, (hits, *_) in outcomes.items()}, totals[0], label, shares)
    rows = _rows(outcomes, empty)
    return Cases(chosen.heading or _headed(view, finding), "binary", groups, heads, rows, None, note)


def _rows(
    outcomes: Mapping[Model, tuple[float, float, float, float]], empty: Mapping[Model, float]
) -> tuple[Case, ...]:
    """Return a row a model; both bars of all are on one scale: the longest is as wide as the column."""
    rows = []
    most = max(max(hits + missed, alarms) for hits, alarms, missed, _ in outcomes.values())
    for model, (hits, alarms, missed, cleared) in outcomes.items():
        whole = (hits + missed + alarms + cleared) or 1.0
        counted = (hits, missed, hits + missed, alarms, alarms + cleared)
        told = dict(
            zip(("found", "missed", "n", "alarms", "others"), map(numbers.count, counted), strict=True)
        )
        bars = (
            Bar(_percent(hits, most), _percent(missed, most), say("cases.bar_of_positives", **told)),
            Bar(0.0, _percent(alarms, most), say("cases.bar_of_alarms", **told | {"n": alarms})),
        )
        of_missed, of_alarms = (numbers.number(1000 * wrong / whole, 1) for wrong in (missed, alarms))
        kept_off = numbers.count(cleared - empty[model])
        rows.append(
            Case(model, bars, (told["found"], told["missed"], of_missed, told["alarms"], of_alarms, kept_off))
        )
    return tuple(rows)


def _finding(hits: Mapping[Model, float], n: float, label: str, shares: str) -> str:
    """Say how many positives the best model finds, and the other or the last one.

    ``shares``: the ending of the texts that say shares, for fits or weights, of which counts say nothing; or nothing.
    """
    order = sorted(hits, key=lambda model: -hits[model])
    most, least = hits[order[0]], hits[order[-1]]
    told = {
        "label": label, "n": n, "most": numbers.count(most), "least": numbers.count(least),
        "model": order[0].name, "other": order[-1].name, "between": order[len(order) // 2].name,
    }  # fmt: skip
    key = {2: "find", 3: "find_of_three"}.get(len(hits), "find_of_many")
    if not n:
        return say("cases.none_to_find", label=label)
    if most >= n:
        key = "finds_all"
    elif len(hits) == 1 or most == least:
        key = "one_finds" if len(hits) == 1 else "all_find"
    if shares:
        key += shares
        told |= {"most_share": numbers.share(most, n), "least_share": numbers.share(least, n)}
    return say(f"cases.{key}", **told)


LEAST_FOUND, FALSE_ALARMS = 0.2, 0.1
"""Where 0.5, which nobody chose, finds a smaller share than the first, counts are at this rate of false alarms."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Counts (TP, FP, FN, TN) by model at a threshold other than 0.5, with heading and note; empty: at 0.5."""

    heading: str = ""
    note: str = ""
    outcomes: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)


def _at_another_threshold(view: View, positive: str) -> Chosen:
    """Return counts at the threshold that was asked for; where 0.5 finds hardly any, at one rate of false alarms."""
    results = view.results
    if view.threshold_was_chosen:
        return Chosen()
    asked = {r.model: r for r in results.threshold_changes if r.tp is not None}
    if asked:
        at = numbers.to_digits(next(iter(asked.values())).threshold)
        return Chosen(
            say("cases.at_asked", threshold=at),
            say("cases.note_at_asked", threshold=at),
            _counts(asked.values()),
        )
    costs = [p for p in results.operating_points if p.criterion == "cost"]
    if costs:
        ratio = numbers.to_digits(float(results.options["cost_ratio"]))
        return Chosen(say("cases.at_cost"), say("cases.note_at_cost", ratio=ratio), _counts(costs))
    own = [outcomes_of(results, m.id, positive) for m in view.models]
    shares = [tp / (tp + fn) for tp, _, fn, _ in own if tp + fn]
    rate = (shares_of(results.options.get("alarms")) or (FALSE_ALARMS,))[-1]
    points = [p for p in results.operating_points if (p.criterion, p.at) == ("fixed_fpr", rate)]
    if not points or not shares or max(shares) >= LEAST_FOUND:
        return Chosen()
    note = say("cases.note_at_alarms", rate=rate, most=numbers.count(max(tp for tp, *_ in own)))
    return Chosen(say("cases.at_alarms", rate=rate), note, _counts(points))


def _counts(
    points: Iterable[OperatingPointRecord | ThresholdChangeRecord],
) -> dict[str, tuple[float, float, float, float]]:
    return {p.model: (p.tp or 0.0, p.fp or 0.0, p.fn or 0.0, p.tn or 0.0) for p in points}


def _of_classes(view: View, counts: dict[Model, Counts]) -> Cases:
    rows, wrong = [], {}
    names = short_names(
        list(dict.fromkeys(label for cells in counts.values() for label, _ in cells)), LONGEST_CLASS
    )
    n = 0.0
    for model, cells in counts.items():
        n = sum(cells.values()) or 1.0
        right = sum(count for (t, p), count in cells.items() if t == p)
        mistakes = sorted(
            ((count, t, p) for (t, p), count in cells.items() if t != p and count), reverse=True
        )
        wrong[model] = n - right
        confused = ", ".join(
            say("cases.confused", true=names[t], predicted=names.get(p, shorten(visible(p), LONGEST_CLASS)),
                count=numbers.count(count))
            for count, t, p in mistakes[:3]
        )  # fmt: skip
        rows.append(_right_and_wrong(model, right, n, confused))
    fits = "_fits" if n > view.results.n and not view.weights_note else ""
    heading = _headed(view, _fewest_and_most(view, wrong, n, "err", fits))
    heads = tuple(say(f"cases.{name}") for name in ("right", "wrong", "per_1000", "most_frequent"))
    what = "all_weights" if view.weights_note else "all_predictions" if n > view.results.n else "all_examples"
    groups = (say(f"cases.{what}", n=numbers.count(n)),)
    return Cases(heading, "classes", groups, heads, tuple(rows), None, _what_counts(view, n))


def _headed(view: View, found: str) -> str:
    of = "by_weight" if view.weights_note else "in_cases"
    return say(f"cases.{of}", found=found) if view.threshold_was_chosen else say("cases.at_half")


def _what_counts(view: View, n: float) -> str:
    """Say what was counted, where it is not each example once."""
    return view.weights_note or (say("cases.note_fits") if n > view.results.n else "")


def _errors(view: View) -> Cases | None:
    keys = [Quantity(name) for name in ERRORS]
    keys = [key for key in keys if any(view.value_of(m, key) is not None for m in view.models)]
    if not keys:
        return None
    # All are in the target's units: they are written as the mean absolute error is.
    digits = view.digits(keys[min(1, len(keys) - 1)])
    values = {model: [view.value_of(model, key) for key in keys] for model in view.models}
    rows = [Row(m, tuple(Cell(numbers.number(v, digits), order=v) for v in own)) for m, own in values.items()]
    heads = tuple(digits.headed(label_of("metric", key.metric)) for key in keys)
    size = digits.single(values[view.models[0]][0] or 0.0)
    text = "cases.half" if keys[0].metric == ERRORS[0] else "cases.off"
    table = Table(say("cases.box"), heads, tuple(rows), look="cases", sortable=True)
    note = " ".join(
        filter(None, (say("cases.error_units"), *(named("cases.error", k.metric, "") for k in keys)))
    )
    heading = say("cases.in_cases", found=say(text, model=view.models[0].name, size=size))
    return Cases(heading, "errors", (), (), (), table, note)


def _outcomes(view: View) -> Cases | None:
    """Count successes and failures where each outcome is 0 or 1."""
    rows, wrong = [], {}
    n = 0.0
    for model in view.models:
        record = view.record(model.id, view.primary)
        if record is None or record.value is None or not record.trials:
            return None
        n, right = record.trials, record.value * record.trials
        wrong[model] = n - right
        rows.append(_right_and_wrong(model, right, n))
    if not rows or not view.greater_is_better:
        return None
    heading = say("cases.in_cases", found=_fewest_and_most(view, wrong, n, "fail"))
    heads = tuple(say(f"cases.{name}") for name in ("successes", "failures", "per_1000"))
    groups = (say("cases.all_examples", n=numbers.count(n)),)
    return Cases(heading, "classes", groups, heads, tuple(rows), None, "")


def _right_and_wrong(model: Model, right: float, n: float, *further: str) -> Case:
    wrong = n - right
    counted = (numbers.count(round(right, 6)), numbers.count(round(wrong, 6)))
    bar = Bar(_percent(right, n), _percent(wrong, n), say("cases.bar", right=counted[0], wrong=counted[1]))
    return Case(model, (bar,), (*counted, numbers.number(1000 * wrong / n, 1), *further))


def _fewest_and_most(view: View, wrong: dict[Model, float], n: float, kind: str, fits: str = "") -> str:
    """Say which model is wrong least often, and which most often."""
    best, worst = min(wrong, key=lambda m: wrong[m]), max(wrong, key=lambda m: wrong[m])
    fewest, most = (numbers.count(round(wrong[m], 6)) for m in (best, worst))
    key = f"cases.{kind}_one{fits}" if best is worst else f"cases.{kind}{fits}"
    text = say(key, best=best.name, worst=worst.name, n=numbers.count(n), fewest=fewest, most=most)
    return view.unless_decided(text, best, worst)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
