"""Two runs that were handed in, base branch against pull request: what changed, and what of it the data settle.

With the predictions of both runs, models are compared pair by pair on the same examples. From two results.json alone
that cannot be had: there is only each value with its interval, and it is said what that settles and what not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evalreport.analysis import analysed, evaluate
from evalreport.comparisons.adjustment import adjust
from evalreport.errors import InputError
from evalreport.history.changes import Change, changes
from evalreport.history.recorded_inputs import input_states, recorded_options
from evalreport.history.run_differences import Present, Reference, Since, quantity_of, since, square_and_add
from evalreport.history.store import Run
from evalreport.loading.counts import require_examples
from evalreport.loading.load import load
from evalreport.metrics.registry import greater_is_better
from evalreport.metrics.sample import parse
from evalreport.options import AnyPath, Options
from evalreport.predictions.table import Predictions
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import Recorded, completed
from evalreport.sources.recorded import at_hand, recorded_files
from evalreport.texts import Message, Text

Judgement = Literal["better", "worse", "not settled", "same predictions", "not comparable"]
# What decides which rows and labels a file gives, beside its bytes.
READING = (
    "truth",
    "task",
    "positive",
    "threshold",
    "join",
    "outcome",
    "value",
    "same_input",
    "cluster",
    "weight",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """How one model's value of one metric changed: ``difference`` is new - old.

    Attributes
    ----------
    within
        The slice, as COLUMN=VALUE; None: all examples.
    judgement
        Of the new model seen from the old one. Other metrics than the primary one are shown, not judged: None.
    how
        What was compared with what, and why there is no judgement.
    """

    model: str
    metric: str
    within: str | None
    primary: bool
    old: float | None
    old_low: float | None
    old_high: float | None
    new: float | None
    new_low: float | None
    new_high: float | None
    difference: float | None
    low: float | None
    high: float | None
    method: str | None
    test: str | None
    p_value: float | None
    p_adjusted: float | None
    judgement: Judgement | None
    how: Text


def values_of(before: JsonObject, after: JsonObject, shared: Sequence[str]) -> tuple[ValueChange, ...]:
    """Return every value that both runs have, judged as far as two intervals allow."""
    earlier = {_about(row): row for row in before["metrics"]}
    why_not = _why_not(before, after)
    same = {model for model in shared if _same_predictions(before, after, model)}
    found = []
    for row in after["metrics"]:
        then = earlier.get(_about(row))
        if then is not None and row["model"] in shared:
            found.append(_value(then, row, after, why_not=why_not, same=row["model"] in same))
    return tuple(sorted(found, key=lambda change: not change.primary or change.within is not None))


def _value(
    then: JsonObject,
    now: JsonObject,
    after: JsonObject,
    *,
    why_not: Message | None,
    same: bool,
) -> ValueChange:
    old, new = _limits(then), _limits(now)
    spelled = quantity_of(now).spelled
    primary = spelled == after["primary_metric"]
    found = Since(reason=why_not)
    if why_not is None and same:
        found = Since(how=Message("since.same_predictions"), difference=_minus(new[0], old[0]))
    elif why_not is None:
        found = _from_limits(new, old)
    judgement: Judgement | None = None
    if primary and why_not is not None:
        judgement = "not comparable"
    elif primary:
        judgement = "same predictions" if same else by_limits(found, greater_in(now, after))
    return ValueChange(
        model=now["model"],
        metric=spelled,
        within=_within(now),
        primary=primary,
        old=old[0],
        old_low=old[1],
        old_high=old[2],
        new=new[0],
        new_low=new[1],
        new_high=new[2],
        p_adjusted=None,
        judgement=judgement,
        **found.settled,
    )


def _from_limits(new: tuple[Any, Any, Any], old: tuple[Any, Any, Any]) -> Since:
    if None in new or None in old:
        return Since(reason=Message("since.one_without_interval"), difference=_minus(new[0], old[0]))
    return square_and_add(new, old, Message("since.from_limits"))


def by_limits(found: Since, greater: bool) -> Judgement:
    """Judge by an interval of new - old: decided only where it leaves out 0."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return "not settled"
    return "better" if (found.low > 0) == greater else "worse"


def _why_not(before: JsonObject, after: JsonObject) -> Message | None:
    """Say why no value of the one run can be compared with that of the other."""
    for name in ("task", "positive", "classes", "design"):
        if before[name] != after[name]:
            return Message(
                f"since.differs.{name}", before=_value_text(before[name]), after=_value_text(after[name])
            )
    if level_of(before) != level_of(after):
        return Message("since.other_levels", before=level_of(before), after=level_of(after))
    return None


