"""Every simulated population of the study of coverage, in the order of its table."""

from __future__ import annotations

import functools

from research.studies.designs import (
    Design,
    binary_designs,
    cluster_design,
    several_designs,
    unequal_clusters,
    weight_design,
)
from research.studies.judged_designs import judge_designs
from research.studies.numeric_designs import rating_designs, regression_designs, score_designs
from research.studies.suite_designs import suite_designs


@functools.cache
def every_design() -> tuple[Design, ...]:
    """Return every population; the true values of some take a second to integrate."""
    return (
        *binary_designs(), *several_designs(), *score_designs(), *regression_designs(), cluster_design(),
        unequal_clusters("clusters, 400 to 10", 0.7, 0.05),
        unequal_clusters("clusters, 400 to 10, skewed", 0.8, 0.2),
        weight_design(), *judge_designs(), *suite_designs(), *rating_designs(),
    )  # fmt: skip


@functools.cache
def population(name: str) -> Design:
    """Return a population by its name."""
    return next(design for design in every_design() if design.name == name)
