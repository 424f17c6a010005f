"""The options of a run: what changes results, what changes only the outputs, and evalreport.toml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Task = Literal["binary", "multiclass", "regression", "outcome", "scores"]
Join = Literal["error", "intersect", "independent"]
Correction = Literal["holm", "bh", "bonferroni", "none"]
Format = Literal["html", "pdf", "json", "md"]
Detail = Literal["brief", "full"]

FORMATS: tuple[Format, ...] = ("html", "pdf", "json", "md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that change results (CONTRACT: command line); they stand in results.json.

    ``metrics``, ``intervals`` and ``tests`` empty mean the defaults; the first metric is the primary one.
    """

    truth: str | None = None
    task: Task | None = None
    positive: str | None = None
    threshold: float | None = None
    join: Join = "error"
    outcome: str | None = None
    value: str | None = None
    lower_is_better: bool = False
    baseline: str | None = None
    metrics: tuple[str, ...] = ()
    intervals: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0
    correction: Correction = "holm"
    margin: float | None = None
    slices: tuple[str, ...] = ()
    cluster: str | None = None
    weight: str | None = None
    gates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """The options that change only what is written and how; results.json does not depend on them."""

    output: Path = Path("evalreport-out")
    formats: tuple[Format, ...] = FORMATS
    formats_named: bool = False
    detail: Detail = "brief"
    templates: Path | None = None
    title: str | None = None
    jobs: int = 1
    quiet: bool = False
    verbose: bool = False
