"""The sentences of the section on slices."""

from __future__ import annotations

from collections.abc import Collection

from evalreport.numbers import count
from evalreport.report.naming import listed
from evalreport.report.wording import CORRECTIONS

TESTS = {"fisher_midp": "Fisher’s exact test with mid-p", "welch": "Welch’s t of the influence values"}
FIGURE = (
    "A dot and its own interval for each slice; the dashed line and the band are the value over all examples. Hollow: "
    "too small to be judged. A word on the right marks a slice that differs from the other examples by the test."
)
DIFFERENCES = (
    "Slice − other examples, and slice − best slice of the column. The limits of the first hold for all tests of the "
    "family at once, those of the second for all pairs of the column’s slices, since the data choose the best one. A "
    "ratio is slice : best."
)
SMALL = "Too small to be judged: shown, not tested, not flagged."
NOT_CAUSED = (
    "A difference is no explanation: slices may differ in how hard their examples are, in the share of each class, or "
    "in how they were sampled."
)


def multiplicity(metric: str, tests: int, correction: str, level: str, names: Collection[str | None]) -> str:
    """What was tested, by which test and how it was corrected."""
    if not tests:
        return f"No slice was tested: none is large enough, or nothing lies outside it. {NOT_CAUSED}"
    how = listed([TESTS.get(name, name) for name in sorted(names, key=str) if name is not None])
    several = "slice and model is" if tests == 1 else "slices and models are"
    if correction == "none":
        adjusted = f"p-values are not adjusted for their number, limits of differences hold at {level} each"
    else:
        by = CORRECTIONS.get(correction, correction)
        adjusted = f"p-values are {by}-adjusted over all of them, limits of differences hold at {level}"
    return (
        f"On {metric} {count(tests)} {several} tested against the other examples ({how}); {adjusted}. Other metrics "
        f"are for exploration. {NOT_CAUSED}"
    )


def more_flagged(number: int) -> str:
    """How many flagged slices are not written out."""
    return f"{count(number)} more {'is' if number == 1 else 'are'} flagged: see the tables."


def more_small(number: int) -> str:
    """How many slices that are too small are not written out."""
    return f"and {count(number)} more, marked in the table"


def none_flagged(tested: int) -> str:
    """No slice is flagged; nothing is said of sameness."""
    if not tested:
        return "Slices: none is large enough to be judged."
    return f"Slices: none of {count(tested)} tests shows a difference; smaller ones may be there."


def flagged_line(slices: list[str], metric: str) -> str:
    """Which slices are flagged, in one line."""
    more = f"; and {count(len(slices) - 4)} more" if len(slices) > 4 else ""
    return f"Slices that differ from the other examples on {metric}: {'; '.join(slices[:4])}{more}."
