"""By task: a map of the tasks of a suite by the models, headed by which tasks separate the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evalreport import numbers
from evalreport.report.naming import listed, test_in_words
from evalreport.report.table import Shaded, Tables, shaded
from evalreport.report.view import Model, View
from evalreport.schema.decisions import TaskVerdictRecord
from evalreport.schema.metrics import MetricRecord, Quantity, Slice
from evalreport.texts import in_words, named, say, shortened
from evalreport.texts.labels import sentence_start
from evalreport.texts.visible import shorten, visible

MOST_TASKS, MOST_MODELS, MOST_NAMED, MOST_TURNED, LONGEST = 40, 8, 3, 2, 40
TASK = "task"
"""The column of a suite's tasks: their values are slices by it."""
STEPS = 5
"""Steps of red of a cell, by its share of the largest decided difference."""
DIMMED = -1
"""The step of a cell that is undecided against the best of its task."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task: the models' records on the primary metric, and the verdicts within it."""

    name: str
    records: Mapping[str, MetricRecord]
    verdicts: Mapping[tuple[str, str], TaskVerdictRecord]
    reference: str | None

    def behind(self, model: str, sign: int) -> float | None:
        """Return by how much a model is worse (below 0) or better than the reference; None without two values."""
        own, other = (self.records.get(name) for name in (model, self.reference or ""))
        if own is None or other is None or own.value is None or other.value is None:
            return None
        return sign * (own.value - other.value)

    def is_decided(self, a: str, b: str) -> bool:
        """Return whether two models are decided within this task."""
        verdict = self.verdicts.get((a, b)) or self.verdicts.get((b, a))
        return verdict is not None and verdict.verdict in ("better", "worse")

    @property
    def decided(self) -> list[tuple[float, str, str]]:
        """The decided pairs: size of the difference, the better and the worse model."""
        pairs = []
        for (a, b), verdict in self.verdicts.items():
            if verdict.verdict in ("better", "worse"):
                better, worse = (a, b) if verdict.verdict == "better" else (b, a)
                pairs.append((abs(verdict.difference or 0.0), better, worse))
        return pairs


def describe(view: View) -> Tables | None:
    """Lay out the map; nothing where there is no suite."""
    results = view.results
    if not results.suite:
        return None
    sign = 1 if view.greater_is_better else -1
    tasks = sorted((_task(view, name, sign) for name in results.suite), key=_separation, reverse=True)
    models = view.models[:MOST_MODELS]
    shown = tasks[:MOST_TASKS]
    largest = max((size for task in tasks for size, _, _ in task.decided), default=0.0)
    decimals = numbers.decimals_of(r.standard_error for t in tasks for r in t.records.values())
    rows = (_row(task, models, sign, decimals, largest) for task in shown)
    several = len(models) > 1
    heading = _heading(view, tasks) if several else _of_one(view, tasks, sign)
    title = say("suite.title", metric=view.primary_label)
    note = _note(view, len(shown), len(tasks)) if several else ""
    return Tables((shaded(title, say("suite.task"), models, rows, note),), heading, _turned(view, tasks))


def _note(view: View, shown: int, total: int) -> str:
    """Explain a cell, how pairs were decided, and what was left out."""
    baseline, n_models = view.results.baseline, len(view.models)
    against = "" if baseline is None else view.model(baseline).name
    texts = [
        say("suite.note_baseline" if against else "suite.note", model=against),
        family(view),
        say("suite.tasks_cut", shown=shown, number=in_words(total)) if shown < total else "",
        say("evidence.models_cut", shown=MOST_MODELS, n=n_models) if n_models > MOST_MODELS else "",
    ]
    return " ".join(filter(None, texts))


def summary_line(view: View) -> str:
    """Return the section's finding in one line; nothing where there is no such section."""
    tasks = describe(view)
    return "" if tasks is None else f"{say('suite.summary', finding=tasks.heading)} {tasks.text}".strip()


def _task(view: View, name: str, sign: int) -> Task:
    results = view.results
    place = Slice(column=TASK, value=name)
    records = {r.model: r for r in results.metrics if r.slice == place and Quantity.of(r) == view.primary}
    values = {m: r.value for m, r in records.items() if r.value is not None}
    best = max((m.id for m in view.models if m.id in values), key=lambda m: sign * values[m], default=None)
    verdicts = {v.about: v for v in results.task_verdicts if v.task == name}
    return Task(name, records, verdicts, results.baseline or best)


