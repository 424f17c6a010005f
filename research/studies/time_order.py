"""How often the intervals and the test of ``--order time`` hold on series whose examples are alike by an AR(1) process.

Two models that are equally good, so that their difference is 0. Outcomes are normal AR(1) series themselves; of
regressions the errors are, so that squared ones have the square of the correlation; of labels and scores the truth and
the noise of each model are. Writes docs/time-order.csv, and its tables into docs/time-order.md.
"""

from __future__ import annotations

import argparse
import csv
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import signal

from evalreport.engine.distributions import normal_quantile, t_quantile
from evalreport.engine.time_order import lags_of, newey_west_variance
from evalreport.intervals import leading, limits
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.samplings import sampling_by

Floats = npt.NDArray[np.float64]

DOCS = Path(__file__).resolve().parents[2] / "docs"
LEVEL = 0.95
CORRELATIONS = (0.2, 0.5, 0.8)
SIZES = (30, 100, 500, 2000)
SHARED = 0.3
"""Correlation of the two models' noise at one time."""
SKILL = 0.7
"""Correlation of the latent truth and the score."""
LEAST = 0.93
"""Where less is held the cell is a known limit."""
TRUTHS = {
    "mean_outcome": 0.0,
    "rmse": 1.0,
    "f1": 0.5 + math.asin(SKILL) / math.pi,
    "roc_auc": 0.5 + 2 / math.pi * math.asin(SKILL / math.sqrt(2)),
}
"""The true values: of labels and scores by the orthant probabilities of normal variables."""


def series(generator: np.random.Generator, correlation: float, n: int, k: int) -> Floats:
    """Draw k stationary AR(1) series of n normal values with variance 1, (k, n)."""
    shocks = generator.normal(size=(k, n)) * math.sqrt(1 - correlation**2)
    shocks[:, 0] /= math.sqrt(1 - correlation**2)
    return np.asarray(signal.lfilter([1.0], [1.0, -correlation], shocks, axis=1))


def draw(generator: np.random.Generator, correlation: float, n: int) -> list[tuple[Predictions, Quantity]]:
    """Draw one test set of each kind, with the quantities that are estimated on it."""
    common, *own = series(generator, correlation, n, 3)
    noise = [math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * one for one in own]
    (latent,) = series(generator, correlation, n, 1)
    scores = [SKILL * latent + math.sqrt(1 - SKILL**2) * one for one in noise]
    true = (latent > 0).astype(np.int32)
    outcomes = [ModelOutputs(name, outcome=one) for name, one in zip("ab", noise, strict=True)]
    numbers = [ModelOutputs(name, y_pred=one) for name, one in zip("ab", noise, strict=True)]
    labels = [
        ModelOutputs(name, y_pred=(one > 0).astype(np.int32), score=one)
        for name, one in zip("ab", scores, strict=True)
    ]
    classes = Labels(classes=("0", "1"), positive="1")
    found = []
    for metric, task, truth, models in (
        ("mean_outcome", "outcome", None, outcomes),
        ("rmse", "regression", np.zeros(n), numbers),
        ("f1", "binary", true, labels),
        ("roc_auc", "binary", true, labels),
    ):
        predictions = Predictions(
            task=task,  # type: ignore[arg-type]
            design="test-set",
            ids=np.arange(n).astype(str),
            example=np.arange(n),
            y_true=truth,
            models=tuple(models),
            labels=classes if task == "binary" else Labels(),
        )
        found.append((predictions, Quantity(metric)))
    return found


def counted(correlation: float, n: int, number: int, seed: int) -> dict[str, Counter[str]]:
    """Say of one data set what each metric's intervals hold."""
    generator = np.random.default_rng([seed, zlib.crc32(f"{correlation}/{n}".encode()), number])
    units, found = sampling_by(n, order=np.arange(n)), {}
    for predictions, quantity in draw(generator, correlation, n):
        sample = estimate_all(predictions, (quantity,), units=units, n_resamples=1, seed=0)
        first, second = (sample.estimates[name, quantity] for name in "ab")
        if not (first.defined and second.defined):
            found[quantity.metric] = Counter(undefined=1)
            continue
        truth, one = TRUTHS[quantity.metric], leading(first, LEVEL)
        delta = paired_difference(first, second)
        between = limits(delta, "hac_t", LEVEL)
        found[quantity.metric] = Counter(
            sets=1,
            value_held=one.low is not None and one.high is not None and one.low <= truth <= one.high,
            value_above=one.low is not None and one.low > truth,
            value_below=one.high is not None and one.high < truth,
            difference_held=between.low is not None
            and between.high is not None
            and between.low <= 0 <= between.high,
            paired_t_held=abs(delta.value) <= _paired_t(delta),
            newey_west_held=abs(delta.value) <= _newey_west(delta),
        )
    return found


