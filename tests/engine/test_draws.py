"""Threads: what they share is computed once, and idle ones take part of what another has; memory is kept."""

from __future__ import annotations

import resource
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from evalreport.engine import cached_property, draws, once
from evalreport.engine.draws import begun, mapped, threads_for, working


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


def test_who_waits_makes_no_call_of_others_that_may_need_what_it_holds() -> None:
    """Two calls ask for one value, whose computation maps: the thread that computes it must not begin the other."""

    @once
    def value(number: int) -> int:
        return sum(mapped(lambda item: time.sleep(0.01) or item, range(6)))

    with working(3):
        assert list(mapped(lambda _: value(1), range(8))) == [15] * 8


def test_what_is_begun_early_is_there_when_asked_for() -> None:
    """With or without threads it is computed once; an error is raised where the value is asked for."""
    for jobs in (1, 2):
        made: list[int] = []
        with working(jobs):
            value = begun(lambda made=made: made.append(1) or 42)
            wrong = begun(lambda: 1 // 0)
            assert [value(), value(), *made] == [42, 42, 1]
            with pytest.raises(ZeroDivisionError):
                wrong()


def test_threads_are_started_for_a_part_that_is_worth_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small run works in one thread, but for a part of it that draws much; then in one again."""
    monkeypatch.setattr(draws, "WORTH_THREADS", 100)
    here = threading.get_ident()

    def where(_item: int) -> int:
        time.sleep(0.01)
        return threading.get_ident()

    with working(2, draws=99):
        assert set(mapped(where, range(6))) == {here}
        with threads_for(99):
            assert set(mapped(where, range(6))) == {here}
        with threads_for(100):
            assert set(mapped(where, range(6))) - {here}
        assert set(mapped(where, range(6))) == {here}
    with working(1, draws=1000), threads_for(1000):
        assert set(mapped(where, range(6))) == {here}


def test_two_instances_compute_a_property_at_one_time() -> None:
    """Each waits in its property until the other is in its own: a lock of the class would never let it."""

    class Meeting:
        def __init__(self, meeting: threading.Barrier) -> None:
            self.meeting = meeting

        @cached_property
        def place(self) -> int:
            return self.meeting.wait(timeout=10)

    meeting = threading.Barrier(2)
    with working(2):
        assert sorted(mapped(lambda one: one.place, [Meeting(meeting), Meeting(meeting)])) == [0, 1]


def test_threads_let_go_of_what_they_have_done() -> None:
    """A thread that waits for more work holds nothing of the last: a block of draws is 128 MB."""

    class Block:
        pass

    meeting = threading.Barrier(2)
    blocks = [Block(), Block()]
    held = [weakref.ref(block) for block in blocks]
    with working(2):
        assert sorted(mapped(lambda _: meeting.wait(timeout=10), blocks)) == [0, 1]
        del blocks
        assert [block() for block in held] == [None, None]


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
