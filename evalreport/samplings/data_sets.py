"""Data sets, each with a value of its own; they are drawn, and not their examples."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evalreport.engine.counts import Freedom, freedom, freedom_of_clusters
from evalreport.predictions.arrays import Floats, Mask
from evalreport.samplings.examples import T
from evalreport.samplings.sampling import Sampling, StudentError, Value, by_factors
from evalreport.texts import Message


@dataclass(frozen=True, eq=False)
class DataSets(Sampling):
    """Data sets are drawn, each with one value; their mean has Student's t.

    Attributes
    ----------
    defined
        (m,) the data sets that have a value.
    """

    defined: Mask = field(kw_only=True)

    students = (T,)
    single = False
    words = ("data sets",)
    alone = Message("limits.one_cluster")

    @cached_property
    def meets(self) -> frozenset[str]:
        """Data sets that count the same."""
        left_out = {"independent", "independent_or_weighted", "one_set"}
        return super().meets - left_out - ({"several_units"} if self.clusters == 1 else set())

    @cached_property
    def sizes(self) -> Floats:
        """One for each data set that has a value."""
        return self.defined.astype(np.float64)

    def freedom(self, sizes: Floats) -> Freedom | None:
        """Return m / (m - 1) and m - 1 of the data sets that have examples."""
        return freedom(int((sizes > 0).sum()))

    def robust(self, value: Value) -> StudentError | None:
        """Return the error of a mean over data sets."""
        return by_factors(value, freedom_of_clusters(self.sizes))
