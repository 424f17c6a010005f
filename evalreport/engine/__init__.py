"""Weights over examples and what works on them: draws, cells, moments, ranks, derivatives.

A metric is a function of weights (``..., n``) over examples. The modules here turn weights into the sufficient
statistics of the three families (margins of confusion tables, weighted sums of columns, weights along sorted scores)
and give the derivative with respect to one example's weight. What they keep of earlier results is kept as follows.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")


class cached_property(Generic[R]):  # noqa: N801 - named as functools names it
    """A property that is computed once: ``functools.cached_property`` without its lock.

    Up to Python 3.11 that lock is the class's, not the instance's: two threads could never compute the same property
    of two instances at a time. Here two that ask for the same value at one time may both compute it.
    """

    def __init__(self, function: Callable[[Any], R]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> R:
        """Compute the value; from then on it is an attribute of the instance."""
        if instance is None:
            return self  # type: ignore[return-value]
        value = instance.__dict__[self._function.__name__] = self._function(instance)
        return value


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


class Kept(Generic[R]):
    """What was computed, by key; threads that ask for the same at one time wait for the first."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, Lock] = {}
        self._found: dict[Hashable, R] = {}

    def get(self, key: Hashable, compute: Callable[[], R]) -> R:
        """Return what was computed under a key."""
        with self._locks.setdefault(key, Lock()):
            if key not in self._found:
                self._found[key] = compute()
            return self._found[key]


def once(function: Callable[..., R]) -> Callable[..., R]:
    """Compute a function once for the same arguments, in whatever threads.

    Examples
    --------
    >>> greet = once(print)
    >>> greet("computed"), greet("computed")
    computed
    (None, None)
    """
    kept = Kept[R]()
    return lambda *args: kept.get(args, partial(function, *args))


def shared(make: Callable[[int], npt.NDArray[Any]]) -> Callable[[int], npt.NDArray[Any]]:
    """Make the array of a size once for as long as somebody uses it; it cannot be written to.

    Examples
    --------
    >>> numbers = shared(np.arange)
    >>> one, other = numbers(3), numbers(3)
    >>> one is other, one.tolist()
    (True, [0, 1, 2])
    """
    kept: WeakValueDictionary[int, npt.NDArray[Any]] = WeakValueDictionary()

    def of_size(n: int) -> npt.NDArray[Any]:
        found = kept.get(n)
        if found is None:
            found = kept[n] = make(n)
            found.flags.writeable = False
        return found

    return of_size


@contextmanager
def memory_kept() -> Iterator[None]:
    """Keep freed memory for the arrays that come next, where this process has glibc."""
    _set_glibc(trim_threshold=1 << 28, top_pad=1 << 27, arena_max=1)
    _ask_for_huge_pages()
    try:
        yield
    finally:
        # As glibc itself sets it once 32 MB have been freed.
        _set_glibc(trim_threshold=1 << 26, top_pad=1 << 17, arena_max=0)


def _ask_for_huge_pages() -> None:
    """Let the next arrays lie in large pages, where what reads and writes here and there, as sorting does, is faster.

    numpy asks Linux for them where an array is large; smaller ones come to lie in what is free again.
    """
    if sys.platform == "linux":
        large = [np.empty((1 << 25) - (1 << 12), dtype=np.uint8) for _ in range(2)]
        large.clear()


_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
"""Of mallopt(3)."""


def _set_glibc(*, trim_threshold: int, top_pad: int, arena_max: int) -> None:
    """Say how many freed bytes glibc keeps for the arrays that come next, those of up to 32 MB among them.

    Left to itself it gives most of them back at once, and a fifth of a run is spent on getting them again.

    Parameters
    ----------
    top_pad
        What threads of a program that has several places for memory leave of one, where it would be given up whole.
    arena_max
        Places: 1 for all threads, what one has freed being of use to the others; 0 for one each.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries than glibc have none
        if mallopt is not None and mallopt(_MMAP_THRESHOLD, 1 << 25):
            mallopt(_TRIM_THRESHOLD, trim_threshold)
            mallopt(_TOP_PAD, top_pad)
            mallopt(_ARENA_MAX, arena_max)
