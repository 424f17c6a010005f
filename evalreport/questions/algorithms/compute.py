"""Error estimates of algorithms, their bias and variance, and their learning curves."""

from __future__ import annotations

from evalreport.algorithms.records import AlgorithmRecords, algorithm_records
from evalreport.questions.question import Run, question


@question("algorithms", applies=lambda run: len(run.samples) == 1)
def algorithms(run: Run) -> AlgorithmRecords:
    """Return all records about algorithms; none for independent test sets."""
    return algorithm_records(run.data.whole, run.data.loaded, run.samples, run.options)
