"""The rows of docs/coverage.csv, and the rule that the leading interval is held to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from evalreport.intervals import INTERVALS
from evalreport.metrics.metric import ClassCounts, Margins
from evalreport.metrics.registry import METRICS
from research.studies import tables
from research.studies.designs import Kind
from research.studies.harness import Result
from research.studies.populations import population
from research.studies.tally import LEADING, Tally

NOMINAL = 0.95
DISCRETE_ALLOWANCE = 0.02
"""Coverage of a count oscillates with n and p by about the chance of one outcome: no interval holds 95 % everywhere."""
MONTE_CARLO_ERRORS = 3.0
"""A simulated share may lie this many of its own standard errors below what is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of one interval method in one cell.

    Attributes
    ----------
    design, size
        Which population; examples (clusters) in a test set.
    kind, model, metric
        ``value`` of model a or b, or ``difference`` of a and b; the metric as the command line spells it.
    truth
        The true value.
    method, leader
        The interval; for ``leading`` which method it was most often.
    sets
        Data sets on which the value was defined; 0 where all outcomes were enumerated.
    given
        Share of them on which the interval exists.
    coverage, error
        Share that holds the truth (of those given; for ``leading`` of all), its Monte Carlo standard error.
    below, above
        Share of the intervals given that lie wholly below, wholly above the truth.
    width
        Mean width.
    warned
        Share of the data sets whose run warns that few large losses carry the sum (``few_large_losses``).
    rarest
        Mean number of examples of the rarest class; 0 where there are no classes, and where all was enumerated.
    """

    design: str
    size: int
    kind: Kind
    model: str
    metric: str
    truth: float
    method: str
    leader: str
    sets: int
    given: float
    coverage: float
    error: float
    below: float
    above: float
    width: float
    warned: float
    rarest: float

    @property
    def key(self) -> tuple[str, int, str, str, str]:
        """The cell."""
        return self.design, self.size, self.kind, self.model, self.metric

    @property
    def discrete(self) -> bool:
        """Whether the metric is a function of counts of labels."""
        return isinstance(METRICS[stem(self.metric)].computation, ClassCounts | Margins)

    @property
    def least(self) -> float:
        """The coverage asked of a leading interval in this cell."""
        return NOMINAL - (DISCRETE_ALLOWANCE if self.discrete else 0.0) - MONTE_CARLO_ERRORS * self.error

    @property
    def misses(self) -> bool:
        """Whether the interval covers less than is asked of a leading one."""
        return self.coverage < self.least


def stem(spelled: str) -> str:
    """Return the metric's name without its average."""
    return spelled if spelled in METRICS else spelled.rpartition("_")[0]


def simulated_rows(result: Result) -> Iterator[Row]:
    """Yield the rows of one simulated cell."""
    name, n, totals = result.cell.design, result.cell.n, result.totals
    for truth, value in population(name).truths.items():
        leads = {key[2]: count for key, count in totals.items() if key[:2] == (truth, "leads")}
        tallies = {
            method: totals[truth, method] for method in (LEADING, *INTERVALS) if (truth, method) in totals
        }
        leader = max(leads, key=lambda method: leads[method], default="")
        kind, model, quantity = truth
        yield from rows_of(
            (name, n, kind, model, quantity.spelled),
            tallies,
            value,
            leader,
            totals["rarest"] / result.data_sets,
        )


def rows_of(
    key: tuple[str, int, Kind, str, str],
    tallies: Mapping[str, Tally],
    truth: float,
    leader: str,
    rarest: float = 0.0,
) -> Iterator[Row]:
    """Yield one row for each method that gave any interval, the leading one first."""
    design, size, kind, model, metric = key
    for method, tally in tallies.items():
        if tally.given:
            leads = method == LEADING
            yield Row(
                design=design, size=size, kind=kind, model=model, metric=metric, truth=round(truth, 6),
                method=method, leader=leader if leads else "", sets=0 if tally.exact else round(tally.sets),
                given=round(tally.given / tally.sets, 4),
                coverage=round(tally.coverage_of_all if leads else tally.coverage, 4), error=round(tally.error, 5),
                below=round(tally.below / tally.given, 4), above=round(tally.above / tally.given, 4),
                width=float(f"{tally.width / tally.given:.4g}"),
                warned=round(tallies[LEADING].warned / tally.sets, 4), rarest=round(rarest, 1),
            )  # fmt: skip


def read(path: Path) -> list[Row]:
    """Read docs/coverage.csv."""
    kinds = {f.name: {"int": int, "float": float}.get(str(f.type), str) for f in fields(Row)}
    return [Row(**{name: kinds[name](text) for name, text in row.items()}) for row in tables.read(path)]
