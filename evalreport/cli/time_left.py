"""A run of more than ten seconds says how far it is, how long it still takes, and once what makes it shorter."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context

from evalreport.texts import Message

FIRST, AGAIN = 9.0, 30.0
"""Seconds before the first line, and between two lines."""

SHORTER = {
    "reading and checking": Message("time_left.aggregate"),
    "resampling": Message("time_left.resamples"),
    "comparing": Message("time_left.pairs"),
}
FEWER_METRICS = Message("time_left.metrics")
"""The option that shortens a stage of an analysis, and any other."""


@contextmanager
def time_left(
    first: str, say: Callable[[Message], None], *, shorter: bool
) -> Iterator[Callable[[str, float], None]]:
    """Yield a function of (stage, share done); meanwhile a thread says them, with the time left by what is done.

    Parameters
    ----------
    first
        The first stage.
    say
        Prints one line.
    shorter
        Name the option that shortens an analysis, once.
    """
    began, over, now = time.monotonic(), threading.Event(), [(first, 0.0)]

    def speak() -> None:
        wait, named = FIRST, not shorter
        while not over.wait(wait):
            stage, share = now[0]
            say(progress_line(stage, share, time.monotonic() - began))
            if not named:
                say(SHORTER.get(stage, FEWER_METRICS))
            wait, named = AGAIN, True

    def moved(stage: str, share: float) -> None:
        now[0] = stage, share

    thread = threading.Thread(target=copy_context().run, args=(speak,), daemon=True)
    thread.start()
    try:
        yield moved
    finally:
        over.set()
        thread.join()


def progress_line(stage: str, share: float, seconds: float) -> Message:
    """Say the stage, the share of the run that is done, and the time left if the rest goes as fast.

    Examples
    --------
    >>> str(progress_line("comparing", 0.4, 20.0))
    'comparing: 40 % of the run is done after 20 s, about 30 s left'
    """
    if not share:
        return Message("time_left.begun", stage=stage, seconds=round(seconds))
    left = round(seconds * (1 - share) / share)
    return Message("time_left.line", stage=stage, done=round(100 * share), seconds=round(seconds), left=left)
