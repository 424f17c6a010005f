"""Threads: results come in order, inner maps run inline, few items are taken ahead."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from evalreport.engine.parallel import mapped, working


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    """Also where the first item takes longest."""

    def slowest_first(item: int) -> int:
        time.sleep(0.02 if item == 0 else 0)
        return -item

    with working(jobs):
        assert list(mapped(slowest_first, range(20))) == [-item for item in range(20)]


def test_several_threads_work_at_one_time() -> None:
    """Each of two calls waits until the other has begun."""
    meeting = threading.Barrier(2)
    with working(2):
        assert sorted(mapped(lambda _: meeting.wait(timeout=10), range(2))) == [0, 1]


def test_one_job_needs_no_thread() -> None:
    """Without ``working``, and with one job, the caller's thread computes."""
    here = {threading.get_ident()}
    assert set(mapped(lambda _: threading.get_ident(), range(3))) == here
    with working(1):
        assert set(mapped(lambda _: threading.get_ident(), range(3))) == here


def test_inner_maps_run_in_the_thread_of_the_outer_one() -> None:
    """More outer calls than threads, each of which maps: no call waits for a free thread."""

    def inner(_item: int) -> int:
        return threading.get_ident()

    def outer(_item: int) -> bool:
        return set(mapped(inner, range(5))) == {threading.get_ident()}

    with working(2):
        assert all(mapped(outer, range(8)))


def test_few_items_are_taken_ahead() -> None:
    """A long sequence of blocks is never in memory as a whole."""
    taken: list[int] = []

    def blocks() -> Iterator[int]:
        for block in range(100):
            taken.append(block)
            yield block

    with working(2):
        for done, _ in enumerate(mapped(abs, blocks()), 1):
            assert len(taken) - done <= 4


def test_workers_keep_no_finished_item() -> None:
    """A thread that waits for more work holds nothing of the last call: a block of draws is 128 MB."""

    class Block:
        pass

    held: list[weakref.ref[Block]] = []

    def blocks() -> Iterator[Block]:
        for _ in range(6):
            block = Block()
            held.append(weakref.ref(block))
            yield block
            del block

    with working(2):
        assert len([*mapped(id, blocks())]) == 6
        assert [block() for block in held] == [None] * 6


def test_an_error_is_raised_at_its_item_and_ends_the_map() -> None:
    """Earlier results are there; calls that have not begun are cancelled."""
    begun: list[int] = []

    def inverse(item: int) -> float:
        begun.append(item)
        return 1 / item

    with working(2):
        results = mapped(inverse, [2, 1, 0, *range(1, 1000)])
        assert [next(results), next(results)] == [0.5, 1.0]
        with pytest.raises(ZeroDivisionError):
            next(results)
    assert len(begun) < 20


def test_functions_run_in_the_callers_context() -> None:
    """The error state of numpy is the caller's in every thread."""
    with working(2), np.errstate(divide="raise"):
        states = list(mapped(lambda _: np.geterr()["divide"], range(4)))
    assert states == ["raise"] * 4
