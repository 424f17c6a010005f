"""The page and the figure of the study of alarms, from its table alone."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

RULES = {
    "alarm": "the alarm",
    "run_alarm": "the alarm, its one-run rule alone",
    "floor": "bets against a floor 2 points below the level",
    "without_errors": "the lasting change without the examples' standard errors",
    "gate": "gate `accuracy >= accepted - 0.02`",
    "per_run": "plain test of this run, 5 %",
}
WIDTH = 110
SDS = (0.0, 0.01, 0.02)
PROMISED = 0.05


def page(rows: Sequence[Row], metrics: Sequence[Row]) -> str:
    """Write the tables as Markdown."""
    count, seed = int(max(row["series"] for row in rows)), int(rows[0]["seed"])
    intro = (
        f"Measured by `make study-audits` (seed {seed}): {count:,} series of audits every night a setting,"
        f" {count // 2:,} where something falls. Two Monte Carlo errors of a rate of 5 % are"
        f" {_two_errors(0.05, count):.1f} points, of 1 % {_two_errors(0.01, count):.1f}. Runs have 1,000 new"
        " examples and the model is right on 85 % of them, unless it is said otherwise; sd is the standard"
        " deviation of a run's true accuracy around that level, beside what sampling adds (0.011 for 1,000"
        " examples). The table with every run is [audit-alarms.csv](audit-alarms.csv)."
    )
    return "\n".join(
        [
            "# Alarms of audits: how often false, how soon right",
            "",
            _wrapped(intro),
            "",
            "![Left: share of series with a false alarm, by run; right: share in which a drop was seen, by run]"
            "(figures/audit-alarms.svg)",
            "",
            *_rule(),
            *_false(rows),
            *_beyond(rows),
            *_metrics(metrics),
            *_speed(rows),
            *_reading(rows),
        ]
    )


def _two_errors(rate: float, count: int) -> float:
    return 200 * math.sqrt(rate * (1 - rate) / count)


def _rule() -> list[str]:
    text = (
        "An audit asks at every run whether a model is worse than at its accepted runs. A test at 5 % that is asked"
        " at every run is wrong far more often than in 5 % of the series, and no test of one run's examples knows how"
        " much runs differ by themselves: other users, other weather, another batch of labels. Two rules share the"
        " permitted error of a year, half each:"
    )
    points = (
        "**One run.** The run's value on its new examples (those that no earlier run of the series held) against the"
        " mean of the accepted runs' values: z is the fall over its standard error, which holds the sampling of both"
        " sides and τ, how much runs differ by themselves. τ is what `--between-runs` declares; else half of the"
        " distance from the best value, at most 0.02 (losses without a bound: 2 % of the value, MSE 4 %); from five"
        " accepted runs on their own spread beyond sampling, where that is larger. The t-th comparison of a year of H"
        " runs is an alarm where p ≤ 0.025 (1 / (2 t (t + 1)) + 1 / (2 H)) / m, with m models; H is 365, 52 or 12 by"
        " the distance of the runs. t does not begin anew when runs are accepted: otherwise accepting every run would"
        " make 24 to 28 % false alarms a year.",
        "**A change that lasts.** The values since the accepted runs are compared with them by a sequential mixture of"
        " t tests over the run at which a drop began and over its size (a quarter of the weight on a drop right after"
        " the accepted runs, the rest evenly on the year; at least three runs since the drop). The evidence e is at"
        " most 1 on average while nothing changes; from 40 m on it is an alarm. It begins anew with each acceptance.",
        "The variance within is not believed to be smaller than what the runs' own standard errors explain. For equal"
        " runs that changes little; where runs have few mistakes or unlike numbers of examples the rate would"
        " be lost without it (second table).",
        "**The same examples again** (at least half of the run's are the newest accepted run's): half of the two-sided"
        " p-value of the paired test on the common ones, at the same levels. Both runs answer the same examples, so"
        " nothing that differs between runs is in the difference, and runs may depend on each other. A test by"
        " resampling needs many replicates for that: where `--resamples` is too small to decide, it is said, with how"
        " many are needed. The answers of an earlier run again are no new comparison.",
        "**Where runs may depend on each other** (seasons, holidays, training batches): declare what every run must"
        " hold, `--gate 'MODEL.METRIC >= X every night'`. Bets against that floor take the place of both rules and"
        " need no independence and no accepted run, only that each run's expectation, given all before, is at least"
        " the floor; they see less. The correlation of each accepted run with the next is tested; where it shows, a"
        " warning says so.",
        "Slices: the one-run rule, Holm over slices and models at each run, in a 5 % of their own. Data: Holm over the"
        " questions of a run, spread over the runs since the accepted ones; that holds where runs differ by sampling"
        " alone.",
        "**The promise**: at most 5 % false alarms in a year of H runs, all models together, if runs are independent"
        " and their level varies by itself about normally (no heavy tails), with a standard deviation of at most the"
        " smaller of 0.02 and a quarter of the distance from the best value (losses without a bound 2 %), and if the"
        " accepted runs were not picked for being good. At a level of 0.95 and more with five models and one accepted"
        " run it is 6 %. Where"
        " runs vary by half as much again it is lost: up to 50 % with 10,000 examples, 28 % with five accepted"
        " runs. Five accepted runs that vary by more are a warning (`runs_differ`).",
    )
    return [_wrapped(text), "", *(_wrapped(f"- {t}", "  ") for t in points), ""]


# --- tables ---------------------------------------------------------------------------------------------------------


def _false(rows: Sequence[Row]) -> list[str]:
    """False alarms of a year of independent nights of one size: a line for each rule, a column for each sd."""
    lines = [
        "## False alarms: nothing changed",
        "",
        "Share of series with at least one alarm within a year of 365 independent runs.",
        "",
        "| accepted | rule | " + " | ".join(f"sd {sd:g}" for sd in SDS) + " |",
        "|---|---|" + "---|" * len(SDS),
    ]
    for accepted, n in ((1, 1000), (1, 10_000), (7, 1000), (7, 10_000)):
        for rule in ("alarm", "run_alarm", "floor", "gate", "per_run"):
            own = [
                _one(rows, "normal", rule, accepted=accepted, accepted_n=n, sd=sd, drop=0.0)["within_365"]
                for sd in SDS
            ]
            name = f"**{RULES[rule]}**" if rule == "alarm" else RULES[rule]
            nights = f"{accepted} run{'s' if accepted > 1 else ''} of {n:,}"
            lines.append(f"| {nights} | {name} | {' | '.join(map(_percent, own))} |")
    return [*lines, ""]


def _beyond(rows: Sequence[Row]) -> list[str]:
    """False alarms of a year where a condition does not hold, or was in danger."""
    lines = [
        "## Other runs, and what is not covered",
        "",
        _wrapped(
            "False alarms within a year, seven accepted runs. The floor lies 2 points below the level. Last"
            " column: share of series in which the seven accepted runs were said to depend on each other (by"
            " chance 5 %)."
        ),
        "",
        "| runs | the alarm | lasting change without the examples' errors | bets against a floor | correlation said |",
        "|---|---|---|---|---|",
    ]
    for own in _settings(rows, "heavy", "weekly", "unequal", "normal", "chained"):
        first = own["alarm"]
        if first["drop"] or (first["kind"] == "normal" and first["accepted_n"] != 100):
            continue
        cells = [_percent(own[rule]["within_365"]) for rule in ("alarm", "without_errors", "floor")]
        lines.append(f"| {_nights(first)} | {' | '.join(cells)} | {_percent(first['warned'])} |")
    (same,) = (own for own in _settings(rows, "same") if not own["alarm"]["drop"])
    plain = _percent(same["per_run"]["within_365"])
    lines += [
        "",
        _wrapped(
            "The same 500 examples at every run, the model trained anew (90 % right):"
            f" {_percent(same['alarm']['within_365'])} for the pairs at each run's share of the error, {plain} for"
            " the plain test of each run."
        ),
        "",
    ]
    return lines


def _metrics(rows: Sequence[Row]) -> list[str]:
    """False alarms of a year of weekly runs for other metrics, unequal runs and clusters."""
    count, seed = int(rows[0]["series"]), int(rows[0]["seed"])
    text = (
        f"Weekly runs, 52 of them, {count} series a line (`make study-audited-metrics`, seed {seed}; two Monte Carlo"
        f" errors of 2 % are {_two_errors(0.02, count):.1f} points). Values and intervals are those of the package. The"
        " models' quality varies so much between runs that the metric itself varies with the largest standard deviation"
        " for which the alarm promises its rate. Unequal: between a fifth and twice the examples; clusters of five."
        " [audit-alarms-metrics.csv](audit-alarms-metrics.csv)"
    )
    lines = [
        "## Other metrics, unequal runs, clusters: nothing changed",
        "",
        _wrapped(text),
        "",
        "| metric | examples | positives | runs | accepted | the alarm | its one-run rule | a change that lasts |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        rates = " | ".join(_percent(row[rule]) for rule in ("alarm", "one_run", "lasting"))
        lines.append(
            f"| `{row['metric']}` | {row['n']:.0f} | {100 * row['prevalence']:.0f} % | {row['sizes']} |"
            f" {row['accepted']:.0f} | {rates} |"
        )
    return [*lines, ""]


def _nights(row: Row) -> str:
    if row["kind"] == "heavy":
        return f"heavy tails (t, 4 degrees of freedom), sd {row['sd']:g}"
    if row["kind"] == "weekly":
        return f"two of seven 3 points lower (weekends), sd {row['sd']:g}"
    if row["kind"] == "unequal":
        return f"every tenth has 10 examples, {100 * row['accuracy']:g} % right"
    if row["kind"] == "chained":
        return f"**dependent**: AR(1) with correlation {row['correlation']:g}, sd {row['sd']:g}"
    if row["accuracy"] > 0.9:
        return f"{row['nightly']:,.0f} examples, {100 * row['accuracy']:g} % right: a mistake in ten runs"
    return f"{row['nightly']:,.0f} examples, accepted runs of {row['accepted_n']:,.0f}"


def _speed(rows: Sequence[Row]) -> list[str]:
    """Runs until half (and nine tenths) of the series are alarmed."""
    lines = [
        "## How many runs until a drop is seen",
        "",
        _wrapped(
            "Runs until half (and nine tenths) of the series are alarmed, counted from the drop, among those that"
            " were not alarmed before; –: later than 120 runs."
        ),
        "",
        "| accepted | drop | sd | −2 points | −5 points | −20 points | −5 points, bets against a floor |",
        "|---|---|---|---|---|---|---|",
    ]
    for accepted, good in ((7, 0), (7, 5), (7, 30), (1, 0), (1, 30)):
        for sd in SDS:
            found = [
                _one(rows, "normal", "alarm", accepted=accepted, good=good, sd=sd, drop=d)
                for d in (0.02, 0.05, 0.2)
            ]
            found.append(_one(rows, "normal", "floor", accepted=accepted, good=good, sd=sd, drop=0.05))
            cells = " | ".join(f"{_days(r['median_days'])} ({_days(r['days_of_90_percent'])})" for r in found)
            begin = f"after {good} good runs" if good else "at once"
            lines.append(f"| {accepted} run{'s' if accepted > 1 else ''} | {begin} | {sd:g} | {cells} |")
    same = [own["alarm"] for own in _settings(rows, "same") if own["alarm"]["drop"]]
    said = " and ".join(
        f"{_days(r['median_days'])} ({_days(r['days_of_90_percent'])}) for {100 * r['drop']:g} points"
        for r in same
    )
    text = f"The same 500 examples at every run, after {same[0]['good']:.0f} good ones: {said}."
    return [*lines, "", _wrapped(text), ""]


def _reading(rows: Sequence[Row]) -> list[str]:
    def year(rule: str, **given: Any) -> list[float]:
        return [
            r["within_365"] for r in rows
            if r["rule"] == rule and r["kind"] == "normal" and not r["drop"] and r["accepted_n"] >= 1000
            and all(r[name] == value for name, value in given.items())
        ]  # fmt: skip

    ours, plain, gate = year("alarm"), year("per_run"), year("gate", sd=0.02)
    (heavy,) = (own["alarm"]["within_365"] for own in _settings(rows, "heavy"))
    tied = [own["alarm"]["within_365"] for own in _settings(rows, "chained")]
    soon = _one(rows, "normal", "alarm", accepted=7, good=0, sd=0.01, drop=0.05)["median_days"]
    later = _one(rows, "normal", "alarm", accepted=1, good=30, sd=0.01, drop=0.05)["median_days"]
    collapse = [
        r["median_days"] for r in rows if r["rule"] == "alarm" and r["drop"] == 0.2 and r["kind"] == "normal"
    ]
    points = [
        f"Of independent normal runs the alarm was false in {_range(ours)} of the series; it promises at most"
        f" {100 * PROMISED:g} %. A larger accepted run does not make it worse.",
        f"The plain test is wrong within a year in {_range(plain)} of the series, and a gate with a margin of 2"
        f" points, at sd 0.02, in {_range(gate)}.",
        f"Where runs vary with heavy tails, so that single runs lie far out by themselves, it was false in"
        f" {_percent(heavy)} (t with 4 degrees of freedom, 365 runs; weekly runs and half that standard deviation:"
        " [promises](promises.md#alarms-of-audits)): declare at least twice as much as runs differ, or a floor."
        f" **Dependence is not covered**: {_range(tied)} at"
        " correlations of 0.3 and 0.6. Seven runs show such a correlation rarely (last column), so think before you"
        " trust the test: where a season or a batch may last several runs, declare a floor.",
        f"A collapse by 20 points was seen after {_days(min(collapse))}"
        + (
            f" to {_days(max(collapse))} runs"
            if max(collapse) > min(collapse)
            else " run" + "s" * (min(collapse) > 1)
        )
        + f" in the median. A drop of 5 points at sd 0.01 took {_days(soon)} runs after seven accepted runs, and"
        f" {_days(later)} after 30 good runs with one accepted.",
        "Nothing shows a small drop right after one accepted run soon: that run may have been a lucky one. Accept at"
        " least three good runs, better a week of them.",
    ]
    return ["## Reading it", "", *(_wrapped(f"- {text}", "  ") for text in points), ""]


# --- rows -----------------------------------------------------------------------------------------------------------


def _one(rows: Sequence[Row], kind: str, rule: str, **given: float) -> Row:
    """Return the one row of a kind and rule with these facts; of settings that differ in nothing else."""
    plain = {"accepted_n": 1000.0, "nightly": 1000.0, "accuracy": 0.85, "good": 0.0}
    wanted = {**plain, **given}
    (row,) = (
        r for r in rows
        if (r["kind"], r["rule"]) == (kind, rule) and all(r[name] == value for name, value in wanted.items())
    )  # fmt: skip
    return row


def _settings(rows: Sequence[Row], *kinds: str) -> list[dict[str, Row]]:
    """Return the rows of each setting of some kinds by rule, in the order of kinds."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for kind in kinds:
        for row in rows:
            if row["kind"] == kind:
                key = tuple(row[name] for name in KEY)
                found.setdefault(key, {})[row["rule"]] = row
    return list(found.values())