def _same_predictions(before: JsonObject, after: JsonObject, model: str) -> bool:
    """Say whether a model's file and the files that all models share are the same bytes, read the same way."""
    if any(before["options"].get(name) != after["options"].get(name) for name in READING):
        return False
    sides = [
        sorted(row["sha256"] for row in side["inputs"] if row["model"] in (None, model))
        for side in (before, after)
    ]
    # With --join intersect the other models' files decide which examples are kept.
    return sides[0] == sides[1] != [] and before["n"] == after["n"]


# --- records of a results.json --------------------------------------------------------------------------------------


def _about(row: JsonObject) -> tuple[object, ...]:
    return row["model"], row["metric"], row["average"], row["label"], _within(row)


def _within(row: JsonObject) -> str | None:
    part = row["slice"]
    return None if part is None else f"{part['column']}={part['value']}"


def _limits(row: JsonObject) -> tuple[Any, Any, Any]:
    first = row["intervals"][0] if row["intervals"] else {"low": None, "high": None}
    return row["value"], first["low"], first["high"]


def greater_in(row: JsonObject, content: JsonObject) -> bool:
    """Say whether a larger value of a record's metric is better.

    Raises
    ------
    InputError
        A metric of another version.
    """
    lower = content["options"].get("lower_is_better") is True
    try:
        return greater_is_better(quantity_of(row), lower_is_better=lower)
    except KeyError:
        raise InputError(f"the metric {row['metric']!r} is not known to this version") from None


def level_of(content: JsonObject) -> float:
    """Return the confidence level of a run; nan where it is no number."""
    level = content["options"].get("confidence", 0.95)
    return float(level) if isinstance(level, (int, float)) else math.nan


def _minus(new: float | None, old: float | None) -> float | None:
    return None if new is None or old is None else new - old


