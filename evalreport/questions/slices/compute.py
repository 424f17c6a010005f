"""Every metric on every slice, how the slices differ, and where the order of the models turns round."""

from __future__ import annotations

from evalreport.questions.question import Run, question
from evalreport.questions.slices.analysis import Sliced, slice_records


@question("slices", applies=lambda run: bool(run.data.divisions))
def slices(run: Run) -> Sliced:
    """Analyse every slice of every column that ``--slice`` and the gates name."""
    return slice_records(
        run.data.divisions,
        run.predictions,
        run.samples,
        run.pairs.rows,
        run.options,
        deciding=run.data.deciding,
        in_gates=run.data.within_slices,
        progress=lambda share: run.progress("slices", 0.5 + 0.4 * share),
    )
