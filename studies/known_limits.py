"""Where the leading interval is known to cover less than it should, and why it leads all the same.

A cell of the study in which the leading interval misses has to stand here, and what stands here has to miss:
``tests/intervals/test_coverage_table.py`` holds both.
"""

from __future__ import annotations

from collections.abc import Mapping

Cell = tuple[str, int, str, str, str]
"""Design, size, kind, model, metric: ``studies.rows.Row.key``."""

KNOWN_LIMITS: Mapping[Cell, str] = {}
