"""Threads: what they share is computed once, and idle ones take part of what another has; memory is kept."""

from __future__ import annotations

import resource
import sys
import threading
import time

import numpy as np
import pytest

from evalreport.engine import once
from evalreport.engine.draws import mapped, working


def test_threads_that_ask_together_compute_once() -> None:
    """Four threads ask for the same at one time: one computes, the others wait for it."""
    computed: list[int] = []

    def slowly(number: int) -> int:
        time.sleep(0.05)
        computed.append(number)
        return -number

    with working(4):
        assert list(mapped(once(slowly), [1, 1, 1, 1, 2, 1])) == [-1, -1, -1, -1, -2, -1]
    assert sorted(computed) == [1, 2]


def test_idle_threads_take_items_of_a_longer_one() -> None:
    """One of two items maps twelve of its own: the thread that has done the other item takes some of them."""
    where: set[int] = set()

    def inner(number: int) -> int:
        time.sleep(0.01)
        where.add(threading.get_ident())
        return number

    def outer(size: int) -> list[int]:
        return list(mapped(inner, range(size)))

    with working(2):
        assert list(mapped(outer, [12, 0])) == [list(range(12)), []]
    assert len(where) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's settings")
def test_freed_memory_is_kept_while_a_run_works() -> None:
    """90 MB in pieces of 3 MB, freed and taken again: the pages of the first time serve the others."""

    def faults() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    def pieces() -> None:
        assert sum(piece[-1] for piece in [np.ones(390_000) for _ in range(30)]) == 30

    with working(1):
        pieces()
        before = faults()
        for _ in range(10):
            pieces()
        assert faults() - before < 20_000  # 230,000 without
