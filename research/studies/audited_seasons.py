"""Weekly audits where the share of positives has a season; writes docs/audit-alarms-seasons.csv.

Run by ``make study-audited-seasons``. Values and errors are the package's own, at the accepted shares of the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from research.studies.audited_metrics import Cell, study
from research.studies.harness import Run

CELLS = (
    *(Cell(metric, n=1000, season=0.25) for metric in ("f1", "accuracy", "average_precision")),
    Cell("f1", n=1000, season=0.25, fall=0.3),
    Cell("f1", n=1000, fall=0.3),
)


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the share of years with an alarm, by rule."""
    for number, cell in enumerate(CELLS):
        yield study(cell, run.replications, run.seed, number)
