"""The options and the lists of results.json of all rooms; written by ``make docs``, do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.questions.costs.options import CostOptions
from evalreport.questions.costs.records import CostLists


@dataclass(frozen=True, kw_only=True)
class RoomOptions(
    CostOptions,
):
    """The options of all rooms, in their order."""


@dataclass(frozen=True, kw_only=True)
class RoomLists(
    CostLists,
):
    """The lists of results.json of all rooms, in their order."""
