"""Write docs/screenshots: pictures of the examples' reports, made by the program and a browser without a window.

With --all FOLDER every report is pictured whole instead, in light, dark and on a phone, with every page of its PDF:
to be read by eye before a release.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "screenshots"
EXAMPLES = ROOT / "examples"
COLOURS = 255  # enough for text, charts and their shades; a third of the bytes

RUN = ("run", "{examples}/credit-default/models")
AUDIT = (
    "audit",
    "--config",
    "{examples}/nightly-audit/evalreport.toml",
    "--history",
    "sqlite:///{folder}/audits.db",
)
WEEKS = "{examples}/nightly-audit/predictions/week-"
# By the report's name: the commands that lead to it; of several the last makes it.
REPORTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "credit-default": (RUN,),
    "bias-variance": (("run", "{examples}/bias-variance/predictions"),),
    "5x2cv": (("run", "{examples}/5x2cv/predictions"),),
    "judged": (("run", "{examples}/judged/answers"),),
    "suite": (("run", "{examples}/suite/models", "--cluster", "passage"),),
    "quantiles": (("run", "{examples}/quantiles/models", "--slice", "sex"),),
    "segmentation": (
        (
            "run",
            "{examples}/segmentation/models",
            "-m",
            "jaccard",
            "-m",
            "precision",
            "-m",
            "recall",
            "--slice",
            "digit",
        ),
    ),
    "custom-template": ((*RUN, "--templates", "{examples}/custom-template/templates"),),
    "nightly-audit": tuple(
        (*AUDIT, f"{WEEKS}{week}", "--time", f"2024-{day}T02:15:00Z", "--format", formats)
        for week, day, formats in (
            ("00", "09-02", "json"),
            ("04", "09-30", "json"),
            ("08", "10-28", "json"),
            ("12", "11-25", "html,pdf,json,md"),
        )
    ),
}
JUDGED = (0, 1, 3)  # exit codes of commands that made a report; by 1 and 3 gates failed or were undecided


@dataclass(frozen=True, slots=True)
class View:
    """How a page is looked at; ``height`` None means all of it, ``scale`` is pixels a point."""

    name: str
    width: int
    height: int | None
    scheme: str = "light"
    scale: float = 1.0


WHOLE = (View("light", 1200, None), View("dark", 1200, None, "dark"), View("phone", 390, None))
# By the report's name: the views shown in the documentation, and the pages of the PDF.
SHOWN: dict[str, tuple[tuple[View, ...], tuple[int, ...]]] = {
    "credit-default": (
        (
            View("first", 1200, 625),
            View("light", 1200, 1500),
            View("dark", 1200, 900, "dark"),
            View("phone", 390, 844, scale=1.5),
        ),
        (1,),
    ),
    "bias-variance": ((View("light", 1200, 1000),), ()),
    "custom-template": ((), (1,)),
}


def report(name: str, folder: Path) -> Path:
    """Make the report of an example and return its folder."""
    target = folder / name
    for command in REPORTS[name]:
        words = [word.format(examples=EXAMPLES, folder=folder) for word in command]
        call = [sys.executable, "-m", "evalreport", *words, "--quiet", "--output", str(target)]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in JUDGED:
            sys.exit(f"{' '.join(call)}\nended with {done.returncode}:\n{done.stderr}")
    return target


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium without a window; it is closed at the end."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or sys.exit("chromium is not installed: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, headless=True, args=flags)
        yield launched
        launched.close()


def picture(opened: Any, page: Path, view: View) -> bytes:
    """Take a picture of a page as one reader sees it."""
    size = {"width": view.width, "height": view.height or 900}
    context = opened.new_context(viewport=size, color_scheme=view.scheme, device_scale_factor=view.scale)
    tab = context.new_page()
    tab.goto(page.as_uri(), wait_until="load")
    tab.wait_for_timeout(200)  # until the fonts are there
    taken: bytes = tab.screenshot(full_page=view.height is None)
    context.close()
    return taken


def pages(pdf: Path, folder: Path, *, dots: int, last: int | None = None) -> list[Path]:
    """Draw the pages of a PDF as PNG files, in order."""
    words = ["-r", str(dots), *(["-l", str(last)] if last else []), "-png", str(pdf), str(folder / "page")]
    subprocess.run(
        [shutil.which("pdftoppm") or sys.exit("apt-get install poppler-utils"), *words], check=True
    )
    return sorted(folder.glob("page-*.png"))


def write(target: Path, png: bytes) -> None:
    """Write a picture with as many colours as it needs to look the same."""
    from PIL import Image

    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(io.BytesIO(png)) as image:
        # Most pixels are paper; k-means keeps the rare colours apart, those of the models.
        few = image.convert("RGB").quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
    print(f"{target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target}: "
          f"{target.stat().st_size // 1000} kB")  # fmt: skip


def shown(opened: Any, folder: Path) -> None:
    """Write what the documentation shows."""
    for name, (views, numbers) in SHOWN.items():
        made = report(name, folder)
        for view in views:
            write(FOLDER / f"{name}-{view.name}.png", picture(opened, made / "report.html", view))
        if numbers:
            drawn = pages(made / "report.pdf", made, dots=90, last=max(numbers))
            for number in numbers:
                write(FOLDER / f"{name}-page-{number}.png", drawn[number - 1].read_bytes())


def audits(opened: Any, folder: Path) -> None:
    """Write the page over time of the audits of twelve weeks, and the report of the week that fell."""
    target = folder / "audits"
    words = [str(EXAMPLES / "nightly-audit" / "replay.sh"), str(target)]
    subprocess.run(
        words, check=True, capture_output=True, env={**os.environ, "PYTHON": sys.executable}, cwd=ROOT
    )
    for name, page in (("site/index.html", "page"), ("reports/week-11/report.html", "alarm")):
        view = View(page, 1080, 1010 if page == "page" else 840)
        write(FOLDER / f"nightly-audit-{page}.png", picture(opened, target / name, view))


def everything(opened: Any, folder: Path, target: Path) -> None:
    """Write every page of every example."""
    for name in REPORTS:
        made = report(name, folder)
        for view in WHOLE:
            write(target / f"{name}-{view.name}.png", picture(opened, made / "report.html", view))
        for number, page in enumerate(pages(made / "report.pdf", made, dots=70), start=1):
            write(target / f"{name}-page-{number:02}.png", page.read_bytes())


def main(arguments: list[str]) -> int:
    """Write the pictures of the documentation, or of everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", type=Path, metavar="FOLDER", help="every page of every example, into a folder"
    )
    asked = parser.parse_args(arguments)
    os.environ.setdefault("SOURCE_DATE_EPOCH", "1767225600")
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        if asked.all:
            everything(opened, Path(folder), asked.all)
        else:
            shown(opened, Path(folder))
            audits(opened, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
