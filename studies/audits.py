"""How often the alarms of nightly audits are false, and how soon they see a drop; writes docs/audit-alarms.*.

Run by ``make study-audits``; about two minutes on one core. Same seed, same table.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from evalreport.audit.alarm import REFERENCE_SHARE
from evalreport.audit.confidence_sequences import BETS, LOOKS_A_YEAR, share_of_look
from studies import audits_page

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

DOCS = Path(__file__).resolve().parent.parent / "docs"
ALPHA = 0.05
ACCURACY = 0.9
MARGIN = 0.02
"""Of the gate ``accuracy >= accepted - 0.02``."""
GOOD_DAYS = 56
"""Nights before a drop."""
DROPS = (0.0, 0.01, 0.02, 0.05)
DAYS = (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 240, 300, 365)
"""Days at which the table says how many series had had an alarm."""
DISAGREEMENT = 0.1
"""Share of the same examples on which the model of a night is right and the accepted one wrong, or the other way."""


@dataclass(frozen=True, slots=True)
class Setting:
    """New examples every night, the accepted run's own number, and whether it is the same examples every night."""

    nightly: int
    accepted: int
    same: bool = False


SETTINGS = (
    Setting(50, 500),
    Setting(200, 200),
    Setting(200, 2000),
    Setting(1000, 1000),
    Setting(1000, 10_000),
    Setting(500, 500, same=True),
)


def study(*, replications: int, seed: int) -> list[dict[str, Any]]:
    """Simulate every setting and drop; a row for each rule."""
    rows = []
    for number, setting in enumerate(SETTINGS):
        for drop in DROPS:
            print(f"{setting} drop {drop:g} ...", file=sys.stderr, flush=True)
            # A stream for each setting and drop, so that leaving one out changes no other.
            generator = np.random.default_rng([seed, number, round(1000 * drop)])
            make = same_examples if setting.same else new_examples
            for rule, first in make(setting, drop, replications, generator).items():
                rows.append({**_facts(setting, drop, rule, seed), **summary(first, drop)})
    return rows


def summary(first: Counts, drop: float) -> dict[str, Any]:
    """Summarise the night (1, 2, ...; 0: none) of each series' first alarm.

    With a drop, nights are counted from it, and series that were alarmed before are left out.
    """
    good = GOOD_DAYS if drop else 0
    early = (first > 0) & (first <= good)
    days = np.where(first == 0, np.inf, first - good)[~early]
    found: dict[str, Any] = {"series": len(first), "alarmed_before": float(early.mean())}
    for q, name in ((0.5, "median_days"), (0.9, "days_of_90_percent")):
        at = np.sort(days)[math.ceil(q * len(days)) - 1] if len(days) else np.inf
        found[name] = int(at) if np.isfinite(at) else ""
    for day in DAYS:
        found[f"within_{day}"] = float((days <= day).mean()) if len(days) else ""
    return found


# --- new examples every night ---------------------------------------------------------------------------------------


def new_examples(
    setting: Setting, drop: float, replications: int, generator: np.random.Generator
) -> dict[str, Counts]:
    """Return the night of the first alarm by each rule, for each series of nights with new examples."""
    n, m = setting.nightly, setting.accepted
    then = generator.binomial(m, 1 - ACCURACY, replications)
    nights = LOOKS_A_YEAR + (GOOD_DAYS if drop else 0)
    error = np.where(np.arange(nights) < GOOD_DAYS, 1 - ACCURACY, 1 - ACCURACY + drop)
    wrong = generator.binomial(n, error, (replications, nights))
    p = two_proportions(then[:, None] / m, m, wrong / n, n)
    return {
        "per_run": first_night(p <= ALPHA),
        "gate": first_night(newcombe_low(wrong / n, n, then[:, None] / m, m) > MARGIN),
        "per_run_spent": first_night(p <= ALPHA * shares(nights)),
        "from_the_start": first_night(_sequence(wrong, n, then, m, restart=False)),
        "sequence": first_night(_sequence(wrong, n, then, m, restart=True)),
    }


def _sequence(wrong: Counts, n: int, then: Counts, m: int, *, restart: bool) -> npt.NDArray[np.bool_]:
    """Say at which nights the bets are alarming: as ``evalreport.audit.alarm``, for many series at once.

    The wealth of a night is that of the night before, and the share that begins tonight, times tonight's return.
    """
    limit = special.betaincinv(then + 1.0, np.maximum(m - then, 1e-9), 1 - REFERENCE_SHARE * ALPHA)
    gain = np.log1p(BETS * (1 - limit[:, None]) / limit[:, None])
    loss = np.log1p(-BETS)
    goal = -math.log((1 - REFERENCE_SHARE) * ALPHA)
    log_wealth = np.full((len(then), len(BETS)), -math.log(len(BETS)) if not restart else -np.inf)
    reserve, alarming = 1.0, np.zeros(wrong.shape, dtype=bool)
    for night in range(wrong.shape[1]):
        x = wrong[:, night, None]
        if restart:
            share = share_of_look(night + 1)
            reserve -= share
            log_wealth = np.logaddexp(log_wealth, math.log(share / len(BETS)))
        log_wealth += x * gain + (n - x) * loss
        total = np.logaddexp.reduce(log_wealth, axis=1)
        if restart:
            total = np.logaddexp(total, math.log(max(reserve, 1e-300)))
        alarming[:, night] = total >= goal
    return alarming


