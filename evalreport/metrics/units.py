"""What is drawn as one: an example, or a cluster of them; and which rows make one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from evalreport.engine.counts import (
    Freedom,
    effective_clusters,
    freedom,
    freedom_of_clusters,
    freedom_within,
    kish,
)
from evalreport.engine.distributions import Array
from evalreport.engine.draws import (
    bootstrap_clusters,
    bootstrap_moving_blocks,
    bootstrap_rows,
    bootstrap_rows_within,
    swaps,
)
from evalreport.engine.time_order import block_length, cosines_of
from evalreport.errors import UsageError, no_weight
from evalreport.metrics.sampling import Sampling
from evalreport.options import Average
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.column_names import TASK
from evalreport.predictions.table import Predictions
from evalreport.predictions.time_order import rows_in_time
from evalreport.texts import quoted

POOLED_BY = {
    "test-set": (),
    "cross-validation": ("repeat", "seed"),
    "5x2cv": ("repeat", "seed"),
    "repeated-holdout": ("repeat", "seed"),
    "bootstrap": ("replicate",),
    "seeds": ("seed",),
    "datasets": ("dataset",),
}
"""The key columns whose values make the parts over which counts and losses are pooled."""

FOLDED = frozenset({"cross-validation", "5x2cv", "repeated-holdout"})
"""Designs whose single fits are folds or hold-outs; the value of one is the mean over its training seeds."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A division of the rows.

    Attributes
    ----------
    codes
        (n,) part of each row, 0 to ``count`` - 1.
    names
        The key columns' values of each part, in order, as (column, value) pairs.
    """

    codes: Indices
    names: tuple[tuple[tuple[str, str], ...], ...]

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.names)

    def rows(self) -> list[Indices]:
        """Return the rows of each part, in order."""
        if self.count == 1:
            return [np.arange(len(self.codes))]
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.codes, minlength=self.count))[:-1])


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts for counts and losses, for ranks, and the single fits (folds, replicates, seeds, data sets).

    ``whole``: the parts are the fixed tasks of a suite, so a mean over those in which a value is defined is no value.
    """

    pooled: Parts
    ranked: Parts
    fits: Parts
    whole: bool = False


def layout_of(predictions: Predictions, *, average: Average = "tasks") -> Layout:
    """Divide the rows by the design that loading found; a suite by its tasks, or (average ``examples``) not at all."""
    if predictions.tasks is not None:
        tasks = parts_by(predictions, (TASK,) if average == "tasks" else ())
        return Layout(tasks, tasks, parts_by(predictions, ()), whole=True)
    pooled = POOLED_BY[predictions.design]
    ranked = (*pooled, "fold")
    by_fit = ranked if predictions.design not in FOLDED else [name for name in ranked if name != "seed"]
    held = [_held(predictions, names) for names in (pooled, ranked, by_fit)]
    parts = {names: parts_by(predictions, names) for names in set(held)}
    of_pooled, of_ranked, of_fits = (parts[names] for names in held)
    return Layout(of_pooled, of_ranked, of_fits)


def _held(predictions: Predictions, columns: Sequence[str]) -> tuple[str, ...]:
    # A column without any value has no categories, and divides nothing either.
    return tuple(n for n in columns if n in predictions.keys and predictions.keys[n].categories != ())


def parts_by(predictions: Predictions, columns: Sequence[str]) -> Parts:
    """Divide the rows by the values of key columns; those that the files do not hold do not divide."""
    held = _held(predictions, columns)
    if not held:
        return Parts(np.zeros(predictions.n, dtype=np.int64), ((),))
    stacked = np.stack([predictions.keys[name].values for name in held])
    distinct, codes = np.unique(stacked, axis=1, return_inverse=True)
    names = []
    for values in distinct.T:
        name = []
        for column, value in zip(held, values, strict=True):
            categories = predictions.keys[column].categories
            name.append((column, f"{value:g}" if categories is None else categories[int(value)]))
        names.append(tuple(name))
    return Parts(codes.ravel().astype(np.int64), tuple(names))


