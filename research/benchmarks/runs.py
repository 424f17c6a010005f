"""A user's whole run, all metrics and the default options: how long at each size, and in which stage."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from evalreport.analysis import evaluate
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.schema.results import to_json
from research.benchmarks.data import binary_models, labels, loop, probabilities, regressions, run, truth
from research.benchmarks.timing import Row, Timed, best_of, by_stage, in_turn, scaled, timed
from research.studies import tables

SIZES = ((20_000, 3, 40.0, 10), (200_000, 3, 250.0, 2), (4_000, 12, 15.0, 10))
"""Examples, models, the least ratio that is aimed at, and how many replicates of the loop are timed."""

ON_THE_CURVE = tuple(round(10 ** (k / 2)) for k in range(6, 15))
BEFORE_AND_AFTER = (2_000, 2_001, 19_999, 20_000, 200_000, 200_001)
"""Where the way of drawing or of resampling changes."""

MOST_ON_BOTH_SIDES = 1.6

THREADED = (200_000, 1_000_000)
"""Examples of the run on two threads."""


def default_runs(*, quick: bool) -> Iterator[Row]:
    """Time the default run beside a loop that resamples four metrics; then the same on two threads, by the clock."""
    for n, models, goal, replicates in SIZES[:1] if quick else SIZES:
        yield _beside_a_loop(binary_models(n, count=models), goal, replicates)
    for n in (20_000,) if quick else (20_000, 200_000):
        with TemporaryDirectory() as folder:
            yield _of_regressions(n, Path(folder))
    for n in (20_000,) if quick else THREADED:
        one, two = in_turn(*(partial(_clock, n, jobs) for jobs in (1, 2)), rounds=5)
        yield timed(
            f"default run, 3 models, n = {n:,}, --jobs 2, wall time",
            "--jobs 1",
            two,
            one,
            remark="each in a process of its own, start-up not counted",
        )


def from_counts(*, quick: bool) -> Iterator[Row]:
    """Time the default run of a table of counts, from the file on, however many examples they are."""
    each = 1 if quick else 1_000_000
    frame = binary_models(1_000, count=5)
    columns = [*zip(truth(frame).tolist(), *(said.tolist() for said in labels(frame)), strict=True)]
    cells = sorted(Counter(columns).items())
    header = ["count", "y_true", *(f"y_pred.{model.name}" for model in frame.models)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "counts.csv"
        lines = [header, *([count * each, *cell] for cell, count in cells)]
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
        yield timed(
            f"default run of a table of counts, 5 models, n = {1_000 * each:,}, from the file to results.json",
            "none",
            best_of(lambda: run(path)),
            None,
            most_seconds=1.0,
            remark=f"{len(cells)} lines; start-up of Python and imports not counted",
        )


def _beside_a_loop(predictions: Predictions, goal: float, replicates: int) -> Row:
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, roc_auc_score

    n, of_labels = predictions.n, (accuracy_score, f1_score, matthews_corrcoef)
    scored = (labels(predictions), of_labels), (probabilities(predictions), (roc_auc_score,))
    replicate = loop(truth(predictions), *scored)
    ours, theirs = in_turn(
        lambda: best_of(lambda: run(predictions), 1), lambda: scaled(replicate, replicates, 2_000)
    )
    return timed(
        f"default run: all metrics, tests and curves, {len(predictions.models)} models, n = {n:,}, B = 2,000",
        "scikit-learn resampling loop of accuracy, F1, MCC and AUC alone",
        ours,
        theirs,
        least_ratio=goal,
        remark="from arrays to results.json",
    )


def _of_regressions(n: int, folder: Path) -> Row:
    from sklearn import metrics

    true, said = regressions(n, folder)
    names = ("mean_absolute_error", "median_absolute_error", "r2_score", "root_mean_squared_error")
    replicate = loop(true, (said, [getattr(metrics, name) for name in names]))
    ours, theirs = in_turn(lambda: best_of(lambda: run(folder), 1), lambda: scaled(replicate, 20, 2_000))
    return timed(
        f"default run of regressions: all metrics and tests, 3 models, n = {n:,}, B = 2,000",
        "scikit-learn resampling loop of MAE, MedAE, R² and RMSE alone",
        ours,
        theirs,
        remark="from CSV files to results.json; swaps of RMSE and R² for every pair beside the replicates",
    )


def by_size(*, quick: bool) -> Iterator[Row]:
    """Yield the cost of the default run against n, by stage, and across each change of method."""
    totals: dict[int, float] = {}
    for n in ON_THE_CURVE[:4] if quick else ON_THE_CURVE:
        stages = cost(n)
        totals[n] = sum(stages.values())
        yield by_stage(f"default run, 3 models, n = {n:,}", stages)
    if not quick:
        draw(totals)
    for below, above in zip(BEFORE_AND_AFTER[::2], BEFORE_AND_AFTER[1::2], strict=True):
        if not quick or above < 10_000:
            both = in_turn(*(partial(_of_size, n) for n in (below, above)))
            slower, faster = sorted(both, key=lambda timed: timed.seconds, reverse=True)
            yield timed(
                f"default run, 3 models, n = {below:,} and n = {above:,}: the faster against the slower (no cliff)",
                f"at most {MOST_ON_BOTH_SIDES} times as long",
                slower,
                faster,
                least_ratio=1 / MOST_ON_BOTH_SIDES,
            )


def _of_size(n: int) -> Timed:
    predictions = binary_models(n, count=3)
    return best_of(lambda: run(predictions), 1)


def cost(n: int) -> Mapping[str, float]:
    """Time the stages of one run, as it tells them."""
    times: list[tuple[str, float]] = []
    results = evaluate(
        binary_models(n, count=3), options=Options(),
        progress=lambda stage, _: times.append((stage, time.process_time())),
    )  # fmt: skip
    to_json(results)
    times.append(("", time.process_time()))
    stages: dict[str, float] = {}
    for (stage, started), (_, ended) in pairwise(times):
        name = "writing results.json" if stage == "done" else stage
        stages[name] = stages.get(name, 0.0) + ended - started
    return stages


def draw(seconds: Mapping[int, float]) -> None:
    """Draw the cost against n, both in powers of ten, beside a line that grows as n does."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.loglog([*seconds], [*seconds.values()], "o-", label="default run, 3 models")
    largest = max(seconds)
    in_proportion = [seconds[largest] * n / largest for n in seconds]
    axes.loglog([*seconds], in_proportion, ":", color="grey", label="in proportion to n")
    axes.set(xlabel="examples", ylabel="CPU seconds")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(tables.DOCS / "benchmarks.svg", metadata={"Date": None})


def _clock(n: int, jobs: int) -> Timed:
    code = (
        "import time; from research.benchmarks.data import binary_models, run;"
        f" run(binary_models(1_000, count=2)); data = binary_models({n}, count=3); start = time.perf_counter();"
        f" run(data, jobs={jobs}); print(time.perf_counter() - start)"
    )
    return Timed(float(subprocess.check_output([sys.executable, "-c", code])))
