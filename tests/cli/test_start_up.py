"""What a run imports: libraries that take long to import are imported where they are needed, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "pandas",
    "scipy.optimize",
    "scipy.stats",
    "matplotlib",
    "jinja2",
    "weasyprint",
    "statsmodels",
    "sklearn",
)
"""A tenth of a second each, or more; what makes pages and pictures besides."""


def models(folder: Path) -> Path:
    """Write predictions of two models."""
    folder.mkdir()
    for place, name in enumerate(("a", "b")):
        rows = [f"{i},{i % 2},{((i * 7 + place * i) % 20) / 20}" for i in range(60)]
        (folder / f"{name}.csv").write_text("\n".join(["id,y_true,p_1", *rows]) + "\n", encoding="utf-8")
    return folder


def run(place: Path, *flags: str, before: str = "") -> str:
    """Run the program, after other lines, in a process of its own; give its exit code and what it imported of these."""
    words = ["run", str(models(place / "models")), "-q", "-o", str(place / "out"), *flags]
    script = (
        f"import os, sys\n{before}\nfrom evalreport.cli import main\ncode = main({words!r})\n"
        f"print(code, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()[-1]


def test_a_run_that_writes_json_imports_no_heavy_library(tmp_path: Path) -> None:
    """A default run with scores, a margin and the JSON alone needs none of them."""
    assert run(tmp_path, "-f", "json", "--margin", "0.05") == "0 []"


PROCESSORS = "os.sched_getaffinity = lambda _: set(range({}))"
HERE = ("matplotlib", "jinja2", "weasyprint")
"""What this process has imported after a report that it made itself."""


def test_a_second_processor_makes_the_report_and_the_bytes_are_the_same(tmp_path: Path) -> None:
    """What draws and lays out is loaded beside the computation, in another process, where two processors are there."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    time = ("--time", "2026-11-24T12:00:00Z")
    one = run(tmp_path / "one", *time, before=PROCESSORS.format(1))
    two = run(tmp_path / "two", *time, before=PROCESSORS.format(2))
    assert all(name in one for name in HERE)
    assert two == "0 []"
    made = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one" / "out").rglob("*.*")]
    assert {"report.html", "report.pdf"} <= {path.name for path in made}
    for path in made:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes(), path


@pytest.mark.parametrize(
    "work", ["os._exit(1)", "os.read(0, 1 << 30); os._exit(1)", "os.write(1, b'\\x80\\x05X'); os._exit(0)"]
)
def test_a_process_that_fails_leaves_the_report_to_the_first(tmp_path: Path, work: str) -> None:
    """It is made in this process where the other one ended, before its work or with half an answer."""
    broken = f"from evalreport.report import writing\nwriting._START = {f'import os; {work}'!r}"
    assert run(tmp_path, "-f", "html", before=f"{PROCESSORS.format(2)}\n{broken}").startswith(
        "0 ['matplotlib'"
    )
    assert (tmp_path / "out" / "report.html").is_file()


def test_no_room_for_a_process_leaves_the_report_to_the_first(tmp_path: Path) -> None:
    """A process that cannot be started is no failure of the run."""
    refused = "import subprocess\ndef refused(*a, **k): raise OSError(11, 'full')\nsubprocess.Popen = refused"
    found = run(tmp_path, "-f", "html", before=f"{PROCESSORS.format(2)}\n{refused}")
    assert found.startswith("0 ['matplotlib'")
