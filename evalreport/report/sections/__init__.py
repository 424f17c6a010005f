"""The sections of the report, in order: each is described from results, then drawn by a template.

To add one: write ``describe(view) -> Tables | None`` in a module here, its heading in
``evalreport/texts/en/report.toml``, and add a line to ``SECTIONS``. One that shows more than a text, figures and
tables returns a record of its own, and has a template of its name in ``templates/sections``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from evalreport.extensions import InRoom
from evalreport.plots.pictures import Figure
from evalreport.report.sections import (
    audit,
    cases,
    cautions,
    confusion,
    decision,
    differences,
    failures,
    glossary,
    methods,
    metrics,
    pairs,
    reproducibility,
    tasks,
)
from evalreport.report.view import View
from evalreport.texts import named


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the report.

    Attributes
    ----------
    name
        Its anchor, its template and the key of its heading.
    brief, brief_heading
        Whether a brief PDF has it, and the key of its heading there.
    appendix
        Whether it is folded together at the end of the page.
    full_figures
        Further figures that only a report in full detail has.
    """

    name: str
    describe: Callable[[View], object]
    brief: bool = True
    brief_heading: str | None = None
    appendix: bool = False
    full_figures: Callable[[View], tuple[Figure, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """A section with its content; ``short`` is its title in the bar of sections."""

    name: str
    title: str
    short: str
    content: Any
    appendix: bool = False


SECTIONS = (
    Section("decision", decision.describe),
    Section("audit", audit.describe_audit),
    Section("cases", cases.describe),
    Section("tasks", tasks.describe),
    Section("judge", InRoom("judges")),
    Section("failures", failures.describe_failures),
    Section("slices", InRoom("slices")),
    Section("curves", InRoom("thresholds", "curves_section")),
    Section("calibration", InRoom("calibration")),
    Section("coverage", InRoom("coverage")),
    Section("decision_curves", InRoom("thresholds", "decision_curves_section")),
    Section("distributions", InRoom("thresholds", "curves_section", "describe_distributions")),
    Section("pairs", pairs.describe),
    Section("costs", InRoom("costs")),
    Section("questions", InRoom("attempts")),
    Section("attempts", InRoom("attempts", "variance_section")),
    Section("thresholds", InRoom("thresholds")),
    Section("estimates", InRoom("algorithms")),
    Section("learning", InRoom("algorithms", "section", "describe_learning")),
    Section("decomposition", InRoom("algorithms", "decomposition_section")),
    Section("looks", InRoom("looks")),
    Section("methods", methods.describe),
    Section("estimand", InRoom("estimand"), brief=False, appendix=True),
    Section("fragility", InRoom("fragility"), brief=False, appendix=True),
    Section("metrics", metrics.describe, brief_heading="key_metrics", appendix=True),
    Section("confusion", confusion.describe_confusion, brief=False, appendix=True),
    Section("ranks", InRoom("ranks"), brief=False, appendix=True),
    Section("differences", differences.describe_differences, brief=False, appendix=True),
    Section("omnibus", InRoom("ranks", "omnibus_section"), brief=False, appendix=True),
    Section(
        "calibration_details",
        InRoom("calibration", "section", "describe_details"),
        brief=False,
        appendix=True,
    ),
    Section("murphy", InRoom("thresholds", "murphy_section"), brief=False, appendix=True),
    Section("gains", InRoom("thresholds", "curves_section", "describe_gains"), brief=False, appendix=True),
    Section("history", audit.describe_tests, brief=False, appendix=True),
    Section("cautions", cautions.describe_cautions, appendix=True),
    Section(
        "glossary",
        glossary.describe_glossary,
        brief=False,
        appendix=True,
        full_figures=glossary.pictures_of_counts,
    ),
    Section("reproducibility", reproducibility.describe_reproducibility, appendix=True),
)


def describe(view: View, *, brief: bool = False, full: bool = False) -> tuple[Described, ...]:
    """Describe every section that has content.

    Parameters
    ----------
    brief
        Leave out what a brief PDF has no place for.
    full
        Add the figures of a report in full detail.
    """
    described: list[Described] = []
    for section in SECTIONS:
        content: Any = section.describe(view) if section.brief or not brief else None
        if content is None or (brief and not getattr(content, "in_brief", True)):
            continue
        if full and section.full_figures is not None:
            content = replace(content, figures=section.full_figures(view))
        key = section.brief_heading if brief and section.brief_heading else section.name
        plain = named("heading", key)
        finding = (
            getattr(content, "heading", "") or plain
        )  # a section is headed by its finding, where it has one
        folded = bool(described) and getattr(described[0].content, "folds_rest", False)
        short = named("nav", section.name, plain)
        described.append(Described(section.name, finding, short, content, section.appendix or folded))
    return tuple(described)


def figures_of(content: Any) -> Iterator[Figure]:
    """Yield the figures of a section's content: those in its field ``figure`` or ``figures``."""
    for candidate in (getattr(content, "figure", None), *(getattr(content, "figures", None) or ())):
        if candidate is not None:
            yield candidate
