"""The change of a model's value since an earlier run: paired if the examples are the same, else as two samples.

The earlier predictions are compared with today's truth, so that a corrected label is no change of the model.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeGuard

import numpy as np

from evalreport.comparisons.pairs import Comparison, compare, compare_apart, records
from evalreport.engine.distributions import Array
from evalreport.errors import UsageError
from evalreport.gates.slices import divisions_of_run
from evalreport.history.store import Run
from evalreport.intervals.choice import further_away
from evalreport.intervals.proportions import ValueLimits, difference_limits
from evalreport.intervals.registry import INTERVALS
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.evidence import Proportion, SquaredErrors
from evalreport.metrics.fits import each_apart
from evalreport.metrics.metric import Moments
from evalreport.metrics.registry import METRICS, Quantity
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Mask
from evalreport.predictions.cells import flags
from evalreport.predictions.numbers import SUMS, of_label
from evalreport.predictions.spelling import in_order
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Column, ModelOutputs, Predictions
from evalreport.schema.lookups import with_limits
from evalreport.schema.metrics import MetricRecord, Slice
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, parts, plain

if TYPE_CHECKING:
    import pyarrow as pa

Name = Literal["accepted", "last"]


UNSAID = plain("")
"""How two runs were compared, where nothing needs to be said."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An earlier run with its results and predictions.

    Attributes
    ----------
    results
        Its results, as they were recorded.
    predictions
        Its aligned predictions; None: they are not kept.
    """

    name: Name
    run: Run
    results: Results
    predictions: Predictions | None

    @property
    def spoken(self) -> Message:
        """Its name in a sentence, with its number, since another run may be accepted later."""
        return Message(f"reference.{self.name}", run=self.run.id)


ROW_KEYS = ("dataset", "repeat", "fold", "replicate", "seed")
"""The columns that identify a row together with its id."""
TWO_SAMPLES = frozenset({"test-set", "seeds", "bootstrap"})
"""Designs whose sets of examples can be compared as independent samples; folds share training examples."""
SQUARE_AND_ADD = "square_and_add"
"""Interval of a difference from the intervals of both values (Zou and Donner 2008, Statistics in Medicine 27:1693)."""

PossibleLimits = tuple[float | None, float | None, float | None]
"""A value with its limits."""
Stored = tuple[str, Quantity, Slice | None]
"""Model, metric and slice of a metric record."""


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Limits of a difference of two runs, and the method that gave them."""

    low: float | None = None
    high: float | None = None
    method: str | None = None


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A model's value now, at the earlier run, and the difference now - then.

    ``how`` says how both were compared, ``reason`` why there is no difference or no interval; ``sizes`` are the
    numbers of examples then and now, if these are not the same examples.
    """

    value: float | None = None
    reference_value: float | None = None
    difference: float | None = None
    limits: ChangeLimits = ChangeLimits()
    test: str | None = None
    p_value: float | None = None
    how: Text = UNSAID
    reason: Text | None = None
    sizes: tuple[int, int] | None = None
    same_answers: bool = False
    """Whether the model gives the same answers to the same examples."""
    n: int | None = None
    """The number of examples that were compared pair by pair; None: there are no pairs."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the test, such as the counts of McNemar's."""

    @property
    def low(self) -> float | None:
        """Lower limit of the difference."""
        return self.limits.low

    @property
    def high(self) -> float | None:
        """Upper limit of the difference."""
        return self.limits.high

    @property
    def then_and_now(self) -> dict[str, float]:
        """Both values, as further numbers of a record; none where a run has no value."""
        if self.value is None or self.reference_value is None:
            return {}
        return {"then": self.reference_value, "now": self.value}

    @property
    def paired(self) -> bool:
        """Whether the same examples were compared pair by pair."""
        return self.n is not None

    @property
    def explanation(self) -> Text:
        """How both runs were compared, or why they were not."""
        return self.reason or self.how


@dataclass(frozen=True, slots=True)
class Present:
    """The present run: its results, its predictions and its options."""

    results: Results
    predictions: Predictions
    options: Options


