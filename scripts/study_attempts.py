"""How often Student's t over questions holds the mean of pass^k: printed as a table, about a minute.

The chances of the questions have a beta distribution with parameters that add up to 1.5, so chosen that the mean of
their k-th powers is the wanted one. pass@k near 1 is the mirror image of pass^k near 0. Where nothing varies, the
program's interval is Wilson's, which is counted as holding the value here.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special, stats

from evalreport.metrics.attempts import pass_hat_k

SETS = 4000
SPREAD = 1.5
KINDS = [
    *((questions, attempts, k, mean)
      for attempts, k in ((5, 5), (8, 4), (4, 2), (10, 2))
      for questions in (30, 100, 300)
      for mean in (0.02, 0.05, 0.1, 0.2, 0.4)),
    *((questions, attempts, 1, mean)
      for attempts in (2, 4, 10)
      for questions in (30, 50, 100, 300)
      for mean in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)),
]  # fmt: skip


def chance(mean: float, k: int) -> float:
    """Return the mean of the chances at which the mean of their k-th powers is the wanted one."""

    def power(m: float) -> float:
        a, b = m * SPREAD, (1 - m) * SPREAD
        return float(np.exp(special.betaln(a + k, b) - special.betaln(a, b)))

    return float(optimize.brentq(lambda m: power(m) - mean, 1e-6, 1 - 1e-6))


def held(questions: int, attempts: int, k: int, mean: float, random: np.random.Generator) -> float:
    """Return the share of the sets whose nominal 95 % interval holds the mean."""
    m = chance(mean, k)
    passed = random.binomial(attempts, random.beta(m * SPREAD, (1 - m) * SPREAD, (SETS, questions)))
    by_count = pass_hat_k(np.full(attempts + 1, float(attempts)), np.arange(attempts + 1.0), k)
    values = by_count[passed]
    half = stats.t.ppf(0.975, questions - 1) * values.std(axis=1, ddof=1) / np.sqrt(questions)
    return float(((np.abs(values.mean(axis=1) - mean) <= half) | (half == 0)).mean())


def main() -> None:
    """Print a line for each kind of data, by the passes in questions."""
    random = np.random.default_rng(1)
    rows = [(q * mean, q, n, k, mean, held(q, n, k, mean, random)) for q, n, k, mean in KINDS]
    print("passes  questions  attempts  k  mean  held")
    for passes, questions, attempts, k, mean, share in sorted(rows):
        print(f"{passes:6.1f}  {questions:9d}  {attempts:8d}  {k}  {mean:4.2f}  {share:.3f}")


if __name__ == "__main__":
    main()
