"""How often the alarms of audits are false, and how soon they see a drop: about an hour on one core."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalreport.audit.evidence import FRACTIONS, SHORTEST, drop_evidence, serial_correlation
from evalreport.audit.run_alarm import Scale, compare_run, fall_midp, promised_between, share_of_run
from evalreport.audit.sequential_test import CORRELATED, LOOKS_A_YEAR
from evalreport.comparisons.example_tests import P_OF_COUNTS
from evalreport.engine.distributions import t_tail
from evalreport.intervals.proportions import newcombe_independent_limits, quantile, wilson_limits
from evalreport.plots.style import MUTED
from research.studies import figures, tables
from research.studies.harness import Run
from research.studies.judgement import Fact, Line, at_most, limit

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ALPHA = 0.05
GOAL = 2 / ALPHA
"""Evidence at which the mixture is an alarm: it has half of the error, the one-run rule the other half."""
SHARE = Scale(greater_is_better=True, least=0.0, greatest=1.0)
MARGIN = 0.02
"""Of the gate ``accuracy >= accepted - 0.02``, and between the level and the declared floor."""
NIGHTS_WATCHED = 120
"""Nights after a drop."""
DAYS = (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 240, 300, 365)
"""Nights at which the table says how many series had had an alarm."""
WEEKENDS = 0.03
"""How much lower the accuracy is on two nights of seven, where weeks have a pattern."""
DISAGREEMENT = 0.1
"""Share of the same examples on which the model of a night is right and the accepted one wrong, or the other way."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of series.

    ``kind`` of nights: ``normal``, ``heavy`` (t with 4 degrees of freedom), ``weekly`` (two of seven lie lower by
    ``WEEKENDS``), ``chained`` (AR(1)), ``unequal`` (every tenth has 10 examples), ``same`` (the same examples every
    night). ``sd`` is that of a night's true accuracy, ``good`` the nights before the drop, ``horizon`` the runs
    of a year.
    """

    kind: str = "normal"
    accepted: int = 7
    accepted_n: int = 1000
    nightly: int = 1000
    accuracy: float = 0.85
    sd: float = 0.0
    correlation: float = 0.0
    drop: float = 0.0
    good: int = 0
    horizon: int = LOOKS_A_YEAR


SDS = (0.0, 0.01, 0.02)
STILL = (
    *(Setting(accepted=a, accepted_n=n, sd=sd) for a in (1, 7) for n in (1000, 10_000) for sd in SDS),
    Setting("heavy", sd=0.02),
    Setting("weekly", sd=0.01),
    Setting("unequal", accuracy=0.97),
    Setting(accepted_n=100, nightly=10_000),
    Setting(accepted_n=100, nightly=100, accuracy=0.999),
    *(Setting("chained", sd=0.02, correlation=r) for r in (0.3, 0.6)),
    Setting("same", accepted=1, accepted_n=500, nightly=500, accuracy=0.9),
)
"""Nothing changes for a year."""
FALLING = (
    *(
        Setting(accepted=a, good=good, sd=sd, drop=drop)
        for a, good in ((7, 0), (7, 5), (7, 30), (1, 0), (1, 30))
        for sd in SDS
        for drop in (0.02, 0.05, 0.2)
    ),
    *(replace(STILL[-1], good=30, drop=drop) for drop in (0.02, 0.05)),
)


def summary(first: Counts, setting: Setting) -> dict[str, Any]:
    """Summarise the night (1, 2, ...; 0: none) of each series' first alarm.

    Nights are counted from the drop, and series that were alarmed before it are left out.
    """
    early = (first > 0) & (first <= setting.good)
    days = np.where(first == 0, np.inf, first - setting.good)[~early]
    found: dict[str, Any] = {"series": len(first), "alarmed_before": float(early.mean())}
    for q, name in ((0.5, "median_days"), (0.9, "days_of_90_percent")):
        at = np.sort(days)[math.ceil(q * len(days)) - 1] if len(days) else np.inf
        found[name] = int(at) if np.isfinite(at) else ""
    last = NIGHTS_WATCHED if setting.drop else setting.horizon
    for day in DAYS:
        found[f"within_{day}"] = float((days <= day).mean()) if day <= last and len(days) else ""
    return found


def night_count(setting: Setting) -> int:
    """Return how many nights a series lasts."""
    return setting.good + NIGHTS_WATCHED if setting.drop else setting.horizon


# --- new examples every night ---------------------------------------------------------------------------------------


def new_examples(
    setting: Setting, replications: int, generator: np.random.Generator, *, alarms_alone: bool = False
) -> tuple[dict[str, Counts], float]:
    """Return each series' first alarm by each rule, and the share whose accepted nights seem to depend.

    Parameters
    ----------
    alarms_alone
        Only the alarm and its one-run rule.
    """
    sizes, values = nights_of(setting, replications, generator)
    a = setting.accepted
    errors = np.sqrt(values * (1 - values) / sizes)
    errors[:, :a] = np.maximum(errors[:, :a], errors_of(values[:, :a], sizes[:a], a))
    then, since = values[:, a - 1 : a], values[:, a:]
    m, n = sizes[a - 1], sizes[a:]
    floor = setting.accuracy - MARGIN
    lasting = first_alarm(values, a, errors, setting.horizon)
    alone = first_of_run(values, sizes, a, setting.horizon)
    first = {"alarm": earlier(lasting, alone), "run_alarm": alone}
    if alarms_alone:
        return first, math.nan
    if not setting.drop or setting.drop == 0.05:
        first["floor"] = first_night(floor_bets(since, floor) >= -math.log(ALPHA))
    if not setting.drop:
        first["without_errors"] = first_alarm(values, a, None, setting.horizon)
        first["per_run"] = first_night(two_proportions(1 - then, m, 1 - since, n) <= ALPHA)
        wrong = np.rint((1 - since) * n), np.rint((1 - then) * m)
        low, _ = np.vectorize(_newcombe)(wrong[0], n, wrong[1], m)
        first["gate"] = first_night(low > MARGIN)
    related = [serial_correlation(row) for row in values[:, :a]]
    return first, float(np.mean([found is not None and found[1] <= CORRELATED for found in related]))


def nights_of(setting: Setting, replications: int, generator: np.random.Generator) -> tuple[Counts, Floats]:
    """Return the examples of each night (A + t,) and the accuracies (series, A + t)."""
    t = night_count(setting)
    sizes = np.repeat([setting.accepted_n, setting.nightly], [setting.accepted, t])
    if setting.kind == "unequal":
        sizes[setting.accepted + 4 :: 10] = 10
    shape = (replications, setting.accepted + t)
    if setting.kind == "heavy":
        effects = generator.standard_t(4, shape) / math.sqrt(2)  # its variance is 2
    else:
        effects = generator.normal(size=shape)
    for k in range(1, shape[1] if setting.correlation else 0):
        effects[:, k] = (
            setting.correlation * effects[:, k - 1] + math.sqrt(1 - setting.correlation**2) * effects[:, k]
        )
    fallen = np.where(np.arange(shape[1]) < setting.accepted + setting.good, 0.0, setting.drop)
    if setting.kind == "weekly":
        fallen = fallen + np.where(np.arange(shape[1]) % 7 >= 5, WEEKENDS, 0.0)
    level = np.clip(setting.accuracy - fallen + setting.sd * effects, 0, 1)
    return sizes, generator.binomial(sizes, level) / sizes


def _newcombe(x: float, n: int, y: float, m: int) -> tuple[float, float]:
    return newcombe_independent_limits((x, n), (y, m), 1 - ALPHA)


def first_alarm(values: Floats, accepted: int, errors: Floats | None, horizon: int = LOOKS_A_YEAR) -> Counts:
    """Return the night of each series' first alarm by the product's evidence."""
    found = np.zeros(len(values), dtype=np.int64)
    for t in range(SHORTEST, values.shape[1] - accepted + 1):
        live = np.flatnonzero(found == 0)
        own = None if errors is None else errors[live, : accepted + t]
        then, since = values[live, :accepted], values[live, accepted : accepted + t]
        log_e, _ = drop_evidence(then, since, own, horizon=horizon)
        found[live[log_e >= math.log(GOAL)]] = t
    return found


def first_of_run(values: Floats, sizes: Counts, accepted: int, horizon: int = LOOKS_A_YEAR) -> Counts:
    """Return the run of each series' first alarm by the product's one-run rule, for shares of right answers."""
    errors, found = errors_of(values, sizes, accepted), np.zeros(len(values), dtype=np.int64)
    levels = [ALPHA / 2 * share_of_run(t % horizon + 1, horizon) for t in range(values.shape[1] - accepted)]
    for series, both in enumerate(np.stack([values, errors], axis=-1)):
        pairs = [(value, error) for value, error in both.tolist()]
        nights = (
            t for t, level in enumerate(levels) if p_of_run(pairs, sizes, accepted, t, level)[0] <= level
        )
        found[series] = next(nights, -1) + 1
    return found


def p_of_run(
    pairs: Sequence[tuple[float, float]], sizes: Counts, accepted: int, night: int, level: float
) -> tuple[float, float]:
    """Return the p-values of a night's share being worse, and better, than the accepted ones, as an audit has them.

    Fisher's mid-p is looked at where the other one is at most the level. ``pairs``: values with their errors.
    """
    now = accepted + night
    least_n = int(min(sizes[now], sizes[:accepted].min()))
    found = compare_run(pairs[:accepted], pairs[now], of=SHARE, least_n=least_n)
    worse = found.p_value
    if worse <= level:
        right = np.rint(np.array(pairs)[:, 0] * sizes)
        before = np.array([[right[:accepted].sum(), sizes[:accepted].sum()]], dtype=np.float64)
        worse = max(worse, fall_midp(before, np.array([[right[now], sizes[now]]], dtype=np.float64)))
    return worse, t_tail(-found.z, found.df)


def errors_of(values: Floats, sizes: Counts, accepted: int) -> Floats:
    """Return the standard errors of shares by Wilson's limits; of accepted ones on the side of a fall."""
    low, high = np.vectorize(wilson_limits)(np.rint(values * sizes), sizes, 1 - ALPHA)
    widths = (high - low) / 2
    below = (values - low)[:, :accepted]
    widths[:, :accepted] = np.where(below > 0, below, widths[:, :accepted])
    return np.asarray(widths / quantile(1 - ALPHA))