KEY = ("kind", "accepted", "accepted_n", "nightly", "accuracy", "sd", "correlation", "drop", "good")


def _range(shares: Sequence[float]) -> str:
    low, high = _percent(min(shares)), _percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def _days(days: float | None) -> str:
    return "–" if days is None else f"{days:.0f}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


# --- figure ---------------------------------------------------------------------------------------------------------


def figure(rows: Sequence[Row], path: Path) -> None:
    """Draw the false alarms of a year, and how soon drops are seen: seven accepted nights, sd 0.01."""
    from evalreport.plots.style import MUTED, report_style, to_svg

    with report_style():
        from matplotlib.figure import Figure

        canvas = Figure(figsize=(9.2, 3.8), layout="constrained")
        left, right = canvas.subplots(1, 2)
        left.axhline(100 * PROMISED, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)))
        for place, rule in enumerate(("per_run", "gate", "alarm")):
            row = _one(rows, "normal", rule, accepted=7, sd=0.01, drop=0.0)
            _draw(left, row, RULES[rule].replace("`", ""), place)
        left.set_title("nothing changed: series with a false alarm", fontsize=9)
        left.legend(fontsize=8, loc="upper left")
        _falls(right, rows)
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xticks([1, 7, 30, 90, 365], ["1", "7", "30", "90", "365"])
            axes.minorticks_off()
            axes.set_xlabel("runs")
            axes.set_ylim(-2, 102)
        left.set_ylabel("%")
        text = to_svg(
            canvas,
            name="audit-alarms",
            title="Alarms of audits",
            description="Share of series with a false alarm by run under three rules, and share in which the alarm"
            " saw a drop of 2, 5 or 20 points; seven accepted runs, runs of 1,000 examples, sd 0.01.",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _falls(axes: Any, rows: Sequence[Row]) -> None:
    for place, drop in enumerate((0.2, 0.05, 0.02)):
        row = _one(rows, "normal", "alarm", accepted=7, good=30, sd=0.01, drop=drop)
        _draw(axes, row, f"{100 * drop:g} points lower", place)
    axes.set_title("the alarm: series in which a drop was seen", fontsize=9)
    axes.legend(fontsize=8, loc="center right")


def _draw(axes: Any, row: Row, label: str, place: int) -> None:
    from evalreport.plots.style import mark_of

    mark = mark_of(place)
    shown = {name: row[name] for name in row if name.startswith("within_") and row[name] is not None}
    axes.plot(
        [int(name.removeprefix("within_")) for name in shown], [100 * share for share in shown.values()],
        color=mark.colour, marker=mark.marker, linestyle=mark.dash, linewidth=1.3, markersize=4, label=label,
    )  # fmt: skip
