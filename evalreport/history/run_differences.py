"""How a model's value changed since an earlier run: paired where the examples are the same, else as two samples.

The earlier predictions are judged by today's truth, so that a corrected label does not pass for a change of the model.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np

from evalreport.comparisons.pairs import Comparison, compare, compare_apart, records
from evalreport.engine.distributions import Array
from evalreport.errors import UsageError
from evalreport.gates.slices import divisions_of_run
from evalreport.history.store import Run
from evalreport.intervals.proportions import ValueLimits, difference_limits
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.fits import each_apart
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.arrays import Mask
from evalreport.predictions.cells import in_order
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Column, ModelOutputs, Predictions
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import Slice
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, parts

Name = Literal["accepted", "last"]


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
    results: JsonObject
    predictions: Predictions | None

    @property
    def spoken(self) -> Message:
        """What to call it in a sentence; the number says which one it was when the pin has moved on."""
        return Message(f"reference.{self.name}", run=self.run.id)


ROW_KEYS = ("dataset", "repeat", "fold", "replicate", "seed")
"""The columns that, with the id, say which prediction a row is."""
TWO_SAMPLES = frozenset({"test-set", "seeds", "bootstrap"})
"""The designs in which two sets of examples are compared as samples; folds overlap in their training sets."""
SQUARE_AND_ADD = "square_and_add"
"""Interval of a difference from the intervals of both values (Zou and Donner 2008, Statistics in Medicine 27:1693)."""

Stored = tuple[str, Quantity, Slice | None]
"""What a metric record is about."""


class Settled(TypedDict):
    """What a record of a change says of the difference."""

    difference: float | None
    low: float | None
    high: float | None
    method: str | None
    test: str | None
    p_value: float | None
    how: Text


@dataclass(frozen=True, slots=True)
class Since:
    """A model's value now, at the earlier run, and the difference now - then.

    ``how`` says what was compared with what; ``reason`` why there is no difference or no interval. ``sizes`` are the
    numbers of examples then and now, where they are not the same examples.
    """

    value: float | None = None
    reference_value: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    test: str | None = None
    p_value: float | None = None
    paired: bool = False
    how: Text = ""
    reason: Text | None = None
    sizes: tuple[int, int] | None = None

    @property
    def settled(self) -> Settled:
        """The difference, and what was compared with what, or why there is none."""
        return {
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "test": self.test,
            "p_value": self.p_value,
            "how": self.reason or self.how,
        }


@dataclass(frozen=True, slots=True)
class Present:
    """What the present run found, and the rows that it analysed."""

    results: Results
    predictions: Predictions
    options: Options


def since(
    reference: Reference, now: Present, model: str, quantity: Quantity, *, within: Slice | None = None
) -> Since:
    """Return how a model's value changed since an earlier run.

    Parameters
    ----------
    within
        The slice that the question is about, as it stands in the records of results; None: all examples.
    """
    stored = (model, quantity, within)
    lacking = _why_not(reference, now, model)
    if lacking is not None:
        return Since(reason=lacking)
    if reference.predictions is None:
        return _from_intervals(reference, now, stored, Message("since.not_kept"))
    today, earlier = _alone(now.predictions, model), _alone(reference.predictions, model)
    same = not _row_numbers(reference, now) and _same_rows(today, earlier)
    if within is not None:
        inside = _inside(now.predictions, model, within, now.options)
        inside_then = inside if same else _inside(reference.predictions, model, within, now.options)
        if inside is None or inside_then is None:
            what = {"column": within.column, "value": within.value}
            return Since(reason=Message("since.no_slice", run=reference.spoken, **what))
        today, earlier = _rows(today, inside), _rows(earlier, inside_then)
    today, earlier = _same_classes(today, earlier)
    if today.task == "binary" and len(today.classes) > 2:
        return Since(reason=Message("since.other_classes", run=reference.spoken, classes=today.classes))
    if same:
        return _paired(today, earlier, quantity, now.options)
    if today.design not in TWO_SAMPLES or earlier.design not in TWO_SAMPLES:
        return _from_intervals(reference, now, stored, Message("since.other_folds"))
    why = Message("since.no_id") if _row_numbers(reference, now) else None
    return _as_samples(today, earlier, quantity, now.options, why=why)


def _why_not(reference: Reference, now: Present, model: str) -> Message | None:
    """Say why an earlier run can tell nothing about a model; None where it can."""
    then = reference.results
    if then["task"] != now.predictions.task or then["positive"] != now.predictions.positive:
        return Message(
            "since.other_task", run=reference.spoken, task=then["task"], positive=str(then["positive"])
        )
    if model in then["models"]:
        return None
    return Message("since.no_model", run=reference.spoken, model=model, models=then["models"])


# --- the three ways -------------------------------------------------------------------------------------------------


def _paired(today: Predictions, earlier: Predictions, quantity: Quantity, options: Options) -> Since:
    """Both runs' answers to the same examples, by the test and interval that lead in a run."""
    changed = _truths_changed(today, earlier)
    old = replace(earlier.models[0], name=_other_name(today))
    both = replace(today, models=(today.models[0], old))
    plain = _plain(options)
    sample = estimate_table(both, [quantity], plain, seed=options.seed)
    values = tuple(sample.estimates[m.name, quantity].value for m in both.models)
    how = Message("since.paired", n=today.n_examples)
    if changed:
        how = parts(how, Message("since.truths_changed", n=changed))
    return _of(compare(sample, [quantity], plain)[0], plain, values, how=how, paired=True)


