"""How often ``suite_t`` holds the mean of easy tasks of unlike size, and how often the run warns: a table, in seconds.

Every task is right in 95 % of its examples; the sizes go in equal steps of the logarithm from the smallest to 200.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from evalreport.warnings.layout import MUCH_ALIKE

SETS, LARGEST, RIGHT = 40_000, 200, 0.95


def held(tasks: int, smallest: int, random: np.random.Generator) -> tuple[float, float]:
    """Return the share of the sets whose nominal 95 % interval holds the mean, and of those that are warned of."""
    sizes = np.round(np.geomspace(smallest, LARGEST, tasks)).astype(int)[:, None]
    share = random.binomial(sizes, RIGHT, (tasks, SETS)) / sizes
    parts = share * (1 - share) / (sizes - 1) / tasks**2
    total, spread = parts.sum(axis=0), (parts**2 / (sizes - 1)).sum(axis=0)
    df = np.divide(total**2, spread, out=np.ones(SETS), where=spread > 0)
    half = stats.t.ppf(0.975, df) * np.sqrt(total)
    alike = (parts == 0).mean(axis=0)
    return float((np.abs(share.mean(axis=0) - RIGHT) <= half).mean()), float((alike >= MUCH_ALIKE).mean())


def main() -> None:
    """Print a line for each number of tasks and size of the smallest."""
    random = np.random.default_rng(1)
    print("tasks  smallest  held   warned")
    for tasks in (5, 15, 30):
        for smallest in (5, 10, 20, 30, 60):
            share, warned = held(tasks, smallest, random)
            print(f"{tasks:5d}  {smallest:8d}  {share:.3f}  {warned:.3f}")


if __name__ == "__main__":
    main()
