"""The requested slices: groups, least size, and the values of their examples and of the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.engine.ranks import AGREEMENT
from evalreport.errors import UsageError
from evalreport.intervals.choice import leading, needs_replicates
from evalreport.intervals.proportions import quantile
from evalreport.metrics.difference import Difference, unpaired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.evidence import Proportion, Ranking, Rows
from evalreport.metrics.metric import Margins, Moments
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Indices
from evalreport.predictions.column_names import TASK
from evalreport.predictions.slicing import Division, divide, divisions, read_slicing
from evalreport.predictions.subsets import alone
from evalreport.predictions.table import Notes, Predictions
from evalreport.questions.slices.limits import Shares, Successes, shares_of_rest
from evalreport.schema.metrics import Slice
from evalreport.texts import Message, Text

MOST_CLASS_VALUES = 200
"""Single classes that are not named are computed within slices up to this many classes times slices of a column."""


def all_divisions(
    predictions: Predictions, slicings: Sequence[str], in_gates: Mapping[tuple[str, ...], str]
) -> tuple[Division, ...]:
    """Divide the rows by every column that ``--slice`` or a gate names.

    Parameters
    ----------
    slicings
        The values of ``--slice``.
    in_gates
        The columns, one or two, that gates name together; with the text of the first gate that does.

    Raises
    ------
    UsageError
        A column that cannot be sliced by, or a gate that names one.
    """
    by_task = division_by_task(predictions)
    # Whatever the tasks are called, each is a slice of its own.
    listed = list(divisions(predictions, [text for text in slicings if by_task is None or text != TASK]))
    if by_task is not None:
        listed.append(by_task)
    for names, gate in in_gates.items():
        known = {division.column for division in listed}
        if "*".join(names) in known or "*".join(reversed(names)) in known:
            continue
        cuts = _cuts(predictions, slicings)
        text = "*".join(cuts.get(name, name) for name in names)
        try:
            listed.append(divide(predictions, text))
        except UsageError as error:
            raise UsageError(f"gate {gate!r}: {error}") from None
    return tuple(listed)


def division_by_task(predictions: Predictions) -> Division | None:
    """Divide a suite by its tasks; None where the rows are no suite."""
    tasks = predictions.tasks
    if tasks is None or tasks.categories is None:
        return None
    names = tasks.categories
    return Division(TASK, (TASK,), names, tuple((name,) for name in names), tasks.values.astype(np.int64))


def _cuts(predictions: Predictions, slicings: Sequence[str]) -> dict[str, str]:
    """Return how ``--slice`` cuts single columns, so that a gate on two of them means the same bins."""
    columns = {**predictions.keys, **predictions.metadata}
    single = ((text, read_slicing(text, columns)) for text in slicings)
    return {parts[0].column: text for text, parts in single if len(parts) == 1}


def quantities_within(
    quantities: tuple[Quantity, ...],
    division: Division,
    predictions: Predictions,
    options: Options,
    in_gates: Collection[Quantity],
) -> tuple[Quantity, ...]:
    """Return the quantities that are computed within slices: single classes where named, or where they are few.

    ``in_gates``: the quantities that gates ask for within slices.
    """
    if options.metrics or len(predictions.classes) * len(division.values) <= MOST_CLASS_VALUES:
        return quantities
    return tuple(q for q in quantities if q.label is None or q in in_gates)


@dataclass(frozen=True, slots=True)
class Group:
    """One slice of one division.

    Attributes
    ----------
    rows
        Its rows in the whole table, ascending.
    samples
        One of all models; with test sets apart one a model that has examples in the slice.
    """

    name: Slice
    rows: Indices
    samples: tuple[Sample, ...]

    def sample_of(self, model: str) -> Sample | None:
        """Return the sample that holds a model; None where it has no example in the slice."""
        return next((s for s in self.samples if any(m.name == model for m in s.predictions.models)), None)

    def estimate(self, model: str, quantity: Quantity) -> Estimate | None:
        """Return a model's estimate in the slice; None where it has no example there."""
        sample = self.sample_of(model)
        return None if sample is None else sample.estimates.get((model, quantity))


def rows_by_slice(division: Division) -> list[Indices]:
    """Return the rows of each slice, in order."""
    order = np.argsort(division.codes, kind="stable")
    counts = np.bincount(division.codes, minlength=len(division.values))
    return [rows.astype(np.int64) for rows in np.split(order, np.cumsum(counts)[:-1])]


def sampled_alone(
    predictions: Predictions, rows: Indices, quantities: Sequence[Quantity], options: Options
) -> tuple[Sample, ...]:
    """Return the samples of some rows; models without any of them are left out.

    Values over folds pool them: a slice holds too little of a fold for tests between folds, so results for a slice are
    about these fitted models. Training seeds each predicted the whole slice, and stay.
    """
    part = alone(predictions, rows)
    part = replace(part, notes=Notes(part.found))
    if not part.models:
        return ()
    primary = quantities[0]

    def resampled(estimate: Estimate) -> bool:
        # The primary metric is compared, too.
        return estimate.quantity == primary or needs_replicates(estimate, options.intervals, in_slice=True)

    samples = estimate_models(part, quantities, options, resampled)
    return tuple(_pooled(sample) for sample in samples)


