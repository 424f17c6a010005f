"""The sections of the report, in order: each is described from results, then drawn by a template.

To add one: write ``describe(view) -> Tables | None`` in a module here, its heading in
``evalreport/texts/en/report.toml``, and add a line to ``SECTIONS``. One that shows more than a text and tables returns
a record of its own, and has a template of its name in ``templates/sections``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport.report.sections import (
    audit,
    cases,
    curves,
    decision,
    decomposition,
    estimates,
    judge,
    methods,
    metrics,
    pairs,
    slices,
    tasks,
)
from evalreport.report.view import View
from evalreport.texts import named


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its anchor, template and heading, description; whether a brief PDF has it, and its heading there.

    What is in the ``appendix`` is folded together at the end of the page.
    """

    name: str
    describe: Callable[[View], Any | None]
    brief: bool = True
    brief_heading: str | None = None
    appendix: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """One section that has something to say; ``short`` is its title in the bar of sections."""

    name: str
    title: str
    short: str
    content: Any
    appendix: bool = False


SECTIONS = (
    Section("decision", decision.describe),
    Section("history", audit.describe),
    Section("audit", audit.describe_audit),
    Section("cases", cases.describe),
    Section("tasks", tasks.describe),
    Section("judge", judge.describe),
    Section("failures", cases.describe_failures),
    Section("slices", slices.describe),
    Section("curves", curves.describe),
    Section("distributions", curves.describe_distributions),
    Section("pairs", pairs.describe),
    Section("attempts", tasks.describe_attempts),
    Section("thresholds", cases.describe_thresholds),
    Section("estimates", estimates.describe),
    Section("learning", estimates.describe_learning),
    Section("decomposition", decomposition.describe),
    Section("methods", methods.describe),
    Section("metrics", metrics.describe, brief_heading="key_metrics", appendix=True),
    Section("confusion", metrics.describe_confusion, brief=False, appendix=True),
    Section("differences", pairs.describe_differences, brief=False, appendix=True),
    Section("omnibus", pairs.describe_omnibus, brief=False, appendix=True),
    Section("gains", curves.describe_gains, brief=False, appendix=True),
    Section("cautions", methods.describe_cautions, appendix=True),
    Section("glossary", methods.describe_glossary, brief=False, appendix=True),
    Section("reproducibility", methods.describe_reproducibility, appendix=True),
)


def describe(view: View, *, brief: bool = False) -> tuple[Described, ...]:
    """Describe every section that has something to say."""
    described: list[Described] = []
    for section in SECTIONS:
        content = section.describe(view) if section.brief or not brief else None
        if content is not None and not (brief and not getattr(content, "in_brief", True)):
            key = section.brief_heading if brief and section.brief_heading else section.name
            # A section is headed by what it found, where it says so.
            plain = named("heading", key)
            heading = getattr(content, "heading", "") or plain
            short = named("nav", section.name, plain)
            # After a quiet audit there is nothing else to read.
            quiet = bool(described) and getattr(described[0].content, "tone", "") == "quiet"
            described.append(Described(section.name, heading, short, content, section.appendix or quiet))
    return tuple(described)
