"""What fits say besides their result: Python's warnings, collected; and one thread a fit, for the same bytes."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_here = threading.local()


@contextmanager
def messages() -> Iterator[list[str]]:
    """Yield a list that receives the warnings of this thread as texts; outside of ``listening`` it stays empty."""
    before, _here.texts = getattr(_here, "texts", None), []
    try:
        yield _here.texts
    finally:
        _here.texts = before


@contextmanager
def listening() -> Iterator[None]:
    """Send warnings to the thread that they arise in; ``warnings.catch_warnings`` alone knows no threads."""
    with warnings.catch_warnings():
        _listen()
        yield


def listen_for_good() -> None:
    """Do the same in a worker process, which does nothing else."""
    _listen()


def _listen() -> None:
    usual = warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
        texts = getattr(_here, "texts", None)
        if texts is None:
            usual(message, category, *rest, **named)
        else:
            first = (str(message).strip().splitlines() or [""])[0]
            texts.append(f"{category.__name__}: {first[:200]}")

    if getattr(usual, "hears_fits", False):
        return
    hear.hears_fits = True  # type: ignore[attr-defined]
    warnings.simplefilter("always")
    warnings.showwarning = hear


def one_thread() -> None:
    """Let BLAS and OpenMP use one thread: with several the last bits of a sum depend on how many there are.

    OpenMP keeps its number by thread, so each thread says it; and again where new libraries may have been loaded.
    """
    from threadpoolctl import threadpool_limits

    if getattr(_here, "modules", 0) != len(sys.modules):
        threadpool_limits(1)
        _here.modules = len(sys.modules)
