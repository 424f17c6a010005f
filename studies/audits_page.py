"""The page and the figure of the study of alarms, from its table alone."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

RULES = {
    "per_run": "plain test of this run, 5 %",
    "gate": "gate `accuracy >= accepted - 0.02`",
    "per_run_spent": "plain test, error spread over the looks",
    "from_the_start": "sequence, one start",
    "sequence": "**sequence (the alarm)**",
}
PLAIN = {name: words.replace("**", "").replace("`", "") for name, words in RULES.items()}
SHOWN = ("per_run", "gate", "per_run_spent", "sequence")
WIDTH = 110
PROMISED = 0.05


def page(rows: Sequence[Row]) -> str:
    """Write the tables as Markdown."""
    count, seed = int(rows[0]["series"]), int(rows[0]["seed"])
    error = 200 * (0.05 * 0.95 / count) ** 0.5
    intro = (
        f"Measured by `make study-audits` (seed {seed}): {count:,} series of nightly audits a setting, of a model that"
        f" is right on {100 * rows[0]['accuracy']:g} % of the examples. Two Monte Carlo errors of a rate of 5 % are"
        f" {error:.1f} points. The table with every day is [audit-alarms.csv](audit-alarms.csv)."
    )
    return "\n".join(
        [
            "# Alarms of nightly audits: how often false, how soon right",
            "",
            _wrapped(intro),
            "",
            "![Left: share of series with a false alarm, by night; right: share in which a drop was seen, by night]"
            "(figures/audit-alarms.svg)",
            "",
            *_rule(),
            *_false(rows),
            *_power(rows),
            *_reading(rows),
        ]
    )


def _rule() -> list[str]:
    text = (
        "An audit asks every night whether the model is worse than at the accepted run. A test at 5 % that is asked"
        " every night is wrong far more often than in 5 % of the series. The alarm (`worse` in `results.json` under"
        " `audit`) is wrong in at most 5 % (1 − `--confidence`) of the series, however many nights they last:"
    )
    points = (
        "**New examples every night**, and a metric that is a mean of bounded losses (accuracy, error rate, Brier"
        " score, complement MSE, outcomes from 0 to 1): a betting confidence sequence (Waudby-Smith and Ramdas 2024,"
        " grid Kelly). Four fifths of the error go to an upper limit of the accepted run's mean loss (exact for 0/1,"
        " Clopper-Pearson), one fifth to the bets that no night's mean loss lay above it. Each night a share of the"
        " stake begins anew, so that good weeks before a drop do not hide it. Examples, or clusters, that a run since"
        " the accepted one held already are no new evidence and are left out.",
        "**The same examples again, and every other metric** (F1, AUC, RMSE ...): the p-value of this look against the"
        " look's share of the error: half of it as 1 / (k (k + 1)), half evenly over a year's 365 looks, half of that"
        " over the next year's. This holds for any dependence between the nights, as far as the test holds so far out."
        " A permutation test needs many replicates for that: where `--resamples` is too small to decide, it is said,"
        " with how many are needed.",
        "The error is divided among the models of a run. Drift of the data and fallen slices are corrected by Holm over"
        " the questions of a run, and spread over the looks in the same way.",
        "Which runs held what follows from the stored runs: each keeps its condensed new losses and digests of some ids"
        " in its results and summary. `evalreport history accept` begins anew.",
        "A series that mixes both kinds of nights, new and repeated examples, can spend its error twice.",
    )
    return [_wrapped(text), "", *(_wrapped(f"- {t}", "  ") for t in points), ""]


def _false(rows: Sequence[Row]) -> list[str]:
    lines = ["## False alarms: nothing changed", "", "Share of series with at least one alarm within", ""]
    lines += ["| examples | rule | 1 week | 1 month | 1 year |", "|---|---|---|---|---|"]
    for row in rows:
        if row["drop"] == 0:
            cells = " | ".join(_percent(row[f"within_{day}"]) for day in (7, 30, 365))
            lines.append(f"| {_setting(row)} | {RULES[row['rule']]} | {cells} |")
    return [*lines, ""]


def _power(rows: Sequence[Row]) -> list[str]:
    lines = [
        "## How many nights until a drop is seen",
        "",
        _wrapped(
            "After 56 good nights accuracy falls by 1, 2 or 5 points. Nights until half (and nine tenths) of the series"
            " are alarmed, among those that were not alarmed before; –: later than a year. Read a rule's speed beside"
            " its false alarms: a rule that cries always is early, too."
        ),
        "",
        "| examples | rule | −1 point | −2 points | −5 points | alarmed in the 56 good nights |",
        "|---|---|---|---|---|---|",
    ]
    for first in (r for r in rows if r["drop"] == 0):
        own = [r for r in rows if r["drop"] > 0 and _key(r) == _key(first)]
        cells = " | ".join(f"{_days(r['median_days'])} ({_days(r['days_of_90_percent'])})" for r in own)
        early = _percent(max(r["alarmed_before"] for r in own))
        lines.append(f"| {_setting(first)} | {RULES[first['rule']]} | {cells} | {early} |")
    return [*lines, ""]


def _reading(rows: Sequence[Row]) -> list[str]:
    def year(rule: str) -> list[float]:
        return [r["within_365"] for r in rows if r["drop"] == 0 and r["rule"] == rule]

    plain, gate, ours, spent = (year(rule) for rule in ("per_run", "gate", "sequence", "per_run_spent"))
    points = [
        f"The plain test is wrong within a year in {_range(plain)} of the series. It is less where the accepted run is"
        " as small as a night's: all nights are then compared with the same luck.",
        f"A gate with a margin is wrong in {_range(gate)}: its margin protects it where nights are large, not where"
        " they are small. Gates fail builds by what one night shows; the alarm is for what nobody watches.",
        f"The alarm was false in {_range(ours)} of the series; it promises at most 5 %.",
        f"The spread test was false in {_range(spent)}. "
        + (
            "Where it is more than 5 % nights are small: so far out the normal approximation of the z test does not"
            " hold any more. On new examples with ids the alarm is the sequence, which approximates nothing."
            if max(spent) > PROMISED
            else "It promises at most 5 %, as far as its test holds so far out."
        ),
        "The size of the accepted run decides what can be seen at all: its own uncertainty never gets smaller. Accept"
        " a run over many examples, such as a month's, and audit nightly against it.",
        "Starting anew costs little where nothing changed and finds a drop after good weeks sooner than the sequence"
        " with one start.",
    ]
    return ["## Reading it", "", *(_wrapped(f"- {text}", "  ") for text in points), ""]


def _key(row: Row) -> tuple[Any, ...]:
    return row["examples"], row["nightly"], row["accepted"], row["rule"]


def _setting(row: Row) -> str:
    if row["examples"] == "same":
        return f"the same {int(row['nightly']):,} every night"
    return f"{int(row['nightly']):,} new a night, {int(row['accepted']):,} accepted"


def _range(shares: Sequence[float]) -> str:
    low, high = _percent(min(shares)), _percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _days(days: float | None) -> str:
    return "–" if days is None else f"{days:.0f}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def figure(rows: Sequence[Row], path: Path) -> None:
    """Draw the false alarms of a year, and how soon drops are seen: 200 examples a night, 2,000 accepted."""
    from evalreport.plots.style import MUTED, report_style
    from evalreport.plots.svg import to_svg

    own = [r for r in rows if (r["examples"], r["nightly"], r["accepted"]) == ("new", 200, 2000)]
    with report_style():
        from matplotlib.figure import Figure

        canvas = Figure(figsize=(9.2, 3.8), layout="constrained")
        left, right = canvas.subplots(1, 2)
        left.axhline(5, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)))
        for place, rule in enumerate(SHOWN):
            _draw(left, next(r for r in own if r["drop"] == 0 and r["rule"] == rule), PLAIN[rule], place)
        left.set_title("nothing changed: series with a false alarm", fontsize=9)
        left.legend(fontsize=8, loc="upper left")
        for place, drop in enumerate((0.05, 0.02, 0.01)):
            row = next(r for r in own if r["drop"] == drop and r["rule"] == "sequence")
            _draw(right, row, f"{100 * drop:g} point{'s' if drop > 0.01 else ''} lower", place)
        right.set_title("the sequence: series in which a drop was seen", fontsize=9)
        right.legend(fontsize=8, loc="upper left")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xticks([1, 7, 30, 90, 365], ["1", "7", "30", "90", "365"])
            axes.minorticks_off()
            axes.set_xlabel("nights")
            axes.set_ylim(-2, 102)
        left.set_ylabel("%")
        text = to_svg(
            canvas,
            name="audit-alarms",
            title="Alarms of nightly audits",
            description="Share of series with a false alarm by night under four rules, and share in which the sequence "
            "saw a drop of 1, 2 or 5 points; 200 new examples a night, 2,000 at the accepted run.",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _draw(axes: Any, row: Row, label: str, place: int) -> None:
    from evalreport.plots.style import mark_of

    mark = mark_of(place)
    days = [int(name.removeprefix("within_")) for name in row if name.startswith("within_")]
    axes.plot(
        days, [100 * row[f"within_{day}"] for day in days], color=mark.colour, marker=mark.marker,
        linestyle=mark.dash, linewidth=1.3, markersize=4, label=label,
    )  # fmt: skip