def _pooled(sample: Sample) -> Sample:
    """Drop the values on single fits, except of seeds, and where data sets are the units themselves."""
    several = sample.rows.layout.pooled.count > 1
    estimates = {
        key: e if e.fits is None or e.of_seeds or (e.over_datasets and several) else replace(e, fits=None)
        for key, e in sample.estimates.items()
    }
    return replace(sample, estimates=estimates)


OF_RECALLS = "score_recalls"
"""The test of metrics that are means of the classes' recalls."""

LEAST_EXAMPLES = 30
LEAST_OF_EACH = 10
"""Examples of each class, of values that are made from ranks."""
LEAST_CLUSTERS = 8
LEAST_DATASETS = 6


def too_small(
    estimate: Estimate | None, part: Predictions | None, table: Predictions, *, by_margins: bool
) -> Text | None:
    """Say why a slice is too small to be tested on a quantity, by its size alone; None where it is not.

    Parameters
    ----------
    estimate
        The model's value in the slice.
    part, table
        The slice's rows and all rows.
    by_margins
        Whether the margins of a table of successes decide, so that no number of examples is required.
    """
    if estimate is None or part is None:
        return Message("too_small.no_example")
    if estimate.over_datasets or table.design == "datasets":
        datasets = len(np.unique(part.keys["dataset"].values))
        if datasets < LEAST_DATASETS:
            return Message("too_small.datasets", n=datasets, least=LEAST_DATASETS)
    elif estimate.sampling.n_examples < LEAST_EXAMPLES and not by_margins:
        return Message("too_small.examples", n=estimate.sampling.n_examples, least=LEAST_EXAMPLES)
    elif (clusters := estimate.sampling.clusters) is not None and clusters < LEAST_CLUSTERS:
        return Message("too_small.clusters", n=clusters, least=LEAST_CLUSTERS)
    missing = _missing_class(estimate, part, table)
    if missing is not None:
        return missing
    if np.isnan(estimate.value):
        return estimate.reason or Message("too_small.undefined")
    if estimate.rarest is not None and depends_on_classes(estimate) and estimate.rarest < LEAST_OF_EACH:
        return Message("too_small.rarest", n=round(estimate.rarest), least=LEAST_OF_EACH)
    return None


def _missing_class(estimate: Estimate, part: Predictions, table: Predictions) -> Message | None:
    """Name a class that the slice has no example of, where the value depends on every class."""
    if part.y_true is None or table.y_true is None or not table.classes:
        return None
    if not depends_on_classes(estimate):
        return None
    k = len(table.classes)
    everywhere, here = (np.bincount(p.y_true, minlength=k) for p in (table, part) if p.y_true is not None)
    lacking = [table.classes[c] for c in np.flatnonzero((everywhere > 0) & (here == 0))]
    if estimate.quantity.label is not None:
        lacking = [label for label in lacking if label == estimate.quantity.label]
    if not lacking:
        return None
    if len(lacking) > 1:
        return Message("too_small.missing_several", name=lacking[0], n=len(lacking) - 1)
    return Message("too_small.missing", name=lacking[0])


def depends_on_classes(estimate: Estimate) -> bool:
    """Say whether a value needs examples of every class: not a plain mean or proportion over the examples."""
    metric = estimate.metric
    if isinstance(metric.computation, Moments) or isinstance(estimate.evidence, Proportion):
        return False
    pooled = isinstance(metric.computation, Margins) and metric.computation.proportion is not None
    return not pooled and estimate.quantity.average != "micro" and metric.needs != "values"


@dataclass(frozen=True, slots=True)
class Side:
    """One model's value of the primary metric in one slice, and that of the other examples.

    Attributes
    ----------
    estimate
        The slice's; without replicates and derivatives where influence values serve.
    rest_value
        The value of the examples outside the slice; nan where there is none.
    both
        Successes inside and outside the slice, where the value is a binomial proportion.
    with_rest
        Sums of influence values inside and outside.
    two_sets
        Slice less rest as on two test sets, where the limits of both values are squared and added.
    small
        Why the slice is too small to be tested; None where it is not.
    """

    name: Slice
    model: str
    quantity: Quantity
    estimate: Estimate | None
    small: Text | None
    rest_value: float = float("nan")
    both: Successes | None = None
    with_rest: Shares | None = None
    two_sets: Difference | None = None

    @property
    def value(self) -> float:
        """The value in the slice; nan where it is undefined."""
        return float("nan") if self.estimate is None else self.estimate.value

    @property
    def large(self) -> bool:
        """Whether the slice is tested and has enough examples for its rank among the others to mean something."""
        return (
            self.small is None
            and self.estimate is not None
            and self.estimate.sampling.n_examples >= LEAST_EXAMPLES
        )

    @property
    def compared(self) -> bool:
        """Whether there is a value that a difference may be taken of."""
        return self.estimate is not None and self.estimate.defined


