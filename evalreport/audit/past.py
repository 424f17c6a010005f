"""The earlier runs that a run is compared with, and which of its examples none of them held."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from evalreport.audit.run_alarm import horizon_of
from evalreport.history.connection import History
from evalreport.history.kept_predictions import unpacked
from evalreport.history.run_differences import Name, Reference, ids_as_text, ids_held
from evalreport.history.store import Run, Standing, predictions_of, runs, time_of
from evalreport.predictions.arrays import Mask
from evalreport.predictions.cells import flags
from evalreport.predictions.table import Predictions
from evalreport.schema.inputs import JsonObject
from evalreport.schema.results import Results
from evalreport.texts import Message, Text

if TYPE_CHECKING:
    import pyarrow as pa

ContentOf = Callable[[int], Results]

SAMPLE = 64
"""Digests of ids that a run keeps, evenly spaced among them: a window that shares 1/64 of it is always found."""


@dataclass(frozen=True, slots=True)
class NewExamples:
    """The examples of a run that no earlier run of the series held.

    Attributes
    ----------
    new
        (examples,) in the order of the ids.
    look
        The number of times the series was compared with these accepted runs, this time included.
    in_accepted
        For each accepted run, the examples that no run before it held; None: its predictions are not kept.
    sample
        Digests of some of the new ids, for later runs.
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
class Place:
    """The place of a run in its series, which decides what share of the permitted error it may spend.

    Attributes
    ----------
    before
        How many earlier runs were compared with accepted ones, so that some model had a p-value.
    horizon
        How many runs a year of the series holds.
    models
        The most models of any earlier run.
    """

    before: int = 0
    horizon: int = 365
    models: int = 0

    @property
    def t(self) -> int:
        """The number of this comparison within its year of ``horizon`` runs, counted from 1."""
        return self.before % self.horizon + 1

    @property
    def year(self) -> int:
        """How many years of ``horizon`` comparisons are over."""
        return self.before // self.horizon


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
        The examples of this run that no earlier one held; None: not looked for yet.
    place
        The place of this run in the series.
    """

    runs: tuple[Run, ...] = ()
    references: Mapping[Name, Reference] = field(default_factory=dict)
    accepted: tuple[tuple[Run, Predictions | None], ...] = ()
    pruned: Mapping[Name, int] = field(default_factory=dict)
    new_examples: NewExamples | None = None
    place: Place = Place()


def past_of(
    history: History,
    series: str,
    standing: Standing,
    again: Run | None,
    *,
    time: datetime,
    content: ContentOf,
    predictions: Predictions,
) -> Past:
    """Return the earlier runs that a run of the series is compared with.

    Parameters
    ----------
    standing
        The latest, the accepted and the last passed run of the series now.
    again
        The recorded run, when the same run is audited again. It is compared with the runs that it was compared with
        then, so that it ends the same, except that a run accepted since replaces the one accepted then.
    time
        When the predictions of this run were made.
    content
        Returns the results of a run by its number.
    predictions
        Those of this run.
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
    before = tuple(run for run in known.values() if again is None or run.id < again.id)
    past = Past(
        runs=before,
        place=_place_after(before, time),
        references={
            name: Reference(name, known[number], content(number), kept[number])
            for name, number in wanted.items()
            if number in known
        },
        accepted=tuple((known[number], kept[number]) for number in accepted if number in known),
        pruned={name: number for name, number in wanted.items() if number not in known},
    )
    return replace(past, new_examples=new_examples(predictions, history, past))


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


def _place_after(before: Sequence[Run], time: datetime) -> Place:
    """Return the place of a run after others; its year is as long as the first run that was compared found it."""
    counts = [int(evidence_kept(run).get("compared", 0)) for run in before]
    horizons = [horizon for run in before if (horizon := evidence_kept(run).get("horizon"))]
    horizon = int(horizons[0]) if horizons else horizon_of([*map(time_of, before), time])
    models = [len(run.summary.get("models", ())) for run in before]
    return Place(before=max(counts, default=0), horizon=horizon, models=max(models, default=0))


def new_examples(predictions: Predictions, history: History, past: Past) -> NewExamples:
    """Find the examples that no earlier run of the series held.

    Of the earlier runs only those are read whose kept digests match an example that still seems new.

    Raises
    ------
    HistoryError
        The history cannot be read.
    """
    stored = _Stored(history, {run.id: kept for run, kept in past.accepted})
    look = 1 + max((look_of(run) for run in runs_with_same_accepted(past)), default=0)
    keys = ids_as_text(predictions)
    fresh = NewExamples(np.ones(len(keys), dtype=bool), look, _new_in_accepted(past, stored))
    if _has_row_numbers(predictions):
        return replace(fresh, assumed=True)
    if any(own is not None and _has_row_numbers(own) for _, own in past.accepted):
        fresh = replace(fresh, assumed=True)
    newest = max((run.id for run, _ in past.accepted), default=0)
    new, unknown = stored.not_held(keys, past.runs, forgotten_before=newest)
    if unknown is not None:
        reason = Message("night.not_kept", run=unknown.id)
        return replace(fresh, new=np.zeros(len(keys), dtype=bool), reason=reason)
    rows = np.flatnonzero(new)
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).astype(np.int64))]
    return replace(fresh, new=new, sample=tuple(digest_of(keys[int(row)].as_py()) for row in chosen))


