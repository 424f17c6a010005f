"""Two statements that are made of single runs: a change without an alarm, and a gate on the ratio of two shares.

"Worse (better) than when accepted", said without an alarm, of a model that does not change; and ``new >= 0.98 * old``
where the ratio is 0.98 exactly, decided by the limits of the program.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.audit.run_alarm import THREE_ERRORS
from evalreport.intervals.proportions import paired_ratio_limits
from research.studies.audits import Floats, Setting, errors_of, nights_of, p_of_run
from research.studies.harness import Run
from research.studies.judgement import Line, at_most

SERIES = 20
"""So many times the data sets that are asked for are drawn of runs, which are cheap."""
OF_RUNS = 0.002
"""Three standard errors have the chance 0.135 % on either side; 0.2 % is promised."""
BAR, PASSES, FAILS = 0.98, 0.035, 0.055
"""A gate is meant to pass wrongly in 2.5 %; 3.5 % is promised, as of other gates.

Where few answers differ (six of 200) it fails wrongly in up to 4.5 %."""

RUNS = tuple(
    Setting(accepted=accepted, accepted_n=n, nightly=n, sd=0.02, horizon=52)
    for accepted in (1, 3, 8)
    for n in (1000, 10_000)
)
RATIOS = tuple(
    (n, old, apart) for n in (50, 100, 200, 300, 1000) for old in (0.8, 0.9, 0.95) for apart in (0.03, 0.1)
)
"""Examples, accuracy of the old model, and the share on which only one of the two is right."""


def moved(setting: Setting, series: int, generator: np.random.Generator) -> Floats:
    """Say of one run of each series whether it is said to be worse, and whether better: (series, 2)."""
    sizes, values = nights_of(setting, series, generator)
    sizes, values = sizes[: setting.accepted + 1], values[:, : setting.accepted + 1]
    errors = errors_of(values, sizes, setting.accepted)
    both = np.stack([values, errors], axis=-1).tolist()
    p = [p_of_run([*map(tuple, pairs)], sizes, setting.accepted, 0, THREE_ERRORS) for pairs in both]
    return (np.array(p) <= THREE_ERRORS).astype(np.float64)


def promised(run: Run) -> Iterator[Line]:
    """Promise that an unchanged model is seldom said to be worse or better, and gates on ratios at their bar."""
    for number, setting in enumerate(RUNS):
        generator = np.random.default_rng([run.seed, 0, number])
        series = SERIES * run.replications
        name = f"{setting.accepted} of {setting.accepted_n:,} accepted, sd 0.02"
        for word, said in zip(("worse", "better"), moved(setting, series, generator).T, strict=True):
            yield at_most(
                f"said to be {word} without an alarm, in one run, {name}", float(said.mean()), OF_RUNS, series
            )
    for number, (n, old, apart) in enumerate(RATIOS):
        new = BAR * old
        only_new, only_old = (apart - (old - new)) / 2, (apart + (old - new)) / 2
        if only_new < 0:
            continue
        generator = np.random.default_rng([run.seed, 1, number])
        shares = (new - only_new, only_new, only_old, 1 - new - only_old)
        passes = fails = 0
        for both, a, b, _ in generator.multinomial(n, shares, run.replications).tolist():
            low, high = paired_ratio_limits(both, a, b, n, 0.95)
            passes += low >= BAR
            fails += high is not None and high < BAR
        name = f"new >= 0.98 * old at its bar, n = {n}, accuracy {old:g}, apart in {apart:g}"
        yield at_most(f"{name}: passes", passes / run.replications, PASSES, run.replications)
        yield at_most(f"{name}: fails", fails / run.replications, FAILS, run.replications)
