"""Which slice became worse since the accepted run."""

from __future__ import annotations

import pytest

from tests.samples.audits import gate_of, right, share
from tests.samples.nights import changed, warned


def test_the_slice_that_fell_is_named_and_no_other(history):
    """Women: 45 of 100 wrong now, 10 then; men as before: one slice is loud, and its gate fails."""
    then = right(share(360, 400))
    then["forest"]["sex"] = ["f", "m"] * 200
    now = right([1] * 400, first=1000)
    now["forest"]["sex"] = ["f", "m"] * 200
    flip = {"0": "1", "1": "0"}
    said = now["forest"]["y_pred"]
    for k in [*range(0, 180, 2), *range(1, 41, 2)]:
        said[k] = flip[said[k]]
    found = changed(history, then, now, slices=("sex",), gates=("fallen_slices <= 0",))
    fallen = [row for row in found.results.audit if row.question == "slice" and row.alarm]
    assert [row.about for row in fallen] == ["forest, sex = f"]
    assert fallen[0].effect_size == pytest.approx(-0.35)
    assert gate_of(found) == ("fail", "fallen slices: 1")
    assert warned(found)["slice_fell"].about == ("forest, sex = f",)


def test_a_slice_that_rose_is_no_alarm(history):
    """All right now, half right then."""
    then, now = right(share(100, 200)), right(share(200, 200), first=1000)
    for source in (then, now):
        source["forest"]["sex"] = ["f", "m"] * 100
    found = changed(history, then, now, slices=("sex",))
    rows = [row for row in found.results.audit if row.question == "slice"]
    assert len(rows) == 2
    assert min(row.p_value for row in rows) > 0.999
    assert not any(row.alarm for row in rows)
