"""The comparison of two runs, such as base branch and pull request.

With the predictions of both runs, each model is compared with itself on the same examples. With two results.json alone,
there is only each value with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

from evalreport.analysis import analysed, evaluate
from evalreport.comparisons.adjustment import adjust
from evalreport.errors import InputError
from evalreport.headline.facts import Limited, metric_words
from evalreport.headline.runs import GateOfRuns, RunChange, TwoRuns, headline_of_runs
from evalreport.history.changes import Change, changes
from evalreport.history.recorded_inputs import input_states, recorded_options
from evalreport.history.run_differences import (
    ModelChange,
    PossibleLimits,
    Present,
    Reference,
    change_since,
    has_limits,
    recorded_limits,
    square_and_add,
)
from evalreport.history.store import Run
from evalreport.loading.counts import require_examples
from evalreport.loading.load import load
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity, greater_is_better
from evalreport.options import AnyPath, Options
from evalreport.predictions.direction import directed
from evalreport.predictions.table import Predictions
from evalreport.questions.costs.records import CostRecord
from evalreport.schema.decisions import HeadlineRecord
from evalreport.schema.inputs import JsonObject
from evalreport.schema.lookups import verdict_between, with_limits
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.recorded import Recorded, results_of
from evalreport.schema.results import Results, to_dict
from evalreport.sources.recorded import at_hand, recorded_files
from evalreport.texts import Message, say
from evalreport.texts.units import speaking_of

Judgement = Literal["better", "worse", "not settled", "same predictions", "not comparable"]
READING = (
    "truth", "task", "positive", "threshold", "join", "outcome", "value", "cluster", "weight",
)  # fmt: skip
"""Options that decide, with the bytes of a file, which rows and labels it gives."""


Limits = tuple[float | None, float | None]
Row = MetricRecord | CostRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """One model's value of one metric in both runs.

    Attributes
    ----------
    within
        The slice, as COLUMN=VALUE; None: all examples.
    change
        The difference new - old with its limits and test, and how both were compared.
    judgement
        Of the new model against the old one; None: not the primary metric, which alone is judged.
    """

    model: str
    metric: str
    within: str | None
    primary: bool
    old: float | None
    old_limits: Limits
    new: float | None
    new_limits: Limits
    change: ModelChange
    p_adjusted: float | None
    judgement: Judgement | None

    @property
    def difference(self) -> float | None:
        """The difference new - old."""
        return self.change.difference

    def as_row(self) -> JsonObject:
        """Return the value as a flat row of JSON."""
        change = self.change
        own = ("model", "metric", "within", "primary", "old", "new", "p_adjusted", "judgement")
        (old_low, old_high), (new_low, new_high) = self.old_limits, self.new_limits
        return {name: getattr(self, name) for name in own} | {
            **{name: getattr(change, name) for name in ("difference", "low", "high", "test", "p_value")},
            **{"old_low": old_low, "old_high": old_high, "new_low": new_low, "new_high": new_high},
            **{"method": change.limits.method, "how": change.explanation},
        }


def values_of(before: Results, after: Results, shared: Sequence[str]) -> tuple[ValueChange, ...]:
    """Return every value that both runs have, judged by its two intervals."""
    then_and_now: list[list[Row]] = [[*side.metrics, *side.costs] for side in (before, after)]
    earlier = {_identity(row): row for row in then_and_now[0]}
    why_not = _why_not(before, after)
    same = {model for model in shared if _same_predictions(before, after, model)}
    found = []
    for row in then_and_now[1]:
        then = earlier.get(_identity(row))
        if then is not None and row.model in shared:
            found.append(_value_change(then, row, after, why_not=why_not, same=row.model in same))
    return tuple(sorted(found, key=lambda change: not change.primary or change.within is not None))


def _value_change(then: Row, now: Row, after: Results, *, why_not: Message | None, same: bool) -> ValueChange:
    """Compare two records of a metric, or of the mean of a cost, by their limits; costs are not judged.

    Parameters
    ----------
    why_not
        The reason why the two runs cannot be compared; None: they can.
    same
        Whether the model's predictions are the same in both runs.
    """
    (_, old, compared_then), (metric, new, compared) = _figure(then), _figure(now)
    change = _change(compared, compared_then, why_not=why_not, same=same)
    primary, judgement = False, None
    if isinstance(now, MetricRecord) and metric == after.shown_metric:
        primary, judgement = True, "same predictions" if same else by_limits(change, greater_in(now, after))
        judgement = judgement if why_not is None else "not comparable"
    within = None if now.slice is None else f"{now.slice.column}={now.slice.value}"
    return ValueChange(
        model=now.model, metric=metric, within=within, primary=primary, old=old[0], old_limits=old[1:],
        new=new[0], new_limits=new[1:], change=change, p_adjusted=None, judgement=judgement,
    )  # fmt: skip


def _figure(row: Row) -> tuple[str, PossibleLimits, PossibleLimits]:
    """Return what a record is about, and its value with the limits that are shown, and with those that are compared."""
    if isinstance(row, CostRecord):
        limits = (row.mean, row.low, row.high)
        return f"{row.column}_mean", limits, limits
    return Quantity.of(row).spelled, with_limits(row), recorded_limits(row)


def _change(new: PossibleLimits, old: PossibleLimits, *, why_not: Message | None, same: bool) -> ModelChange:
    """Return the change from one recorded value to another, by their limits unless the predictions are the same."""
    if why_not is not None:
        return ModelChange(reason=why_not)
    if same:
        return ModelChange(how=Message("since.same_predictions"), difference=_minus(new[0], old[0]))
    if not has_limits(new) or not has_limits(old):
        return ModelChange(reason=Message("since.one_without_interval"), difference=_minus(new[0], old[0]))
    return square_and_add(new, old, Message("since.from_limits"))


def by_limits(found: ModelChange, greater: bool) -> Judgement:
    """Judge by an interval of new - old: decided only where it leaves out 0."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return "not settled"
    return "better" if (found.low > 0) == greater else "worse"


