"""The sections of the report, in order: each is described from results, then drawn by a template.

To add one: write ``describe(view) -> record | None`` in a module here, a template of the same name in
``templates/sections``, and add a line to ``SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport.report.sections import (
    audit,
    confusion,
    curves,
    decomposition,
    differences,
    distributions,
    estimates,
    gains,
    history,
    leaderboard,
    learning,
    methods,
    metrics,
    omnibus,
    pairs,
    reproducibility,
    slices,
    thresholds,
    verdict,
)
from evalreport.report.view import View


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its anchor and template, title, description; whether a brief PDF has it, and its title there."""

    name: str
    title: str
    describe: Callable[[View], Any | None]
    brief: bool = True
    brief_title: str | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """One section that has something to say."""

    name: str
    title: str
    content: Any


SECTIONS = (
    Section("verdict", "Verdict", verdict.describe),
    Section("leaderboard", "Leaderboard", leaderboard.describe),
    Section("history", "Since earlier runs", history.describe),
    Section("audit", "Worse, or other data?", audit.describe),
    Section("pairs", "Who beats whom?", pairs.describe),
    Section("omnibus", "All models at once", omnibus.describe),
    Section("differences", "Where they differ", differences.describe, brief=False),
    Section("curves", "Curves and calibration", curves.describe),
    Section("thresholds", "Thresholds", thresholds.describe),
    Section("gains", "Rejection, gain and lift", gains.describe, brief=False),
    Section("distributions", "How predictions are distributed", distributions.describe, brief=False),
    Section("metrics", "All metrics", metrics.describe, brief_title="Key metrics"),
    Section("confusion", "Confusion matrices", confusion.describe, brief=False),
    Section("slices", "Slices", slices.describe, brief=False),
    Section("estimates", "Error estimates", estimates.describe),
    Section("learning", "Learning curves", learning.describe),
    Section("decomposition", "Bias and variance", decomposition.describe),
    Section("methods", "Methods and limits", methods.describe),
    Section("reproducibility", "Reproducibility", reproducibility.describe),
)


def describe(view: View, *, brief: bool = False) -> tuple[Described, ...]:
    """Describe every section that has something to say."""
    described = []
    for section in SECTIONS:
        content = section.describe(view) if section.brief or not brief else None
        if content is not None:
            title = section.brief_title if brief and section.brief_title else section.title
            described.append(Described(section.name, title, content))
    return tuple(described)
