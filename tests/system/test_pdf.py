"""The PDF by the tools of others: archival, accessible, searchable, vector, with the numbers attached."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from scripts.screenshots import EXAMPLES, REPORTS
from scripts.screenshots import report as example_report

from .programs import output_of, pdf_conformance, program

pytestmark = pytest.mark.system

HOSTILE = (
    "<script>alert(1)</script>",
    "x" * 1_000,
    '</svg><b>&amp;]]> "quoted"',
    "\u202egnorts \u2066🚀 Модель 模型 نموذج",
    "=1+1|\t\x07\x1b[31m",
)


def assert_conformance(pdf: Path):
    """Assert that the veraPDF engine finds both standards fulfilled."""
    findings = pdf_conformance("3a", "ua1", pdf=pdf)
    verdicts = [line.split()[0] for line in findings.splitlines() if line and not line.startswith(" ")]
    assert verdicts == ["PASS", "PASS"], findings


MAKE = """
import json, re, sys
import evalreport
source, output, options, form = json.loads(sys.argv[1])
results = evalreport.evaluate(source, resamples=200, **options)
evalreport.render(results, output, detail="full", **form)
# The peak since the program was started: that of getrusage would begin with the memory of the tests' own process.
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) * 1024)
"""


def make(source: Path, output: Path, *, slices: tuple[str, ...] = (), title: str | None = None) -> float:
    """Make a report in full detail in a process of its own; return the most bytes that it had, analysis included."""
    asked = json.dumps([str(source), str(output), {"slices": slices}, {"title": title, "formats": ["pdf"]}])
    return float(output_of(sys.executable, "-c", MAKE, asked))


def predictions(target: Path, *, models: Iterable[str], n: int, slices: tuple[str, ...] = ()):
    """Write predictions of a binary task, the models of different quality, the rows dealt out to the slices."""
    rng = np.random.default_rng(3)
    truth, shared = rng.random(n) < 0.4, rng.normal(size=n)
    with target.open("w", encoding="utf-8") as lines:
        for place, model in enumerate(models):
            score = truth * (0.6 + 0.12 * place) - 0.5 + 0.6 * shared + 0.8 * rng.normal(size=n)
            for i, p in enumerate(1 / (1 + np.exp(-score))):
                row = {"id": f"e{i}", "model": model, "y_true": int(truth[i]), "p_1": round(float(p), 6)}
                lines.write(json.dumps(row | ({"ward": slices[i % len(slices)]} if slices else {})) + "\n")


def test_the_pdf_is_archival_and_accessible(pdf: Path):
    """The veraPDF engine finds PDF/A-3a and PDF/UA-1 fulfilled."""
    assert_conformance(pdf)


# The report of the first is made for the tests here, that of the second for test_custom_template.py.
CHECKED_ALREADY = {"credit-default", "custom-template"}


@pytest.mark.parametrize("name", [name for name in REPORTS if name not in CHECKED_ALREADY])
def test_the_pdf_of_every_other_example_is_archival_and_accessible(name: str, tmp_path: Path):
    """PDF/A-3a and PDF/UA-1 hold for every report that this repository shows."""
    assert_conformance(example_report(name, tmp_path) / "report.pdf")


def test_no_example_is_left_out():
    """Every folder of examples/ has its report among those that are checked and pictured."""
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == set(REPORTS)


def test_the_pdf_of_hostile_names_is_archival_and_accessible(tmp_path: Path):
    """Markup, control characters, bidi overrides, emoji and 1,000 letters in names break no conformance."""
    predictions(
        tmp_path / "hostile.jsonl", models=HOSTILE, n=200, slices=("a<b>", "\u202egnorts 🚀", "x" * 3000)
    )
    title = "<script>alert(1)</script> \u202e 🚀"
    make(tmp_path / "hostile.jsonl", tmp_path / "out", slices=("ward",), title=title)
    assert_conformance(tmp_path / "out" / "report.pdf")


@pytest.mark.slow
@pytest.mark.parametrize("n_models, n_slices", [(12, 0), (5, 40)])
def test_a_large_report_in_full_detail_stays_small(n_models: int, n_slices: int, tmp_path: Path):
    """12 models, or 40 slices of five: under 60 pages and 1 GB; the slices' tables go over many and stay accessible."""
    names = [f"model_{i:02}" for i in range(n_models)]
    predictions(
        tmp_path / "many.jsonl", models=names, n=2000, slices=tuple(f"ward {i}" for i in range(n_slices))
    )
    slices = ("ward",) if n_slices else ()
    memory = make(tmp_path / "many.jsonl", tmp_path / "out", slices=slices)
    pdf = tmp_path / "out" / "report.pdf"
    import pikepdf

    with pikepdf.open(pdf) as document:
        n_pages = len(document.pages)
    assert n_pages < 60
    assert memory < 1e9
    if n_slices:
        assert_conformance(pdf)