@dataclass(frozen=True)
class Units:
    """The resampling units of a run.

    Attributes
    ----------
    n
        Rows: examples, or cells of examples.
    cluster
        (n,) code of each example's cluster, 0 to ``count`` - 1; None: every example is a unit of its own.
    weight
        (n,) example weights; None: every example weighs 1.
    strata
        (n,) class codes, where the design fixed how many examples of each class there are; None: it did not.
    task
        (n,) code of each example's task in a suite, 0 to T - 1: units are drawn within their task. None: no suite.
    times
        (n,) number of examples of each row of a table of counts: such units are drawn by distinct cell, or as clusters
        where the table has them. None: one.
    attempts
        Whether a unit is a question, and its examples the attempts at it.
    order
        (n,) the rows in order of time: neighbours depend on one another, and are drawn in blocks. None: no order.
    """

    n: int
    cluster: Indices | None = None
    weight: Floats | None = None
    strata: Indices | None = None
    task: Indices | None = None
    times: Floats | None = None
    attempts: bool = False
    order: Indices | None = None

    @property
    def plain(self) -> bool:
        """Whether examples are independent, of one kind and weigh the same: binomial arithmetic holds."""
        return self.single and self.weight is None

    @property
    def single(self) -> bool:
        """Whether examples are drawn one by one, from all of them."""
        return self.cluster is None and self.task is None and self.order is None

    @property
    def count(self) -> int:
        """Number of units."""
        if self.cluster is not None:
            return int(self.cluster.max()) + 1
        return self.n if self.times is None else int(self.times.sum())

    @cached_property
    def base(self) -> Floats:
        """Weights (n,) of the data themselves, which cannot be written to."""
        # One number for all of them takes no memory.
        weights = np.broadcast_to(1.0, self.n) if self.heavy is None else self.heavy.view()
        weights.flags.writeable = False
        return weights

    @cached_property
    def mean_weight(self) -> float:
        """Mean weight of an example: what one of them counts on average."""
        if self.weight is None:
            return 1.0
        return (
            float(self.weight.mean())
            if self.times is None
            else float((self.weight * self.times).sum() / self.times.sum())
        )

    @property
    def heavy(self) -> Floats | None:
        """What each row counts as, (n,); None where each counts as one."""
        if self.weight is None or self.times is None:
            return self.weight if self.times is None else self.times
        return self.weight * self.times

    @cached_property
    def sizes(self) -> Floats | None:
        """Summed weights (count,) of each cluster's examples; None where every example is a unit of its own."""
        if self.cluster is None:
            return None
        return np.bincount(self.cluster, weights=self.heavy, minlength=self.count).astype(np.float64)

    @cached_property
    def tasks(self) -> Indices | None:
        """Task (count,) of each unit; None where they are of no suite."""
        if self.task is None or self.cluster is None:
            return self.task
        return self.task[np.unique(self.cluster, return_index=True)[1]]

    @cached_property
    def n_effective(self) -> float | None:
        """Kish's effective number of examples; None where they weigh the same."""
        return None if self.weight is None else kish(self.weight, 1.0 if self.times is None else self.times)

    @cached_property
    def clusters_effective(self) -> float | None:
        """Effective number of clusters G* where the examples of one are wholly alike; None without clusters."""
        return None if self.sizes is None else effective_clusters(self.sizes)

    def sampling(self, n: int) -> Sampling:
        """Say how the units behind a value of n examples are drawn."""
        return Sampling(
            n=n,
            sizes=self.sizes,
            times=self.times,
            tasks=self.tasks,
            order=self.order,
            n_effective=self.n_effective,
        )

    @property
    def trials_effective(self) -> float | None:
        """How many trials count where every example is one: Kish's number, with clusters G*; None where all do.

        In order of time one more than there are degrees of freedom.
        """
        if self.plain or self.task is not None:
            return None
        if self.order is not None:
            return cosines_of(self.n) + 1.0
        return self.n_effective if self.sizes is None else effective_clusters(self.sizes)

    def effective(self, sizes: Floats, times: Floats) -> float:
        """Return the effective number of units of sizes (u,), repeated by ``times``: Kish's, with clusters G*."""
        return kish(sizes, times) if self.cluster is None else effective_clusters(sizes)

    def freedom(self, sizes: Floats) -> Freedom | None:
        """Return how squares of the units' derivatives become a variance; None for fewer than two units.

        Parameters
        ----------
        sizes
            (count,) summed weights of each unit's examples among those that a value is taken of; 0: none of them.
        """
        if self.tasks is not None:
            return freedom_within(self.tasks, np.zeros(self.count), sizes)
        if self.cluster is not None and self.weight is None:
            return freedom_of_clusters(sizes)
        by_weight = self.cluster is None and self.weight is not None
        return freedom(int((sizes > 0).sum()), kish(sizes) - 1 if by_weight else None)

    @cached_property
    def factors(self) -> Floats | float:
        """The factors that turn squares of the units' derivatives into a variance; 1 for a single unit."""
        if self.single:
            found = freedom(self.count)
        else:
            found = self.freedom(np.ones(self.count) if self.sizes is None else self.sizes)
        return 1.0 if found is None else found.factors

    def gather(self, columns: sparse.csr_array) -> sparse.csr_array:
        """Add up the weighted columns (n, p) of each unit's rows, (count, p): one draw's contribution."""
        if self.plain:
            return columns
        cluster = np.arange(self.n) if self.cluster is None else self.cluster
        adder = sparse.csr_array((self.base, (cluster, np.arange(self.n))), shape=(self.count, self.n))
        return sparse.csr_array(adder @ columns)

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of multiplicities of the units."""
        if self.order is not None:
            return bootstrap_moving_blocks(self.order, block_length(self.n), n_resamples, seed=seed)
        if self.strata is not None:
            return bootstrap_rows_within(self.strata, n_resamples, seed=seed)
        if self.tasks is not None:
            return bootstrap_rows_within(self.tasks, n_resamples, seed=seed)
        if self.cluster is None:
            return bootstrap_rows(self.n, n_resamples, seed=seed)
        return bootstrap_clusters(self.count, n_resamples, seed=seed)

    def unit_swaps(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of 0 and 1: which units change sides."""
        return swaps(self.count, n_resamples, seed=seed)

    def expand(self, multiplicities: Floats, rows: Indices | slice = slice(None)) -> Floats:
        """Turn multiplicities of units (b, count) into weights of all rows, or of some, (b, n).

        In memory row after row, with all replicates of a row side by side, where multiplicities are, too.
        """
        by_row = multiplicities.T[rows if self.cluster is None else self.cluster[rows]]
        return by_row.T if self.heavy is None else (by_row * self.heavy[rows][:, None]).T

    def by_part(self, derivative: Floats, part: Indices, n_parts: int) -> Floats:
        """Turn derivatives (n,) by an example's weight into derivatives by a unit's multiplicity in one part.

        Parameters
        ----------
        part
            (n,) codes, 0 to ``n_parts`` - 1.

        Returns
        -------
        numpy.ndarray
            (count, n_parts).
        """
        weighted = derivative if self.heavy is None else derivative * self.heavy
        unit = np.arange(self.n) if self.cluster is None else self.cluster
        flat = np.bincount(unit * n_parts + part, weights=weighted, minlength=self.count * n_parts)
        return flat.astype(np.float64).reshape(self.count, n_parts)

    def influence(self, derivative: Floats) -> Floats:
        """Turn derivatives (n,) by an example's weight into derivatives by a unit's multiplicity, (count,)."""
        if self.strata is not None:
            return within(derivative, np.ones(self.n), self.strata)
        weighted = derivative if self.heavy is None else derivative * self.heavy
        if self.cluster is None:
            return self.centred(weighted)
        by_unit = np.bincount(self.cluster, weights=weighted, minlength=self.count).astype(np.float64)
        return self.centred(by_unit)

    def centred(self, by_unit: Floats) -> Floats:
        """Centre derivatives (count,) by unit within tasks, whose sizes are fixed."""
        if self.tasks is None:
            return by_unit
        sizes = np.ones(self.count) if self.sizes is None else self.sizes
        shares = np.bincount(self.tasks, weights=by_unit) / np.bincount(self.tasks, weights=sizes)
        return np.asarray(by_unit - sizes * shares[self.tasks])


