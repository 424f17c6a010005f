"""The sections of the report, in order: each is described from results, then drawn by a template.

To add one: write ``describe(view) -> record | None`` in a module here, a template of the same name in
``templates/sections``, its heading in ``evalreport/texts/en/report.toml``, and add a line to ``SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport.report.sections import (
    audit,
    curves,
    decomposition,
    differences,
    estimates,
    leaderboard,
    methods,
    metrics,
    pairs,
    slices,
    thresholds,
    verdict,
)
from evalreport.report.view import View
from evalreport.texts import named


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its anchor, template and heading, description; whether a brief PDF has it, and its heading there."""

    name: str
    describe: Callable[[View], Any | None]
    brief: bool = True
    brief_heading: str | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """One section that has something to say."""

    name: str
    title: str
    content: Any


SECTIONS = (
    Section("verdict", verdict.describe),
    Section("leaderboard", leaderboard.describe),
    Section("history", audit.describe),
    Section("audit", audit.describe_audit),
    Section("pairs", pairs.describe),
    Section("omnibus", pairs.describe_omnibus),
    Section("differences", differences.describe, brief=False),
    Section("curves", curves.describe),
    Section("thresholds", thresholds.describe),
    Section("gains", curves.describe_gains, brief=False),
    Section("distributions", curves.describe_distributions, brief=False),
    Section("metrics", metrics.describe, brief_heading="key_metrics"),
    Section("confusion", metrics.describe_confusion, brief=False),
    Section("slices", slices.describe, brief=False),
    Section("estimates", estimates.describe),
    Section("learning", estimates.describe_learning),
    Section("decomposition", decomposition.describe),
    Section("methods", methods.describe),
    Section("reproducibility", methods.describe_reproducibility),
)


def describe(view: View, *, brief: bool = False) -> tuple[Described, ...]:
    """Describe every section that has something to say."""
    described = []
    for section in SECTIONS:
        content = section.describe(view) if section.brief or not brief else None
        if content is not None:
            key = section.brief_heading if brief and section.brief_heading else section.name
            # A section that is about one of two things is headed by what it found.
            heading = getattr(content, "heading", "") or named("heading", key)
            described.append(Described(section.name, heading, content))
    return tuple(described)
