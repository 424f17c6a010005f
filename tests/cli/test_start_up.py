"""What a run imports: libraries that take long to import are imported where they are needed, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

HEAVY = (
    # DuckDB itself imports pandas before version 2, where a query has parameters.
    *(["pandas"] if int(duckdb.__version__.split(".")[0]) >= 2 else []),
    "scipy.stats",
    "matplotlib",
    "jinja2",
    "weasyprint",
    "statsmodels",
    "sklearn",
)
"""A tenth of a second each, or more; what makes pages and pictures besides.

``scipy.optimize`` is imported by a run with probabilities, for the isotonic regression of their calibration.
"""


def models(folder: Path) -> Path:
    """Write predictions of two models."""
    folder.mkdir()
    for place, name in enumerate(("a", "b")):
        rows = [f"{i},{i % 2},{((i * 7 + place * i) % 20) / 20}" for i in range(60)]
        (folder / f"{name}.csv").write_text("\n".join(["id,y_true,p_1", *rows]) + "\n", encoding="utf-8")
    return folder


def run(place: Path, *flags: str) -> str:
    """Run the program in a process of its own; return its exit code and the heavy libraries that it imported."""
    words = ["run", str(models(place / "models")), "-q", "-o", str(place / "out"), *flags]
    script = (
        f"import sys\nfrom evalreport.cli import main\ncode = main({words!r})\n"
        f"print(code, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_run_that_writes_json_imports_no_heavy_library(tmp_path: Path) -> None:
    """A default run with scores, a margin and the JSON alone needs none of them."""
    assert run(tmp_path, "-f", "json", "--margin", "0.05") == "0 []"
