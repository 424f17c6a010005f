"""How often the alarms of audits are false, and how soon they see a drop; writes docs/audit-alarms.*.

Run by ``make study-audits``; about three minutes on one core. Same seed, same table.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalreport.audit.evidence import FRACTIONS, SHORTEST, drop_evidence, serial_correlation
from evalreport.audit.run_alarm import ENOUGH_TO_ESTIMATE, LEAST_BETWEEN, share_of_run
from evalreport.audit.sequential_test import CORRELATED, LOOKS_A_YEAR
from research.studies import audits_page

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

DOCS = Path(__file__).resolve().parents[2] / "docs"
ALPHA = 0.05
GOAL = 2 / ALPHA
"""Evidence at which the mixture is an alarm: it has half of the error, the one-run rule the other half."""
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


def study(*, replications: int, seed: int) -> list[dict[str, Any]]:
    """Simulate every setting; a row for each rule. Where something falls, half as many series do."""
    rows = []
    for number, setting in enumerate((*STILL, *FALLING)):
        print(setting, file=sys.stderr, flush=True)
        # A stream for each setting, so that leaving one out changes no other.
        generator = np.random.default_rng([seed, number])
        count = replications // 2 if setting.drop else replications
        make = same_examples if setting.kind == "same" else new_examples
        first, warned = make(setting, count, generator)
        facts = {
            name: value for name, value in asdict(setting).items() if name != "horizon"
        }  # a year of nights
        for rule, nights in first.items():
            rows.append({**facts, "rule": rule, "seed": seed, "warned": warned, **summary(nights, setting)})
    return rows


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
    setting: Setting, replications: int, generator: np.random.Generator
) -> tuple[dict[str, Counts], float]:
    """Return each series' first alarm by each rule, and the share whose accepted nights seem to depend."""
    sizes, values = nights_of(setting, replications, generator)
    a = setting.accepted
    errors = np.sqrt(values * (1 - values) / sizes)
    then, since = values[:, a - 1 : a], values[:, a:]
    m, n = sizes[a - 1], sizes[a:]
    floor = setting.accuracy - MARGIN
    lasting = first_alarm(values, a, errors, setting.horizon)
    alone = first_of_run(values, sizes, a, setting.horizon)
    first = {"alarm": earlier(lasting, alone), "run_alarm": alone}
    if not setting.drop or setting.drop == 0.05:
        first["floor"] = first_night(floor_bets(since, floor) >= -math.log(ALPHA))
    if not setting.drop:
        first["without_errors"] = first_alarm(values, a, None, setting.horizon)
        first["per_run"] = first_night(two_proportions(1 - then, m, 1 - since, n) <= ALPHA)
        first["gate"] = first_night(newcombe_low(1 - since, n, 1 - then, m) > MARGIN)
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


def first_alarm(values: Floats, accepted: int, errors: Floats | None, horizon: int = LOOKS_A_YEAR) -> Counts:
    """Return the night of each series' first alarm by the product's evidence; most nights need only a bound of it.

    B is at most 2 exp(r df / 2) / sqrt(k) with r = n_e D^2 / SS, and the errors only make it smaller. Where the largest
    bound over all beginnings is below (40 - 1) / 2, the evidence, a mean of them, is below 40.
    """
    goal, centred = GOAL, values - values[:, :1]
    sums, squares = np.cumsum(centred, axis=1), np.cumsum(centred**2, axis=1)
    found = np.zeros(len(values), dtype=np.int64)
    live = np.arange(len(values))
    for t in range(SHORTEST, values.shape[1] - accepted + 1):
        end = accepted + t - 1
        a = accepted + np.arange(t - SHORTEST + 1)
        b = end + 1 - a
        early = sums[live, accepted - 1 : accepted - 1 + len(a)]
        late = sums[live, end][:, None] - early
        difference = late / b - early / a
        within = squares[live, end][:, None] - early * early / a - late * late / b
        n_e = a * b / (a + b)
        bound = np.where(difference < 0, n_e * difference**2 / np.maximum(within, 1e-14), 0.0)
        bound = bound * ((a + b - 1) / 2) - np.log(1 + n_e) / 2
        near = live[bound.max(axis=1) >= math.log((goal - 1) / 2)]
        if len(near):
            own = None if errors is None else errors[near, : end + 1]
            then, since = values[near, :accepted], values[near, accepted : end + 1]
            log_e, _ = drop_evidence(then, since, own, horizon=horizon)
            hit = near[log_e >= math.log(goal)]
            found[hit] = t
            live = np.setdiff1d(live, hit, assume_unique=True)
    return found


