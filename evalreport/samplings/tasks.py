"""The examples of a suite, drawn within each of its fixed tasks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from evalreport.engine.counts import Freedom, freedom_within
from evalreport.engine.draws import bootstrap_rows_within
from evalreport.predictions.arrays import Floats, required
from evalreport.samplings.clusters import of_clusters
from evalreport.samplings.sampling import Sampling, Student, StudentError, Value, by_factors
from evalreport.samplings.weighted import WEIGHTED_T
from evalreport.texts import Message

SUITE_T = Student(
    name="suite_t",
    drawn="tasks",
    label="t within tasks",
    interval="Mean over the fixed tasks of a suite plus or minus t errors, the examples drawn within each task.",
    test="Difference over its error with the examples drawn within each task, by t with Satterthwaite's freedom.",
    needs=("some_interval", "tasks", "influence", "no_gold"),
    source="Cochran (1977), Sampling Techniques, sections 5.4 and 5.6; Satterthwaite (1946), Biometrics Bull 2:110",
    beside=("bootstrap_difference",),
)


class Tasks(Sampling):
    """Examples, or clusters of them, are drawn within each task; the tasks themselves are fixed.

    The variances of the tasks add, each from the task's own examples (of clusters CR2), with Satterthwaite's degrees of
    freedom; of metrics that are no mean by influence values. It says nothing about other tasks.
    """

    single = False
    alone = Message("limits.one_of_a_task")
    same = Message("limits.alike_tasks")
    limits_if_same = False

    @property
    def words(self) -> tuple[str, ...]:
        """Tasks, and clusters where they were drawn."""
        return ("tasks", *(() if self.cluster is None else ("clusters",)), *super().words)

    @property
    def students(self) -> tuple[Student, ...]:
        """The t within tasks; under weights that of weights, with the same error."""
        return (WEIGHTED_T,) if self.weighted else (SUITE_T,)

    @property
    def knows_examples(self) -> bool:
        """Whether clusters were drawn within the tasks."""
        return self.cluster is not None

    @cached_property
    def meets(self) -> frozenset[str]:
        """Tasks, and clusters where they were drawn."""
        met = super().meets - {"one_task"} | {"tasks"}
        return met if self.cluster is None else of_clusters(self, met)

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of multinomial counts within each task."""
        return bootstrap_rows_within(required(self.tasks), n_resamples, seed=seed)

    def freedom(self, sizes: Floats) -> Freedom | None:
        """Return the factors of the units within their tasks."""
        return freedom_within(required(self.tasks), np.zeros(self.count), sizes)

    def robust(self, value: Value) -> StudentError | None:
        """Return the root of the added variances of the tasks."""
        if value.influence is None:
            return None
        return by_factors(value, freedom_within(required(self.tasks), value.influence.values, self.sizes))

    @property
    def trials_effective(self) -> float | None:
        """No number: tasks have shares of their own."""
        return None

    def centred(self, by_unit: Floats) -> Floats:
        """Centre derivatives (count,) by unit within tasks, whose sizes are fixed."""
        assert self.tasks is not None
        sizes = np.ones(self.count) if self.sizes is None else self.sizes
        shares = np.bincount(self.tasks, weights=by_unit) / np.bincount(self.tasks, weights=sizes)
        return np.asarray(by_unit - sizes * shares[self.tasks])