def beyond_the_margins(pdf: Path) -> list[str]:
    """Give the words of a PDF that leave the margins of their page (16 mm at each side)."""
    margin = 16 / 25.4 * 72 - 2
    pages = output_of(program("pdftotext", "poppler-utils"), "-bbox", pdf, "-").split("<page ")[1:]
    found = []
    for n, page in enumerate(pages, 1):
        right = float(re.search(r'width="([\d.]+)"', page)[1]) - margin  # type: ignore[index]
        words = re.findall(r'xMin="([-\d.]+)" .*xMax="([-\d.]+)" .*>(.*)</word>', page)
        found += [f"page {n}: {w}" for low, high, w in words if float(low) < margin or float(high) > right]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("n_models", [8, 12])
def test_no_table_runs_off_the_page(n_models: int, tmp_path: Path):
    """Three classes, slices and 12 models with names of 40 characters without a joint: every word is on its page."""
    rng = np.random.default_rng(3)
    labels, n = ("setosa of the valley", "versicolor of the hills", "virginica"), 400
    truth, regions = rng.integers(0, 3, n), rng.integers(0, 2, n)
    with (tmp_path / "many.jsonl").open("w", encoding="utf-8") as lines:
        for place in range(n_models):
            wrong = rng.random(n) < 0.05 + 0.02 * place
            for i in range(n):
                row = {
                    "id": f"example-{i:04}",
                    "model": f"{chr(65 + place)}{'abcdefghijklm' * 3}",
                    "y_true": labels[truth[i]],
                    "y_pred": labels[(truth[i] + wrong[i]) % 3],
                    "region": f"a region far away {regions[i]}",
                }
                lines.write(json.dumps(row) + "\n")
    make(tmp_path / "many.jsonl", tmp_path / "out", slices=("region",))
    assert beyond_the_margins(tmp_path / "out" / "report.pdf") == []


def test_qpdf_finds_the_file_sound(pdf: Path):
    """No syntax or stream error."""
    checked = output_of(program("qpdf", "qpdf"), "--check", pdf)
    assert "No syntax or stream encoding errors found" in checked


def test_the_text_holds_the_verdict_and_every_model(report: Path, pdf: Path):
    """The sentence that leads the summary can be searched and copied in the PDF, and so can the models' names."""
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    summary = (report / "summary.md").read_text(encoding="utf-8")
    headline = next(line for line in summary.splitlines() if line.startswith("**"))
    verdict = html.unescape(headline.strip("*").replace("\\", ""))
    # Where lines end is the paper's business, so white space does not count.
    squeezed = "".join(output_of(program("pdftotext", "poppler-utils"), pdf, "-").split())
    assert "".join(verdict.split()) in squeezed
    for model in results["models"]:
        assert model in squeezed


def test_no_picture_is_made_of_pixels(pdf: Path):
    """Every chart is drawn as vectors: the list of images has its two heading lines and nothing else."""
    listed = output_of(program("pdfimages", "poppler-utils"), "-list", pdf)
    assert len(listed.splitlines()) == 2, listed


@pytest.mark.slow
def test_wide_tables_of_probabilities_stay_on_the_page(tmp_path: Path):
    """Net benefits of three models with limits, and a verdict on calibration in a whole clause with its p."""
    random = np.random.default_rng(5)
    z = random.normal(size=400)
    truth = (random.random(400) < 1 / (1 + np.exp(2 - z))).astype(int)
    models = {}
    for name, shift in (("nomogram", 2.0), ("gradient boosting", 2.6), ("deep network", 1.2)):
        p = 1 / (1 + np.exp(shift - 1.3 * z - random.normal(size=400) / 2))
        models[name] = {"y_true": truth.tolist(), "p_1": np.where(p > 0.6, 1.0, p).tolist()}
    results = er.evaluate(models, metrics=["roc_auc", "log_loss"], thresholds="0.05:0.3", resamples=50)
    er.render(results, tmp_path, formats=["pdf"])
    assert beyond_the_margins(tmp_path / "report.pdf") == []


def test_the_attachment_is_results_json(report: Path, pdf: Path):
    """Byte for byte, so that a reader who only has the PDF can verify every number."""
    import pikepdf

    with pikepdf.open(pdf) as document:
        assert list(document.attachments) == ["results.json"]
        attached = document.attachments["results.json"].get_file().read_bytes()
    assert attached == (report / "results.json").read_bytes()


def test_bookmarks_lead_to_the_sections(pdf: Path):
    """The outline names the sections, the verdict first."""
    import pikepdf

    with pikepdf.open(pdf) as document, document.open_outline() as outline:
        titles = [str(item.title) for item in _flattened(outline.root)]
    assert any("Decision" in title for title in titles)
    assert len(titles) >= 5


def _flattened(items):
    for item in items:
        yield item
        yield from _flattened(item.children)
