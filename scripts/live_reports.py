"""The reports behind the pictures of the documentation, made when the site is built.

A picture of an example links to its report as a page, as a PDF and as Markdown.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from scripts.draw_gallery import DRAWN_FROM
from scripts.draw_gallery import EXAMPLES as GALLERY
from scripts.screenshots import REPORTS
from scripts.screenshots import report as report_of_example

FOLDER = "reports"
"""The folder of the site that holds a folder for each example."""

FILES = {"HTML": "report.html", "PDF": "report.pdf", "Markdown": "summary.md"}


def example_of(picture: str) -> str | None:
    """Return the example that a picture of the documentation shows, or None where it shows none.

    Examples
    --------
    >>> example_of("docs/gallery/roc_of_many.svg"), example_of("docs/screenshots/credit-default-page-1.png")
    ('twelve-models', 'credit-default')
    >>> example_of("docs/gallery/f1_at_recall.svg") is None
    True
    """
    path = PurePosixPath(picture)
    if path.parent.name == "screenshots":
        return max((name for name in REPORTS if path.stem.startswith(f"{name}-")), key=len, default=None)
    if path.parent.name == "gallery":
        return next((name for name, drawn in DRAWN_FROM.items() if path.stem in drawn), None)
    return None


def links(picture: str, page: str) -> dict[str, str]:
    """Return the addresses of a picture's report from a page of the site, by the name of the form.

    Examples
    --------
    >>> links("docs/gallery/gain.svg", page="docs/charts")["PDF"]
    '../reports/four-models/report.pdf'
    """
    example, up = example_of(picture), "../" * page.count("/")
    return {} if example is None else {form: f"{up}{FOLDER}/{example}/{file}" for form, file in FILES.items()}


def make(examples: Iterable[str], site: Path) -> None:
    """Make the reports of examples in a finished site."""
    for name in ("weasyprint", "weasyprint.progress"):
        logging.getLogger(name).setLevel(logging.ERROR)  # it tells each of its steps where Sphinx logs
    for name in sorted(examples):
        if name in REPORTS:
            report_of_example(name, site / FOLDER)
        else:
            import evalreport

            evalreport.render(GALLERY[name](), site / FOLDER / name, formats=["html", "pdf", "md"])
