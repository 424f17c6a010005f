"""What every sampling answers, and how rows make the units that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from evalreport.engine.counts import Freedom, effective_clusters, freedom, kish
from evalreport.engine.distributions import Array
from evalreport.predictions.arrays import Floats, Indices
from evalreport.samplings.influence import Fits, Influence
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class StudentError:
    """A standard error and its degrees of freedom; ``centre``: what limits lie about where it is not the value."""

    error: float
    df: float
    centre: float | None = None


class Value(Protocol):
    """A value, or a difference of two, as a sampling reads it to give its error."""

    @property
    def value(self) -> float:
        """The value itself."""

    @property
    def influence(self) -> Influence | None:
        """Its derivatives by the units' multiplicities; None where it is not smooth."""

    @property
    def fits(self) -> Fits | None:
        """Its values on single fits."""

    @property
    def sampling(self) -> Sampling:
        """How its examples were drawn."""

    @property
    def sides(self) -> tuple[Value, ...]:
        """The two values of a difference, else the value itself."""

    def error_by(self, factors: Floats | float) -> float | None:
        """Return the root of the summed squared derivatives, each times its factor."""

    def rounded(self, error: float) -> float:
        """Return an error, 0 where it is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """One name under which the t interval and the t test are known: that of the sampling they are made for.

    Attributes
    ----------
    name, label
        In results.json and on the command line; in the report.
    drawn
        What is drawn, in the words of the tables.
    interval, test
        What is computed, in one sentence for each; no ``test``: the sampling has another one.
    needs
        What the interval needs of a value, names of ``intervals.registry.NEEDS``.
    source
        Literature.
    beside
        The tests that are shown beside this one.
    error, error_of_limits
        Standard error and degrees of freedom of a value; those of its limits, where they are others.
    over_fits
        Whether trainings were drawn as well, so that a value may vary where the units do not.
    details
        Further named numbers of a difference, for the test.
    """

    name: str
    drawn: str
    label: str
    interval: str
    test: str = ""
    needs: tuple[str, ...]
    source: str
    beside: tuple[str, ...] = ()
    error: Callable[[Value], StudentError | None] = lambda value: value.sampling.error(value)
    error_of_limits: Callable[[Value], StudentError | None] | None = None
    over_fits: bool = False
    details: Callable[[Value], Mapping[str, float]] | None = None


# eq=False: samplings hold arrays, which do not compare to one truth value.
@dataclass(frozen=True, eq=False)
class Sampling:
    """The rows of a run, and the units in which they were drawn. Its subclasses are the ways of drawing.

    Attributes
    ----------
    n
        Rows: examples, or cells of examples.
    cluster
        (n,) code of each row's cluster, 0 to ``count`` - 1; None: every example is a unit of its own.
    weight
        (n,) example weights; None: every example weighs 1.
    strata
        (n,) class codes, where the design fixed how many examples of each class there are; None: it did not.
    task
        (n,) code of each row's task in a suite, 0 to T - 1: units are drawn within their task. None: no suite.
    times
        (n,) number of examples of each row of a table of counts: such units are drawn by distinct cell, or as clusters
        where the table has them. None: one.
    order
        (n,) the rows in order of time: neighbours depend on one another, and are drawn in blocks. None: no order.
    examples
        Number of examples, where it is not that of the rows.
    """

    n: int
    cluster: Indices | None = None
    weight: Floats | None = None
    strata: Indices | None = None
    task: Indices | None = None
    times: Floats | None = None
    order: Indices | None = None
    examples: int | None = None

    # --- what a sampling says ---------------------------------------------------------------------------------------

    @cached_property
    def meets(self) -> frozenset[str]:
        """The needs of intervals and tests that data drawn like this meet, names of ``intervals.registry.NEEDS``."""
        met = {
            "one_task",
            "independent",
            "independent_or_weighted",
            "independent_or_datasets",
            "several_units",
        }
        met |= {"one_set", "any_order", "no_gold", "weights" if self.weighted else "equal_weights"}
        return frozenset(met)

    @property
    def students(self) -> tuple[Student, ...]:
        """The t intervals and tests that lead for data drawn like this, the best first; none: the metric's own lead."""
        return ()

    @property
    def words(self) -> tuple[str, ...]:
        """What is drawn, in the words of the tables of leading intervals and tests; none: single examples alike."""
        return ("weighted examples",) if self.weighted else ()

    @property
    def alone(self) -> Message:
        """Why there is no error: too few units."""
        return Message("limits.one_example")

    @property
    def same(self) -> Message:
        """What is to be said where the units do not vary."""
        return Message("limits.no_spread")

    @property
    def limits_if_same(self) -> bool:
        """Whether a value whose units do not vary may have limits, of width 0."""
        return True

    @property
    def same_share(self) -> Message | None:
        """The name of limits by effective trials, for a value at an end of its range in every unit; None: no such."""
        return None

    @property
    def least_units(self) -> int:
        """With fewer units nothing is known of how they vary."""
        return 2

    @property
    def only_sums(self) -> bool:
        """Whether only sums over the examples are known: the influence values then summarise those of all examples."""
        return False

    @property
    def two_sets(self) -> bool:
        """Whether two models have a test set each, drawn independently."""
        return False

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of multiplicities of the units: the only resampling."""
        raise NotImplementedError

    def freedom(self, sizes: Floats) -> Freedom | None:
        """Return how squares of the units' derivatives become a variance; None for fewer than two units.

        Parameters
        ----------
        sizes
            (count,) summed weights of each unit's examples among those that a value is taken of; 0: none of them.
        """
        return freedom(int((sizes > 0).sum()))

    def robust(self, value: Value) -> StudentError | None:
        """Return the error from influence values with divisor n - 1; None where there is none."""
        return by_factors(value, freedom(self.n_units))

    def error(self, value: Value) -> StudentError | None:
        """Return the error of Student's t; None where there is none."""
        return self.robust(value)

    def error_of_limits(self, value: Value) -> StudentError | None:
        """Return the error that the limits of the t interval are made of."""
        return self.error(value)

    def standard_error(self, value: Value) -> float | None:
        """Return the standard error that is reported: of examples alike with divisor n, else that of Student's t."""
        if self.alike:
            return value.error_by(1.0)
        student = self.error(value)
        return None if student is None else student.error

    @property
    def independent(self) -> bool:
        """Whether single examples are drawn, of which none depends on its neighbours."""
        return "independent" in self.meets

    @property
    def weighted(self) -> bool:
        """Whether examples weigh differently."""
        return self.weight is not None

    @property
    def alike(self) -> bool:
        """Whether single examples are drawn, each as likely and as heavy as the others."""
        return {"independent", "one_task", "equal_weights"} <= self.meets

    @property
    def clusters(self) -> int | None:
        """Number of clusters where whole clusters are drawn."""
        return None if self.sizes is None else int((self.sizes > 0).sum())

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.examples or (self.n if self.times is None else int(self.times.sum()))

    @property
    def n_units(self) -> int:
        """Resampling units that enter: examples, or clusters."""
        return self.n_examples if self.clusters is None else self.clusters

    @property
    def effective_n(self) -> float:
        """How many examples that weigh the same would say as much."""
        return float(self.n_units) if self.n_effective is None else self.n_effective

    @cached_property
    def n_effective(self) -> float | None:
        """Kish's effective number of examples; None where they weigh the same."""
        return None if self.weight is None else kish(self.weight, 1.0 if self.times is None else self.times)

    @cached_property
    def clusters_effective(self) -> float | None:
        """Effective number of clusters G* where the examples of one are wholly alike; None without clusters."""
        return None if self.sizes is None else effective_clusters(self.sizes)

    def trials_of_share(self, share: float, sizes: Callable[[], Floats], times: Floats) -> float | None:
        """Return how many trials a share counts that is one of all examples or of some; None where no number says it.

        Parameters
        ----------
        share
            The share itself.
        sizes
            Makes the weights (u,) that each unit adds to the share's denominator.
        times
            (u,) how many units there are of each.
        """
        return None

    def series_sums(self, derivative: Floats) -> Floats | None:
        """Return sums of derivatives (n,) whose squares add up to a variance, where neighbours depend on one another.

        None: units vary independently. Empty: too few rows.
        """
        return None

    @property
    def trials_effective(self) -> float | None:
        """How many trials count where every example is one; None where all do, and where no number says it."""
        return self.n_effective

    @property
    def trials_if_same(self) -> float | None:
        """How many trials a value counts that is the same in every unit; None where only those of a share do."""
        return None

    # --- rows and units -----------------------------------------------------------------------------------------------

    @property
    def single(self) -> bool:
        """Whether examples are drawn one by one, from all of them."""
        return True

    @property
    def plain(self) -> bool:
        """Whether examples are independent, of one kind and weigh the same: binomial arithmetic holds."""
        return self.single and self.weight is None

    @property
    def knows_examples(self) -> bool:
        """Whether the examples of a unit are rows of their own, whose influence is known beside the unit's."""
        return False

    @property
    def count(self) -> int:
        """Number of units."""
        if self.cluster is not None:
            return int(self.cluster.max()) + 1
        return self.n if self.times is None else int(self.times.sum())

    @property
    def unit(self) -> Indices:
        """Code of each row's unit, (n,)."""
        return np.arange(self.n) if self.cluster is None else self.cluster

    @property
    def stratum(self) -> Indices:
        """Code of the task within which each row was drawn, (n,); 0 where there is no suite."""
        return np.zeros(self.n, dtype=np.int64) if self.task is None else self.task

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
    def weights(self) -> Floats:
        """Example weights (n,); ones where all weigh the same."""
        return np.broadcast_to(1.0, self.n) if self.weight is None else self.weight

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

    def effective(self, sizes: Floats, times: Floats) -> float:
        """Return the effective number of units of sizes (u,), repeated by ``times``: Kish's, with clusters G*."""
        return kish(sizes, times) if self.cluster is None else effective_clusters(sizes)

    @cached_property
    def factors(self) -> Floats | float:
        """The factors that turn squares of the units' derivatives into a variance; 1 for a single unit."""
        if self.single:
            degrees = freedom(self.count)
        else:
            degrees = self.freedom(np.ones(self.count) if self.sizes is None else self.sizes)
        return 1.0 if degrees is None else degrees.factors

    def gather(self, columns: sparse.csr_array) -> sparse.csr_array:
        """Add up the weighted columns (n, p) of each unit's rows, (atoms, p): one draw's contribution."""
        if self.plain:
            return columns
        # Of a table of counts its cells, not what they count.
        atoms = self.n if self.cluster is None else self.count
        adder = sparse.csr_array((self.base, (self.unit, np.arange(self.n))), shape=(atoms, self.n))
        return sparse.csr_array(adder @ columns)

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
        flat = np.bincount(self.unit * n_parts + part, weights=weighted, minlength=self.count * n_parts)
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

    def influence_by(self, derivative: Floats) -> Influence:
        """Return the influence of every unit on a value, from its derivatives (n,) by an example's weight."""
        by_unit = self.influence(derivative)
        by_example = (lambda: derivative) if self.knows_examples else None
        return Influence(by_unit, np.broadcast_to(1.0, len(by_unit)), by_example=by_example)

    def centred(self, by_unit: Floats) -> Floats:
        """Centre derivatives (count,) by unit where the design fixes sizes."""
        return by_unit


def by_factors(value: Value, degrees: Freedom | None) -> StudentError | None:
    """Return the error from a value's squared derivatives times their factors, with its degrees of freedom."""
    error = None if degrees is None else value.error_by(degrees.factors)
    return None if degrees is None or error is None else StudentError(error, degrees.df)


def within(derivative: Floats, counts: Floats, strata: Array) -> Floats:
    """Centre derivatives (u,) within strata (u,): where class counts are fixed, differences of classes do not vary."""
    totals = np.bincount(strata, weights=counts)
    means = np.bincount(strata, weights=counts * derivative) / np.where(totals > 0, totals, 1)
    return np.asarray(derivative - means[strata], dtype=np.float64)
