"""Another distribution, model-eval-toolkit, brings a package of this name: mixed files are found, and said once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
START = "from evalreport.cli import process; process()"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with this package and a file of the other one."""
    shutil.copytree(
        ROOT / "evalreport", tmp_path / "evalreport", ignore=shutil.ignore_patterns("__pycache__", "fonts")
    )
    (tmp_path / "evalreport" / "__version__.py").write_text('__version__ = "0.1.0"\n', encoding="utf-8")
    return tmp_path


def _run(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_files_of_both_are_warned_of_once_at_import(mixed: Path) -> None:
    """The message names both packages and the remedy; without the other one nothing is said."""
    found = _run(mixed, "import evalreport, evalreport.options")
    assert found.returncode == 0
    assert found.stderr.count("RuntimeWarning") == 1
    assert "pip uninstall model-eval-toolkit evalreport" in found.stderr
    assert _run(ROOT, "import evalreport").stderr == ""


def test_a_package_that_was_installed_over_ours_is_named_by_the_program(mixed: Path) -> None:
    """Its page is the package's now; the program ends with one line and exit code 2."""
    (mixed / "evalreport" / "__init__.py").write_text(
        "from .__version__ import __version__\n", encoding="utf-8"
    )
    found = _run(mixed, START, "--version")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "was installed over this one" in found.stderr
