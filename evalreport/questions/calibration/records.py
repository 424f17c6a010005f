"""Calibration of probabilities: level, spread, shape, the one test, parts of scores; grades; decision curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.schema.metrics import Slice
from evalreport.texts import Message

Part = Literal["level", "spread", "shape", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRecord:
    """How one model's probabilities of one event agree with what happened.

    ``label``: the class of several whose probability it is; null for a binary task, and of several classes for the
    largest probability and whether that class is the true one. ``observed`` and ``expected``: sums of outcomes and of
    probabilities. ``citl``: calibration in the large. ``score`` and ``curvature``: statistics of the test of level and
    spread together and of curvature, with their p-values ``p_line`` and ``p_curvature``; ``p_score`` is of both.
    ``p_deciles``: of deciles of risk, null with fewer than 50 events or non-events, in clusters and under weights.
    ``p_value``: of all of them, for this model and class alone, by ``p_method`` (score, monte_carlo, clusters): the
    least of 1.25 p_score and 5 p_deciles, else p_score. ``part``: what is found at the run's level; "shape" where the
    deciles decide. ``mcb``, ``dsc``, ``unc``: miscalibration, discrimination and uncertainty of the Brier score,
    ``.._log`` of the log loss, ``.._expected`` what chance alone gives. ``reason``: why something is null.
    """

    model: str
    label: str | None
    slice: Slice | None = None
    n: int
    n_weighed: float
    """Sum of the weights of the examples, or their number."""
    observed: float
    expected: float
    observed_expected: float | None = None
    observed_expected_low: float | None = None
    observed_expected_high: float | None = None
    citl: float | None = None
    citl_low: float | None = None
    citl_high: float | None = None
    slope: float | None = None
    slope_low: float | None = None
    slope_high: float | None = None
    score: float | None = None
    curvature: float | None = None
    p_line: float | None = None
    p_curvature: float | None = None
    p_score: float | None = None
    p_deciles: float | None = None
    p_value: float | None = None
    p_method: str | None = None
    part: Part = "none"
    calibration_error: float | None = None
    calibration_error_low: float | None = None
    calibration_error_high: float | None = None
    mcb: float | None = None
    mcb_expected: float | None = None
    dsc: float | None = None
    unc: float | None = None
    mcb_log: float | None = None
    mcb_log_expected: float | None = None
    dsc_log: float | None = None
    unc_log: float | None = None
    left_out: int = 0
    """Examples with a probability of 0 or 1 that agrees with the outcome: without a logit, so not in the test."""
    impossible: int = 0
    """Events of probability 0 that happened."""
    certain: int = 0
    """Events of probability 1 that did not happen."""
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTableRecord:
    """One grade of a rating scale, or decile of risk: ``predicted`` is the mean probability, ``observed`` the share.

    ``low`` and ``high``: Jeffreys' limits of the share. ``p_value`` is one-sided by Jeffreys, small where the mean
    probability is too low; grades are not corrected together. Null under weights and clusters.
    """

    model: str
    label: str | None
    slice: Slice | None = None
    grade: str
    n: int
    predicted: float
    observed: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


@dataclass(frozen=True, kw_only=True)
class CalibrationLists:
    """The lists of results.json about calibration."""

    calibration: Sequence[CalibrationRecord] = ()
    calibration_table: Sequence[CalibrationTableRecord] = ()
