"""Streams that refuse a write stop nothing; what standard output refused is known at the end."""

from __future__ import annotations

import errno
import subprocess
import sys

import pytest

from tests.samples.cases import every

PROGRAM = """
import sys
from evalreport.cli.streams import forgiving_streams
with forgiving_streams() as failure:
    print("first")
    print("said", file=sys.stderr)
    sys.stdout.flush()
    print("second")
    refused = failure()
raise SystemExit(0 if refused is None else 100 + refused.errno % 100)
"""


def run(redirection: str) -> subprocess.CompletedProcess[str]:
    """Run the program with its streams redirected by a shell."""
    return subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {redirection}', sys.executable, PROGRAM],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_open_streams_take_everything() -> None:
    """In order, and without a failure."""
    done = run("")
    assert (done.returncode, done.stdout, done.stderr) == (0, "first\nsecond\n", "said\n")


@pytest.mark.parametrize(
    ("redirection", "number"),
    every(2, [(">&-", errno.EBADF), (">/dev/full", errno.ENOSPC), ("2>&-", 0), ("2>/dev/full", 0)]),
)
def test_a_refused_write_is_known_and_stops_nothing(redirection: str, number: int) -> None:
    """Standard output's first error is told; standard error's changes nothing."""
    done = run(redirection)
    assert done.returncode == (100 + number if number else 0)
    assert "Traceback" not in done.stderr
