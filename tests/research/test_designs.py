"""The study's populations have the true values that it judges intervals by, and its counting counts."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.metrics.sample import estimate_all
from research.studies import harness, simulation
from research.studies.designs import Design
from research.studies.known_limits import KNOWN_LIMITS
from research.studies.populations import every_design
from research.studies.simulation import difference_of
from research.studies.tally import LEADING, Tally, count, one
from tests.samples.systems import needs_fork

LARGE = 40_000
EXAMPLES = {"clusters": 10, "suite": 20}
"""For how many a cluster or a task counts: 2,000 tasks of unlike size give the standard error of 40,000 examples."""


@pytest.mark.slow
@pytest.mark.parametrize("design", every_design(), ids=lambda design: design.name)
def test_true_values_are_the_limits_of_large_samples(design: Design) -> None:
    """On a large test set every estimate lies within five standard errors of the value that is called true.

    Fixed class counts stay as they are: there the mean over many sets is compared instead. Five errors, because some
    120 values are looked at.
    """
    fixed = design.name.startswith("(")
    sets = max(1, LARGE // design.sizes[0]) if fixed else 1
    several = next((several for name, several in EXAMPLES.items() if design.name.startswith(name)), 1)
    size = design.sizes[0] if fixed else LARGE // several
    random = np.random.default_rng(8)
    found: dict[object, list[float]] = {truth: [] for truth in design.truths}
    errors: dict[object, list[float]] = {truth: [] for truth in design.truths}
    for _ in range(min(sets, 200)):
        predictions, units = design.draw(random, size)
        sample = estimate_all(predictions, design.quantities, units=units, n_resamples=2, seed=0)
        for truth in design.truths:
            kind, model, quantity = truth
            pair = kind == "difference"
            estimate = difference_of(sample, quantity) if pair else sample.estimates[model, quantity]
            assert estimate.standard_error is not None
            found[truth].append(estimate.value)
            errors[truth].append(estimate.standard_error)
    for truth, value in design.truths.items():
        error = np.sqrt(np.mean(np.square(errors[truth])) / len(found[truth]))
        assert abs(np.mean(found[truth]) - value) <= 5 * error, truth


def test_tally_counts_each_side() -> None:
    """An interval holds the truth, lies below it, lies above it, or is not there; a limit at the truth holds it."""
    limits = np.array([[0.0, 0.5], [0.0, 0.2], [0.6, 0.9], [np.nan, np.nan]])
    tally = count(0.5, limits, np.array([0.4, 0.3, 0.2, 0.1]))
    assert (tally.held, tally.below, tally.above) == pytest.approx((0.4, 0.3, 0.2))
    assert tally.coverage == pytest.approx(0.4 / 0.9)
    assert tally.coverage_of_all == pytest.approx(0.4)
    assert tally.error == 0.0
    both = one(0.5, 0.4, 0.6) + one(0.5, 0.6, 0.7) + one(0.5, None, None) + Tally()
    assert (both.sets, both.given, both.held, both.above) == (3, 2, 1, 1)
    assert both.error == pytest.approx(np.sqrt(0.25 / 2))


@pytest.mark.slow
@needs_fork
def test_jobs_change_no_figure() -> None:
    """One process or two, the same seed tallies the same; another seed does not."""
    cells = simulation.cells([d for d in every_design() if d.name.startswith("clusters of ten")], 20)

    def tallies(seed: int, jobs: int) -> dict[object, Tally]:
        results = harness.measure(cells, simulation.counted, harness.Run(60, seed, jobs))
        return {
            (result.cell.name, truth): result.totals[truth, LEADING]
            for result in results
            for truth in simulation.population(result.cell.design).truths
        }

    alone = tallies(1, 1)
    assert len(alone) == 9
    assert tallies(1, 2) == alone
    assert any(tally.width != alone[key].width for key, tally in tallies(2, 1).items())


def test_known_limits_are_cells_of_the_study() -> None:
    """Each listed limit names an existing design; a misspelt one would hide nothing and excuse nothing."""
    names = {design.name for design in every_design()}
    for design, *_ in KNOWN_LIMITS:
        assert design in names or design.startswith(("p = ", "discordance ", "two test sets")), design
