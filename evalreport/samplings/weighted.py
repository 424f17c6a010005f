"""Examples that weigh differently."""

from __future__ import annotations

from collections.abc import Callable

from evalreport.engine.counts import Freedom, freedom, kish
from evalreport.predictions.arrays import Floats
from evalreport.samplings.examples import Examples
from evalreport.samplings.sampling import Student, StudentError, Value, by_factors

WEIGHTED_T = Student(
    name="weighted_t",
    drawn="weighted examples",
    label="t under weights",
    interval="Value plus or minus t errors under weights; t has one degree of freedom less than Kish's effective n.",
    test="Weighted difference over its error, by t with one degree of freedom less than Kish's n; by clusters CR2's.",
    needs=("some_interval", "influence", "weights"),
    source="Kish (1965), Survey Sampling; the linearised variance of Binder (1983), Int Stat Rev 51:279; of weighted"
    " clusters CR2: Bell and McCaffrey (2002), Survey Methodology 28:169, with summed weights as sizes, and at most the"
    " degrees of freedom by the kurtosis: Satterthwaite (1946), Biometrics Bull 2:110",
    beside=("bootstrap_difference",),
)


class Weighted(Examples):
    """Examples are drawn independently and count by their weights.

    The error is from weighted influence values with the factor n / (n - 1), with one degree of freedom less than Kish's
    effective number of examples.
    """

    students = (WEIGHTED_T,)

    def freedom(self, sizes: Floats) -> Freedom | None:
        """Return n / (n - 1) and Kish's number of the weights less one."""
        return freedom(int((sizes > 0).sum()), kish(sizes) - 1)

    def trials_of_share(self, share: float, sizes: Callable[[], Floats], times: Floats) -> float | None:
        """Return Kish's effective number."""
        return self.effective(sizes(), times)

    def robust(self, value: Value) -> StudentError | None:
        """Return the error with one degree of freedom less than Kish's number."""
        return by_factors(value, freedom(self.n_units, self.n_effective - 1 if self.n_effective else None))