def _as_samples(
    today: Predictions, earlier: Predictions, quantity: Quantity, options: Options, *, why: Message | None
) -> Since:
    """Different examples: two independent samples, with draws of their own."""
    plain = replace(_plain(options), join="independent")
    old = replace(earlier, models=(replace(earlier.models[0], name=_other_name(today)),))
    seed = int.from_bytes(hashlib.sha256(f"earlier run {options.seed}".encode()).digest()[:8], "big")
    samples = [
        estimate_table(today, [quantity], plain, seed=options.seed),
        estimate_table(old, [quantity], plain, seed=seed),
    ]
    values = tuple(sample.estimates[sample.predictions.models[0].name, quantity].value for sample in samples)
    shared = _shared(today, earlier) if why is None else 0
    sizes = {"then": earlier.n_examples, "now": today.n_examples}
    how = Message("since.overlapping", **sizes, n=shared) if shared else Message("since.apart", **sizes)
    if why is not None:
        how = parts(how, why)
    found = _of(compare_apart(samples, [quantity], plain)[0], plain, values, how=how, paired=False)
    return replace(found, sizes=(sizes["then"], sizes["now"]) if why is None else None)


def _of(
    comparison: Comparison, options: Options, values: tuple[float, ...], *, how: Text, paired: bool
) -> Since:
    row = records(comparison, options)[0]
    value, reference_value = (None if math.isnan(v) else float(v) for v in values)
    return Since(
        value,
        reference_value,
        row.difference,
        row.low,
        row.high,
        row.interval_method,
        row.test,
        row.p_value,
        paired,
        how,
        row.reason if row.difference is None or row.low is None or row.high is None else None,
    )


def _from_intervals(reference: Reference, now: Present, stored: Stored, why: Message) -> Since:
    """Only the results of the earlier run can be used: each value with its recommended interval."""
    level = now.options.confidence
    if reference.results["options"]["confidence"] != level:
        return Since(reason=Message("since.other_level", run=reference.spoken, why=why))
    present = _stored_row(_plain_rows(now.results.metrics), stored)
    earlier = _stored_row(reference.results["metrics"], stored)
    if earlier is None or present is None:
        missing = Message("reference.this") if present is None else reference.spoken
        return Since(
            reason=Message("since.no_value", run=missing, metric=stored[1].spelled, model=stored[0], why=why)
        )
    value, low, high = present
    old_value, old_low, old_high = earlier
    how = Message("since.from_intervals", why=why)
    if (
        value is None
        or low is None
        or high is None
        or old_value is None
        or old_low is None
        or old_high is None
    ):
        return Since(value, old_value, how=how, reason=Message("since.no_interval"))
    return square_and_add((value, low, high), (old_value, old_low, old_high), how)


def square_and_add(now: ValueLimits, then: ValueLimits, how: Text = "") -> Since:
    """Return the difference of two independent values from each one's value and limits.

    Examples
    --------
    >>> found = square_and_add((0.9, 0.87, 0.93), (0.9, 0.86, 0.94))
    >>> round(found.low, 3), round(found.high, 3)
    (-0.05, 0.05)
    """
    return Since(now[0], then[0], now[0] - then[0], *difference_limits(now, then), SQUARE_AND_ADD, how=how)


# --- rows -----------------------------------------------------------------------------------------------------------


def _alone(predictions: Predictions, model: str) -> Predictions:
    """Return one model's own rows."""
    outputs = next(m for m in predictions.models if m.name == model)
    return each_apart(replace(predictions, models=(outputs,)))[0]


def _rows(predictions: Predictions, inside: Mask) -> Predictions:
    return each_apart(subset(predictions, np.flatnonzero(inside)))[0]


