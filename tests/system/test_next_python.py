"""Python 3.14 of the unstable release of Debian: the quick tests of the bounds, in a root file system of their own."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from .programs import ROOT, output_of
from .test_container import Stage, bare_debian, with_own_certificates

pytestmark = [pytest.mark.system, pytest.mark.machines]

PACKAGES = "ca-certificates python3.14-venv libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
TESTS = (
    "tests/cli", "tests/sources/test_formats.py", "tests/sources/test_frames.py", "tests/imports",
    "tests/test_files.py", "tests/history/test_store.py", "tests/plots/test_charts.py", "tests/test_platform.py",
)  # fmt: skip


def test_quick_tests_pass_on_python_3_14(tmp_path: Path) -> None:
    """With the pinned requirements; warnings are errors, as everywhere."""
    stage = Stage(tmp_path / "root")
    output_of("cp", "-a", bare_debian("unstable"), stage.root)
    with_own_certificates(stage)
    # A mirror that is a snapshot keeps the date until which its index was valid.
    stage.step("apt-get update -qq -o Acquire::Check-Valid-Until=no")
    stage.step(f"DEBIAN_FRONTEND=noninteractive apt-get install -y -qq {PACKAGES}")
    checkout = stage.root / "checkout"
    checkout.mkdir()
    kept = output_of("git", "-C", ROOT, "ls-files", "-z").split("\0")
    for name in filter(None, kept):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    stage.step("python3.14 -m venv /venv")
    needs = "--requirement requirements/run.txt --requirement requirements/dev.txt"
    stage.step(f"cd /checkout && /venv/bin/python -m pip install --quiet --require-hashes --no-deps {needs}")
    quick = '-q -n 0 -m "not system and not slow"'
    stage.step(f"cd /checkout && HOME=/root /venv/bin/python -m pytest {quick} {shlex.join(TESTS)}")