def _value_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """The verdict of one pair of models (a seen from b) in both runs; None: not there."""

    a: str
    b: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChange:
    """One gate in both runs: pass, fail, undecided; None: not asked."""

    gate: str
    old: str | None
    new: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Everything that changed, as records."""

    old: str
    new: str
    primary_metric: str
    level: float
    paired: bool
    models_added: tuple[str, ...]
    models_removed: tuple[str, ...]
    values: tuple[ValueChange, ...]
    verdicts: tuple[VerdictChange, ...]
    gates: tuple[GateChange, ...]
    others: tuple[Change, ...]
    """Data, options, inputs, versions and warnings that are not the same."""


def compare_runs(old: Recorded, new: Recorded, *, inputs: tuple[AnyPath, AnyPath] | None = None) -> Compared:
    """Compare two runs.

    Parameters
    ----------
    inputs
        The folders of prediction files of the old and the new run; None: there are the results alone.

    Raises
    ------
    InputError
        A prediction file is missing, or is not the one that was analysed.
    """
    before, after = completed(old.content), completed(new.content)
    shared = [model for model in after["models"] if model in before["models"]]
    values = values_of(before, after, shared)
    if inputs is not None:
        values = _pair_by_pair(old, new, inputs, values)
    kept = ("data", "option", "input", "version", "warning")
    return Compared(
        old=old.name,
        new=new.name,
        primary_metric=after["primary_metric"],
        level=level_of(after),
        paired=inputs is not None,
        models_added=tuple(model for model in after["models"] if model not in before["models"]),
        models_removed=tuple(model for model in before["models"] if model not in after["models"]),
        values=values,
        verdicts=_verdicts(before, after),
        gates=_gates_between(before, after),
        others=tuple(change for change in changes(before, after) if change.kind in kept),
    )


# --- with the predictions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Before(Reference):
    """The old run, in the place of an earlier one of a history."""

    @property
    def spoken(self) -> Message:
        """What to call it in a sentence."""
        return Message("reference.old")


def _pair_by_pair(
    old: Recorded, new: Recorded, inputs: tuple[AnyPath, AnyPath], values: tuple[ValueChange, ...]
) -> tuple[ValueChange, ...]:
    """Compare each model with itself on the primary metric, and adjust for how many models there are."""
    options, loaded = _loaded(new, inputs[1])
    _, loaded_then = _loaded(old, inputs[0])
    then = Before("last", _no_run(old), old.content, analysed(loaded_then))
    plain = replace(
        options, metrics=(new.content["primary_metric"],), slices=(), gates=(), tests=(), baseline=None
    )
    now = Present(evaluate(loaded, options=plain), analysed(loaded), plain)
    asked = [v for v in values if v.primary and v.within is None and v.judgement != "same predictions"]
    quantity = parse(new.content["primary_metric"], loaded.task, loaded.classes)
    found = {v.model: since(then, now, v.model, quantity) for v in asked}
    p_values = {model: change.p_value for model, change in found.items() if change.p_value is not None}
    adjusted = dict(zip(p_values, adjust(list(p_values.values()), "holm"), strict=True))
    return tuple(
        _with_pair(v, found[v.model], adjusted.get(v.model), new.content) if v in asked else v for v in values
    )


def _with_pair(value: ValueChange, found: Since, p_adjusted: float | None, after: JsonObject) -> ValueChange:
    row = next(
        r for r in after["metrics"] if r["model"] == value.model and quantity_of(r).spelled == value.metric
    )
    greater = greater_in(row, after)
    judgement: Judgement = "not settled"
    if found.difference is None:
        judgement = "not comparable"
    elif p_adjusted is None:
        judgement = by_limits(found, greater)
    elif p_adjusted <= 1 - level_of(after) and found.difference != 0:
        judgement = "better" if (found.difference > 0) == greater else "worse"
    return replace(value, p_adjusted=p_adjusted, judgement=judgement, **found.settled)


def _loaded(recorded: Recorded, where: AnyPath) -> tuple[Options, Predictions]:
    """Read the predictions that a run was about, and no others.

    Raises
    ------
    InputError
        A file is missing or has changed.
    """
    with at_hand(recorded.content, where) as folder:
        return _loaded_from(recorded, folder)


def _loaded_from(recorded: Recorded, folder: Path) -> tuple[Options, Predictions]:
    states = input_states(recorded.content, folder)
    wrong = [state for state in states if state.state != "unchanged"]
    if wrong or not states:
        why = wrong[0].why or Message("verify.file_changed") if states else Message("verify.no_input")
        raise InputError(
            f"{wrong[0].path if wrong else recorded.name}: {why}",
            file=recorded.name,
            expected="the files that were analysed, there",
            remedy="name the folders of both runs, the old one first, or leave --inputs out",
        )
    options = recorded_options(recorded.content, folder)
    loaded = load(recorded_files(recorded.content["inputs"], folder, options.truth), options=options)
    require_examples(
        loaded,
        "runs are compared example by example, by id",
        "leave --inputs out, which compares their results",
    )
    return options, loaded


def _no_run(old: Recorded) -> Run:
    """Return the old run as the history would know it, had it been recorded."""
    return Run(
        id=0,
        series=old.name,
        identity="",
        signature=old.content["signature"],
        time="",
        exit_code=0,
        accepted_run=None,
        last_run=None,
        summary={},
    )


# --- verdicts and gates ---------------------------------------------------------------------------------------------


def _verdicts(before: JsonObject, after: JsonObject) -> tuple[VerdictChange, ...]:
    old, new = ({tuple(row["about"]): row["verdict"] for row in side["verdicts"]} for side in (before, after))
    if before["primary_metric"] != after["primary_metric"]:
        return ()  # verdicts about two metrics are no change of one
    turned = {pair: _turned(new[pair[::-1]]) for pair in old if pair not in new and pair[::-1] in new}
    later = {**{pair: said for pair, said in new.items() if pair[::-1] not in turned}, **turned}
    pairs = sorted({*old, *later})
    return tuple(
        VerdictChange(a=a, b=b, old=old.get((a, b)), new=later.get((a, b)))
        for a, b in pairs
        if old.get((a, b)) != later.get((a, b))
    )


def _turned(verdict: str) -> str | None:
    """Return the verdict on a pair seen from the other side; non-inferior says nothing there."""
    return {"better": "worse", "worse": "better", "non-inferior": "undecided"}.get(verdict, verdict)


def _gates_between(before: JsonObject, after: JsonObject) -> tuple[GateChange, ...]:
    """Return every gate of either run: a gate that was taken out must not go unseen."""
    old, new = ({row["gate"]: row for row in side["gates"]} for side in (before, after))
    found = []
    for gate in (*new, *(gate for gate in old if gate not in new)):
        said = new.get(gate)
        earlier = old[gate]["outcome"] if gate in old else None
        outcome = said["outcome"] if said else None
        found.append(GateChange(gate=gate, old=earlier, new=outcome, text=said["text"] if said else ""))
    return tuple(found)
