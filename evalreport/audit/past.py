"""The earlier runs that a run is compared with, and which of its examples none of them held."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evalreport.history.connection import History
from evalreport.history.kept_predictions import unpacked
from evalreport.history.run_differences import Name, Reference
from evalreport.history.store import Run, Standing, predictions_of, results_of, runs
from evalreport.options import Options
from evalreport.predictions.arrays import Indices, Mask
from evalreport.predictions.table import Predictions
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 64
"""Digests of ids that a run keeps, evenly spaced among them: a window that shares 1/64 of it is always found."""


@dataclass(frozen=True, slots=True)
class NewExamples:
    """The examples (with ``--cluster``: clusters) of a run that neither the accepted runs nor a run since held.

    Attributes
    ----------
    new
        (units,) in the order of ``units_of``.
    look
        The number of times the series was compared with these accepted runs, this time included.
    in_accepted
        For each accepted run, the units that no accepted run before it held; None: its predictions are not kept.
    sample
        Digests of some of the new units, for later runs.
    assumed
        All examples are taken as new, because there is no column ``id`` to tell.
    reason
        Why new examples cannot be told from others; None: they can.
    """

    new: Mask
    look: int
    in_accepted: tuple[Mask | None, ...] = ()
    sample: tuple[str, ...] = ()
    assumed: bool = False
    reason: Text | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What a series held before this run.

    Attributes
    ----------
    runs
        The runs recorded before, in order.
    references
        The accepted run (of several accepted together, the newest) and the last that exited 0, where they exist.
    accepted
        All accepted runs, in order, with their predictions (None: not kept).
    pruned
        The number of a reference whose run was removed from the history.
    new_examples
        The examples of this run that are new since the accepted runs; None: no run is accepted.
    """

    runs: tuple[Run, ...] = ()
    references: Mapping[Name, Reference] = field(default_factory=dict)
    accepted: tuple[tuple[Run, Predictions | None], ...] = ()
    pruned: Mapping[Name, int] = field(default_factory=dict)
    new_examples: NewExamples | None = None


def past_of(history: History, series: str, standing: Standing, again: Run | None) -> Past:
    """Return the earlier runs that a run of the series is compared with.

    Parameters
    ----------
    standing
        The latest, the accepted and the last passed run of the series now.
    again
        The recorded run, when the same run is audited again. It is compared with the runs that it was compared with
        then, so that it ends the same, except that a run accepted since replaces the one accepted then.
    """
    known = {run.id: run for run in runs(history, series)}
    accepted, last = standing.accepted, standing.last
    if again is not None:
        last = again.last_run
        if standing.accepted == (accepted_with(again) or (again.id,)):
            accepted = accepted_with(again)
    newest = accepted[-1] if accepted else None
    if again is not None and again.id in accepted:
        newest = again.id  # accepted since: it is compared with itself, and passes
    ids: dict[Name, int | None] = {"accepted": newest, "last": last}
    wanted = {name: number for name, number in ids.items() if number is not None}
    kept = {
        number: _predictions_of(history, known[number])
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
        accepted=tuple((known[number], kept[number]) for number in accepted if number in known),
        pruned={name: number for name, number in wanted.items() if number not in known},
    )


def accepted_with(run: Run) -> tuple[int, ...]:
    """Return the accepted runs that a run was compared with, in rising order; empty: none was accepted yet.

    Before several runs could be accepted together, a run recorded only the one.
    """
    alone = () if run.accepted_run is None else (run.accepted_run,)
    return tuple(evidence_kept(run).get("accepted", alone))


def _predictions_of(history: History, run: Run) -> Predictions | None:
    """Return a run's aligned predictions; None where they are not kept.

    Raises
    ------
    HistoryError
        The stored predictions are damaged.
    """
    content = predictions_of(history, run.id)
    return None if content is None else unpacked(content)