def _why_not(before: Results, after: Results) -> Message | None:
    """Return the reason why values of the two runs cannot be compared; None: they can."""
    for name in ("task", "positive", "classes", "design"):
        then, now = getattr(before, name), getattr(after, name)
        if then != now:
            return Message(f"since.differs.{name}", before=_value_text(then), after=_value_text(now))
    if level_of(before) != level_of(after):
        return Message("since.other_levels", before=level_of(before), after=level_of(after))
    return None


def _same_predictions(before: Results, after: Results, model: str) -> bool:
    """Return whether a model's file and the files shared by all models are the same bytes, read the same way."""
    if any(before.options.get(name) != after.options.get(name) for name in READING):
        return False
    inputs = ([r for r in side.inputs if r.model in (None, model)] for side in (before, after))
    sides = [sorted(row.sha256 for row in rows) for rows in inputs]
    # With --join intersect, the other models' files also decide which examples are kept.
    return sides[0] == sides[1] != [] and before.n == after.n


def _identity(row: Row) -> tuple[object, ...]:
    """Return what a value is of: a metric of a model, or a cost, in a slice."""
    own = (row.column, row.unit) if isinstance(row, CostRecord) else (Quantity.of(row),)
    return row.model, row.slice, *own


def greater_in(row: MetricRecord, results: Results) -> bool:
    """Return whether a larger value of a record's metric is better.

    Raises
    ------
    InputError
        A metric of another version.
    """
    lower = results.options.get("lower_is_better") is True
    try:
        return greater_is_better(Quantity.of(row), lower_is_better=lower)
    except KeyError:
        raise InputError(f"the metric {row.metric!r} is not known to this version") from None