def _inside(predictions: Predictions, model: str, within: Slice, options: Options) -> Mask | None:
    """Say which of a model's own rows are in a slice, cut as in a run; None where there are none."""
    try:
        found = divisions_of_run(predictions, options)
    except UsageError:
        return None  # the earlier run was not asked about this column, and did not keep it
    division = next((d for d in found if d.column == within.column and within.value in d.values), None)
    if division is None:
        return None
    inside = division.codes == division.values.index(within.value)
    present = next(m for m in predictions.models if m.name == model).present
    inside = inside if present is None else inside[present]
    return inside if inside.any() else None


def _same_rows(today: Predictions, earlier: Predictions) -> bool:
    """Say whether both tables have the same examples in the same fits, row by row: both are in canonical order."""
    if today.n != earlier.n or today.design != earlier.design or len(today.ids) != len(earlier.ids):
        return False
    if not _texts(today).equals(_texts(earlier)):
        return False
    return np.array_equal(today.example, earlier.example) and all(
        _same(today.keys.get(name), earlier.keys.get(name)) for name in ROW_KEYS
    )


def _same(first: Column | None, second: Column | None) -> bool:
    if first is None or second is None:
        return first is second
    if first.categories != second.categories:
        return False
    return np.array_equal(first.values, second.values, equal_nan=first.categories is None)


def _shared(today: Predictions, earlier: Predictions) -> int:
    """Count the ids that stand in both tables."""
    import pyarrow.compute as pc

    return int(pc.sum(pc.is_in(_texts(today), value_set=_texts(earlier))).as_py() or 0)


def _texts(predictions: Predictions) -> Any:
    """Return the ids in one Arrow type, whatever file they came from."""
    import pyarrow as pa

    return predictions.ids.cast(pa.large_string())


def _row_numbers(reference: Reference, now: Present) -> bool:
    """Say whether the ids of a run are row numbers, which mean nothing in another run."""
    found = [*_plain_rows(now.results.found), *reference.results["found"]]
    return any((record["what"], record["value"]) == ("ids", "row numbers") for record in found)


def _truths_changed(today: Predictions, earlier: Predictions) -> int:
    if today.y_true is None or earlier.y_true is None:
        return 0
    return int(np.count_nonzero(today.y_true != earlier.y_true))


def _same_classes(today: Predictions, earlier: Predictions) -> tuple[Predictions, Predictions]:
    """Write both tables with the classes of either, so that a code means one class."""
    if today.classes == earlier.classes:
        return today, earlier
    classes = in_order((*today.classes, *(c for c in earlier.classes if c not in today.classes)))
    return _recoded(today, classes), _recoded(earlier, classes)


def _recoded(predictions: Predictions, classes: tuple[str, ...]) -> Predictions:
    known = [classes.index(label) for label in predictions.classes]
    place = np.array([*known, len(classes)], dtype=np.int32)  # the last: missing, and counted as wrong

    def codes(values: Array | None) -> Array | None:
        return None if values is None else np.where(values >= 0, place[values], -1).astype(np.int32)

    def recoded(model: ModelOutputs) -> ModelOutputs:
        proba = model.proba
        if proba is not None:
            wide = np.zeros((len(proba), len(classes)))
            wide[:, known] = proba
            proba = wide
        return replace(model, y_pred=codes(model.y_pred), proba=proba)

    return replace(
        predictions,
        classes=classes,
        y_true=codes(predictions.y_true),
        models=tuple(recoded(model) for model in predictions.models),
    )


def _other_name(today: Predictions) -> str:
    return f"{today.models[0].name} (then)"


def _plain(options: Options) -> Options:
    """Return the options of one comparison: how it is computed, not what else the run was asked for."""
    return replace(options, baseline=None, tests=(), slices=(), margin=None, gates=(), join="error")


def _plain_rows(rows: Sequence[Any]) -> list[JsonObject]:
    """Return records as they stand in a results.json."""
    return [asdict(row) for row in rows]


def quantity_of(row: JsonObject) -> Quantity:
    """Return the metric that a record of a results.json is about."""
    return Quantity(row["metric"], row["average"], row["label"])


def _stored_row(
    rows: Sequence[JsonObject], stored: Stored
) -> tuple[float | None, float | None, float | None] | None:
    """Find a value with its recommended interval among the metric records of a results.json."""
    model, quantity, within = stored
    part = None if within is None else asdict(within)
    for row in rows:
        if (row["model"], quantity_of(row)) == (model, quantity) and row["slice"] == part:
            first = row["intervals"][0] if row["intervals"] else {"low": None, "high": None}
            return row["value"], first["low"], first["high"]
    return None
