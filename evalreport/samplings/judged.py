"""Answers that a judge graded, and people a part of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evalreport.engine.counts import freedom, freedom_within
from evalreport.predictions.arrays import Indices, Mask
from evalreport.samplings.clusters import of_clusters
from evalreport.samplings.sampling import Sampling, Student, StudentError, Value, by_factors
from evalreport.texts import Message

PPI = Student(
    name="ppi",
    drawn="answers that people judged in part",
    label="Prediction-powered (PPI++)",
    interval="What people would have said on average, plus or minus errors of the judge's outcomes and of people's.",
    test="Difference of what people would have said on average over its error, by z (in clusters and suites by t).",
    needs=("gold",),
    source="Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453",
)

LEAST_ROWS = 2
"""Of fewer nothing is known of how they vary."""


@dataclass(frozen=True, eq=False)
class JudgedAnswers(Sampling):
    """A judge graded all rows, and some of them were drawn for people to judge.

    Student's t where people judged every row, and for clusters: what each row contributes is added up by cluster, the
    variance has the factor G / (G - 1) and G - 1 degrees of freedom. Of a suite the tasks' variances add (divisors
    n - 1), each of the rows that people judged and of the others, with Satterthwaite's degrees of freedom. Else z.

    Attributes
    ----------
    people
        (n,) which rows people judged.
    """

    people: Mask = field(kw_only=True)

    students = (PPI,)

    @property
    def single(self) -> bool:
        """Whether neither clusters nor tasks were drawn."""
        return self.cluster is None and self.task is None

    @property
    def words(self) -> tuple[str, ...]:
        """Tasks and clusters where they were drawn."""
        return (*(() if self.task is None else ("tasks",)), *(() if self.cluster is None else ("clusters",)))

    @cached_property
    def meets(self) -> frozenset[str]:
        """People's judgements of a part, and clusters or tasks where they were drawn."""
        met = super().meets - {"no_gold"} | {"gold"}
        if self.task is not None:
            met = met - {"one_task"} | {"tasks"}
        return met if self.cluster is None else of_clusters(self, met)

    @property
    def alone(self) -> Message:
        """Why there is no error."""
        return Message(
            f"limits.{'one_of_a_task' if self.task is not None else 'one_example' if self.single else 'one_cluster'}"
        )

    @property
    def same(self) -> Message:
        """What is to be said where the units do not vary."""
        return Message(
            f"limits.{'alike_tasks' if self.task is not None else 'no_spread' if self.single else 'alike'}"
        )

    @property
    def same_share(self) -> Message | None:
        """Limits by the effective number of clusters, where clusters were drawn from all rows."""
        return Message("limits.alike_clusters") if self.words == ("clusters",) else None

    @property
    def trials_if_same(self) -> float | None:
        """G*, the effective number of clusters."""
        return self.clusters_effective

    @property
    def limits_if_same(self) -> bool:
        """Whether a value whose units do not vary may have limits."""
        return self.single

    def robust(self, value: Value) -> StudentError | None:
        """Return the error by t: of a suite within tasks, else with divisor n - 1 over rows or clusters."""
        if self.tasks is None:
            return by_factors(value, freedom(self.n_units))
        if value.influence is None:
            return None
        # What people judged or not of a cluster does not make its size: contributions add up by cluster.
        return by_factors(value, freedom_within(self.tasks, value.influence.values))

    @property
    def by_normal(self) -> bool:
        """Whether the error has divisor n: single rows, which people judged in part."""
        return self.single and not self.people.all()

    @cached_property
    def tasks(self) -> Indices | None:
        """Strata of a suite's units: of clusters the tasks, else each task with and without people's judgement.

        A single row of a task that people did not judge contributes nothing, and is put beside the others.
        """
        if self.task is None:
            return None
        if self.cluster is not None:
            return self.task[np.unique(self.cluster, return_index=True)[1]]
        rest = ~self.people
        lonely = np.bincount(self.task, weights=rest)[self.task] < LEAST_ROWS
        strata = np.unique(2 * self.task + (rest & ~lonely), return_inverse=True)[1]
        return np.asarray(strata.ravel(), dtype=np.int64)
