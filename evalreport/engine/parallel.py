"""Map a function over items in threads of the standard library."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from numbers import Integral
from typing import TypeVar

from evalreport.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")

MOST_THREADS = 10_000


_WORKERS: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("workers", default=None)
"""The threads, and their number."""


@contextmanager
def working(jobs: int) -> Iterator[None]:
    """Let ``mapped`` use this many threads; with 1 it calls the function directly.

    Raises
    ------
    UsageError
        It is no number of threads.
    """
    if not isinstance(jobs, Integral) or isinstance(jobs, bool) or not 1 <= jobs <= MOST_THREADS:
        raise UsageError(f"jobs must be a whole number from 1 to {MOST_THREADS:,}")
    if jobs == 1:
        yield
        return
    with ThreadPoolExecutor(jobs) as pool:
        token = _WORKERS.set((pool, jobs))
        try:
            yield
        finally:
            _WORKERS.reset(token)


def mapped(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield the function's results in the order of the items, computed in threads where ``working`` allows several.

    At most twice as many items as there are threads are taken ahead, so memory does not grow with their number. A
    function that itself maps does so in its own thread: no worker ever waits for another one.

    Parameters
    ----------
    function
        Called in a copy of the caller's context (numpy's error state, the language of texts).
    items
        Taken one by one, in the caller's thread.

    Examples
    --------
    >>> with working(2):
    ...     list(mapped(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    workers = _WORKERS.get()
    if workers is None:
        yield from map(function, items)
        return
    pool, jobs = workers
    calls: deque[Future[R]] = deque()
    try:
        for item in items:
            calls.append(pool.submit(copy_context().run, _in_worker, function, item))
            if len(calls) > 2 * jobs:
                yield calls.popleft().result()
        while calls:
            yield calls.popleft().result()
    finally:
        for call in calls:
            call.cancel()


def _in_worker(function: Callable[[T], R], item: T) -> R:
    _WORKERS.set(None)
    return function(item)