def _separation(task: Task) -> tuple[int, float, float]:
    """Order tasks by the number of decided pairs, the largest decided difference, and the range of values."""
    values = [r.value for r in task.records.values() if r.value is not None]
    sizes = [size for size, _, _ in task.decided]
    return len(sizes), max(sizes, default=0.0), max(values, default=0.0) - min(values, default=0.0)


def _row(task: Task, models: Sequence[Model], sign: int, decimals: int, largest: float) -> Shaded:
    n = max((r.n for r in task.records.values()), default=0)
    cells = [_cell(task, m, sign, decimals, largest) for m in models]
    return shorten(visible(task.name), LONGEST), numbers.count(n), cells


def _cell(task: Task, model: Model, sign: int, decimals: int, largest: float) -> tuple[str, int]:
    record, difference = task.records.get(model.id), task.behind(model.id, sign)
    if record is None or record.value is None:
        return numbers.MISSING, DIMMED
    value = numbers.number(record.value, decimals)
    if difference is None or task.reference is None or model.id == task.reference:
        return value, 0
    text = say("suite.cell", value=value, difference=numbers.number(difference, decimals, signed=True))
    if not task.is_decided(model.id, task.reference):
        return text, DIMMED
    share = abs(difference) / largest if largest > 0 and difference < 0 else 0.0
    return text, min(int(share * STEPS) + 1, STEPS) if share else 0


# --- in words ---------------------------------------------------------------------------------------------------------


def _heading(view: View, tasks: Sequence[Task]) -> str:
    deciding = [task for task in tasks if task.decided]
    if not view.results.task_verdicts:
        return named("heading", "tasks")
    if not deciding:
        return say("suite.none_separates")
    names = [shorten(visible(task.name), LONGEST) for task in deciding]
    size, better, worse = max(deciding[0].decided)
    known = {
        "task": names[0], "better": view.model(better).name, "worse": view.model(worse).name, "n": len(deciding),
        "size": numbers.to_digits(size, 2), "number": in_words(len(deciding)), "total": in_words(len(tasks)),
    }  # fmt: skip
    if len(deciding) == 1:
        return say("suite.one_separates", **known)
    if len(deciding) == len(tasks):
        return say("suite.all_separate", **known)
    if len(deciding) <= MOST_NAMED:
        return say("suite.some_separate", names=listed(names), rest=in_words(len(tasks) - len(deciding)))
    return say("suite.many_separate", **known | {"number": sentence_start(in_words(len(deciding)))})


def _of_one(view: View, tasks: Sequence[Task], sign: int) -> str:
    """Name the weakest task of the only model."""
    model = view.models[0]
    records = {t.name: t.records[model.id] for t in tasks if model.id in t.records}
    values = {name: r.value for name, r in records.items() if r.value is not None}
    if not values:
        return named("heading", "tasks")
    weakest = min(values, key=lambda name: sign * values[name])
    task, value = shorten(visible(weakest), LONGEST), numbers.to_digits(values[weakest], 3)
    return say("suite.weakest", model=model.name, task=task, metric=view.primary_words, value=value)


def _turned(view: View, tasks: Sequence[Task]) -> str:
    """Name pairs in which each model is better in some task, models in rank order."""
    texts = []
    for first, second in combinations(view.models, 2):
        where: dict[str, list[str]] = {first.id: [], second.id: []}
        for task in tasks:
            for _, better, worse in task.decided:
                if {better, worse} == set(where):
                    where[better].append(shorten(visible(task.name), LONGEST))
        if all(where.values()):
            known = {"a": first.name, "b": second.name}
            own = {key: shortened(where[m.id], MOST_NAMED) for key, m in (("at_a", first), ("at_b", second))}
            texts.append(say("suite.turned", **known, **own))
    return " ".join(texts[:MOST_TURNED])


def family(view: View) -> str:
    """Say how the pairs within tasks were decided."""
    results = view.results
    tests = list(dict.fromkeys(test_in_words(v.test) for v in results.task_verdicts))
    correction = str(results.options.get("correction", "none"))
    if not tests:
        return ""
    tested = sum(v.p_adjusted is not None for v in results.task_verdicts)
    known = {"tests": listed(tests), "n": tested, "number": in_words(len(results.suite))}
    if correction == "none":
        return say("suite.family_unadjusted", **known)
    return say("suite.family", **known, correction=named("correction", correction))
