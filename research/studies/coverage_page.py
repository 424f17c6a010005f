"""docs/coverage.md and its figure: the study's rows as tables, one line of reading for each."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import evalreport
from evalreport.intervals import INTERVALS
from evalreport.intervals.shortfalls import Shortfall
from evalreport.metrics.registry import METRICS
from research.studies.designs import OF_CLUSTERS, every_design
from research.studies.enumeration import proportion_coverage, proportion_limits
from research.studies.known_limits import KNOWN_LIMITS
from research.studies.rows import DISCRETE_ALLOWANCE, MONTE_CARLO_ERRORS, NOMINAL, Row
from research.studies.shortfalls import MOSTLY, explanation, shortfalls_in
from research.studies.tally import LEADING

HEAD = """\
# Coverage of every interval, measured

Written by `make study-coverage`; do not edit. A 95 % interval should hold the true value in 95 % of test sets. Here
is how often each one does, on populations whose true values are known: by enumeration of every outcome where that
can be done, else by simulation. The numbers behind the tables stand in [coverage.csv](coverage.csv), with the share
of misses on each side and the mean width.

**leads** is the interval that the report puts first (where it depends on the data, the one that led most often);
its column is the coverage of whatever led. `-`: the method is not valid for the metric, so the report gives a
reason instead of limits. Columns of other methods count the intervals that exist.

