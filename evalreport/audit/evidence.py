"""What a night adds to the evidence since the accepted runs: the metric on examples that no run before it held.

An example that comes again is no new evidence: whatever made its loss great before makes it great again. So a run
counts only what is new to it, and keeps digests of some of its ids, by which later runs find out whether they have to
look at its predictions.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evalreport.audit.nights import Night
from evalreport.audit.reference import accepted_with, reference_predictions
from evalreport.audit_records import EvidenceRecord
from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.data.selection import subset
from evalreport.errors import UsageError
from evalreport.metrics.apart import each_apart
from evalreport.metrics.quantities import Quantity
from evalreport.stages import sampled
from evalreport.texts import Message, Text

if TYPE_CHECKING:
    from evalreport.audit.connection import History
    from evalreport.audit.reference import Past
    from evalreport.audit.store import Run

Mask = npt.NDArray[np.bool_]

SAMPLE = 64
"""Digests of ids that a run keeps, evenly spaced among them: a window that shares 1/64 of it is always found."""
LEAST_NEW = 10
"""New examples below which a run is no night of its own: its value says next to nothing of the night."""
DIVISIBLE = frozenset({"test-set", "seeds"})
"""The designs of which some examples can be taken without the others; of the others, a night is new as a whole."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """Which examples (with ``--cluster``: clusters) of a run no run held since, and with, the accepted ones.

    Attributes
    ----------
    new
        (units,) in the order of ``unit_keys``.
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


def fresh(predictions: Predictions, options: Options, history: History, past: Past) -> Fresh | None:
    """Find out which examples are new since the accepted runs; None where none is accepted.

    Of the runs since only those are read whose kept digests meet an example that still seems new.

    Raises
    ------
    HistoryError
        The history cannot be read.
    """
    if not past.nights:
        return None
    since = compared_with(past.runs, past)
    look = 1 + max((look_of(run) for run in since), default=0)
    keys, _ = unit_keys(predictions, options)
    found = Fresh(np.ones(len(keys), dtype=bool), look, _accepted(past, options))
    if options.cluster is None and _row_numbers(predictions):
        return replace(found, taken=True)
    new = found.new
    if options.cluster is None and any(own is not None and _row_numbers(own) for _, own in past.nights):
        found = replace(found, taken=True)
    for _, kept in past.nights:
        new = new if kept is None else new & ~_among(keys, kept, options)
    unkept = [run for run, kept in past.nights if kept is None]
    digests = _digests(keys) if since or unkept else np.zeros(len(keys), dtype=np.uint64)
    unseen = np.sort(digests[new])
    for run in (*unkept, *reversed(since)):
        if not len(unseen) or (_kept(run) and not _holds_any(unseen, _ids_of(run))):
            continue
        earlier = reference_predictions(history, run)
        if earlier is None:
            why = Message("night.not_kept", run=run.id)
            return replace(found, new=np.zeros(len(keys), dtype=bool), reason=why)
        new = new & ~_among(keys, earlier, options)
        unseen = np.sort(digests[new])
    places = np.flatnonzero(new)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(SAMPLE, len(places))).astype(np.int64))]
    return replace(found, new=new, sample=tuple(digest_of(keys[int(place)].as_py()) for place in chosen))


def _accepted(past: Past, options: Options) -> tuple[Mask | None, ...]:
    """Say of each accepted run which of its units no accepted run before it held."""
    masks: list[Mask | None] = []
    before: list[Predictions] = []
    for _, own in past.nights:
        if own is None or not _has_units(own, options):
            masks.append(None)
            continue
        keys, _ = unit_keys(own, options)
        mask = np.ones(len(keys), dtype=bool)
        if options.cluster is not None or not _row_numbers(own):
            for earlier in before:
                mask &= ~_among(keys, earlier, options)
        masks.append(mask)
        before.append(own)
    return tuple(masks)


def compared_with(runs: Iterable[Run], past: Past) -> list[Run]:
    """Return the runs that were compared with the accepted runs, all of them and no others, in order."""
    accepted = tuple(run.id for run, _ in past.nights)
    return [run for run in runs if accepted_with(run) == accepted]


def look_of(run: Run) -> int:
    """Return which look at its accepted runs a run was; 0 where it kept none."""
    return int(_kept(run).get("look", 0))


