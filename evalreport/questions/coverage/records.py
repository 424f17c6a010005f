"""Records of prediction intervals: coverage and width by level and within parts, and tests of series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.texts import Message, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRecord:
    """How often one model's intervals at ``level`` hold the truth, and how wide they are.

    ``by``: ``all`` rows, or a tenth of them by ``width`` of the model's own intervals or by ``time``; ``part`` counts
    these tenths from 1, and ``begins`` and ``ends`` are the smallest and largest width of one.
    """

    model: str
    level: float
    by: Literal["all", "width", "time"]
    n: int
    coverage: float | None
    low: float | None
    high: float | None
    width: float | None
    width_low: float | None = None
    width_high: float | None = None
    part: int | None = None
    begins: float | None = None
    ends: float | None = None
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthRatioRecord:
    """The ratio of two models' mean widths, a over b, with limits at ``confidence``; null where none are known."""

    a: str
    b: str
    level: float
    ratio: float
    low: float | None
    high: float | None
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTestRecord:
    """A test of one model's intervals in order of time: ``kupiec`` (as many misses as the level says),
    ``christoffersen`` (a miss says nothing about the next), or ``conditional`` (both).
    """

    model: str
    level: float
    test: Literal["kupiec", "christoffersen", "conditional"]
    statistic: float | None
    df: int
    p_value: float | None
    n: int
    misses: int
    reason: Message | None = None


@dataclass(frozen=True, kw_only=True)
class CoverageLists:
    """The lists of results.json about prediction intervals."""

    coverages: Sequence[CoverageRecord] = ()
    width_ratios: Sequence[WidthRatioRecord] = ()
    coverage_tests: Sequence[CoverageTestRecord] = ()
