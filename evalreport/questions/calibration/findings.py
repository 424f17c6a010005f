"""The heading of calibration: what the one test finds, level before spread before shape, with its size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.comparisons.adjustment import adjust
from evalreport.questions.calibration.records import CalibrationRecord
from evalreport.schema.results import Results
from evalreport.texts import Message, shortened

Kind = Literal[
    "impossible",
    "certain",
    "too_high",
    "too_low",
    "overconfident",
    "underconfident",
    "shape",
    "none",
    "untested",
]
GRAVITY: tuple[tuple[Kind, ...], ...] = (
    ("impossible",),
    ("certain",),
    ("too_high", "too_low"),
    ("overconfident", "underconfident"),
    ("shape",),
    ("none",),
    ("untested",),
)
"""Kinds of findings, the gravest first; among those of one row the largest counts."""
MOST_NAMES, LEAST_CLASSES = 3, 4
"""Models that a heading names, and classes from which on it counts those that are off; fewer are read off the table."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the test says of one model, or of the worst class of one model.

    Attributes
    ----------
    p_adjusted
        By Holm over the models, and over the classes where there are several; None: not tested.
    """

    record: CalibrationRecord
    kind: Kind
    p_adjusted: float | None

    @property
    def off(self) -> bool:
        """Whether the probabilities are off: by the test, or because they rule out what happened."""
        return self.kind not in ("none", "untested")

    @property
    def gravity(self) -> tuple[int, float, float]:
        """Sorts findings, the gravest first; where none shows, classes by their p-values and a doubted model first."""
        tier = next(place for place, kinds in enumerate(GRAVITY) if self.kind in kinds)
        if self.off:
            return tier, -self.size, 0.0
        if self.record.label is None:
            return tier, -float(self.doubted), 0.0
        adjusted, single = (1.0 if p is None else p for p in (self.p_adjusted, self.record.p_value))
        return tier, adjusted, single

    @property
    def doubted(self) -> bool:
        """Whether the model's own interval of observed over predicted leaves out 1."""
        low, high = self.record.observed_expected_low, self.record.observed_expected_high
        return low is not None and high is not None and not low <= 1 <= high

    @property
    def size(self) -> float:
        """How far from right, to rank findings of one kind: the factor of the level, the slope's distance from 1."""
        record = self.record
        if self.kind in ("overconfident", "underconfident") and record.slope is not None:
            return abs(record.slope - 1)
        ratio = record.observed_expected
        return float("inf") if not ratio else max(ratio, 1 / ratio)


def calibration_findings(results: Results, order: Sequence[str] = ()) -> list[Finding]:
    """Return what is found of every model, of several classes of every class of every model, the gravest first.

    Findings of one gravity are in the order of the models that is given, such as that of the board.

    The p-values of all models (and classes) are one family: a model's probabilities are off where its own is at or
    below the level after Holm's adjustment.
    """
    whole = [r for r in results.calibration if r.slice is None]
    by_class = any(r.label is not None for r in whole)
    records = [r for r in whole if (r.label is not None) == by_class]
    alpha = 1 - float(results.options.get("confidence", 0.95))
    tested = [r for r in records if r.p_value is not None]
    adjusted = dict(zip(map(id, tested), adjust([r.p_value or 0.0 for r in tested], "holm"), strict=True))
    findings = [Finding(r, _kind(r, adjusted.get(id(r)), alpha), adjusted.get(id(r))) for r in records]
    place = {model: n for n, model in enumerate(order)}
    return sorted(findings, key=lambda f: (f.gravity, place.get(f.record.model, 0)))


def worst_of_models(found: Sequence[Finding]) -> list[Finding]:
    """Return the gravest finding of each model, the gravest model first."""
    worst: dict[str, Finding] = {}
    for one in found:
        worst.setdefault(one.record.model, one)
    return list(worst.values())


def _kind(record: CalibrationRecord, p: float | None, alpha: float) -> Kind:
    if record.impossible:
        return "impossible"
    if record.certain:
        return "certain"
    if p is None:
        return "untested"
    if p > alpha:
        return "none"
    if record.part == "level":
        return "too_low" if record.citl_low is not None and record.citl_low > 0 else "too_high"
    if record.part == "spread":
        return (
            "overconfident" if record.slope_high is not None and record.slope_high < 1 else "underconfident"
        )
    return "shape"


