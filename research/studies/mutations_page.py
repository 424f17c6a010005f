"""The page of the mutation study: how many changes were noticed, and why the others change nothing promised."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from research.studies.mutations import Verdict

EXPLAINED = Path(__file__).resolve().parent / "surviving_mutants.toml"


def explanations() -> dict[tuple[str, str, str], str]:
    """Return why a mutant that no test notices breaks no promise, by (file, line before, line after)."""
    written = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("mutant", [])
    return {(m["file"], m["before"], m["after"]): m["why"] for m in written}


def unexplained(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the survivors, and the mutants of lines that no test reaches, for which no reason is written."""
    known = explanations()
    return [
        v
        for v in verdicts
        if v.outcome in ("survived", "uncovered")
        and (v.mutant.file, v.mutant.before, v.mutant.after) not in known
    ]


def page(verdicts: Sequence[Verdict], *, total: int, seed: int, minutes: float, since: int = 0) -> str:
    """Return docs/mutations.md; ``since`` were noticed only by tests that were written after the run."""
    packages = sorted({v.mutant.file.split("/")[1] for v in verdicts})
    rows = []
    for name in packages:
        found = Counter(v.outcome for v in verdicts if v.mutant.file.split("/")[1] == name)
        tried = sum(found.values())
        noticed = found["killed"] + found["timeout"]
        rows.append(
            f"| `{name}` | {tried} | {noticed} | {100 * noticed / tried:.1f} % | {found['survived']} |"
            f" {found['uncovered']} |"
        )
    known = explanations()
    survivors = [v.mutant for v in verdicts if v.outcome in ("survived", "uncovered")]
    listed = [
        f"| `{m.file.removeprefix('evalreport/')}` | `{_cell(m.before)}` | `{_cell(m.after)}` |"
        f" {known.get((m.file, m.before, m.after), '**not explained**')} |"
        for m in sorted(survivors, key=lambda m: (m.file, m.line, m.after))
    ]
    return "\n".join(
        [
            "# What the tests notice, measured",
            "",
            "Written by `make study-mutations`; do not edit. One operator, number or condition of the code is changed",
            "at a time (the operators of cosmic-ray 8.7), and the tests that reach the line are run. A change that",
            "makes a test fail is noticed. A change that no test notices either gets a test or stands below with the",
            "reason why it breaks no promise.",
            "",
            f"{len(verdicts):,} mutants, drawn at random from {total:,} places (seed {seed}), in {minutes:g} minutes.",
            *(
                [f"{since} of those that are noticed got their test after the run, which had missed them."]
                if since
                else []
            ),
            "",
            "| package | mutants | noticed | share | survived | on a line that no test reaches |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
            "## Those that survived",
            "",
            "| file | before | after | why it breaks no promise |",
            "| --- | --- | --- | --- |",
            *listed,
            "",
        ]
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")
