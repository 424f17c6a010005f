"""How many positives and negatives lie at or above each threshold of a ranking, under many weights at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evalreport.engine.memory import LastUse
from evalreport.engine.ranks import Order, descending_order, group_weights

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Climb:
    """The corners of the ROC curve in weights, from none to all: ``found`` and ``wrong``, (g + 1, b) each."""

    found: Floats
    wrong: Floats


@dataclass(frozen=True, slots=True)
class Steps:
    """A ranking whose neighbouring thresholds without a positive are merged.

    Between two positives the order of the negatives is of no account to what is measured at the corners of the
    ROC curve, nor to a cut of the ranking, where a negative adds to the length alone. So the work is that of the
    rarer class.
    """

    order: Order
    seen: LastUse[Climb] = field(default_factory=LastUse)

    def climb(self, weights: Floats) -> Climb:
        """Return the corners under weights (b, n)."""
        return self.seen.get(weights, self._climb)

    def _climb(self, weights: Floats) -> Climb:
        sides = []
        for part in group_weights(weights, self.order):
            corners = np.zeros((len(part) + 1, part.shape[1]))
            np.cumsum(part, axis=0, out=corners[1:])
            sides.append(corners)
        return Climb(*sides)


def steps_of(score: Floats, positive: npt.NDArray[np.bool_]) -> Steps:
    """Sort scores, group their ties, and merge neighbouring groups without a positive."""
    return Steps(descending_order(score, positive).merged)