def level_of(results: Results) -> float:
    """Return the confidence level of a run; nan where it is no number."""
    level = results.options.get("confidence", 0.95)
    return float(level) if isinstance(level, (int, float)) else math.nan


def _minus(new: float | None, old: float | None) -> float | None:
    return None if new is None or old is None else new - old


def _value_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """The verdict on one pair of models (a against b) in both runs; None: there is none."""

    a: str
    b: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """All changes between two runs."""

    old: str
    new: str
    primary_metric: str
    level: float
    paired: bool
    models_added: tuple[str, ...]
    models_removed: tuple[str, ...]
    values: tuple[ValueChange, ...]
    verdicts: tuple[VerdictChange, ...]
    gates: tuple[GateOfRuns, ...]
    headline: HeadlineRecord
    others: tuple[Change, ...]
    """Changes of data, options, inputs, versions and warnings."""


def compare_runs(old: Recorded, new: Recorded, *, inputs: tuple[AnyPath, AnyPath] | None = None) -> Compared:
    """Compare two runs.

    Parameters
    ----------
    inputs
        The folders of prediction files of the old and the new run; None: compare the results alone.

    Raises
    ------
    InputError
        A prediction file is missing, or is not the one that was analysed.
    """
    before, after = results_of(old.content), results_of(new.content)
    shared = [model for model in after.models if model in before.models]
    values = values_of(before, after, shared)
    if inputs is not None:
        values = _pair_by_pair(old, new, inputs, values)
    with speaking_of(after.unit):
        gates = _gates_between(before, after)
    kept = ("data", "option", "input", "version", "warning")
    return Compared(
        old=old.name,
        new=new.name,
        primary_metric=after.shown_metric,
        level=level_of(after),
        paired=inputs is not None,
        models_added=tuple(model for model in after.models if model not in before.models),
        models_removed=tuple(model for model in before.models if model not in after.models),
        values=values,
        verdicts=_verdicts(before, after),
        gates=gates,
        others=tuple(c for c in changes(to_dict(before), to_dict(after)) if c.kind in kept),
        headline=headline_of_runs(_two_runs(_folder(old.name), before, after, values, gates)),
    )


def _folder(name: str) -> str:
    """Return what a reader calls a run: its folder rather than the file in it."""
    place = PurePath(name)
    return place.parent.name or name if place.name in ("results.json", "report.pdf") else place.name