def earlier(first: Counts, second: Counts) -> Counts:
    """Return the earlier of two first alarms of each series; 0: none."""
    never = np.iinfo(np.int64).max
    both = np.minimum(np.where(first > 0, first, never), np.where(second > 0, second, never))
    return np.where(both == never, 0, both)


def floor_bets(nights: Floats, floor: float) -> Floats:
    """Return ``floor_evidence`` after each night, for many series at once."""
    loss = (floor - nights) / (1 - floor)
    logs = [np.cumsum(np.log1p(f * loss), axis=1) for f in FRACTIONS]
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(len(FRACTIONS)))


def two_proportions(q: Floats, m: Any, p: Floats, n: Any) -> Floats:
    """Return the two-sided p-value of the pooled z test where p is worse (larger), else 1."""
    pooled = (q * m + p * n) / (m + n)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / m + 1 / n))
    z = np.divide(p - q, spread, out=np.zeros(np.broadcast_shapes(p.shape, q.shape)), where=spread > 0)
    return np.where(z > 0, 2 * stats.norm.sf(z), 1.0)


# --- the same examples every night ----------------------------------------------------------------------------------


def same_examples(
    setting: Setting, replications: int, generator: np.random.Generator
) -> tuple[dict[str, Counts], float]:
    """Return the night of the first alarm where a model is trained anew and tested on the same examples."""
    n, accuracy, nights = setting.nightly, setting.accuracy, night_count(setting)
    right = generator.binomial(n, accuracy, replications)[:, None]
    fallen = np.where(np.arange(nights) < setting.good, 0.0, setting.drop)
    # Half of the disagreement each way, so that the expected accuracy of a night is that of the accepted model.
    lost = generator.binomial(right, (DISAGREEMENT / 2 + fallen) / accuracy, (replications, nights))
    gained = generator.binomial(n - right, DISAGREEMENT / 2 / (1 - accuracy), (replications, nights))
    p = np.where(lost > gained, np.vectorize(P_OF_COUNTS["mcnemar_midp"])(lost, gained), 1.0)
    shares = np.array([share_of_run(night + 1, LOOKS_A_YEAR) for night in range(nights)])
    return {"per_run": first_night(p <= ALPHA), "alarm": first_night(p <= ALPHA * shares)}, 0.0


