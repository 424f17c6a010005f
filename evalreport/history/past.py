"""The earlier runs of a series that a run is compared with, and the examples that none of them held."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalreport.history.connection import History
from evalreport.history.kept_predictions import unpacked
from evalreport.history.run_differences import Name, Reference
from evalreport.history.store import Run, Standing, predictions_of, results_of, runs
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import Predictions
from evalreport.texts import Text


@dataclass(frozen=True, slots=True)
class Fresh:
    """Which examples (with ``--cluster``: clusters) of a run no run held since, and with, the accepted ones.

    Attributes
    ----------
    new
        (units,) in the order of ``nightly_values.unit_keys``.
    look
        How often the series was compared with these accepted runs, this time included.
    accepted
        Of each accepted run, which of its own units no accepted run before it held; None: that is not kept.
    sample
        Digests of some of the new ones, for runs to come.
    taken
        Whether all are taken as new because a column ``id`` is missing that would say so.
    reason
        Why nothing can be said of them; None: it can.
    """

    new: Mask
    look: int
    accepted: tuple[Mask | None, ...] = ()
    sample: tuple[str, ...] = ()
    taken: bool = False
    reason: Text | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What a series held before this run.

    Attributes
    ----------
    runs
        The runs recorded before, in order.
    references
        By name; only those that there are. Of several runs accepted together, the newest.
    nights
        All runs that are accepted, in order, with their predictions; None: not kept.
    pruned
        Names of the references that there were and whose runs are gone: the run's number.
    fresh
        Which examples of this run none held since the accepted one; None: nothing is accepted.
    """

    runs: tuple[Run, ...] = ()
    references: Mapping[Name, Reference] = field(default_factory=dict)
    nights: tuple[tuple[Run, Predictions | None], ...] = ()
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
    known = {run.id: run for run in runs(history, series)}
    accepted, last = standing.nights, standing.last
    if again is not None:
        last = again.last_run
        if standing.nights == (accepted_with(again) or (again.id,)):
            accepted = accepted_with(again)
    newest = accepted[-1] if accepted else None
    if again is not None and again.id in accepted:
        newest = again.id  # accepted since: it is compared with itself, and passes
    ids: dict[Name, int | None] = {"accepted": newest, "last": last}
    wanted = {name: number for name, number in ids.items() if number is not None}
    kept = {
        number: reference_predictions(history, known[number])
        for number in sorted({*accepted, *wanted.values()})
        if number in known
    }
    return Past(
        runs=tuple(run for run in known.values() if again is None or run.id < again.id),
        references={
            name: Reference(name, known[number], json.loads(results_of(history, number)), kept[number])
            for name, number in wanted.items()
            if number in known
        },
        nights=tuple((known[number], kept[number]) for number in accepted if number in known),
        pruned={name: number for name, number in wanted.items() if number not in known},
    )


def accepted_with(run: Run) -> tuple[int, ...]:
    """Return the accepted runs that a run was compared with, rising; none where nothing was accepted yet.

    Before several runs could be accepted together, runs recorded only the one.
    """
    alone = () if run.accepted_run is None else (run.accepted_run,)
    return tuple((run.summary.get("evidence") or {}).get("accepted", alone))


def reference_predictions(history: History, run: Run) -> Predictions | None:
    """Return a run's aligned predictions; None where they are not kept (any more).

    Raises
    ------
    HistoryError
        What is stored is damaged.
    """
    content = predictions_of(history, run.id)
    return None if content is None else unpacked(content)
