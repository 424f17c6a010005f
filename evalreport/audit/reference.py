"""The earlier runs that an audit is compared with: the accepted one and the last that exited 0."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evalreport.audit.connection import History
from evalreport.audit.store import Run, Standing, predictions_of, results_of, runs
from evalreport.data.predictions import Predictions

if TYPE_CHECKING:
    from evalreport.audit.evidence import Fresh

Name = Literal["accepted", "last"]
NAMES: tuple[Name, ...] = ("accepted", "last")


@dataclass(frozen=True, slots=True)
class Reference:
    """An earlier run with what it found.

    Attributes
    ----------
    results
        Its results.json, parsed.
    predictions
        Its aligned predictions; None where they are not kept.
    """

    name: Name
    run: Run
    results: Mapping[str, Any]
    predictions: Predictions | None

    @property
    def spoken(self) -> str:
        """What to call it in a sentence; the number says which one it was when the pin has moved on."""
        return f"{'the accepted run' if self.name == 'accepted' else 'the last run'} {self.run.id}"


@dataclass(frozen=True, slots=True)
class Past:
    """What a series held before this run.

    Attributes
    ----------
    runs
        The runs recorded before, in order.
    references
        By name; only those that there are.
    pruned
        Names of the references that there were and whose runs are gone: the run's number.
    fresh
        Which examples of this run none held since the accepted one; None: nothing is accepted.
    """

    runs: tuple[Run, ...] = ()
    references: Mapping[Name, Reference] = field(default_factory=dict)
    pruned: Mapping[Name, int] = field(default_factory=dict)
    fresh: Fresh | None = None


def past_of(history: History, series: str, standing: Standing, again: Run | None) -> Past:
    """Return what a run of the series is compared with.

    Parameters
    ----------
    standing
        Where the series stands now.
    again
        This very run, where it was recorded before: it is then compared with what stood there before it, so that it
        ends the same. Only a run that was accepted since takes the place of the one that was accepted then.
    """
    earlier = tuple(run for run in runs(history, series) if again is None or run.id < again.id)
    ids: dict[Name, int | None] = {"accepted": standing.accepted, "last": standing.last}
    if again is not None:
        pin_then = again.id if again.accepted_run is None else again.accepted_run
        ids["last"] = again.last_run
        if standing.accepted == pin_then:
            ids["accepted"] = again.accepted_run
    known = {run.id: run for run in (*earlier, *((again,) if again is not None else ()))}
    wanted = {name: number for name, number in ids.items() if number is not None}
    if any(number not in known for number in wanted.values()):
        known |= {run.id: run for run in runs(history, series)}
    return Past(
        runs=earlier,
        references={
            name: _reference(history, name, known[number])
            for name, number in wanted.items()
            if number in known
        },
        pruned={name: number for name, number in wanted.items() if number not in known},
    )


def _reference(history: History, name: Name, run: Run) -> Reference:
    return Reference(name, run, json.loads(results_of(history, run.id)), reference_predictions(history, run))


def reference_predictions(history: History, run: Run) -> Predictions | None:
    """Return a run's aligned predictions; None where they are not kept (any more).

    Raises
    ------
    HistoryError
        What is stored is damaged.
    """
    from evalreport.audit.columnar import unpacked

    content = predictions_of(history, run.id)
    return None if content is None else unpacked(content)
