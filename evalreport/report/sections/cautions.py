"""Properties found in the files, and all warnings."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.report.view import View, n_cautions, text_of
from evalreport.texts import named

MOST_TEXTS = 3


@dataclass(frozen=True, slots=True)
class Warned:
    """All warnings of one code; ``info`` where they change no reading of the verdict."""

    code: str
    info: bool
    texts: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Cautions:
    """Properties found in the files, and all warnings."""

    found: tuple[tuple[str, str, str], ...]
    warnings: tuple[Warned, ...]
    all_cautions: int

    @property
    def in_brief(self) -> bool:
        """Whether anything is left in a brief report, which has no information."""
        return any(not warned.info for warned in self.warnings)


def describe_cautions(view: View) -> Cautions | None:
    """Lay out the properties found in the files, and the warnings."""
    found = tuple(
        (named("found_what", f.what.replace(" ", "_"), f.what), text_of(view, f.value), text_of(view, f.why))
        for f in view.results.found
    )
    warnings = _warnings(view)
    n = n_cautions(view.results.warnings)
    return Cautions(found, warnings, n) if found or warnings else None


def _warnings(view: View) -> tuple[Warned, ...]:
    grouped: dict[tuple[str, bool], list[str]] = {}
    for warning in view.results.warnings:
        grouped.setdefault((warning.code, warning.level == "info"), []).append(text_of(view, warning.text))
    return tuple(
        Warned(
            named("caution_head", code, code.replace("_", " ").replace("-", " ")),
            info,
            tuple(texts[:MOST_TEXTS]),
            max(len(texts) - MOST_TEXTS, 0),
        )
        for (code, info), texts in grouped.items()
    )