def _two_runs(
    old: str, before: Results, after: Results, values: Sequence[ValueChange], gates: Sequence[GateOfRuns]
) -> TwoRuns:
    """Return what the rules of the headline ask of two runs."""
    models = [
        RunChange(
            model=v.model, outcome=v.judgement, old=v.old, new=v.new,
            difference=None if v.difference is None else Limited(v.difference, v.change.low, v.change.high),
        )
        for v in values if v.primary and v.within is None and v.judgement is not None
    ]  # fmt: skip
    return TwoRuns(
        old=old, metric=metric_words(after.shown_metric), n=after.n, models=models, gates=gates,
        gone=[m for m in before.models if m not in after.models],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Before(Reference):
    """The old run, used like an earlier run of a history."""

    @property
    def spoken(self) -> Message:
        """Its name in a sentence."""
        return Message("reference.old")


def _pair_by_pair(
    old: Recorded, new: Recorded, inputs: tuple[AnyPath, AnyPath], values: tuple[ValueChange, ...]
) -> tuple[ValueChange, ...]:
    """Compare each model with itself on the primary metric, adjusted for the number of models."""
    options, loaded = _loaded(new, inputs[1])
    _, loaded_then = _loaded(old, inputs[0])
    then = Before("last", _no_run(old), results_of(old.content), analysed(loaded_then))
    after = results_of(new.content)
    shown = after.shown_metric
    plain = replace(options, metrics=(shown,), slices=(), gates=(), tests=(), baseline=None)
    now = Present(evaluate(loaded, options=plain), analysed(loaded), plain)
    compared = [v for v in values if v.primary and v.within is None and v.judgement != "same predictions"]
    quantity = parse(shown, loaded.task, loaded.classes)
    changes_of = {v.model: change_since(then, now, v.model, quantity) for v in compared}
    p_values = {model: change.p_value for model, change in changes_of.items() if change.p_value is not None}
    adjusted = dict(zip(p_values, adjust(list(p_values.values()), "holm"), strict=True))
    return tuple(
        _with_pair(v, changes_of[v.model], adjusted.get(v.model), after) if v in compared else v
        for v in values
    )


def _with_pair(
    value: ValueChange, found: ModelChange, p_adjusted: float | None, after: Results
) -> ValueChange:
    key = (value.model, value.metric)
    row = next(r for r in after.metrics if (r.model, Quantity.of(r).spelled) == key)
    greater = greater_in(row, after)
    judgement: Judgement = "not settled"
    if found.difference is None:
        judgement = "not comparable"
    elif p_adjusted is None:
        judgement = by_limits(found, greater)
    elif p_adjusted <= 1 - level_of(after) and found.difference != 0:
        judgement = "better" if (found.difference > 0) == greater else "worse"
    return replace(value, p_adjusted=p_adjusted, judgement=judgement, change=found)


def _loaded(recorded: Recorded, where: AnyPath) -> tuple[Options, Predictions]:
    """Read the recorded predictions of a run.

    Raises
    ------
    InputError
        A file is missing or has changed.
    """
    content = recorded.content
    with at_hand(content, where) as folder:
        states = input_states(content, folder)
        wrong = [state for state in states if state.state != "unchanged"]
        if wrong or not states:
            why = wrong[0].why or Message("verify.file_changed") if states else Message("verify.no_input")
            raise InputError(
                f"{wrong[0].path if wrong else recorded.name}: {why}",
                file=recorded.name,
                expected="the files that were analysed, there",
                remedy="name the folders of both runs, the old one first, or leave --inputs out",
            )
        options = recorded_options(content, folder)
        loaded = load(recorded_files(content["inputs"], folder, options.truth), options=options)
    require_examples(loaded, say("needs_examples.compare_runs"), say("needs_examples.leave_inputs_out"))
    return directed(options, loaded.found), loaded


def _no_run(old: Recorded) -> Run:
    """Return the old run as an entry of a history."""
    signature = old.content["signature"]
    return Run(id=0, series=old.name, identity="", signature=signature, time="", exit_code=0, summary={})


def _verdicts(before: Results, after: Results) -> tuple[VerdictChange, ...]:
    """Return the pairs whose verdict is another one, each in the order in which the old run names it."""
    if before.primary_metric != after.primary_metric:
        return ()  # verdicts about two metrics are no change of one
    pairs = {tuple(sorted(row.about)): row.about for row in (*after.verdicts, *before.verdicts)}
    changed = []
    for a, b in sorted(pairs.values()):
        found = (verdict_between(side.verdicts, a, b) for side in (before, after))
        old, new = (None if row is None else row.verdict for row in found)
        changed += [VerdictChange(a=a, b=b, old=old, new=new)] if old != new else []
    return tuple(changed)


def _gates_between(before: Results, after: Results) -> tuple[GateOfRuns, ...]:
    """Return every gate of either run, so that a removed gate is seen."""
    old, new = ({row.gate: row for row in side.gates} for side in (before, after))
    found = []
    for gate in dict.fromkeys([*new, *old]):
        then, now = old.get(gate), new.get(gate)
        value = None if now is None or now.value is None else Limited(now.value, now.low, now.high)
        was, outcome = (None if row is None else row.outcome for row in (then, now))
        text = "" if now is None else str(now.text)
        found.append(GateOfRuns(gate=gate, old=was, new=outcome, value=value, text=text))
    return tuple(found)