def _paired_t(delta: Estimate | Difference) -> float:
    """Return half the width of Student's interval, as if the examples were independent."""
    derivative = delta.in_time
    assert derivative is not None
    n = len(derivative)
    return t_quantile((1 + LEVEL) / 2, n - 1) * math.sqrt(n / (n - 1) * float((derivative**2).sum()))


def _newey_west(delta: Estimate | Difference) -> float:
    derivative = delta.in_time
    assert derivative is not None
    variance = newey_west_variance(derivative, lags_of(len(derivative)))
    return normal_quantile((1 + LEVEL) / 2) * math.sqrt(max(variance, 0.0))


SHARES = (
    "value_held", "value_above", "value_below", "difference_held", "paired_t_held", "newey_west_held",
)  # fmt: skip


def cell(correlation: float, n: int, replications: int, seed: int) -> dict[str, Counter[str]]:
    """Count over data sets of one correlation and size what each metric's intervals hold."""
    totals: dict[str, Counter[str]] = {metric: Counter() for metric in TRUTHS}
    for number in range(replications):
        for metric, one in counted(correlation, n, number, seed).items():
            totals[metric].update(one)
    return totals


def rows(replications: int, seed: int) -> list[Mapping[str, object]]:
    """Measure every correlation, size and metric."""
    found: list[Mapping[str, object]] = []
    for correlation in CORRELATIONS:
        for n in SIZES:
            for metric, total in cell(correlation, n, replications, seed).items():
                shares = {name: round(total[name] / total["sets"], 4) for name in SHARES}
                sets = {"sets": total["sets"], "seed": seed}
                found.append({"correlation": correlation, "n": n, "metric": metric, **shares, **sets})
            print(f"measured a correlation of {correlation}, n = {n}", flush=True)
    return found


HEADING = "## What was measured"


def page(measured: Sequence[Mapping[str, object]]) -> str:
    """Write the measured part of docs/time-order.md."""
    first = measured[0]
    found = [
        HEADING,
        "",
        f"By `make study-time-order`, {first['sets']} series of each kind, seed {first['seed']}: two equally good",
        "models, whose examples are alike by an AR(1) process. Outcomes are such series, of regressions (RMSE) the",
        "errors are, of labels (F1) and scores (AUC) the truth and the models' noise. How often 95 % intervals held",
        "the true value, in %; the Monte Carlo error is 0.7.",
        "",
    ]
    for title, column in (
        ("A model's value, `hac_t`", "value_held"),
        ("The difference, `hac_t`", "difference_held"),
        ("The difference, as if the examples were independent (Student's t)", "paired_t_held"),
        ("The difference, Newey-West", "newey_west_held"),
    ):
        found += [f"### {title}", "", *_table(measured, column), ""]
    short = [row for row in measured if float(str(row["value_held"])) < LEAST]
    found += ["### Known limits", "", f"Values that are held in less than {100 * LEAST:g} %:", ""]
    found += [
        f"- `{row['metric']}` at {row['correlation']}, n = {row['n']}: {_percent(row['value_held'])}"
        for row in short
    ]
    found += ["", "Few examples that are much alike do not show how much: a longer series does.", ""]
    return "\n".join(found)


def _table(measured: Sequence[Mapping[str, object]], column: str) -> list[str]:
    """Return the lines of one table: a row a correlation and size, a column a metric."""
    metrics = list(dict.fromkeys(str(row["metric"]) for row in measured))
    cells = {(str(row["correlation"]), str(row["n"]), str(row["metric"])): row[column] for row in measured}
    lines = [
        f"| correlation | n | {' | '.join(f'`{name}`' for name in metrics)} |",
        "| --- " * (2 + len(metrics)) + "|",
    ]
    for correlation, n in dict.fromkeys(key[:2] for key in cells):
        held = " | ".join(_percent(cells[correlation, n, metric]) for metric in metrics)
        lines.append(f"| {correlation} | {n} | {held} |")
    return lines


def _percent(share: object) -> str:
    return f"{100 * float(str(share)):.1f}"


def write_page(measured: Sequence[Mapping[str, object]], folder: Path) -> None:
    """Replace the measured part of the page by that of a table."""
    path = folder / "time-order.md"
    text = path.read_text(encoding="utf-8").partition(HEADING)[0]
    path.write_text(text + page(measured), encoding="utf-8")


def main() -> None:
    """Measure and write the table and the page."""
    parser = argparse.ArgumentParser(prog="python -m research.studies.time_order", description=__doc__)
    parser.add_argument("--replications", type=int, default=1000, help="data sets of a correlation and size")
    parser.add_argument("--seed", type=int, default=20263, help="seed of every data set")
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    given = parser.parse_args()
    measured = rows(given.replications, given.seed)
    with (given.output / "time-order.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(measured[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(measured)
    write_page(measured, given.output)


if __name__ == "__main__":
    main()
