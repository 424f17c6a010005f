"""What a part of the campaign found, kept in docs/reliability.json: counts, seed, time, versions."""

from __future__ import annotations

import json
import platform
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import evalreport

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "campaign"
"""On the disk of the checkout."""
MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs is what is wanted
RECORD = ROOT / "docs" / "reliability.json"


@dataclass(slots=True)
class Row:
    """One way of disturbing the program: how often it was tried, and how often it ended in each way."""

    what: str
    tries: int = 0
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Part:
    """One part of the campaign.

    Attributes
    ----------
    name
        Its key in the record.
    seed
        From which its random choices follow.
    asked
        How many tries were asked for: fewer were made where it was stopped.
    rows
        What was disturbed, and how it ended.
    findings
        What must never be, in words; empty as long as every promise held.
    seconds, processor
        Time on the clock and of the processor, with all processes.
    versions
        Of the program, and of what the part depends on.
    """

    name: str
    seed: int
    asked: int
    rows: list[Row] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def tries(self) -> int:
        """How many tries were made."""
        return sum(row.tries for row in self.rows)


def faults_of(part: Part, faults: Collection[str]) -> list[str]:
    """Say which outcomes that must never be there were, and how often."""
    return [
        f"{row.what}: {fault} {row.counts[fault]} times"
        for row in part.rows
        for fault in faults
        if row.counts[fault]
    ]


@contextmanager
def measured(part: Part) -> Iterator[Part]:
    """Take the time of a part, and note the versions that it was run with."""
    began, spent = time.monotonic(), _processor()
    yield part
    part.seconds = round(time.monotonic() - began, 1)
    part.processor = round(_processor() - spent, 1)
    part.versions = {
        "evalreport": evalreport.__version__,
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()}",
        "sqlite": sqlite3.sqlite_version,
        **part.versions,
    }


def _processor() -> float:
    import resource  # Windows has none

    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def file_system(folder: Path) -> str:
    """Name the file system that a folder lies on, as the kernel does."""
    best, kind = "", "unknown"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, found, *_ = line.split()
        if folder.resolve().is_relative_to(mount) and len(mount) >= len(best):
            best, kind = mount, found
    return kind


def read(path: Path = RECORD) -> dict[str, Part]:
    """Return the recorded parts by name; none where there is no record yet."""
    if not path.is_file():
        return {}
    return {name: _part(name, facts) for name, facts in json.loads(path.read_text("utf-8")).items()}


def _part(name: str, facts: Mapping[str, Any]) -> Part:
    rows = [Row(row["what"], row["tries"], Counter(row["counts"])) for row in facts["rows"]]
    return Part(**{**facts, "name": name, "rows": rows})


def _facts(part: Part) -> dict[str, Any]:
    return {
        "seed": part.seed,
        "asked": part.asked,
        "rows": [{"what": row.what, "tries": row.tries, "counts": dict(row.counts)} for row in part.rows],
        "findings": part.findings,
        "seconds": part.seconds,
        "processor": part.processor,
        "versions": part.versions,
    }


def write(part: Part, path: Path = RECORD) -> None:
    """Put a part into the record, in the place of what stood there of it."""
    parts = {**read(path), part.name: part}
    facts = {name: _facts(part) for name, part in parts.items()}
    path.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
