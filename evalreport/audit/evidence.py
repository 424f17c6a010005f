"""What a run adds to the evidence since the accepted run: the losses of examples that no run before it held.

An example that comes again is no new evidence: whatever made its loss great before makes it great again. So a run
counts only what is new to it, and keeps digests of some of its ids, by which later runs find out whether they have to
look at its predictions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evalreport.audit.confidence_sequences import Evidence, condense
from evalreport.audit_records import EvidenceRecord
from evalreport.config import Options
from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.metrics.quantities import Quantity, definition, greater_is_better
from evalreport.metrics.views import view

if TYPE_CHECKING:
    from evalreport.audit.connection import History
    from evalreport.audit.reference import Past
    from evalreport.audit.store import Run

SAMPLE = 64
"""Digests of ids that a run keeps, evenly spaced among them: a window that shares 1/64 of it is always found."""
DESIGNS = frozenset({"test-set", "seeds"})
"""The designs in which an example has one loss of one model, or a mean over training seeds."""
NO_IDS = "without a column id nothing says which examples are new"


@dataclass(frozen=True, slots=True)
class Fresh:
    """Which examples (with ``--cluster``: clusters) of a run no run held since, and with, the accepted one.

    Attributes
    ----------
    new
        (units,) in the order of ``unit_keys``.
    look
        How often the series was compared with this accepted run, this time included.
    sample
        Digests of some of the new ones, for runs to come.
    reason
        Why nothing can be said of them; None: it can.
    """

    new: npt.NDArray[np.bool_]
    look: int
    sample: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Losses:
    """A model's losses in [0, 1], one a unit (nan where it has none), and how they make the metric: a + b loss."""

    values: npt.NDArray[np.float64]
    at_zero: float
    slope: float


def fresh(predictions: Predictions, options: Options, history: History, past: Past) -> Fresh | None:
    """Find out which examples are new since the accepted run; None where none is accepted.

    Only those earlier runs are read whose kept digests meet an example that still seems new.

    Raises
    ------
    HistoryError
        The history cannot be read.
    """
    from evalreport.audit.reference import reference_predictions

    reference = past.references.get("accepted")
    if reference is None:
        return None
    since = compared_with(past.runs, reference.run.id)
    look = 1 + max((look_of(run) for run in since), default=0)
    keys, _ = unit_keys(predictions, options)
    new = np.ones(len(keys), dtype=bool)
    if options.cluster is None and _row_numbers(predictions):
        return Fresh(~new, look, reason=NO_IDS)
    if reference.predictions is None:
        return Fresh(
            ~new,
            look,
            reason=f"the predictions of {reference.spoken} are not kept, so nothing is known to be new",
        )
    new &= ~_among(keys, reference.predictions, options)
    digests = np.array(
        [int(digest_of(key), 16) for key in keys.to_pylist()] if since else (), dtype=np.uint64
    )
    unseen = np.sort(digests[new]) if since else digests
    for run in reversed(since):
        if not new.any():
            break
        if not _holds_any(unseen, _ids_of(run)):
            continue
        earlier = reference_predictions(history, run)
        if earlier is None:
            why = f"run {run.id} held some of these examples, and its predictions are not kept"
            return Fresh(np.zeros(len(keys), dtype=bool), look, reason=why)
        new &= ~_among(keys, earlier, options)
        unseen = np.sort(digests[new])
    places = np.flatnonzero(new)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(SAMPLE, len(places))).astype(np.int64))]
    return Fresh(new, look, tuple(digest_of(keys[int(place)].as_py()) for place in chosen))


def compared_with(runs: Iterable[Run], reference: int) -> list[Run]:
    """Return the runs that were compared with an accepted run, in order."""
    return [run for run in runs if run.accepted_run == reference]


def look_of(run: Run) -> int:
    """Return which look at its accepted run a run was; 0 where it kept none."""
    return int(_kept(run).get("look", 0))


def evidence_of(run: Run, model: str, quantity: Quantity) -> Evidence | None:
    """Return what a run kept of a model's new losses; None where there were none."""
    found = _kept(run).get("models", {}).get(model)
    if found is None or found[0] != quantity.spelled:
        return None
    return Evidence(np.array(found[1], dtype=np.float64), np.array(found[2], dtype=np.float64))