def first_night(alarming: Flags) -> Counts:
    """Return the number (1, 2, ...) of the first alarming night of each series; 0: none."""
    return np.where(alarming.any(axis=1), alarming.argmax(axis=1) + 1, 0)


# --- promises -------------------------------------------------------------------------------------------------------

AUDITED: tuple[Setting, ...] = (
    *(s for s in STILL if s.kind == "normal" and s.accepted_n >= 1000),
    *(Setting(accepted=a, sd=0.02, horizon=52) for a in (1, 3, 8)),
    Setting("heavy", sd=0.02),
    Setting("heavy", sd=0.01),
    Setting("heavy", accepted=3, sd=0.02, horizon=52),
    Setting("heavy", accepted=3, sd=0.01, horizon=52),
    *(s for s in STILL if s.kind == "same"),
)
"""Series in which nothing changes. 0.02 is the largest standard deviation for which the alarm promises its rate."""


def promised(run: Run) -> Iterator[Line]:
    """Promise few false alarms in a year of runs, by either rule, and that a drop of five points is seen soon."""
    series = run.replications
    for number, setting in enumerate(AUDITED):
        if run.only not in _year(setting):
            continue
        rate = float((_first_alarms(setting, series, run.seed, number) > 0).mean())
        yield at_most(f"false alarm in {_year(setting)}", rate, 0.05, series)
    falling = (Setting(sd=0.01, drop=0.05), Setting(accepted=1, good=30, sd=0.01, drop=0.05))
    for number, setting in enumerate(() if run.only else falling):
        first = _first_alarms(setting, series, run.seed, 100 + number)
        median = summary(first, setting)["median_days"]
        drop = f"a drop of 5 points, sd 0.01, {setting.accepted} accepted, after {setting.good} good runs"
        yield Fact(
            promise=f"{drop}: seen in",
            asked="a median of 8 runs",
            found=f"{median or 'no'} runs in {series:,}",
            holds=median != "" and median <= 8,
        )