The rule: the leading interval covers at least 95 %, less {errors:g} Monte Carlo standard errors of the cell, less
{allowance:g} points where the metric is a function of counts, because there no interval can cover 95 % everywhere: it
oscillates with n and p by about the chance of one outcome. A cell below that is marked † and listed under
[known limits](#known-limits) with its value and what a run says in that situation (see [warnings](warnings.md)); tests
hold the table, the list and the warnings together.
"""

FIGURE = """\
![Coverage of four intervals of a proportion at n = 30 and n = 100 against the true proportion](figures/coverage.svg)

Proportions by enumeration over p: the normal (Wald) interval and the percentile bootstrap fall to nothing as p goes to
1, Wilson's stays near 95 %, Clopper and Pearson's never falls below it and is wider for it.
"""

NEAR = 0.93
"""What README and the list of known limits ask of a cell."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the page: which rows it holds."""

    title: str
    kind: str
    metrics: tuple[str, ...]
    exact: bool = False
    population: str = ""
    """With which of ``POPULATIONS`` the names of its populations begin; empty: with none of them."""


CLUSTERS, APART, WEIGHTS, JUDGES, SUITES, ATTEMPTS = POPULATIONS = (
    "clusters", "two test sets", "weights", "judge", "suite", "attempts",
)  # fmt: skip
OF_WEIGHTS = ("accuracy", "f1", "mcc", "balanced_accuracy")

TABLES = (
    Table("A proportion (accuracy, recall ...), enumerated", "value", ("accuracy",), exact=True),
    Table("Recall and precision", "value", ("recall", "precision")),
    Table("F1 of one class", "value", ("f1",)),
    Table("MCC, kappa, balanced accuracy", "value", ("mcc", "cohen_kappa", "balanced_accuracy")),
    Table("F1 averaged over three classes", "value", ("f1_macro", "f1_weighted")),
    Table("Area under the ROC curve", "value", ("roc_auc",)),
    Table("Average precision", "value", ("average_precision",)),
    Table("PR AUC by trapezoids", "value", ("pr_auc",)),
    Table("Partial area under the ROC curve", "value", ("partial_auc",)),
    Table("Log loss and Brier score", "value", ("log_loss", "brier")),
    Table("Mean errors of real values", "value", ("mae", "mse")),
    Table("RMSE and R²", "value", ("rmse", "r2")),
    Table("Whole clusters drawn", "value", OF_CLUSTERS, population=CLUSTERS),
    Table("Differences, whole clusters drawn", "difference", OF_CLUSTERS, population=CLUSTERS),
    Table("Weighted examples", "value", (*OF_WEIGHTS, "recall", "precision", "cohen_kappa"), population=WEIGHTS),
    Table("Differences of weighted examples", "difference", OF_WEIGHTS, population=WEIGHTS),
    Table("What people say, from a judge and n human outcomes", "value", ("mean_gold",), population=JUDGES),
    Table("Differences of what people say", "difference", ("mean_gold",), population=JUDGES),
    Table("Suites of n tasks of unlike size", "value", ("mean_outcome",), population=SUITES),
    Table("Differences on suites", "difference", ("mean_outcome",), population=SUITES),
    Table("n questions, answered several times", "value", ("mean_outcome",), population=ATTEMPTS),
    Table("Differences on questions that are answered several times", "difference", ("mean_outcome",),
          population=ATTEMPTS),
    Table("Difference of two accuracies on the same examples, enumerated", "difference", ("accuracy",), exact=True),
    Table("Difference of two accuracies on two test sets, enumerated", "difference", ("accuracy",), exact=True,
          population=APART),
    Table("Difference of two accuracies, simulated", "difference", ("accuracy",)),
    Table("Difference of F1, MCC, balanced accuracy", "difference",
          ("f1", "f1_macro", "f1_weighted", "mcc", "balanced_accuracy")),
    Table("Difference of two areas under the ROC curve", "difference", ("roc_auc",)),
    Table("Difference of two average precisions", "difference", ("average_precision",)),
    Table("Difference of two PR AUCs", "difference", ("pr_auc",)),
    Table("Difference of two partial areas", "difference", ("partial_auc",)),
    Table("Difference of mean losses", "difference", ("log_loss", "brier", "mae", "mse")),
    Table("Difference of RMSE and R²", "difference", ("rmse", "r2")),
)  # fmt: skip


def page(rows: Sequence[Row], replications: int, n_resamples: int, seed: int) -> str:
    """Return the whole document."""
    parts = [HEAD.format(errors=MONTE_CARLO_ERRORS, allowance=100 * DISCRETE_ALLOWANCE)]
    parts.append(_settings(replications, n_resamples, seed))
    parts.append(FIGURE)
    parts += [section(table, rows_in(table, rows)) for table in TABLES]
    parts += [_known(rows), _populations()]
    return "\n".join(parts)


def rows_in(table: Table, rows: Iterable[Row]) -> list[Row]:
    """Return the rows of one table."""
    return [
        row
        for row in rows
        if row.kind == table.kind
        and row.metric in table.metrics
        and (row.sets == 0) == table.exact
        and next((name for name in POPULATIONS if row.design.startswith(name)), "") == table.population
    ]


def _settings(replications: int, n_resamples: int, seed: int) -> str:
    worst = 100 * (NOMINAL * (1 - NOMINAL) / replications) ** 0.5
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return (
        f"Simulated cells: {replications:,} data sets, {n_resamples:,} bootstrap replicates each, seed {seed};"
        f" Monte Carlo standard error {worst:.2f} points at 95 %. Made with evalreport {evalreport.__version__},"
        f" Python {platform.python_version()}, {versions}.\n"
    )


def section(table: Table, rows: list[Row]) -> str:
    """Return one table with its heading and its line of reading."""
    present = {row.method for row in rows}
    methods = [name for name in INTERVALS if name in present]
    cells: dict[tuple[str, int, str, str, str], dict[str, Row]] = {}
    for row in rows:
        cells.setdefault(row.key, {})[row.method] = row
    several = len({row.metric for row in rows}) > 1 or len({row.model for row in rows}) > 1
    heads = ["population", "n", *(["metric"] if several else []), "leads", "covers", *methods]
    lines = [heads, ["---"] * len(heads)]
    for (design, size, _, model, metric), found in cells.items():
        first = found[LEADING]
        name = [f"{metric} of b" if model == "b" else metric] if several else []
        shown = [_percent(found[m]) if m in found else "-" for m in methods]
        lines.append([design, str(size), *name, f"`{first.leader}`", f"**{_percent(first)}**", *shown])
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"## {table.title}\n\n{_reading(list(cells.values()), methods)}\n\n{body}\n"


def _percent(row: Row) -> str:
    mark = " †" if row.method == LEADING and row.misses else ""
    return f"{100 * row.coverage:.1f}{mark}"


def _reading(cells: list[dict[str, Row]], methods: list[str]) -> str:
    """Say in one line what the table shows: the leading interval's span, its worst cell, and the worst method."""
    leading = [cell[LEADING] for cell in cells]
    low, high = min(leading, key=lambda r: r.coverage), max(leading, key=lambda r: r.coverage)
    distance = {
        m: float(np.mean([abs(cell[m].coverage - NOMINAL) for cell in cells if m in cell])) for m in methods
    }
    worst = min((cell[m] for cell in cells for m in methods if m in cell), key=lambda r: r.coverage)
    own = float(np.mean([abs(row.coverage - NOMINAL) for row in leading]))
    nearest = min(distance, key=lambda m: distance[m])
    return (
        f"What leads covers {100 * low.coverage:.1f} to {100 * high.coverage:.1f} %, least at {low.design}, n ="
        f" {low.size}; on average it is {100 * own:.1f} points from 95 % (nearest of all: `{nearest}`,"
        f" {100 * distance[nearest]:.1f}). The worst on offer: `{worst.method}`, {100 * worst.coverage:.1f} %"
        f" ({worst.design}, n = {worst.size})."
    )


def _known(rows: Sequence[Row]) -> str:
    leading = [row for row in rows if row.method == LEADING]
    missing = [row for row in leading if row.misses or row.coverage < NEAR]
    lines = ["## Known limits", ""]
    if not missing:
        return "\n".join([*lines, "None: no leading interval misses.", ""])
    lines += [
        f"{len(missing)} of {len(leading)} cells: {sum(row.coverage < NEAR for row in missing)} that cover less than"
        f" {100 * NEAR:.0f} %, and others that are marked †. Of answers that a judge and few people graded are"
        f" {sum(row.leader == 'ppi' for row in missing)}. Beside each stands the warning that a run gives in that"
        " situation, or why it gives none. The interval of a difference leads by the program's fixed rules, whatever"
        " stands beside it.",
        "",
    ]
    table = shortfalls_in(rows)
    lines += ["| population | n | what | leads | covers | best other | a run says |", "| --- " * 7 + "|"]
    for row in missing:
        same = (LEADING, row.leader)
        others = [r for r in rows if r.key == row.key and r.method not in same and r.given > 0.99]
        best = min(others, key=lambda r: abs(r.coverage - NOMINAL))
        what = f"difference of {row.metric}" if row.kind == "difference" else row.metric
        why = explanation(row, table) or ("**nothing**" if row.misses else "nothing")
        lines.append(
            f"| {row.design} | {row.size} | {what}{' of b' if row.model == 'b' else ''} | `{row.leader}`"
            f" | {100 * row.coverage:.1f} | `{best.method}` {100 * best.coverage:.1f} | {why} |"
        )
    return "\n".join([*lines, "", _large_losses(rows)])


def _large_losses(rows: Sequence[Row]) -> str:
    """Return how often the run warns that few losses carry the sum, beside what leads covers."""
    lines = [
        "## Few large losses",
        "",
        "How often a run warns (`few_large_losses`) that a few examples carry a sum of losses, and how often what leads"
        " holds the truth. The limits of the shares are set by this table: from 100 examples on the warning is there in"
        f" at least {100 * MOSTLY:.0f} % of the data sets where RMSE, MSE or R² are held in less than 92 %, and in at"
        f" most {100 - 100 * MOSTLY:.0f} % where 94 % are held. Of 30 errors nobody can tell heavy tails from luck:"
        " there the warning `short_interval` goes by their number.",
        "",
        "| population | n | metric | leads | covers | warned |",
        "| --- " * 6 + "|",
    ]
    for row in rows:
        losses = row.metric in METRICS and METRICS[row.metric].losses
        if row.method == LEADING and row.kind == "value" and losses and row.sets:
            name = f"{row.metric} of b" if row.model == "b" else row.metric
            lines.append(
                f"| {row.design} | {row.size} | {name} | `{row.leader}` | {_percent(row)} | {100 * row.warned:.0f} % |"
            )
    return "\n".join([*lines, ""])


def _populations() -> str:
    lines = ["## Populations", "", "| name | what it is |", "| --- | --- |"]
    lines += [f"| {design.name} | {design.text} |" for design in every_design()]
    lines += [
        "| p = ... | a proportion with the true value p; its bootstrap distribution is the exact binomial one |",
        "| two test sets, p and q | two models with these accuracies, each on n examples of its own |",
        "| discordance D, difference d | two models on the same examples; on a share D only one of them is right |",
    ]
    return "\n".join([*lines, ""])


def surprises(rows: Iterable[Row], table: Sequence[Shortfall]) -> list[str]:
    """Return one line for each leading interval that misses unexplained, and each listed cell that does not miss."""
    leading = {row.key: row for row in rows if row.method == LEADING}
    found = [
        f"{key}: {row.leader} covers {row.coverage:.3f}, asked are {row.least:.3f}, and no run says so; list it in"
        " known_limits.py or let another interval lead"
        for key, row in leading.items()
        if row.misses and explanation(row, table) is None
    ]
    stale = [key for key in KNOWN_LIMITS if key not in leading or not leading[key].misses]
    return [*found, *(f"{key} is listed as a known limit but does not miss" for key in stale)]


def figure(path: Path) -> None:
    """Draw the coverage of four intervals of a proportion against the true proportion."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from evalreport.plots.style import MARKS

    methods = ("normal", "bootstrap_percentile", "wilson", "clopper_pearson")
    truths = np.linspace(0.5, 0.999, 500)
    settings: Any = {
        "svg.hashsalt": "evalreport",
        "svg.fonttype": "path",
        "font.size": 9,
        "font.family": "DejaVu Sans",
    }
    with mpl.rc_context(settings):
        drawing = Figure(figsize=(8, 3.2), layout="constrained")
        axes = drawing.subplots(1, 2, sharey=True)
        for ax, n in zip(axes, (30, 100), strict=True):
            every = proportion_limits(n, methods)
            for mark, method in zip(MARKS, methods, strict=False):
                shares = proportion_coverage(n, truths, every[method])
                ax.plot(truths, shares, color=mark.colour, linestyle=mark.dash, lw=1.2, label=method)
            ax.axhline(NOMINAL, color="#191c20", lw=0.6)
            ax.set(title=f"n = {n}", xlabel="true proportion", ylim=(0.6, 1.0), xlim=(0.5, 1.0))
        axes[0].set_ylabel("share of intervals that hold it")
        axes[0].legend(loc="lower left", frameon=False)
        drawing.savefig(path, metadata={"Date": None, "Creator": None})