def sides_of(
    group: Group, wholes: Sequence[Sample], primary: Quantity, predictions: Predictions, options: Options
) -> Iterator[Side]:
    """Yield one slice's value of the primary metric and that of the other examples, model by model."""
    others = np.setdiff1d(np.arange(predictions.n), group.rows, assume_unique=True)
    rests = (
        sampled_alone(predictions, others, (primary,), replace(options, resamples=1)) if len(others) else ()
    )
    for whole in wholes:
        for model in whole.predictions.models:
            part = group.sample_of(model.name)
            rest = next((s for s in rests if any(m.name == model.name for m in s.predictions.models)), None)
            positions = tuple(_positions(predictions, model.name, rows) for rows in (group.rows, others))
            yield _side(group.name, model.name, (part, rest, whole), positions, primary, options)


def direction(quantity: Quantity, options: Options) -> int:
    """Return 1 where a greater value is better, -1 where a smaller one is, 0 where neither is."""
    if definition(quantity).scale.greater_is_better is None:
        return 0
    return 1 if greater_is_better(quantity, lower_is_better=options.lower_is_better) else -1


def _positions(predictions: Predictions, model: str, rows: Indices) -> Indices:
    """Return the positions of some rows among those that a model has; rows that it lacks are left out."""
    present = next(m.present for m in predictions.models if m.name == model)
    if present is None:
        return rows
    position = np.cumsum(present) - 1
    return np.asarray(position[rows[present[rows]]], dtype=np.int64)


def _side(
    name: Slice,
    model: str,
    samples: tuple[Sample | None, Sample | None, Sample],
    positions: tuple[Indices, ...],
    primary: Quantity,
    options: Options,
) -> Side:
    """Compare a slice with the rest: ``samples`` of slice, rest and whole, ``positions`` of the first two."""
    (part, rest, whole), key = samples, (model, primary)
    of_all = whole.estimates[key]
    own = None if part is None else part.estimates[key]
    both = None if own is None else _both(own, of_all)
    here = None if part is None else part.predictions
    small = too_small(own, here, whole.predictions, by_margins=both is not None)
    if part is None or own is None or not of_all.defined:
        return Side(name, *key, None, small)
    if not own.defined:
        return Side(name, *key, _light(own), small)
    side = Side(name, *key, own if own.influence is None else _light(own), small, both=both)
    other = None if rest is None else rest.estimates[key]
    if rest is None or other is None or not other.defined:
        return side
    inside, outside = positions
    shares = shares_of_rest(part, rest, whole, (inside, outside), *key)
    equal = abs(own.value - other.value) <= AGREEMENT * max(abs(own.value), abs(other.value))
    if shares is not None and equal and _constant(own) and _constant(other):
        shares = replace(shares, own=0.0, shared=0.0, inside=0.0, outside=0.0)
    if shares is not None and shares.own == 0:
        shares = _at_the_edge(shares, own, other.value, options)
    two_sets = _two_sets(own, other) if whole.units.plain else None
    return replace(side, rest_value=own.value if equal else other.value, with_rest=shares, two_sets=two_sets)


def _constant(estimate: Estimate) -> bool:
    """Say whether the examples of a slice differ by rounding alone: 0.3 - 0.1 and 0.7 - 0.5 are one width."""
    influence = estimate.influence
    if influence is None or not len(influence.values):
        return False
    largest = float(np.abs(influence.values).max()) * float(influence.counts.sum())
    return largest <= AGREEMENT * abs(estimate.value)


def _two_sets(own: Estimate, other: Estimate) -> Difference | None:
    """Return the difference of two means of recalls; None of other metrics.

    Far out, influence values of rare classes give too small an error where the few examples are all right; limits by
    made-up examples do not.
    """
    if own.metric.inference.test != OF_RECALLS or own.table is None or other.table is None:
        return None
    return unpaired_difference(*(replace(e, influence=None, replicates=None) for e in (own, other)))


def _both(own: Estimate, of_all: Estimate) -> Successes | None:
    part, whole = own.evidence, of_all.evidence
    on_another_scale = own.metric.scale.affine_of is not None
    if on_another_scale or not (isinstance(part, Proportion) and isinstance(whole, Proportion)):
        return None
    successes, trials = whole.successes - part.successes, whole.trials - part.trials
    return Successes(part.successes, part.trials, successes, trials)


def _light(estimate: Estimate) -> Estimate:
    """Drop the arrays that are as long as the data or the replicates."""
    evidence = estimate.evidence
    if isinstance(evidence, Ranking | Risks):
        evidence = Rows(evidence.rarest if isinstance(evidence, Ranking) else None)
    return replace(estimate, influence=None, replicates=None, evidence=evidence)


def _at_the_edge(shares: Shares, estimate: Estimate, reference: float, options: Options) -> Shares:
    """Take the spread of a slice from its recommended interval where nothing varies in it, as at F1 = 0."""
    interval = leading(estimate, options.confidence)
    if interval.low is None or interval.high is None:
        return shares
    towards = interval.high - estimate.value if reference > estimate.value else estimate.value - interval.low
    error = towards / quantile(options.confidence)
    return replace(shares, own=error**2, shared=0.0)
