"""The options of curves, operating points and decision curves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalreport.errors import UsageError
from evalreport.keys import option
from evalreport.texts import quoted


@dataclass(frozen=True, kw_only=True)
class ThresholdOptions:
    """The options about thresholds."""

    thresholds: str | None = option(None, "LOW:HIGH[:STEP]", '"0.05:0.3"', group="Analysis")
    cost_ratio: float | None = option(None, "X", "5", group="Analysis")
    what_if_threshold: float | None = option(None, "X", "0.7", group="Analysis")

    finds: str | None = option(None, "LIST", '"0.95,0.8"', group="Analysis")
    alarms: str | None = option(None, "LIST", '"0.05"', group="Analysis")

    def check_ranges(self) -> None:
        """Refuse a ratio of costs or a range of thresholds that is none."""
        if self.cost_ratio is not None and self.cost_ratio <= 0:
            raise UsageError(
                f"cost_ratio must be greater than 0, not {self.cost_ratio:g}: the cost of a false negative over that of"
                " a false positive"
            )
        if self.thresholds is not None:
            threshold_range(self.thresholds)
        for name, text, example in (("finds", self.finds, "0.95,0.8"), ("alarms", self.alarms, "0.01,0.05")):
            if text is not None and not shares_of(text):
                raise UsageError(
                    f"{name} must be at most {MOST_SHARES} shares above 0, up to 1, separated by commas, such as"
                    f" {example}, not {quoted(text)}"
                )


MOST_SHARES = 6


def shares_of(text: str | None) -> tuple[float, ...]:
    """Read shares, each once and in the order in which they were named; empty where one is none, or there are too many.

    Examples
    --------
    >>> shares_of("0.95, 0.8"), shares_of("95"), shares_of(None)
    ((0.95, 0.8), (), ())
    """
    try:
        shares = tuple(dict.fromkeys(float(part) for part in (text or "").split(",")))
    except ValueError:
        return ()
    return shares if len(shares) <= MOST_SHARES and all(0 < share <= 1 for share in shares) else ()


MOST_THRESHOLDS = 1000


def threshold_range(text: str) -> tuple[float, ...]:
    """Read the declared range of thresholds, both ends included; the step is 0.01 where none is given.

    Raises
    ------
    UsageError
        It is no LOW:HIGH or LOW:HIGH:STEP with 0 < LOW < HIGH < 1, or has too many thresholds.

    Examples
    --------
    >>> threshold_range("0.05:0.08"), threshold_range("0.1:0.3:0.1")
    ((0.05, 0.06, 0.07, 0.08), (0.1, 0.2, 0.3))
    """
    try:
        low, high, *rest = (float(part) for part in text.split(":"))
        step = rest[0] if rest else 0.01
        if len(rest) > 1 or not 0 < low < high < 1 or not 0 < step < 1:
            raise ValueError
    except ValueError:
        raise UsageError(
            "thresholds must be LOW:HIGH or LOW:HIGH:STEP with 0 < LOW < HIGH < 1, such as 0.05:0.3,"
            f" not {quoted(text)}"
        ) from None
    steps = math.floor((high - low) / step + 1e-9)
    if steps > MOST_THRESHOLDS:
        raise UsageError(f"thresholds {text}: more than {MOST_THRESHOLDS} thresholds; use a larger step")
    thresholds = [round(low + i * step, 10) for i in range(steps + 1)]
    return tuple(thresholds) if thresholds[-1] >= high - 1e-9 else (*thresholds, round(high, 10))