def _first_alarms(setting: Setting, series: int, seed: int, number: int) -> Counts:
    make = same_examples if setting.kind == "same" else new_examples
    return make(setting, series, np.random.default_rng([seed, number]))[0]["alarm"]


def _year(setting: Setting) -> str:
    if setting.kind == "same":
        return f"{setting.horizon} runs on the same {setting.nightly:,} examples, trained anew"
    tails = "heavy tails (t, 4 df), " if setting.kind == "heavy" else ""
    return f"{setting.horizon} runs, {tails}{setting.accepted} of {setting.accepted_n:,} accepted, sd {setting.sd:g}"


# --- files ----------------------------------------------------------------------------------------------------------


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/audit-alarms.csv, one for each rule; where something falls, half as many series do."""
    for number, setting in enumerate((*STILL, *FALLING)):
        print(setting, file=sys.stderr, flush=True)
        # A stream for each setting, so that leaving one out changes no other.
        generator = np.random.default_rng([run.seed, number])
        series = run.replications // 2 if setting.drop else run.replications
        make = same_examples if setting.kind == "same" else new_examples
        first, warned = make(setting, series, generator)
        facts = asdict(setting)
        del facts["horizon"]  # a year of nights
        for rule, nights in first.items():
            shares = {"warned": warned, **summary(nights, setting)}
            yield {**facts, "rule": rule, "seed": run.seed, **{k: _written(v) for k, v in shares.items()}}


def _written(value: Any) -> object:
    """Write a share with four decimals."""
    return f"{value:.4f}" if isinstance(value, float) else value


SMALL = (8, 12, 30, 100, 1000)
LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)


def of_few_accepted() -> Iterator[Setting]:
    """Yield series after an accepted run of few examples, in which nothing changes.

    Every run's accuracy varies around the level of the accepted one with a standard deviation of 0, or of the largest
    for which the alarm promises its rate.
    """
    promised_sd = {level: promised_between(level, SHARE) for level in LEVELS}
    for n in SMALL:
        for level in LEVELS:
            for sd in (0.0, promised_sd[level]):
                yield Setting(accepted=1, accepted_n=n, accuracy=level, sd=sd, horizon=52)
    for n in SMALL:
        for level in LEVELS:
            yield Setting(accepted=1, accepted_n=n, accuracy=level, sd=promised_sd[level], horizon=365)
    for level in LEVELS:
        yield Setting(accepted=3, accepted_n=12, accuracy=level, sd=0.0, horizon=52)


def small(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the rows of docs/audit-alarms-small.csv: the share of series with an alarm within the year, by rule."""
    for number, setting in enumerate(of_few_accepted()):
        series = run.replications if setting.horizon < 100 else run.replications // 4
        first, _ = new_examples(setting, series, np.random.default_rng([run.seed, number]), alarms_alone=True)
        alarms = int((first["alarm"] > 0).sum())
        yield {
            "accepted": setting.accepted, "accepted_n": setting.accepted_n, "accuracy": setting.accuracy,
            "sd": f"{setting.sd:g}", "horizon": setting.horizon, "series": series, "alarm": f"{alarms / series:.4f}",
            "run_alarm": f"{(first['run_alarm'] > 0).mean():.4f}",
            "upper": f"{limit('at most', alarms, series, 0.995):.4f}", "seed": run.seed,
        }  # fmt: skip


