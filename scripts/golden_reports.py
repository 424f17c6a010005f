"""Write the golden reports: what the report of fixed inputs says, as an outline that a reviewer reads.

They stand in tests/report/golden. Of a drawing an outline has the title and the description of its data; how it is
drawn is tested by its data in tests/plots, and the mark-up in a browser. With --check nothing is written; the exit code
is 1 where a report is not what is stored, and the difference is printed.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import os
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

os.environ["SOURCE_DATE_EPOCH"] = "1767225600"  # every golden report bears the same day

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "report" / "golden"
INPUTS = ROOT / "tests" / "data" / "predictions"

# By the golden report's name: the inputs, and the options. Few models, metrics and replicates: they are read.
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "binary": (
        ("breast_cancer_test.csv",),
        {"metrics": ("accuracy", "f1", "roc_auc", "log_loss"), "margin": 0.02,
         "gates": ("logreg.accuracy >= 0.9", "logreg.f1 - tree.f1 > 0.2")},
    ),
    "multiclass": (("digits_test.parquet",), {"metrics": ("f1_macro", "recall"), "baseline": "knn3"}),
    "regression": (("diabetes_test.csv",), {"metrics": ("rmse", "r2", "medae")}),
    "folds": (("breast_cancer_cv10.csv",), {"metrics": ("accuracy", "roc_auc")}),
    "replicates": (("iris_632_replicas.csv.gz", "iris_632_resub.csv"), {"metrics": ("accuracy",)}),
    "slices": (
        ("breast_cancer_test.csv",),
        {"metrics": ("accuracy", "recall"), "slices": ("ward",), "intervals": ("wilson",)},
    ),
    "single": (("slovak_default_eval.csv",), {"metrics": ("accuracy", "precision", "f1")}),
    "data-sets": (("ext_demsar2006.csv",), {"value": "auc"}),
}  # fmt: skip
WARDS = ("east", "north", "west")
SHOWN = 120  # lines of a difference; what is more is counted


class Outline(HTMLParser):
    """Headings, paragraphs, table rows, captions, drawings and terms of a page, a line each."""

    KEPT = frozenset({"h1", "h2", "h3", "p", "li", "tr", "caption", "figcaption", "dt", "dd", "button"})

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.silent = 0
        self.titles: dict[str, str] = {}
        self.title = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        """Begin a line for what stands by itself, a cell within the line of a row."""
        self.silent += tag in {"style", "script", "svg"}
        if tag == "svg":
            self.titles = {}
        self.title = tag if self.silent and tag in {"title", "desc"} else ""
        if tag in self.KEPT:
            self.lines.append(tag.ljust(11))
        elif tag in {"td", "th", "br"} and self.lines:
            self.lines[-1] += " | " if tag != "br" else " "

    def handle_endtag(self, tag: str) -> None:
        """Listen again after a part that is not text."""
        self.silent -= tag in {"style", "script", "svg"}
        self.title = ""
        if (
            tag == "svg" and "desc" in self.titles
        ):  # a small bar in a table has a title alone, which its row says
            self.lines.append(f"svg {self.titles.get('title', '')}: {self.titles['desc']}")

    def handle_data(self, data: str) -> None:
        """Add text to the line that is open."""
        if self.title:
            self.titles[self.title] = self.titles.get(self.title, "") + " ".join(data.split())
        if not self.silent and self.lines and data.strip():
            self.lines[-1] += " " + " ".join(data.split())


def outline(page: str) -> str:
    """Give the outline of a page: what it says, without how it is marked up."""
    parser = Outline()
    parser.feed(page)
    return "\n".join(re.sub(r" +", " ", line).strip() for line in parser.lines) + "\n"


def masked(text: str) -> str:
    """Mask the versions of this program and of the libraries, which are no matter of the report."""
    from evalreport import __version__

    text = text.replace(f"evalreport {__version__}", "evalreport X.Y.Z")
    return re.sub(r"\b(duckdb|numpy|scipy|python|matplotlib|platform) \d+(\.\d+)+\w*", r"\1 X.Y.Z", text)


def page_of(name: str) -> str:
    """Make the HTML report of a case."""
    import evalreport

    files, options = CASES[name]
    results = evalreport.evaluate(_source(files, options), resamples=200, seed=0, **options)
    with tempfile.TemporaryDirectory() as folder:
        evalreport.render(results, folder, formats=["html"])
        return (Path(folder) / "report.html").read_text(encoding="utf-8")


def approved(page: str) -> str:
    """Give what is stored of a page."""
    return masked(outline(page))


def _source(files: tuple[str, ...], options: dict[str, Any]) -> Any:
    """Give the files' paths; where slices are asked for, a frame with a ward, dealt out in order of the ids."""
    paths = [INPUTS / file for file in files]
    if "slices" not in options:
        return paths
    import pyarrow.csv

    table = pyarrow.csv.read_csv(paths[0])
    ids = table["id"].to_pylist()
    dealt = {example: WARDS[i * i % len(WARDS)] for i, example in enumerate(sorted(set(ids)))}
    return table.append_column("ward", [[dealt[example] for example in ids]])


def difference(name: str, found: str) -> str:
    """Give what has changed against the stored file, as a unified diff of bounded length; empty if nothing."""
    path = FOLDER / name
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = list(
        difflib.unified_diff(_cut(stored), _cut(found), f"stored/{name}", f"found/{name}", n=1, lineterm="")
    )
    more = len(lines) - SHOWN
    return "\n".join([*lines[:SHOWN], *([f"... {more} more lines"] if more > 0 else [])])


def _cut(text: str) -> list[str]:
    return [line if len(line) < 400 else f"{line[:400]}… ({_digest(line)})" for line in text.splitlines()]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def main(arguments: list[str]) -> int:
    """Write or check the named golden reports, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, print what differs")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    asked = parser.parse_args(arguments)
    FOLDER.mkdir(exist_ok=True)
    differs = False
    for name in asked.names or CASES:
        found = approved(page_of(name))
        change = difference(f"{name}.txt", found)
        differs |= bool(change)
        print(change or f"{name}.txt: as stored")
        if not asked.check:
            (FOLDER / f"{name}.txt").write_text(found, encoding="utf-8")
    return int(differs and asked.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
