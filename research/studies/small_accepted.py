"""How often a year's alarm is false after an accepted run of few examples; writes docs/audit-alarms-small.csv.

Run by ``make study-audits-small``, two minutes on one core. Nothing changes: every run's accuracy varies around the
level of the accepted one with a standard deviation of 0, or of the largest for which the alarm promises its rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy import stats

from research.studies import tables
from research.studies.audits import Setting, new_examples
from research.studies.harness import Run

SIZES = (8, 12, 30, 100, 1000)
LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)


def promised_sd(level: float) -> float:
    """Return the largest standard deviation between runs for which the alarm promises its rate."""
    return min(0.02, (1 - level) / 4)


SETTINGS = (
    *(
        Setting(accepted=1, accepted_n=n, accuracy=level, sd=sd, horizon=52)
        for n in SIZES
        for level in LEVELS
        for sd in (0.0, promised_sd(level))
    ),
    *(
        Setting(accepted=1, accepted_n=n, accuracy=level, sd=promised_sd(level), horizon=365)
        for n in SIZES
        for level in LEVELS
    ),
    *(Setting(accepted=3, accepted_n=12, accuracy=level, sd=0.0, horizon=52) for level in LEVELS),
)


def rows(run: Run) -> Iterator[Mapping[str, object]]:
    """Yield the share of series with an alarm within the year, by both rules and by the rule of one run."""
    for number, setting in enumerate(SETTINGS):
        series = run.replications if setting.horizon < 100 else run.replications // 4
        first, _ = new_examples(setting, series, np.random.default_rng([run.seed, number]), alarms_alone=True)
        alarms = int((first["alarm"] > 0).sum())
        upper = stats.binomtest(alarms, series).proportion_ci(0.99).high
        yield {
            "accepted": setting.accepted,
            "accepted_n": setting.accepted_n,
            "accuracy": setting.accuracy,
            "sd": f"{setting.sd:g}",
            "horizon": setting.horizon,
            "series": series,
            "alarm": f"{alarms / series:.4f}",
            "run_alarm": f"{(first['run_alarm'] > 0).mean():.4f}",
            "upper": f"{upper:.4f}",
            "seed": run.seed,
        }


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
