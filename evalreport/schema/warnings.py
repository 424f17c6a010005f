"""Automatic warnings, their levels, and the function that makes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalreport.texts import Message, Text

Level = Literal["info", "caution", "blocker"]

FEW_OF_A_CLASS = 30
FEW_CLUSTERS = 10
FEW_RESAMPLES = 1000
"""Examples of a class, effective clusters and resamples: fewer are warned of, and the report says so of its methods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningRecord:
    """One automatic warning with its stable code; ``about`` names models, metrics or columns.

    A ``blocker`` withholds verdicts and letters and leaves the numbers; an ``info`` does not limit the verdict.
    """

    code: str
    text: Message
    about: tuple[str, ...] = ()
    level: Level = "caution"


State = Literal["passed", "fired", "not_applicable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """The state of one check: of a warning's ``code``, once a run, or once a model that ``about`` then names.

    A check that had nothing to look at is ``not_applicable``, with the ``reason``; it is never ``passed``.
    """

    code: str
    title: Message
    state: State
    reason: Message | None = None
    about: tuple[str, ...] = ()


LEVELS: Mapping[str, tuple[Level, ...]] = {
    "trained_on_test": ("blocker",),
    "gold_not_random": ("blocker", "caution", "info"),
    **dict.fromkeys(("few_passes", "folds_taken_as_independent"), ("caution", "info")),
    **dict.fromkeys(("curves_cross", "guessed_task", "threshold_chosen_here"), ("caution", "info")),
    **dict.fromkeys(("clustering_bootstrap", "guessed_probability", "identical_answers"), ("info",)),
    **dict.fromkeys(("column_differs_between_attempts", "unlike_attempts", "one_slice"), ("info",)),
    **dict.fromkeys(("undefined_value", "tied_scores", "noise_in_bias", "several_comparisons"), ("info",)),
    **dict.fromkeys(("calibration_not_tested", "few_accepted_nights"), ("info",)),
    **dict.fromkeys(("prevalence_of_this_set", "overlap_is_no_test", "reused_test_set"), ("info",)),
    **dict.fromkeys(("rare_costs", "few_attempts", "cost_left_out"), ("info",)),
    "few_successes_or_failures": ("info",),
    "time_ordered": ("caution", "info"),
}


def levels_of(code: str) -> tuple[Level, ...]:
    """Return the levels that a warning can have, the usual one first."""
    return LEVELS.get(code, ("caution",))


def warning(
    code: str, /, text: str = "", *, about: tuple[str, ...] = (), level: Level | None = None, **params: object
) -> WarningRecord:
    """Make a warning, of its usual level where none is given.

    The catalogue has its text under ``warning.CODE`` or ``warning.CODE.TEXT``, and its meaning under
    ``meaning.CODE``.
    """
    usual = levels_of(code)
    assert level is None or level in usual, f"{code}: {level} is missing in LEVELS"
    return WarningRecord(
        code=code,
        text=Message(f"warning.{code}{text and '.'}{text}", **params),
        about=about,
        level=level or usual[0],
    )


def recorded_warning(code: str, text: Text, about: tuple[str, ...]) -> WarningRecord:
    """Return a warning as another record holds it, such as a finding."""
    return WarningRecord(code=code, text=text, about=about)
