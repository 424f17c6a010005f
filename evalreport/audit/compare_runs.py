"""Two runs that were handed in, base branch against pull request: what changed, and what of it the data settle.

With the predictions of both runs, models are compared pair by pair on the same examples. From two results.json alone
that cannot be had: there is only each value with its interval, and it is said what that settles and what not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalreport import pipeline
from evalreport.audit.reference import Reference
from evalreport.audit.results_file import Recorded, completed
from evalreport.audit.runs_compared import Change, changes
from evalreport.audit.since import Present, Since, since
from evalreport.audit.store import Run
from evalreport.audit.values_compared import (
    Judgement,
    ValueChange,
    by_limits,
    greater_in,
    level_of,
    quantity_of,
    values_of,
)
from evalreport.audit.verify import input_states, recorded_options
from evalreport.comparisons.multiplicity import adjust
from evalreport.config import Options
from evalreport.data import load
from evalreport.data.predictions import Predictions
from evalreport.errors import InputError
from evalreport.metrics.quantities import parse
from evalreport.stages import analysed
from evalreport.texts import Message


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


def compare_runs(old: Recorded, new: Recorded, *, inputs: tuple[Path, Path] | None = None) -> Compared:
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
        gates=_gates(before, after),
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
    old: Recorded, new: Recorded, inputs: tuple[Path, Path], values: tuple[ValueChange, ...]
) -> tuple[ValueChange, ...]:
    """Compare each model with itself on the primary metric, and adjust for how many models there are."""
    options, loaded = _loaded(new, inputs[1])
    _, loaded_then = _loaded(old, inputs[0])
    then = Before("last", _no_run(old), old.content, analysed(loaded_then))
    plain = replace(
        options, metrics=(new.content["primary_metric"],), slices=(), gates=(), tests=(), baseline=None
    )
    now = Present(pipeline.evaluate(loaded, options=plain), analysed(loaded), plain)
    asked = [v for v in values if v.primary and v.within is None and v.judgement != "same predictions"]
    quantity = parse(new.content["primary_metric"], loaded.task, loaded.classes)
    found = {v.model: since(then, now, v.model, quantity) for v in asked}
    p_values = {model: change.p_value for model, change in found.items() if change.p_value is not None}
    adjusted = dict(zip(p_values, adjust(list(p_values.values()), "holm"), strict=True))
    return tuple(
        _with_pair(v, found[v.model], adjusted.get(v.model), new.content) if v in asked else v for v in values
    )


def _with_pair(
    value: ValueChange, found: Since, p_adjusted: float | None, after: Mapping[str, Any]
) -> ValueChange:
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
    return replace(
        value,
        difference=found.difference,
        low=found.low,
        high=found.high,
        method=found.method,
        test=found.test,
        p_value=found.p_value,
        p_adjusted=p_adjusted,
        judgement=judgement,
        how=found.reason or found.how,
    )


def _loaded(recorded: Recorded, folder: Path) -> tuple[Options, Predictions]:
    """Read the predictions that a run was about, and no others.

    Raises
    ------
    InputError
        A file is missing or has changed.
    """
    states = input_states(recorded.content, folder)
    wrong = [state for state in states if state.state != "unchanged"]
    if wrong or not states:
        why = wrong[0].why or Message("verify.file_changed") if states else Message("verify.no_input")
        raise InputError(
            f"{wrong[0].path if wrong else recorded.name}: {why}",
            file=recorded.name,
            expected=f"the files that were analysed, in {folder}",
            remedy="name the folders of both runs, the old one first, or leave --inputs out",
        )
    options = recorded_options(recorded.content, folder)
    paths = [folder / state.path for state in states]
    return options, load([path for path in paths if str(path) != options.truth], options=options)


def _no_run(old: Recorded) -> Run:
    """Return the old run as the history would know it, had it been recorded."""
    return Run(0, old.name, "", old.content["signature"], "", 0, None, None, {})


# --- verdicts and gates ---------------------------------------------------------------------------------------------


def _verdicts(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[VerdictChange, ...]:
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


def _gates(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[GateChange, ...]:
    """Return every gate of either run: a gate that was taken out must not go unseen."""
    old, new = ({row["gate"]: row for row in side["gates"]} for side in (before, after))
    found = []
    for gate in (*new, *(gate for gate in old if gate not in new)):
        said = new.get(gate)
        earlier = old[gate]["outcome"] if gate in old else None
        outcome = said["outcome"] if said else None
        found.append(GateChange(gate=gate, old=earlier, new=outcome, text=said["text"] if said else ""))
    return tuple(found)