def new_examples(
    predictions: Predictions, options: Options, history: History, past: Past
) -> NewExamples | None:
    """Find the examples that are new since the accepted runs; None where no run is accepted.

    Of the runs since, only those are read whose kept digests match an example that still seems new.

    Raises
    ------
    HistoryError
        The history cannot be read.
    """
    if not past.accepted:
        return None
    since = runs_with_same_accepted(past)
    look = 1 + max((look_of(run) for run in since), default=0)
    keys, _ = units_of(predictions, options)
    found = NewExamples(np.ones(len(keys), dtype=bool), look, _new_in_accepted(past, options))
    if options.cluster is None and _has_row_numbers(predictions):
        return replace(found, assumed=True)
    new = found.new
    if options.cluster is None and any(own is not None and _has_row_numbers(own) for _, own in past.accepted):
        found = replace(found, assumed=True)
    for _, kept in past.accepted:
        new = new if kept is None else new & ~_held_by(kept, keys, options)
    unkept = [run for run, kept in past.accepted if kept is None]
    digests = np.zeros(len(keys), dtype=np.uint64)
    if since or unkept:
        digests = np.array([int(digest_of(key), 16) for key in keys.to_pylist()], dtype=np.uint64)
    unseen = np.sort(digests[new])
    for run in (*unkept, *reversed(since)):
        if not len(unseen) or (evidence_kept(run) and not _holds_any(unseen, _digests_kept(run))):
            continue
        earlier = _predictions_of(history, run)
        if earlier is None:
            reason = Message("night.not_kept", run=run.id)
            return replace(found, new=np.zeros(len(keys), dtype=bool), reason=reason)
        new = new & ~_held_by(earlier, keys, options)
        unseen = np.sort(digests[new])
    rows = np.flatnonzero(new)
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).astype(np.int64))]
    return replace(found, new=new, sample=tuple(digest_of(keys[int(row)].as_py()) for row in chosen))


def _new_in_accepted(past: Past, options: Options) -> tuple[Mask | None, ...]:
    """Return, for each accepted run, a mask of its units that no accepted run before it held."""
    masks: list[Mask | None] = []
    before: list[Predictions] = []
    for _, own in past.accepted:
        if own is None or not _has_units(own, options):
            masks.append(None)
            continue
        keys, _ = units_of(own, options)
        mask = np.ones(len(keys), dtype=bool)
        if options.cluster is not None or not _has_row_numbers(own):
            for earlier in before:
                mask &= ~_held_by(earlier, keys, options)
        masks.append(mask)
        before.append(own)
    return tuple(masks)


def runs_with_same_accepted(past: Past) -> list[Run]:
    """Return the earlier runs that were compared with the same accepted runs, in order."""
    accepted = tuple(run.id for run, _ in past.accepted)
    return [run for run in past.runs if accepted_with(run) == accepted]


def look_of(run: Run) -> int:
    """Return the number of the look at its accepted runs that a run was; 0 where it kept none."""
    return int(evidence_kept(run).get("look", 0))


def evidence_kept(run: Run) -> JsonObject:
    """Return what a run kept in its summary for later alarms; empty: nothing."""
    found: JsonObject = run.summary.get("evidence") or {}
    return found


def units_of(predictions: Predictions, options: Options) -> tuple[pa.Array, Indices]:
    """Return the names of the independent units, examples or clusters, as an Arrow array, and each row's unit (n,)."""
    import pyarrow as pa

    if options.cluster is None:
        return predictions.ids.cast(pa.large_string()), predictions.example
    column = predictions.metadata.get(options.cluster) or predictions.keys[options.cluster]
    values, code = np.unique(column.values, return_inverse=True)
    names = [str(v) if column.categories is None else column.categories[v] if v >= 0 else "" for v in values]
    return pa.array(names, pa.large_string()), code.astype(np.int64)


def digest_of(key: str) -> str:
    """Return a short digest of an id: enough to suspect that two ids are the same, without keeping the id."""
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _digests_kept(run: Run) -> npt.NDArray[np.uint64]:
    return np.array([int(digest, 16) for digest in evidence_kept(run).get("ids", ())], dtype=np.uint64)


def _holds_any(rising: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> bool:
    if not len(rising):
        return False
    nearest = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return bool((rising[nearest] == wanted).any())


def _held_by(earlier: Predictions, keys: pa.Array, options: Options) -> Mask:
    """Return which keys an earlier run held: all if it lacks the column of the clusters, none if it has no ids."""
    import pyarrow.compute as pc

    if not _has_units(earlier, options):
        return np.ones(len(keys), dtype=bool)
    if options.cluster is None and _has_row_numbers(earlier):
        return np.zeros(len(keys), dtype=bool)
    known = units_of(earlier, options)[0]
    return np.asarray(pc.is_in(keys, value_set=known).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _has_units(predictions: Predictions, options: Options) -> bool:
    return options.cluster is None or options.cluster in {*predictions.metadata, *predictions.keys}


def _has_row_numbers(predictions: Predictions) -> bool:
    return any((record.what, record.value) == ("ids", "row numbers") for record in predictions.found)
