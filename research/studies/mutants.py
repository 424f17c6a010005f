"""Changes of the code that tests met: what happened to them, and why those that survived break no promise."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from research.studies import tables

EXPLAINED = Path(__file__).resolve().parent / "surviving_mutants.toml"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed place: file, line, cosmic-ray's operator and which of its places; the line before and after."""

    file: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happened to a mutant: ``killed``, ``timeout``, ``survived`` or ``uncovered``; how many tests it met."""

    mutant: Mutant
    outcome: str
    tests: int


def explanations() -> dict[tuple[str, str, str], str]:
    """Return why a mutant that no test notices breaks no promise, by (file, line before, line after)."""
    written = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("mutant", [])
    return {(m["file"], m["before"], m["after"]): m["why"] for m in written}


def unexplained(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the survivors, and the mutants of lines that no test reaches, for which no reason is written."""
    reasons = explanations()
    return [
        v for v in verdicts
        if v.outcome in ("survived", "uncovered")
        and (v.mutant.file, v.mutant.before, v.mutant.after) not in reasons
    ]  # fmt: skip


def rows(verdicts: Sequence[Verdict], places: int, seed: int, minutes: float) -> Iterator[dict[str, object]]:
    """Yield the rows of docs/mutations.csv."""
    outcomes = [(v.mutant.file.split("/")[1], v.outcome) for v in verdicts]
    for package in sorted({name for name, _ in outcomes}):
        count = Counter(outcome for name, outcome in outcomes if name == package)
        yield {
            "package": package, "mutants": count.total(), "noticed": count["killed"] + count["timeout"],
            "survived": count["survived"], "uncovered": count["uncovered"], "places": places, "seed": seed,
            "minutes": f"{minutes:g}",
        }  # fmt: skip


@tables.view("mutations.survivors")
def survivors() -> list[dict[str, str]]:
    """Return the mutants that no test notices, with the reason."""
    return [
        {
            "file": _code(file.removeprefix("evalreport/")),
            "before": _code(before),
            "after": _code(after),
            "why": why,
        }
        for (file, before, after), why in explanations().items()
    ]


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"