def change_since(
    reference: Reference, now: Present, model: str, quantity: Quantity, *, within: Slice | None = None
) -> ModelChange:
    """Return how a model's value changed since an earlier run.

    Parameters
    ----------
    within
        The slice, as in the records of results; None: all examples.
    """
    stored = (model, quantity, within)
    why_not = _why_not(reference, now, model)
    if why_not is not None:
        return ModelChange(reason=why_not)
    if reference.predictions is None:
        return _from_intervals(reference, now, stored, Message("since.not_kept"))
    today, earlier = _alone(now.predictions, model), _alone(reference.predictions, model)
    same = not _row_numbers(reference, now) and _same_rows(today, earlier)
    if within is not None:
        inside = _inside(now.predictions, model, within, now.options)
        inside_then = inside if same else _inside(reference.predictions, model, within, now.options)
        if inside is None or inside_then is None:
            return _no_slice(reference, within)
        today, earlier = _rows(today, inside), _rows(earlier, inside_then)
    today, earlier = _same_classes(today, earlier)
    if today.task == "binary" and len(today.classes) > 2:
        return ModelChange(reason=Message("since.other_classes", run=reference.spoken, classes=today.classes))
    if same:
        return _paired(today, earlier, quantity, now.options)
    if today.design not in TWO_SAMPLES or earlier.design not in TWO_SAMPLES:
        return _from_intervals(reference, now, stored, Message("since.other_folds"))
    why = Message("since.no_id") if _row_numbers(reference, now) else None
    return _as_samples(today, earlier, quantity, now.options, why=why)


def change_on_shared(
    reference: Reference, now: Present, model: str, quantity: Quantity, *, within: Slice | None = None
) -> ModelChange:
    """Return how a model's value changed on the examples that both runs hold, pair by pair.

    Parameters
    ----------
    within
        The slice; None: all examples.
    """
    why_not = _why_not(reference, now, model)
    if why_not is not None or reference.predictions is None:
        return ModelChange(reason=why_not or Message("since.not_kept"))
    today, earlier = _alone(now.predictions, model), _alone(reference.predictions, model)
    if within is not None:
        inside = _inside(now.predictions, model, within, now.options)
        if inside is None:
            return _no_slice(reference, within)
        today = _rows(today, inside)
    shared = [ids_held(one, other)[one.example] for one, other in ((today, earlier), (earlier, today))]
    if not shared[0].any():
        return ModelChange(reason=Message("since.not_kept"))
    today, earlier = _same_classes(_rows(today, shared[0]), _rows(earlier, shared[1]))
    if not _same_rows(today, earlier):
        return ModelChange(reason=Message("since.other_folds"))
    return _paired(today, earlier, quantity, now.options)


def _no_slice(reference: Reference, within: Slice) -> ModelChange:
    what = {"column": within.column, "value": within.value}
    return ModelChange(reason=Message("since.no_slice", run=reference.spoken, **what))


def ids_held(one: Predictions, other: Predictions) -> Mask:
    """Return which examples of a table another one holds, in the order of the ids."""
    import pyarrow.compute as pc

    return flags(pc.is_in(ids_as_text(one), value_set=ids_as_text(other)))


def _why_not(reference: Reference, now: Present, model: str) -> Message | None:
    """Return the reason why a model cannot be compared with an earlier run; None: it can."""
    then = reference.results
    if then.task != now.predictions.task or then.positive != now.predictions.positive:
        positive = str(then.positive)
        return Message("since.other_task", run=reference.spoken, task=then.task, positive=positive)
    if model in then.models:
        return None
    return Message("since.no_model", run=reference.spoken, model=model, models=then.models)


def _paired(today: Predictions, earlier: Predictions, quantity: Quantity, options: Options) -> ModelChange:
    """Compare both runs' answers to the same examples by the recommended test and interval."""
    changed = _truths_changed(today, earlier)
    old = replace(earlier.models[0], name=_other_name(today))
    both = replace(today, models=(today.models[0], old))
    plain = _plain(options)
    sample = estimate_table(both, [quantity], plain, seed=options.seed)
    values = tuple(sample.estimates[m.name, quantity].value for m in both.models)
    how = Message("since.paired", n=today.n_examples)
    if changed:
        how = parts(how, Message("since.truths_changed", n=changed))
    change = _of(compare(sample, [quantity], plain)[0], plain, values, how=how)
    alike = not changed and _same_answers(today.models[0], earlier.models[0])
    return replace(change, same_answers=alike, n=today.n_examples)


