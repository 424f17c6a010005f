"""Whether the judge and people grade on one scale, without which a bias of the judge means nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.questions.judges.records import JudgeScaleRecord

AS_WIDE = 1.5
"""A scale that is so many times as wide as the other is another one."""


def scale_records(samples: Sequence[Sample], options: Options) -> tuple[JudgeScaleRecord, ...]:
    """Return the range of the judge's outcomes of all models and of people's, and whether both are on one scale."""
    models = [
        m for s in samples for m in s.predictions.models if m.gold is not None and m.outcome is not None
    ]
    if not models:
        return ()
    judge = np.concatenate([m.outcome for m in models if m.outcome is not None])
    grades = [m.gold if m.by_people is None else m.by_people for m in models]
    people = np.concatenate([own[~np.isnan(own)] for own in grades if own is not None])
    if not len(people):
        return ()
    declared = options.judge_scale is not None
    return (
        JudgeScaleRecord(
            judge_low=float(judge.min()),
            judge_high=float(judge.max()),
            human_low=float(people.min()),
            human_high=float(people.max()),
            same=declared or one_scale(judge, people),
            declared=declared,
        ),
    )


def one_scale(judge: Floats, people: Floats) -> bool:
    """Return whether two sets of grades may be on one scale, of which either may leave grades unused.

    A scale begins at 0 or 1 (below, at its least grade) and ends at its greatest grade. Two differ where one is at
    least 1.5 times as wide, or begins and ends higher. All within [0, 1] is one scale.

    Examples
    --------
    >>> one_scale(np.array([2, 6, 9]), np.array([1, 3, 5])), one_scale(np.array([3, 4, 5]), np.array([1, 3, 4]))
    (False, True)
    >>> one_scale(np.array([0, 2, 4]), np.array([1, 3, 5])), one_scale(np.array([0.2, 0.4]), np.array([0, 1]))
    (False, True)
    """
    if min(judge.min(), people.min()) >= 0 and max(judge.max(), people.max()) <= 1:
        return True
    lows = [
        min(0.0, float(np.floor(grades.min()))) if grades.min() < 1 else 1.0 for grades in (judge, people)
    ]
    highs = [float(grades.max()) for grades in (judge, people)]
    widths = [high - low for low, high in zip(lows, highs, strict=True)]
    if max(widths) >= AS_WIDE * min(widths):
        return False
    return not (np.sign(lows[0] - lows[1]) * np.sign(highs[0] - highs[1]) > 0)