@dataclass(frozen=True, slots=True)
class _Stored:
    """The predictions of earlier runs, read when they are needed, and what they held."""

    history: History
    read: dict[int, Predictions | None]

    def predictions(self, run: Run) -> Predictions | None:
        """Return the predictions of a run; None: they are not kept."""
        if run.id not in self.read:
            self.read[run.id] = _predictions_of(self.history, run)
        return self.read[run.id]

    def not_held(
        self, keys: pa.Array, runs_before: Sequence[Run], *, forgotten_before: int
    ) -> tuple[Mask, Run | None]:
        """Return which keys no run held, and the first run that may have held some and cannot be read.

        A run from before ``forgotten_before`` that kept neither predictions nor digests is passed over.
        """
        new = np.ones(len(keys), dtype=bool)
        if not runs_before:
            return new, None
        digests = [digest_of(key) for key in keys.to_pylist()]
        unseen = set(digests)
        for run in reversed(runs_before):
            kept = evidence_kept(run).get("ids", ())
            known = bool(kept) and run.id not in self.read
            if not unseen or (known and unseen.isdisjoint(kept)):
                continue
            earlier = self.predictions(run)
            if earlier is None:
                if not kept and run.id < forgotten_before:
                    continue
                return new, run
            new &= ~_held_by(earlier, keys)
            unseen = set(compress(digests, new))
        return new, None


def _new_in_accepted(past: Past, stored: _Stored) -> tuple[Mask | None, ...]:
    """Return, for each accepted run, a mask of its examples that no run before it held; None: not known."""
    masks: list[Mask | None] = []
    for run, own in past.accepted:
        if own is None:
            masks.append(None)
            continue
        keys = ids_as_text(own)
        mask: Mask | None = np.ones(len(keys), dtype=bool)
        if not _has_row_numbers(own):
            before = [other for other in past.runs if other.id < run.id]
            mask, unknown = stored.not_held(keys, before, forgotten_before=run.id)
            mask = mask if unknown is None else None
        masks.append(mask)
    return tuple(masks)


def shared_ids(today: Predictions, earlier: Predictions | None) -> Mask | None:
    """Return which rows of a run are of examples that an earlier run held, too; None where ids do not tell."""
    if earlier is None or _has_row_numbers(today) or _has_row_numbers(earlier):
        return None
    return np.asarray(ids_held(today, earlier)[today.example])


def answers_digest(predictions: Predictions) -> str:
    """Return a digest of all models' answers and truths, by id: the same where a run repeats an earlier one."""
    digest = hashlib.blake2b(digest_size=12)
    for key in predictions.ids.to_pylist():
        digest.update(str(key).encode("utf-8", "surrogatepass") + b"\0")
    columns = [predictions.example, predictions.y_true]
    for model in predictions.models:
        digest.update(model.name.encode("utf-8", "surrogatepass"))
        columns += [model.y_pred, model.score, model.proba, model.outcome, model.present]
        columns += [model.numbers[name] for name in sorted(model.numbers)]
    for column in columns:
        digest.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def runs_with_same_accepted(past: Past) -> list[Run]:
    """Return the earlier runs that were compared with the same accepted runs, in order."""
    accepted = tuple(run.id for run, _ in past.accepted)
    return [run for run in past.runs if accepted_with(run) == accepted]


def look_of(run: Run) -> int:
    """Return the number of the look at its accepted runs that a run was; 0 where it kept none."""
    return int(evidence_kept(run).get("look", 0))


def year_of(run: Run, place: Place) -> int:
    """Return in which year of ``place.horizon`` comparisons an earlier run was compared."""
    return max(int(evidence_kept(run).get("compared", 0)) - 1, 0) // place.horizon


def evidence_kept(run: Run) -> JsonObject:
    """Return what a run kept in its summary for later alarms; empty: nothing."""
    kept_evidence: JsonObject = run.summary.get("evidence") or {}
    return kept_evidence


def digest_of(key: str) -> str:
    """Return a short digest of an id: enough to suspect that two ids are the same, without keeping the id."""
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _held_by(earlier: Predictions, keys: pa.Array) -> Mask:
    """Return which ids an earlier run held: none if it has no ids of its own."""
    import pyarrow.compute as pc

    if _has_row_numbers(earlier):
        return np.zeros(len(keys), dtype=bool)
    return flags(pc.is_in(keys, value_set=ids_as_text(earlier)))


def _has_row_numbers(predictions: Predictions) -> bool:
    return any(record.what == "ids" and str(record.value) == "row numbers" for record in predictions.found)
