"""Independent pieces of work side by side in threads; the order of results, and so every byte, is the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_JOBS: ContextVar[int] = ContextVar("jobs", default=1)


@contextmanager
def working(jobs: int) -> Iterator[None]:
    """Let ``mapped`` use so many threads."""
    token = _JOBS.set(jobs)
    try:
        yield
    finally:
        _JOBS.reset(token)


def mapped(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield the function's results in the order of the items; in threads where several may be used.

    Few items are taken ahead, so that memory does not grow with their number. What runs in a thread starts no more.

    Examples
    --------
    >>> with working(2):
    ...     list(mapped(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    jobs = _JOBS.get()
    if jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for item in items:
                # numpy's error state and the language of texts are the caller's in every thread.
                waiting.append(pool.submit(copy_context().run, _alone, function, item))
                if len(waiting) > jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _alone(function: Callable[[T], R], item: T) -> R:
    _JOBS.set(1)
    return function(item)
