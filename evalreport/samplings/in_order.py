"""Examples in order of time, whose neighbours depend on one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from evalreport.engine.distributions import dot
from evalreport.engine.draws import bootstrap_moving_blocks
from evalreport.engine.time_order import LEAST_IN_TIME, block_length, cosine_sums, cosines_of
from evalreport.predictions.arrays import Floats, required
from evalreport.samplings.sampling import Sampling, Student, StudentError, Value
from evalreport.texts import Message

HAC_T = Student(
    name="hac_t",
    drawn="examples in order of time",
    label="t in order of time (HAC)",
    interval="Value plus or minus t errors that allow for neighbours in time that are alike.",
    test="Difference over its error from the slowest cosine series of the examples' influence, by t.",
    needs=("some_interval", "influence", "time_order"),
    source="Lazarus, Lewis, Stock and Watson (2018), J Bus Econ Stat 36:541",
    beside=("diebold_mariano",),
)


class InOrder(Sampling):
    """The examples are a stretch of a series; neighbours are often alike.

    The error is from the B = max(4, 0.41 n^(2/3)) slowest cosine series of the influence values, with B degrees of
    freedom. Replicates draw blocks of neighbours.
    """

    students = (HAC_T,)
    single = False
    words = (HAC_T.drawn,)
    alone = Message("limits.few_in_time", least=LEAST_IN_TIME)
    same = Message("limits.alike_in_time")
    limits_if_same = False
    same_share = Message("limits.alike_share_in_time")
    least_units = LEAST_IN_TIME

    @cached_property
    def meets(self) -> frozenset[str]:
        """An order in time, and one set of examples that weigh the same."""
        left_out = {"independent", "independent_or_weighted", "independent_or_datasets", "any_order"}
        return (super().meets | {"time_order"}) - left_out

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, n) of how often each example is in the drawn blocks of neighbours."""
        return bootstrap_moving_blocks(required(self.order), block_length(self.n), n_resamples, seed=seed)

    def robust(self, value: Value) -> StudentError | None:
        """Return the error from cosine series; None of fewer than 20 examples, and of metrics that are not smooth."""
        sums = None if value.influence is None else self.series_sums(value.influence.values)
        if sums is None or not len(sums):
            return None
        return StudentError(value.rounded(float(np.sqrt(dot(sums, sums)))), float(len(sums)))

    def series(self, value: Value) -> Floats | None:
        """Return the derivatives by the weight of each example, in order of time; None where they are not known."""
        return None if value.influence is None else self.in_order(value.influence.values)

    def in_order(self, rows: Floats) -> Floats:
        """Return numbers of rows (n, ...) in order of time."""
        return np.asarray(rows[self.order])

    def series_sums(self, derivative: Floats) -> Floats:
        """Return the slowest cosine series of derivatives (n,); none of fewer than 20 examples."""
        return cosine_sums(self.in_order(derivative)) if self.n >= LEAST_IN_TIME else np.empty(0)

    def trials_of_share(self, share: float, sizes: Callable[[], Floats], times: Floats) -> float | None:
        """Return one more than there are degrees of freedom, at most the examples that the share is of."""
        of_share = float(times[sizes() > 0].sum())
        return None if self.trials_effective is None else min(self.trials_effective, of_share)

    @property
    def trials_effective(self) -> float | None:
        """One more than there are degrees of freedom."""
        return cosines_of(self.n) + 1.0
