"""Statistics that several metrics read from the same weights, computed once for each block of weights."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
T = TypeVar("T")


class LastUse(Generic[T]):
    """What was computed from the last weights; other weights replace it.

    Metrics of one model are evaluated one after another on the same block of weights, so remembering one block
    is enough, and nothing but time depends on it. The weights are compared by identity and held, so that no
    other array can take their place.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Floats, T] | None = None

    def get(self, weights: Floats, compute: Callable[[Floats], T]) -> T:
        """Return ``compute(weights)``, remembered where the weights are the last ones."""
        last = self._last
        if last is None or last[0] is not weights:
            last = (weights, compute(weights))
            self._last = last
        return last[1]


_RUNNING: dict[int, tuple[weakref.ref[Floats], Floats]] = {}
_WORTH_KEEPING = 100_000


def running_sum(values: Floats) -> Floats:
    """Return cumulative sums along the first axis; of a long vector they are kept for as long as it lives.

    Several metrics, their derivatives and the histogram begin with the running sums of the same two vectors, which
    nobody writes to. The sums that are kept cannot be written to.
    """
    if values.ndim > 1 or len(values) < _WORTH_KEEPING:
        return np.cumsum(values, axis=0)
    kept = _RUNNING.get(id(values))
    if kept is None or kept[0]() is not values:
        return keep_running_sum(values, np.cumsum(values))
    return kept[1]


def keep_running_sum(values: Floats, sums: Floats) -> Floats:
    """Remember the running sums of a long vector that came about in another way, and return them."""
    place = id(values)
    if len(values) >= _WORTH_KEEPING:
        sums.flags.writeable = False
        _RUNNING[place] = weakref.ref(values, lambda _: _RUNNING.pop(place, None)), sums
    return sums