def said(finding: Finding, name: Callable[[str], str]) -> Message:
    """Say what was found of one model, with its size.

    Examples
    --------
    >>> record = CalibrationRecord(
    ...     model="pd", label=None, n=6500, n_weighed=6500, observed=150, expected=222.5, observed_expected=0.674,
    ...     observed_expected_low=0.575, observed_expected_high=0.79, citl_high=-0.2,
    ... )
    >>> str(said(Finding(record, "too_high", 0.001), str))
    'pd is too high: 3.4 % predicted, 2.3 % observed (observed ÷ predicted 0.67 [0.57, 0.79])'
    """
    record, kind = finding.record, finding.kind
    who = _who(record, name)
    if kind == "impossible":
        return Message("calibration.impossible", model=who, n=record.impossible)
    if kind == "certain":
        return Message("calibration.certain", model=who, n=record.certain)
    if kind in ("overconfident", "underconfident"):
        limits = (record.slope_low, record.slope_high)
        return Message(f"calibration.{kind}", model=who, slope=record.slope, low=limits[0], high=limits[1])
    return Message(f"calibration.{kind}", model=who, level=level_of(record))


def _who(record: CalibrationRecord, name: Callable[[str], str]) -> str | Message:
    model = name(record.model)
    return model if record.label is None else Message("calibration.of_class", model=model, label=record.label)


def level_of(record: CalibrationRecord) -> Message:
    """Say how much is predicted and observed, and the ratio of observed over predicted with its interval."""
    total = record.n_weighed
    rates = {"predicted": record.expected / total, "observed": record.observed / total}
    low, high = record.observed_expected_low, record.observed_expected_high
    if record.observed_expected is None or low is None or high is None:
        return Message("calibration.rates", **rates)
    return Message("calibration.rates_ratio", ratio=record.observed_expected, low=low, high=high, **rates)


def calibration_heading(found: Sequence[Finding], name: Callable[[str], str]) -> Message:
    """Return the heading: the gravest finding, or that none shows, with the level of that with the smallest p-value."""
    first = found[0]
    if first.kind != "none":
        return _of_most_classes(found, name) or said(first, name)
    parts = "" if all(f.record.p_deciles is not None for f in found if f.kind == "none") else "_in_parts"
    if first.record.label is None:
        if first.doubted:
            side = "high" if (first.record.observed_expected_high or 0.0) < 1 else "low"
            return Message(f"calibration.perhaps_{side}", finding=said(first, name))
        return Message(f"calibration.no_finding{parts}", finding=said(first, name))
    classes = {one.record.label for one in found if one.kind == "none"}
    return Message(f"calibration.no_finding_by_class{parts}", n=len(classes), finding=said(first, name))


def _of_most_classes(found: Sequence[Finding], name: Callable[[str], str]) -> Message | None:
    """Say that models are overconfident, or underconfident, on most classes; None where no side has half of them.

    Counted are classes that the test finds off, with an interval of the slope on that side of 1.
    """
    if any(one.record.label is None or one.kind in ("impossible", "certain") for one in found):
        return None
    sides = {
        "overconfident": [f for f in found if f.off and f.record.slope_high is not None and f.record.slope_high < 1],
        "underconfident": [f for f in found if f.off and f.record.slope_low is not None and f.record.slope_low > 1],
    }  # fmt: skip
    for side, rows in sides.items():
        slopes = [f.record.slope for f in rows if f.record.slope is not None]
        if 2 * len(rows) > len(found) and len({f.record.label for f in found}) >= LEAST_CLASSES:
            models = list(dict.fromkeys(name(f.record.model) for f in rows))
            return Message(
                f"calibration.most_{side}", models=shortened(models, MOST_NAMES), n=len(models), some=len(rows),
                total=len(found), low=min(slopes), high=max(slopes),
            )  # fmt: skip
    return None


def calibration_of_others(found: Sequence[Finding], name: Callable[[str], str]) -> list[Message]:
    """Say what was found of the models after the first; those without a finding in one sentence.

    Of several classes also how many of them are off for each model where more than one is.
    """
    worst = worst_of_models(found)
    rest = worst[1:]
    sentences = [said(one, name) for one in rest if one.off]
    for kind in ("none", "untested"):
        names = [name(one.record.model) for one in rest if one.kind == kind]
        if names and worst[0].kind != kind:
            by_scores = kind == "none" and any(f.record.p_deciles is None for f in rest if f.kind == "none")
            key = f"calibration.others_{kind}{'_in_parts' if by_scores else ''}"
            sentences.append(Message(key, models=", ".join(names), n=len(names)))
    for model in (one.record.model for one in worst):
        own = [one for one in found if one.record.model == model]
        off = sum(one.off for one in own)
        if off > 1:
            sentences.append(Message("calibration.classes_off", model=name(model), n=off, total=len(own)))
    return sentences
