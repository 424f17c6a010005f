"""The options about an automatic judge: how people chose what they judged, and the scales of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalreport.errors import UsageError
from evalreport.keys import option

Scale = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The options about an automatic judge."""

    gold_sampled: bool = option(False, "", "false", group="Input")
    judge_scale: str | None = option(None, "LOW:HIGH[,LOW:HIGH]", '"1:10,1:5"', loading=True, group="Input")

    def check(self) -> None:
        """Refuse scales that cannot be read."""
        if self.judge_scale is not None:
            scales_of(self.judge_scale)


def scales_of(text: str) -> tuple[Scale, Scale]:
    """Return the judge's scale and people's; one alone is that of both.

    Raises
    ------
    UsageError
        It is no pair of two increasing numbers.

    Examples
    --------
    >>> scales_of("1:10,1:5"), scales_of("0:1")
    (((1.0, 10.0), (1.0, 5.0)), ((0.0, 1.0), (0.0, 1.0)))
    """
    scales = []
    for part in text.split(","):
        try:
            low, high = (float(end) for end in part.split(":"))
        except ValueError:
            low = high = math.nan
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UsageError(
                "judge_scale must be LOW:HIGH, or two of them with a comma, the judge's first, such as 1:10,1:5;"
                f" not {text!r}"
            )
        scales.append((low, high))
    if len(scales) > 2:
        raise UsageError(f"judge_scale takes the judge's scale and people's, not {len(scales)} scales")
    return scales[0], scales[-1]
