"""In cases: what the models get right and wrong, in counts; of numbers, how far they are off."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.report.characters import shorten, visible
from evalreport.report.naming import MetricKey, label_of, summary_of
from evalreport.report.view import Cell, Model, Row, Table, View, metric_decimals, metric_record
from evalreport.texts import say

LONGEST_LABEL = 24
ERRORS = ("medae", "mae", "rmse", "max_error", "bias_error")
"""What is said of errors in the target's own units."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of parts in percent of its room: what is right, then what is wrong."""

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
    counts = {m: c for m in view.models if (c := _counts(view, m))}
    if counts and view.results.positive is not None:
        return _binary(view, counts, view.results.positive)
    if counts:
        return _of_classes(counts)
    return _errors(view) if view.results.task == "regression" else _outcomes(view)


Counts = dict[tuple[str, str], float]


def _counts(view: View, model: Model) -> Counts:
    return {(c.true, c.predicted): c.count for c in view.results.confusion if c.model == model.id}


def _binary(view: View, counts: dict[Model, Counts], positive: str) -> Cases:
    rows, found = [], []
    alarms_of = {m: sum(n for (t, p), n in c.items() if t != positive == p) for m, c in counts.items()}
    most = max(alarms_of.values()) or 1.0
    totals: tuple[float, float] = (0.0, 0.0)
    for model, cells in counts.items():
        hits = sum(n for (t, p), n in cells.items() if t == p == positive)
        positives = sum(n for (t, _), n in cells.items() if t == positive)
        negatives = sum(cells.values()) - positives
        missed, alarms = positives - hits, alarms_of[model]
        totals, whole = (positives, negatives), (positives + negatives) or 1.0
        found.append(hits)
        rows.append(
            Case(
                model,
                Bar(_percent(hits, positives), _percent(missed, positives)),
                Bar(0.0, _percent(alarms, most)),
                (
                    numbers.count(hits), numbers.count(missed), numbers.number(1000 * missed / whole, 1),
                    numbers.count(alarms), numbers.number(1000 * alarms / whole, 1), numbers.count(negatives - alarms),
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
    groups = (say("cases.positives", n=n, label=label), say("cases.negatives", n=numbers.count(totals[1])))
    note = say("cases.note") + (f" {say('cases.note_fits')}" if sum(totals) > view.results.n else "")
    heads = tuple(
        say(f"cases.{name}") for name in ("found", "missed", "per_1000", "alarms", "per_1000", "cleared")
    )
    return Cases(say(f"cases.{key}", **known), "binary", groups, heads, tuple(rows), None, note)


def _of_classes(counts: dict[Model, Counts]) -> Cases:
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
        rows.append(
            Case(
                model,
                Bar(_percent(right, n), _percent(n - right, n)),
                None,
                (
                    numbers.count(right),
                    numbers.count(n - right),
                    numbers.number(1000 * (n - right) / n, 1),
                    confused,
                ),
            )
        )
    best, worst = min(wrong, key=lambda m: wrong[m]), max(wrong, key=lambda m: wrong[m])
    known = {"best": best.name, "worst": worst.name, "n": numbers.count(n)}
    counted = {"fewest": numbers.count(wrong[best]), "most": numbers.count(wrong[worst])}
    heading = say("cases.err_one" if len(rows) == 1 or best is worst else "cases.err", **known, **counted)
    heads = tuple(say(f"cases.{name}") for name in ("right", "wrong", "per_1000", "most_frequent"))
    groups = (say("cases.all_examples", n=numbers.count(n)),)
    return Cases(heading, "classes", groups, heads, tuple(rows), None, "")


def _errors(view: View) -> Cases | None:
    keys = [MetricKey(name) for name in ERRORS]
    keys = [
        key
        for key in keys
        if any((r := metric_record(view, m.id, key)) and r.value is not None for m in view.models)
    ]
    if not keys:
        return None
    rows = []
    # All are in the target's units: they have the decimals of the mean absolute error.
    decimals = metric_decimals(view, keys[min(1, len(keys) - 1)])
    for model in view.models:
        cells = []
        for key in keys:
            record = metric_record(view, model.id, key)
            value = None if record is None else record.value
            cells.append(Cell(numbers.number(value, decimals), order=value))
        rows.append(Row(model, tuple(cells)))
    heads = tuple(label_of("metric", key.metric) for key in keys)
    first = metric_record(view, view.models[0].id, keys[0])
    size = numbers.MISSING if first is None else numbers.number(first.value, decimals)
    text = "cases.half" if keys[0].metric == ERRORS[0] else "cases.off"
    table = Table(say("cases.box"), heads, tuple(rows), look="cases", sortable=True)
    note = " ".join(summary_of("metric", key.metric) for key in keys)
    return Cases(say(text, model=view.models[0].name, size=size), "errors", (), (), (), table, note)


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
        cells = (numbers.count(round(right, 6)), numbers.count(round(n - right, 6)))
        rows.append(
            Case(model, Bar(_percent(right, n), _percent(n - right, n)), None,
                 (*cells, numbers.number(1000 * (n - right) / n, 1)))
        )  # fmt: skip
    if not rows or not view.greater_is_better:
        return None
    best, worst = min(wrong, key=lambda m: wrong[m]), max(wrong, key=lambda m: wrong[m])
    known = {"best": best.name, "worst": worst.name, "n": numbers.count(n)}
    counted = {"fewest": numbers.count(round(wrong[best], 6)), "most": numbers.count(round(wrong[worst], 6))}
    heading = say("cases.fail_one" if best is worst else "cases.fail", **known, **counted)
    heads = tuple(say(f"cases.{name}") for name in ("successes", "failures", "per_1000"))
    return Cases(
        heading, "classes", (say("cases.all_examples", n=numbers.count(n)),), heads, tuple(rows), None, ""
    )


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