def first_of_run(values: Floats, sizes: Counts, accepted: int, horizon: int = LOOKS_A_YEAR) -> Counts:
    """Return the run of each series' first alarm by the product's one-run rule, for shares of right answers."""
    low, high = _wilson(values, sizes)
    errors = (high - low) / 2 / stats.norm.isf(ALPHA / 2)
    then, reference = values[:, :accepted], values[:, :accepted].mean(axis=1, keepdims=True)
    sampling = (errors[:, :accepted] ** 2).sum(axis=1, keepdims=True)
    between = np.minimum(LEAST_BETWEEN, (1 - reference) / 2)
    if accepted >= ENOUGH_TO_ESTIMATE:
        spread = then.var(axis=1, ddof=1, keepdims=True) - sampling / accepted
        between = np.maximum(between, np.sqrt(np.maximum(spread, 0)))
    variance = errors[:, accepted:] ** 2 + sampling / accepted**2 + between**2 * (1 + 1 / accepted)
    z = (reference - values[:, accepted:]) / np.sqrt(variance)
    p = stats.t.sf(z, np.minimum(sizes[accepted:], sizes[:accepted].min()) - 1)
    levels = np.array([ALPHA / 2 * share_of_run(t % horizon + 1, horizon) for t in range(p.shape[1])])
    return first_night(p <= levels)


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


def newcombe_low(p: Floats, n: Any, q: Floats, m: Any) -> Floats:
    """Return Newcombe's lower limit (method 10) of p - q at 1 - ALPHA."""
    (low_p, _), (_, high_q) = _wilson(p, n), _wilson(q, m)
    return np.asarray(p - q - np.hypot(p - low_p, high_q - q))


def _wilson(p: Floats, n: Any) -> tuple[Floats, Floats]:
    z = stats.norm.isf(ALPHA / 2)
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


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
    p = mcnemar_midp(lost, gained)
    shares = np.array([share_of_run(night + 1, LOOKS_A_YEAR) for night in range(nights)])
    return {"per_run": first_night(p <= ALPHA), "alarm": first_night(p <= ALPHA * shares)}, 0.0


def mcnemar_midp(lost: Counts, gained: Counts) -> Floats:
    """Return the two-sided mid-p value where more was lost than gained, else 1."""
    n = lost + gained
    tail = stats.binom.cdf(gained, n, 0.5) - 0.5 * stats.binom.pmf(gained, n, 0.5)
    return np.where(lost > gained, np.minimum(2 * tail, 1.0), 1.0)


def first_night(alarming: Flags) -> Counts:
    """Return the number (1, 2, ...) of the first alarming night of each series; 0: none."""
    return np.where(alarming.any(axis=1), alarming.argmax(axis=1) + 1, 0)


# --- files ----------------------------------------------------------------------------------------------------------


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the table as CSV, shares with four decimals."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({k: f"{v:.4f}" if _is_share(k, v) else v for k, v in row.items()} for row in rows)


def _is_share(name: str, value: Any) -> bool:
    return isinstance(value, float) and name.startswith(("within_", "alarmed_", "warned"))


def read(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the table, numbers as numbers."""
    texts = ("kind", "rule", "metric", "sizes")
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {k: v if k in texts else None if v == "" else float(v) for k, v in row.items()}


def main() -> int:
    """Run the study and write its table, page and figure."""
    parser = argparse.ArgumentParser(prog="python -m research.studies.audits", description=__doc__)
    parser.add_argument("--seed", type=int, default=20269, help="seed of every series")
    parser.add_argument("--replications", type=int, default=1000, help="series of nights a setting")
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    parser.add_argument(
        "--page-only", action="store_true", help="page and figure from the table that is there"
    )
    given = parser.parse_args()
    table = given.output / "audit-alarms.csv"
    if not given.page_only:
        write(study(replications=given.replications, seed=given.seed), table)
    rows = list(read(table))
    metrics = list(read(DOCS / "audit-alarms-metrics.csv"))
    (given.output / "audit-alarms.md").write_text(audits_page.page(rows, metrics), encoding="utf-8")
    audits_page.figure(rows, given.output / "figures" / "audit-alarms.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
