"""What threads share is computed once."""

from __future__ import annotations

import time

from evalreport.engine.draws import mapped, once, working


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