def kept_of(records: Sequence[EvidenceRecord]) -> dict[str, Any]:
    """Return what runs to come need of a run's evidence, as it stands in the run's summary."""
    if not records:
        return {}
    models = {r.model: [r.metric, list(r.levels), list(r.weights)] for r in records if r.levels}
    return {"look": records[0].look, "ids": list(records[0].id_sample), "models": models}


def losses_of(predictions: Predictions, model: str, quantity: Quantity, options: Options) -> Losses | str:
    """Return a model's loss on each unit, the mean over its rows; or why the metric is no mean of bounded losses."""
    if options.weight is not None:
        return "with --weight the value is no plain mean"
    if predictions.design not in DESIGNS:
        return f"the design {predictions.design} is about algorithms: its examples are no stream of new ones"
    if options.cluster is not None and options.cluster not in {*predictions.metadata, *predictions.keys}:
        return f"the column {options.cluster} of the clusters was not kept"
    outputs = next(m for m in predictions.models if m.name == model)
    found = _row_losses(predictions, outputs, quantity, options)
    if isinstance(found, str):
        return found
    rows, at_zero, slope = found
    keys, code = unit_keys(predictions, options)
    present = np.isfinite(rows) if outputs.present is None else np.isfinite(rows) & outputs.present
    counts = np.bincount(code[present], minlength=len(keys))
    sums = np.bincount(code[present], weights=rows[present], minlength=len(keys))
    values = np.full(len(keys), np.nan)
    np.divide(sums, counts, out=values, where=counts > 0)
    return Losses(values, at_zero, slope)


def condensed(losses: Losses, chosen: npt.NDArray[np.bool_] | None = None) -> Evidence:
    """Condense the losses of the chosen units, or of all that have one."""
    there = np.isfinite(losses.values)
    return condense(losses.values[there if chosen is None else there & chosen])


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


def _row_losses(
    predictions: Predictions, outputs: ModelOutputs, quantity: Quantity, options: Options
) -> tuple[npt.NDArray[np.float64], float, float] | str:
    """Return each row's loss in [0, 1], the metric where all are 0, and what a loss of 1 changes."""
    if quantity.metric in ("accuracy", "error_rate") and predictions.y_true is not None:
        if outputs.y_pred is None:
            return "the model gives no labels"
        wrong = (outputs.y_pred != predictions.y_true).astype(np.float64)
        wrong[outputs.y_pred < 0] = np.nan  # not given
        return (wrong, 0.0, 1.0) if quantity.metric == "error_rate" else (wrong, 1.0, -1.0)
    metric = definition(quantity)
    if quantity.metric == "mean_outcome":
        assert outputs.outcome is not None
        values = outputs.outcome
        if np.nanmin(values) < 0 or np.nanmax(values) > 1:
            return "the outcomes are not bounded by 0 and 1"
        better = greater_is_better(quantity, lower_is_better=options.lower_is_better)
        return (1 - values, 1.0, -1.0) if better else (values, 0.0, 1.0)
    if quantity.metric in ("brier", "complement_mse"):
        if outputs.proba is None:
            return "the model gives no probabilities"
        assert metric.columns is not None
        top = (metric.binary_range or metric.range)[1] if predictions.task == "binary" else metric.range[1]
        return metric.columns(view(predictions, outputs))[:, 1] / top, 0.0, top
    return f"{quantity.spelled} is no mean of bounded losses"


def _kept(run: Run) -> Mapping[str, Any]:
    found: Mapping[str, Any] = run.summary.get("evidence") or {}
    return found


def _ids_of(run: Run) -> npt.NDArray[np.uint64]:
    return np.array([int(digest, 16) for digest in _kept(run).get("ids", ())], dtype=np.uint64)


def _holds_any(rising: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> bool:
    if not len(rising):
        return False
    places = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return bool((rising[places] == wanted).any())


def _among(keys: Any, earlier: Predictions, options: Options) -> npt.NDArray[np.bool_]:
    """Say which keys an earlier run held; all, where it did not keep the column that would say so."""
    import pyarrow.compute as pc

    if options.cluster is not None and options.cluster not in {*earlier.metadata, *earlier.keys}:
        return np.ones(len(keys), dtype=bool)
    known = unit_keys(earlier, options)[0]
    return np.asarray(pc.is_in(keys, value_set=known).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _row_numbers(predictions: Predictions) -> bool:
    return any((record.what, record.value) == ("ids", "row numbers") for record in predictions.found)
