"""What every test stands on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from evalreport.errors import forget
from evalreport.sources.database import one_database

os.environ["SOURCE_DATE_EPOCH"] = "1767225600"  # every report of a test bears the same day


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive() -> None:
    """Let SIGINT interrupt: a shell starts what runs in the background deaf to it, and some tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def database() -> Iterator[None]:
    """Let all tests of a process read files through one DuckDB: a new one for each of them takes 20 ms."""
    with one_database():
        yield


@pytest.fixture(autouse=True)
def secrets_are_forgotten() -> Iterator[None]:
    """Forget the secrets of one test before the next: a process of the program has those of one command only."""
    yield
    forget()