def kept_night(run: Run, model: str, quantity: Quantity) -> Night | None:
    """Return what a run kept of a model's value on new examples; None where there were none."""
    found = _kept(run).get("models", {}).get(model)
    return None if found is None or found[0] != quantity.spelled else Night(*found[1:])


def kept_of(records: Sequence[EvidenceRecord]) -> dict[str, Any]:
    """Return what runs to come need of a run's evidence, as it stands in the run's summary."""
    if not records:
        return {}
    first = records[0]
    models = {r.model: [r.metric, r.value, r.standard_error or 0.0, r.n_new] for r in records if r.n_new}
    return {
        "look": first.look,
        "accepted": list(first.accepted),
        "ids": list(first.id_sample),
        "models": models,
    }


def night_of(
    predictions: Predictions, model: str, quantity: Quantity, options: Options, new: Mask
) -> Night | Text:
    """Return a model's value on the units that are new; or why there is none."""
    if not new.all() and predictions.design not in DIVISIBLE:
        return Message("night.indivisible", design=predictions.design)
    outputs = next((m for m in predictions.models if m.name == model), None)
    if outputs is None:
        return Message("night.no_model", model=model)
    _, code = unit_keys(predictions, options)
    inside = new[code] if outputs.present is None else new[code] & outputs.present
    n = len(np.unique(code[inside]))
    if n < LEAST_NEW:
        return Message("night.too_few", n=n, least=LEAST_NEW)
    part = each_apart(subset(replace(predictions, models=(outputs,)), np.flatnonzero(inside)))[0]
    try:
        # A value and its standard error need no replicates, and one is the least that there are.
        sample = sampled(part, [quantity], replace(options, resamples=1), seed=options.seed)
    except UsageError as error:
        return Message("night.refused", why=str(error))
    estimate = sample.estimates[model, quantity]
    if not math.isfinite(estimate.value):
        return estimate.reason or Message("night.undefined", metric=quantity.spelled)
    return Night(float(estimate.value), estimate.standard_error or 0.0, n)


def unit_keys(predictions: Predictions, options: Options) -> tuple[Any, npt.NDArray[np.int64]]:
    """Return the names (an Arrow array) of what is independent, examples or clusters, and each row's code (n,)."""
    import pyarrow as pa

    if options.cluster is None:
        return predictions.ids.cast(pa.large_string()), predictions.example
    column = predictions.metadata.get(options.cluster) or predictions.keys[options.cluster]
    values, code = np.unique(column.values, return_inverse=True)
    names = [str(v) if column.categories is None else column.categories[v] if v >= 0 else "" for v in values]
    return pa.array(names, pa.large_string()), code.astype(np.int64)


def digest_of(key: str) -> str:
    """Return a short digest of an id: enough to suspect that two are the same, and no id itself."""
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _kept(run: Run) -> Mapping[str, Any]:
    found: Mapping[str, Any] = run.summary.get("evidence") or {}
    return found


def _digests(keys: Any) -> npt.NDArray[np.uint64]:
    return np.array([int(digest_of(key), 16) for key in keys.to_pylist()], dtype=np.uint64)


def _ids_of(run: Run) -> npt.NDArray[np.uint64]:
    return np.array([int(digest, 16) for digest in _kept(run).get("ids", ())], dtype=np.uint64)


def _holds_any(rising: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> bool:
    if not len(rising):
        return False
    places = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return bool((rising[places] == wanted).any())


def _among(keys: Any, earlier: Predictions, options: Options) -> Mask:
    """Say which keys an earlier run held: all, where it kept no column that would say so; none, of row numbers."""
    import pyarrow.compute as pc

    if not _has_units(earlier, options):
        return np.ones(len(keys), dtype=bool)
    if options.cluster is None and _row_numbers(earlier):
        return np.zeros(len(keys), dtype=bool)
    known = unit_keys(earlier, options)[0]
    return np.asarray(pc.is_in(keys, value_set=known).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _has_units(predictions: Predictions, options: Options) -> bool:
    return options.cluster is None or options.cluster in {*predictions.metadata, *predictions.keys}


def _row_numbers(predictions: Predictions) -> bool:
    return any((record.what, record.value) == ("ids", "row numbers") for record in predictions.found)
