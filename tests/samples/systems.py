"""Marks of tests that need what only some systems have; ``make test-portable`` takes it away."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="processes of another kind do not know what the test has set"
)
needs_locks = pytest.mark.skipif(
    find_spec("fcntl") is None and find_spec("msvcrt") is None,
    reason="there are no locks here; Dask is not imported without them either",
)
