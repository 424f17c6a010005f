"""Warnings about slices: one that differs, those that are too small to be tested, an order that turns round."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.questions.slices.compute import Sliced
from evalreport.schema.warnings import WarningRecord
from evalreport.warnings.checks import check


@check("slice_differs", "one_slice", "small_slices", "order_reversed_in_slices")
def of_slices(slices: Sliced) -> Iterator[WarningRecord]:
    """Warn of slices that differ, of those that cannot be tested, and of reversed orders."""
    yield from slices.raised