def _same_answers(now: ModelOutputs, then: ModelOutputs) -> bool:
    """Say whether a model gives the same labels, scores, probabilities and outcomes as then."""
    pairs = ((getattr(m, name) for m in (now, then)) for name in ("y_pred", "score", "proba", "outcome"))
    return all(
        (a is None) == (b is None) and (a is None or np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
        for a, b in pairs
    )


def _as_samples(
    today: Predictions, earlier: Predictions, quantity: Quantity, options: Options, *, why: Message | None
) -> ModelChange:
    """Compare different examples as two independent samples, with separate draws."""
    plain = replace(_plain(options), join="independent")
    old = replace(earlier, models=(replace(earlier.models[0], name=_other_name(today)),))
    seed = int.from_bytes(hashlib.sha256(f"earlier run {options.seed}".encode()).digest()[:8], "big")
    samples = [
        estimate_table(today, [quantity], plain, seed=options.seed),
        estimate_table(old, [quantity], plain, seed=seed),
    ]
    values = tuple(sample.estimates[sample.predictions.models[0].name, quantity].value for sample in samples)
    shared = int(ids_held(today, earlier).sum()) if why is None else 0
    sizes = {"then": earlier.n_examples, "now": today.n_examples}
    how = Message("since.overlapping", **sizes, n=shared) if shared else Message("since.apart", **sizes)
    if why is not None:
        how = parts(how, why)
    change = _of(compare_apart(samples, [quantity], plain)[0], plain, values, how=how)
    return replace(change, sizes=(sizes["then"], sizes["now"]) if why is None else None)


def _of(comparison: Comparison, options: Options, values: tuple[float, ...], *, how: Text) -> ModelChange:
    row = records(comparison, options)[0]
    value, reference_value = (None if math.isnan(v) else float(v) for v in values)
    limits = ChangeLimits(row.low, row.high, row.interval_method)
    reason = row.reason if None in (row.difference, row.low, row.high) else None
    change = ModelChange(value, reference_value, row.difference, limits, row.test, row.p_value, how, reason)
    return replace(change, details=row.details)


def _from_intervals(reference: Reference, now: Present, stored: Stored, why: Message) -> ModelChange:
    """Compare by the recommended intervals of both values, because predictions cannot be used."""
    level = now.options.confidence
    if reference.results.options["confidence"] != level:
        return ModelChange(reason=Message("since.other_level", run=reference.spoken, why=why))
    present = _stored_row(now.results, stored)
    earlier = _stored_row(reference.results, stored)
    if earlier is None or present is None:
        missing = Message("reference.this") if present is None else reference.spoken
        metric, model = stored[1].spelled, stored[0]
        return ModelChange(reason=Message("since.no_value", run=missing, metric=metric, model=model, why=why))
    how = Message("since.from_intervals", why=why)
    if not has_limits(present) or not has_limits(earlier):
        return ModelChange(present[0], earlier[0], how=how, reason=Message("since.no_interval"))
    return square_and_add(present, earlier, how)


def has_limits(values: PossibleLimits) -> TypeGuard[ValueLimits]:
    """Return whether a value and both its limits are known."""
    return None not in values


def square_and_add(now: ValueLimits, then: ValueLimits, how: Text = UNSAID) -> ModelChange:
    """Return the difference of two independent values, from the limits of each.

    Examples
    --------
    >>> found = square_and_add((0.9, 0.87, 0.93), (0.9, 0.86, 0.94))
    >>> round(found.low, 3), round(found.high, 3)
    (-0.05, 0.05)
    """
    limits = ChangeLimits(*difference_limits(now, then), SQUARE_AND_ADD)
    return ModelChange(now[0], then[0], now[0] - then[0], limits, how=how)


def _alone(predictions: Predictions, model: str) -> Predictions:
    """Return the rows of one model."""
    outputs = next(m for m in predictions.models if m.name == model)
    return each_apart(replace(predictions, models=(outputs,)))[0]


def _rows(predictions: Predictions, inside: Mask) -> Predictions:
    return each_apart(subset(predictions, np.flatnonzero(inside)))[0]


def rows_inside(predictions: Predictions, within: Slice, options: Options) -> Mask | None:
    """Return a mask of the rows that are in a slice; None: no row is."""
    try:
        found = divisions_of_run(predictions, options)
    except UsageError:
        return None  # the earlier run was not sliced by this column, and did not keep it
    division = next((d for d in found if d.column == within.column and within.value in d.values), None)
    if division is None:
        return None
    inside = division.codes == division.values.index(within.value)
    return inside if inside.any() else None


def _inside(predictions: Predictions, model: str, within: Slice, options: Options) -> Mask | None:
    """Return a mask of a model's rows that are in a slice; None: no row is."""
    inside = rows_inside(predictions, within, options)
    present = next(m for m in predictions.models if m.name == model).present
    if inside is None or present is None:
        return inside
    return inside[present] if inside[present].any() else None


def _same_rows(today: Predictions, earlier: Predictions) -> bool:
    """Return whether both tables, in canonical order, have the same examples and fits row by row."""
    if today.n != earlier.n or today.design != earlier.design or len(today.ids) != len(earlier.ids):
        return False
    if not ids_as_text(today).equals(ids_as_text(earlier)):
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


def ids_as_text(predictions: Predictions) -> pa.Array:
    """Return the ids as Arrow's large strings."""
    import pyarrow as pa

    return predictions.ids.cast(pa.large_string())


def _row_numbers(reference: Reference, now: Present) -> bool:
    """Return whether the ids of a run are row numbers, which do not identify examples in another run."""
    notes = [*now.results.found, *reference.results.found]
    return any((record.what, str(record.value)) == ("ids", "row numbers") for record in notes)


def _truths_changed(today: Predictions, earlier: Predictions) -> int:
    if today.y_true is None or earlier.y_true is None:
        return 0
    return int(np.count_nonzero(today.y_true != earlier.y_true))


def _same_classes(today: Predictions, earlier: Predictions) -> tuple[Predictions, Predictions]:
    """Recode both tables to the classes of either, so that a code means the same class in both."""
    if today.classes == earlier.classes:
        return today, earlier
    classes = in_order((*today.classes, *(c for c in earlier.classes if c not in today.classes)))
    return _recoded(today, classes), _recoded(earlier, classes)


def _recoded_numbers(
    numbers: Mapping[str, Floats], known: Sequence[int], n_classes: int
) -> dict[str, Floats]:
    """Number the sums of labels, and the members of sets, by the codes of both runs; those of other labels are 0."""
    columns: dict[str, Floats] = {}
    for name, values in numbers.items():
        begins, _, code = name.partition("@")
        if begins not in (*SUMS, "in") or not code:
            columns[name] = values
            continue
        if code == "0":
            columns |= {of_label(begins, k): np.zeros_like(values) for k in range(n_classes)}
        columns[of_label(begins, known[int(code)])] = values
    return columns


def _recoded(predictions: Predictions, classes: tuple[str, ...]) -> Predictions:
    known = [classes.index(label) for label in predictions.classes]
    new_code = np.array([*known, len(classes)], dtype=np.int32)  # the last: missing, and counted as wrong

    def codes(values: Array | None) -> Array | None:
        return None if values is None else np.where(values >= 0, new_code[values], -1).astype(np.int32)

    def recoded(model: ModelOutputs) -> ModelOutputs:
        proba = model.proba
        if proba is not None:
            wide = np.zeros((len(proba), len(classes)))
            wide[:, known] = proba
            proba = wide
        numbers = _recoded_numbers(model.numbers, known, len(classes))
        return replace(model, y_pred=codes(model.y_pred), proba=proba, numbers=numbers)

    labels, models = replace(predictions.labels, classes=classes), tuple(map(recoded, predictions.models))
    return replace(predictions, labels=labels, y_true=codes(predictions.y_true), models=models)


def _other_name(today: Predictions) -> str:
    return f"{today.models[0].name} (then)"


def _plain(options: Options) -> Options:
    """Return the options of one comparison, without those that ask for other results."""
    return replace(options, baseline=None, tests=(), slices=(), margin=None, gates=(), join="error")


def _stored_row(results: Results, stored: Stored) -> PossibleLimits | None:
    """Find a value with its recommended interval among the metric records of a run."""
    model, quantity, within = stored
    for row in results.metrics:
        if (row.model, Quantity.of(row), row.slice) == (model, quantity, within):
            return recorded_limits(row)
    return None


def recorded_limits(row: MetricRecord) -> PossibleLimits:
    """Return a recorded value with its recommended interval, to be squared and added to those of another test set.

    Limits of a mean of n rows that vary, or of a root of one, are 1 + 6 / n times as far away, as where the rows
    themselves are at hand (``intervals.choice.with_few_rows``); of shares and over folds they stay as they are.
    """
    limits = with_limits(row)
    if not has_limits(limits) or not _of_few_rows(row, row.intervals[0].method):
        return limits
    return further_away(limits, row.clusters or row.n)


def _of_few_rows(row: MetricRecord, method: str) -> bool:
    if row.metric not in METRICS or method not in INTERVALS or row.trials is not None:
        return False
    of, needs, metric = INTERVALS[method].of, INTERVALS[method].needs, METRICS[row.metric]
    is_mean = isinstance(metric.computation, Moments) and metric.is_mean
    return SquaredErrors in of or (is_mean and Proportion not in of and "folds" not in needs)
