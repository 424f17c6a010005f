"""The option that names the columns of slices."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.keys import option


@dataclass(frozen=True, kw_only=True)
class SliceOptions:
    """The options about slices."""

    slices: tuple[str, ...] = option(
        (), "COLUMN", '["sex", "age:4", "sex*region"]', name="slice", group="Analysis"
    )
