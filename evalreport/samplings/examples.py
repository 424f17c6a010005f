"""Single examples, drawn one by one and alike."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.engine.draws import bootstrap_cells, bootstrap_rows, bootstrap_rows_within
from evalreport.predictions.arrays import Floats
from evalreport.samplings.sampling import Sampling, Student

T = Student(
    name="t",
    drawn="data sets",
    label="Student's t",
    interval="Mean plus or minus t standard errors, n - 1 degrees of freedom.",
    needs=("some_interval", "one_task", "equal_weights", "independent_or_datasets", "mean"),
    source="Student (1908), Biometrika 6:1",
)
"""Student's interval of a mean, which leads where a metric names no better one. Its test is ``paired_t``."""


class Examples(Sampling):
    """Examples are drawn independently, each as likely and as heavy as the others."""

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, n) of multinomial counts; of each class by itself where the design fixed the classes.

        Of a table of counts those of its cells.
        """
        if self.times is not None and self.strata is None:
            return bootstrap_cells(self.times, n_resamples, seed=seed)
        if self.strata is not None:
            return bootstrap_rows_within(self.strata, n_resamples, seed=seed)
        return bootstrap_rows(self.n, n_resamples, seed=seed)
