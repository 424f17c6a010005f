"""Studies that decide without a run decide as a run does."""

from __future__ import annotations

import numpy as np
import pytest

from research.studies import seeds


@pytest.mark.slow
@pytest.mark.parametrize("cell", seeds.STUDY.cells, ids=lambda cell: cell.name)
def test_decisions_over_seeds_are_those_of_a_run(cell: seeds.Trained) -> None:
    """By the functions of a run and by the run: the same decision on the same data."""
    for number in range(4):
        of_run = seeds.counted(cell, np.random.default_rng(number), number)["seeds_t"]
        assert seeds.decided(cell, np.random.default_rng(number), number)["seeds_t"] == of_run