def within(derivative: Floats, counts: Floats, strata: Array) -> Floats:
    """Centre derivatives (u,) within strata: where class counts are fixed, differences of classes do not vary."""
    totals = np.bincount(strata, weights=counts)
    means = np.bincount(strata, weights=counts * derivative) / np.where(totals > 0, totals, 1)
    return np.asarray(derivative - means[strata], dtype=np.float64)


def by_seed(
    predictions: Predictions, units: Units, seeds: Parts, derivative: Floats | None
) -> Callable[[], Floats] | None:
    """Return a function from derivatives (n,) to ones by unit and training seed, (count, S); None in other designs."""
    if derivative is None or predictions.design != "seeds":
        return None
    return lambda: units.by_part(derivative, seeds.codes, seeds.count)


def units_of(
    predictions: Predictions,
    *,
    cluster: str | None,
    weight: str | None,
    fixed_class_counts: bool = False,
    by_time: bool = False,
) -> Units:
    """Return the units of a run: the clusters of ``--cluster``, else examples that are predicted repeatedly.

    ``by_time``: neighbours in time depend on one another (``--order time``).

    With training seeds examples are units even of a model with one seed: others have several of the same examples.

    Loading has checked that the columns named are there.

    Raises
    ------
    InputError
        Where the weight of an example is empty.
    UsageError
        Where class counts are declared as fixed and there are no classes, or units are not single examples.
    """
    codes, attempts = None, False
    if cluster is not None:
        column = (predictions.metadata.get(cluster) or predictions.keys[cluster]).values
        codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    elif predictions.n > len(predictions.ids) or predictions.design == "seeds":
        codes = np.unique(predictions.example, return_inverse=True)[1].astype(np.int64)
        attempts = "attempt" in predictions.keys
    suite, task = predictions.tasks, None
    if suite is not None:
        task = suite.values.astype(np.int64)
        if codes is not None:
            # A cluster is drawn within each task: what it has in another is a cluster there.
            codes = np.unique(task * (int(codes.max()) + 1) + codes.ravel(), return_inverse=True)[1].astype(
                np.int64
            )
    weights = None if weight is None else _weights(predictions, weight)
    strata = None
    if fixed_class_counts:
        if predictions.y_true is None or not predictions.classes:
            raise UsageError(f"--fixed-class-counts: the task is {predictions.task}, which has no classes")
        if codes is not None or weights is not None:
            raise UsageError(
                "--fixed-class-counts holds for single examples: leave out --cluster and --weight, and predict"
                " each example once"
            )
        strata = predictions.y_true.astype(np.int64)
    times = None if predictions.multiplicity is None else predictions.multiplicity.astype(np.float64)
    order = rows_in_time(predictions) if by_time else None
    return Units(predictions.n, codes, weights, strata, task, times, attempts, order)


def _weights(predictions: Predictions, column: str) -> Floats:
    weights = np.asarray(predictions.metadata[column].values, dtype=np.float64)
    empty = np.flatnonzero(np.isnan(weights))
    if len(empty):
        example = quoted(str(predictions.ids[predictions.example[empty[0]]]))
        whose = f"the id {example}" if predictions.multiplicity is None else "a line"
        files = {record.path for record in predictions.inputs}
        raise no_weight(column, whose, file=files.pop() if len(files) == 1 else None)
    return weights