@tables.view("small.rates")
def rates() -> list[dict[str, str]]:
    """Return the rates at the largest promised spread by level, a row for each accepted run, and the largest limit."""
    groups: dict[tuple[str, str, str], list[tables.Row]] = {}
    for row in tables.read(tables.DOCS / "audit-alarms-small.csv"):
        groups.setdefault((row["horizon"], row["accepted"], row["accepted_n"]), []).append(row)
    found = []
    for (horizon, accepted, n), cells in groups.items():
        widest = {
            row["accuracy"]: tables.percent(row["alarm"]) for row in cells
        }  # the last, with the larger spread
        times = "" if accepted == "1" else f"{accepted} runs (sd 0) of "
        found.append(
            {
                "runs": {"52": "weekly", "365": "daily"}[horizon],
                "accepted examples": f"{times}{int(n):,}",
                **widest,
                "upper limit": tables.percent(str(max(float(row["upper"]) for row in cells))),
            }
        )
    return found


RULES = {
    "alarm": "**the alarm**",
    "run_alarm": "the alarm, its one-run rule alone",
    "floor": "bets against a floor 2 points below the level",
    "without_errors": "the lasting change without the examples' errors",
    "gate": "gate `accuracy >= accepted - 0.02`",
    "per_run": "plain test of this run, 5 %",
}


@tables.view("audits")
def shown() -> list[dict[str, str]]:
    """Return the rows with names for people: of the accepted runs, the rule, the runs, and when a drop began."""
    return [
        {
            **row, "name": RULES[row["rule"]], "runs": _runs(row),
            "accepted runs": f"{row['accepted']} of {int(row['accepted_n']):,}",
            "begins": f"after {row['good']} good runs" if row["good"] != "0" else "at once",
            "median": row["median_days"] or "–", "90 %": row["days_of_90_percent"] or "–",
        }
        for row in tables.read(tables.DOCS / "audit-alarms.csv")
    ]  # fmt: skip


def _runs(row: tables.Row) -> str:
    right = f"{100 * float(row['accuracy']):g} % right"
    names = {
        "heavy": f"heavy tails (t, 4 degrees of freedom), sd {row['sd']}",
        "weekly": f"two of seven 3 points lower (weekends), sd {row['sd']}",
        "unequal": f"every tenth has 10 examples, {right}",
        "chained": f"**dependent**: AR(1) with correlation {row['correlation']}, sd {row['sd']}",
        "same": f"the same {row['nightly']} examples, the model trained anew, {right}",
    }
    return names.get(
        row["kind"], f"{int(row['nightly']):,} examples, {right}, accepted runs of {int(row['accepted_n']):,}"
    )


def finish(folder: Path) -> list[str]:
    """Draw the figure."""
    figure(tables.read(folder / "audit-alarms.csv"), folder / "figures" / "audit-alarms.svg")
    return []


# --- figure ---------------------------------------------------------------------------------------------------------


def figure(measured: tables.Rows, path: Path) -> None:
    """Draw the false alarms of a year, and how soon drops are seen: seven accepted nights, sd 0.01."""

    def row(rule: str, good: str, drop: str) -> Mapping[int, str]:
        given = {"kind": "normal", "accepted": "7", "accepted_n": "1000", "nightly": "1000", "sd": "0.01"}
        given |= {"rule": rule, "good": good, "drop": drop}
        (found,) = (row for row in measured if all(row[name] == value for name, value in given.items()))
        return {day: found[f"within_{day}"] for day in DAYS if found[f"within_{day}"]}

    def draw(canvas: Any) -> None:
        left, right = canvas.subplots(1, 2)
        left.axhline(100 * ALPHA, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)))
        for place, rule in enumerate(("per_run", "gate", "alarm")):
            label = RULES[rule].strip("*").replace("`", "")
            figures.percentages(left, row(rule, "0", "0.0"), label, place)
        for place, drop in enumerate((0.2, 0.05, 0.02)):
            figures.percentages(right, row("alarm", "30", str(drop)), f"{100 * drop:g} points lower", place)
        left.legend(fontsize=8, loc="upper left")
        right.legend(fontsize=8, loc="center right")
        for axes, title in (
            (left, "nothing changed: series with a false alarm"),
            (right, "the alarm: series in which a drop was seen"),
        ):
            figures.over(axes, (1, 7, 30, 90, 365), "runs", title)
            axes.set_ylim(-2, 102)
        left.set_ylabel("%")

    description = (
        "Share of series with a false alarm by run under three rules, and share in which the alarm saw a drop of 2, 5"
        " or 20 points; seven accepted runs, runs of 1,000 examples, sd 0.01."
    )
    figures.write(path, draw, (9.2, 3.8), "Alarms of audits", description)
