"""The error of a value that is known by its derivatives alone."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.predictions.arrays import Floats
from evalreport.samplings.influence import Fits, Influence
from evalreport.samplings.sampling import Sampling, StudentError


@dataclass(frozen=True)
class Linear:
    """A value on one test set, by its derivatives."""

    value: float
    influence: Influence
    sampling: Sampling
    fits: Fits | None = None

    @property
    def sides(self) -> tuple[Linear, ...]:
        """The value itself."""
        return (self,)

    def error_by(self, factors: Floats | float) -> float:
        """Return the root of the summed squared derivatives, each times its factor."""
        return self.influence.error(factors)

    def rounded(self, error: float) -> float:
        """Return the error as it is."""
        return error


def error_of_mean(values: Floats, sampling: Sampling) -> tuple[float, StudentError | None]:
    """Return the weighted mean of rows' values (n,), and its error; None where too few units were drawn."""
    total = float(sampling.base.sum())
    mean = float((sampling.base * values).sum()) / total
    influence = sampling.influence_by((values - mean) / total)
    return mean, sampling.error(Linear(mean, influence, sampling))
