"""The example's report, made once by the real program, and a real browser that looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from research.campaign.browser import chromium

from .dask_cluster import Cluster, dask_cluster
from .programs import EXAMPLE, evalreport, program


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example's report."""
    folder = tmp_path_factory.mktemp("example")
    done = evalreport("run", EXAMPLE, "--output", folder / "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture(scope="session")
def pdf(report: Path) -> Path:
    """The example's PDF."""
    path = report / "report.pdf"
    if not path.exists():
        pytest.skip("no PDF was made: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Debian's Chromium without a window, with a fresh profile that is thrown away.

    It is closed after each file: one process cannot drive two, and the campaign opens its own.
    """
    with chromium(program("chromium", "chromium")) as launched:
        yield launched


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler and two workers of Dask on loopback."""
    with dask_cluster(tmp_path) as running:
        yield running
