"""How often a weekly audit's alarm is false for metrics other than accuracy, and where positives have a season.

Run by ``make study-audited-metrics`` and ``make study-audited-seasons``. Every value and interval is the package's own,
on examples that are drawn anew for each run. The quality of each run varies so that the metric's own level varies with
the largest standard deviation for which the alarm promises its rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.audit.evidence import drop_evidence
from evalreport.audit.run_alarm import compare_run, promised_between, share_of_run
from evalreport.audit.run_values import Measured, class_shares, value_on_new
from evalreport.loading.load import load
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Column, Predictions
from research.studies.harness import Run

WEEKS = 52
BEGINS = 12
"""The week from which on a fall lasts."""
ALPHA = 0.05
LARGE = 40_000
"""Examples by which a metric's slope on quality is found."""
STEP = 0.2


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of weekly series: a metric, the rows of a run, the share of positives, the accepted runs.

    ``season``: the share of positives varies by this share of itself over the year; ``fall``: by how much the quality
    falls from week 12 on (0: nothing changes). Where either is there quality does not vary by itself.
    ``sizes``: ``alike``; ``unequal`` (every run has between a fifth and twice the rows); ``clusters`` (5 rows each,
    whose qualities vary together).
    """

    metric: str
    n: int = 500
    prevalence: float = 0.3
    accepted: int = 3
    sizes: str = "alike"
    season: float = 0.0
    fall: float = 0.0

    @property
    def seasonal(self) -> bool:
        """Whether it is one of the study of seasons, in which quality does not vary by itself."""
        return bool(self.season or self.fall)

    def share(self, week: int) -> float:
        """Return the share of positives in a week; the accepted runs are those before week 0."""
        return self.prevalence * (1 + self.season * math.sin(2 * math.pi * max(week, 0) / WEEKS))


CELLS = (
    Cell("accuracy"),
    Cell("f1"),
    Cell("f1", prevalence=0.1, n=1000),
    Cell("mcc"),
    Cell("average_precision"),
    Cell("average_precision", prevalence=0.1, n=1000),
    Cell("log_loss"),
    Cell("roc_auc", accepted=1),
    Cell("accuracy", sizes="unequal"),
    Cell("f1", sizes="unequal"),
    Cell("accuracy", sizes="clusters"),
)
SEASONS = (
    *(Cell(metric, n=1000, season=0.25) for metric in ("f1", "accuracy", "average_precision")),
    Cell("f1", n=1000, season=0.25, fall=0.3),
    Cell("f1", n=1000, fall=0.3),
)


def draw(cell: Cell, quality: float, generator: np.random.Generator, n: int, week: int = 0) -> Predictions:
    """Return one run: scores that lie ``quality`` standard deviations apart, calibrated at quality 1.5."""
    positive = generator.random(n) < cell.share(week)
    shift = np.zeros(n)
    if cell.sizes == "clusters":
        shift = np.repeat(generator.normal(0, 0.5, -(-n // 5)), 5)[:n]
    score = (quality + shift) * (positive - 0.5) + generator.normal(0, 1, n)
    probability = 1 / (1 + np.exp(-(1.5 * score + math.log(cell.prevalence / (1 - cell.prevalence)))))
    return filled(template(n), positive.astype(np.int32), probability)


def filled(empty: Predictions, truth: np.ndarray, probability: Floats) -> Predictions:
    """Put labels and probabilities into a table of the same number of rows."""
    (model,) = empty.models
    both = np.column_stack([1 - probability, probability])
    own = replace(model, y_pred=(probability >= 0.5).astype(np.int32), score=probability, proba=both)
    return replace(empty, y_true=truth, models=(own,))


_TEMPLATES: dict[int, Predictions] = {}


def template(n: int) -> Predictions:
    """Return a table of n rows of one model, in clusters of five."""
    if n not in _TEMPLATES:
        rows = {"id": [f"{k:06d}" for k in range(n)], "y_true": [0, 1] + [0] * (n - 2), "p_1": [0.5] * n}
        loaded = load({"m": rows}, options=Options(positive="1"))
        groups = Column(np.arange(n, dtype=np.int32) // 5, tuple(f"g{k:05d}" for k in range(-(-n // 5))))
        _TEMPLATES[n] = replace(loaded, metadata={"group": groups})
    return _TEMPLATES[n]


def measured(
    run: Predictions, quantity: Quantity, cell: Cell, accepted: Sequence[Predictions] = ()
) -> Measured:
    """Return the run's value with its interval, as an audit has it, at the accepted runs' shares of the classes."""
    options = Options(resamples=200, positive="1", cluster="group" if cell.sizes == "clusters" else None)
    shares = (
        class_shares([(own, np.ones(own.n, dtype=bool)) for own in accepted], options) if accepted else None
    )
    found = value_on_new(run, "m", quantity, options, np.ones(run.n, dtype=bool), shares=shares)
    assert isinstance(found, Measured), found
    return found


def spread_of_quality(cell: Cell, quantity: Quantity, seed: int) -> float:
    """Return the standard deviation of quality with which the metric's level varies as much as the alarm promises.

    The slope is found on the same examples at three qualities, so that chance does not enter it.
    """
    plain = replace(cell, sizes="alike")
    low, middle, high = (
        measured(draw(plain, 1.5 + step, np.random.default_rng(seed), LARGE), quantity, plain)
        for step in (-STEP, 0, STEP)
    )
    slope = abs(high.value.value - low.value.value) / (2 * STEP)
    return promised_between(middle.value.value, middle.scale) / slope


def study(cell: Cell, series: int, seed: int, number: int) -> dict[str, object]:
    """Return how many series of a year had an alarm, by either rule and by both."""
    generator = np.random.default_rng([seed, number])
    quantity = parse(cell.metric, "binary", ("0", "1"))
    spread = 0.0 if cell.seasonal else spread_of_quality(cell, quantity, seed)
    alone = lasting = either = 0
    for _ in range(series):
        drawn = []
        for week in range(-cell.accepted, WEEKS):
            n = cell.n if cell.sizes != "unequal" else int(cell.n * 2 ** generator.uniform(-2.3, 1))
            quality = generator.normal(1.5, spread) - (cell.fall if week >= BEGINS else 0.0)
            drawn.append(draw(cell, quality, generator, n, week))
        runs = [measured(run, quantity, cell, drawn[: cell.accepted]) for run in drawn]
        by_run, by_mixture = alarmed(runs, cell.accepted)
        alone, lasting, either = alone + by_run, lasting + by_mixture, either + (by_run or by_mixture)
    rates = {"one_run": alone / series, "lasting": lasting / series, "alarm": either / series}
    return {**{name: getattr(cell, name) for name in cell.__slots__}, "series": series, "seed": seed, **rates}


def alarmed(runs: list[Measured], accepted: int) -> tuple[bool, bool]:
    """Return whether the one-run rule, and whether the mixture, was false at any week."""
    sign = 1.0 if runs[0].scale.greater_is_better else -1.0
    values = sign * np.array([run.value.compared[0] for run in runs])
    errors = np.array([run.value.compared[1] for run in runs])
    errors[:accepted] = [run.accepted_error(rise=sign < 0) for run in runs[:accepted]]
    then = [(sign * value, error) for value, error in zip(values[:accepted], errors, strict=False)]
    by_run = by_mixture = False
    for t in range(1, WEEKS + 1):
        last = accepted + t
        now = runs[last - 1]
        least_n = min(run.least_n for run in (*runs[:accepted], now))
        today = (now.value.compared[0], now.error_now)
        p = compare_run(then, today, of=now.scale, least_n=least_n).p_value
        by_run |= p <= ALPHA / 2 * share_of_run(t, WEEKS)
        log_e, _ = drop_evidence(values[:accepted], values[accepted:last], errors[:last], horizon=WEEKS)
        by_mixture |= bool(log_e >= math.log(2 / ALPHA))
    return by_run, by_mixture


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/audit-alarms-metrics.csv."""
    for number, cell in enumerate(CELLS):
        yield study(cell, run.replications, run.seed, number)


def seasons(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/audit-alarms-seasons.csv."""
    for number, cell in enumerate(SEASONS):
        yield study(cell, run.replications, run.seed, number)
