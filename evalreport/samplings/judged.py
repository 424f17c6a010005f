"""Answers that a judge graded, and people a part of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evalreport.engine.counts import freedom_within
from evalreport.predictions.arrays import Indices, Mask
from evalreport.samplings.clusters import of_clusters
from evalreport.samplings.sampling import Sampling, Student, StudentError, Value, by_factors
from evalreport.texts import Message

PPI = Student(
    name="ppi",
    drawn="answers that people judged in part",
    label="Prediction-powered (PPI++)",
    interval="What people would have said on average, plus or minus errors of the judge's outcomes and of people's.",
    test="Difference of what people would have said on average over its error, by t of the rows that people judged.",
    needs=("gold",),
    source="Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453",
    error_of_limits=lambda value: value.sampling.error_of_limits(value),
)

LEAST_ROWS = 2
"""Of fewer nothing is known of how they vary."""


@dataclass(frozen=True, eq=False)
class JudgedAnswers(Sampling):
    """A judge graded all rows, and some of them were drawn for people to judge.

    The variances of the rows that people judged and of the others add, with divisors n - 1; the degrees of freedom are
    n - 2 of the n that people judged, one of them for the weight of the judge, and n - 1 where they judged all. For
    clusters what each row contributes is added up by cluster, with the factor G / (G - 1) and G - 1 degrees of freedom.
    Of a suite the tasks' variances add as well, with Satterthwaite's degrees of freedom.

    Attributes
    ----------
    people
        (n,) which rows people judged.
    made_up
        Of right and wrong answers the estimate and its error after half a made-up row of each kind, about which the
        limits of a value lie; else None.
    """

    people: Mask = field(kw_only=True)
    made_up: StudentError | None = field(default=None, kw_only=True)

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
        """Return the error within strata; of single rows with n - 2 degrees of freedom, one for the judge's weight."""
        if value.influence is None:
            return None
        # What people judged or not of a cluster does not make its size: contributions add up by cluster.
        degrees = freedom_within(self.tasks, value.influence.values)
        student = by_factors(value, degrees)
        if student is None or not self.single or self.people.all():
            return student
        return StudentError(student.error, float(np.count_nonzero(self.people)) - 2)

    def error_of_limits(self, value: Value) -> StudentError | None:
        """Return the error after made-up rows; where nothing varies there is none, and others limits lead."""
        student = self.error(value)
        return student if student is None or not student.error else self.made_up or student

    @cached_property
    def tasks(self) -> Indices:
        """Strata of the units: of clusters the tasks, else each task with and without people's judgement.

        A single row of a task that people did not judge contributes nothing, and is put beside the others.
        """
        if self.cluster is not None:
            return self.stratum[np.unique(self.cluster, return_index=True)[1]]
        rest = ~self.people
        lonely = np.bincount(self.stratum, weights=rest)[self.stratum] < LEAST_ROWS
        strata = np.unique(2 * self.stratum + (rest & ~lonely), return_inverse=True)[1]
        return np.asarray(strata.ravel(), dtype=np.int64)