def two_proportions(q: Floats, m: int, p: Floats, n: int) -> Floats:
    """Return the two-sided p-value of the pooled z test where p is worse (larger), else 1."""
    pooled = (q * m + p * n) / (m + n)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / m + 1 / n))
    z = np.divide(p - q, spread, out=np.zeros(np.broadcast_shapes(p.shape, q.shape)), where=spread > 0)
    return np.where(z > 0, 2 * stats.norm.sf(z), 1.0)


def newcombe_low(p: Floats, n: int, q: Floats, m: int) -> Floats:
    """Return Newcombe's lower limit (method 10) of p - q at 1 - ALPHA."""
    (low_p, _), (_, high_q) = _wilson(p, n), _wilson(q, m)
    return np.asarray(p - q - np.hypot(p - low_p, high_q - q))


def _wilson(p: Floats, n: int) -> tuple[Floats, Floats]:
    z = stats.norm.isf(ALPHA / 2)
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


# --- the same examples every night ----------------------------------------------------------------------------------


def same_examples(
    setting: Setting, drop: float, replications: int, generator: np.random.Generator
) -> dict[str, Counts]:
    """Return the night of the first alarm where a model is trained anew and tested on the same examples."""
    n = setting.nightly
    right = generator.binomial(n, ACCURACY, replications)[:, None]
    nights = LOOKS_A_YEAR + (GOOD_DAYS if drop else 0)
    fallen = np.where(np.arange(nights) < GOOD_DAYS, 0.0, drop)
    # Half of the disagreement each way, so that the expected accuracy of a night is that of the accepted model.
    lost = generator.binomial(right, (DISAGREEMENT / 2 + fallen) / ACCURACY, (replications, nights))
    gained = generator.binomial(n - right, DISAGREEMENT / 2 / (1 - ACCURACY), (replications, nights))
    p = mcnemar_midp(lost, gained)
    return {"per_run": first_night(p <= ALPHA), "per_run_spent": first_night(p <= ALPHA * shares(nights))}


def mcnemar_midp(lost: Counts, gained: Counts) -> Floats:
    """Return the two-sided mid-p value where more was lost than gained, else 1."""
    n = lost + gained
    tail = stats.binom.cdf(gained, n, 0.5) - 0.5 * stats.binom.pmf(gained, n, 0.5)
    return np.where(lost > gained, np.minimum(2 * tail, 1.0), 1.0)


def shares(nights: int) -> Floats:
    """Return the share of the permitted error of each night."""
    return np.array([share_of_look(night + 1) for night in range(nights)])


def first_night(alarming: npt.NDArray[np.bool_]) -> Counts:
    """Return the number (1, 2, ...) of the first alarming night of each series; 0: none."""
    return np.where(alarming.any(axis=1), alarming.argmax(axis=1) + 1, 0)


def _facts(setting: Setting, drop: float, rule: str, seed: int) -> dict[str, Any]:
    return {
        "examples": "same" if setting.same else "new",
        "nightly": setting.nightly,
        "accepted": setting.accepted,
        "accuracy": ACCURACY,
        "drop": drop,
        "rule": rule,
        "seed": seed,
    }


# --- files ----------------------------------------------------------------------------------------------------------


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the table as CSV, shares with four decimals."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({k: f"{v:.4f}" if _is_share(k, v) else v for k, v in row.items()} for row in rows)


def _is_share(name: str, value: Any) -> bool:
    return isinstance(value, float) and name.startswith(("within_", "alarmed_"))


def read(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the table, numbers as numbers."""
    texts = ("examples", "rule")
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {k: v if k in texts else None if v == "" else float(v) for k, v in row.items()}


def main() -> int:
    """Run the study and write its table, page and figure."""
    parser = argparse.ArgumentParser(prog="python -m studies.audits", description=__doc__)
    parser.add_argument("--seed", type=int, default=20268, help="seed of every series")
    parser.add_argument("--replications", type=int, default=4000, help="series of nights a setting")
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    parser.add_argument(
        "--page-only", action="store_true", help="page and figure from the table that is there"
    )
    given = parser.parse_args()
    table = given.output / "audit-alarms.csv"
    if not given.page_only:
        write(study(replications=given.replications, seed=given.seed), table)
    rows = list(read(table))
    (given.output / "audit-alarms.md").write_text(audits_page.page(rows), encoding="utf-8")
    audits_page.figure(rows, given.output / "figures" / "audit-alarms.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
