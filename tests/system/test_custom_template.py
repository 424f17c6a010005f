"""The example of a custom template, made by the command that its README gives, and looked at by others' tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .programs import ROOT, evalreport, output_of, pdf_conformance, program

pytestmark = pytest.mark.system

EXAMPLE = ROOT / "examples" / "custom-template"


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bank's report, by the README's own command."""
    command = re.findall(
        r"^    \.venv/bin/evalreport (.*)$", (EXAMPLE / "README.md").read_text(), flags=re.M
    )[0]
    folder = tmp_path_factory.mktemp("bank") / "out"
    words = command.replace("-o bank-report", f"-o {folder}").split()
    done = evalreport(*words, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_bank_s_pdf_is_archival_and_accessible(bank: Path):
    """Logo, footer and the added section keep PDF/A-3a and PDF/UA-1."""
    findings = pdf_conformance("3a", "ua1", pdf=bank / "report.pdf")
    verdicts = [line.split()[0] for line in findings.splitlines() if line and not line.startswith(" ")]
    assert verdicts == ["PASS", "PASS"], findings


def test_every_page_of_the_pdf_bears_name_and_footer(bank: Path):
    """The foot of each page, and the section that is signed on the last one."""
    pages = output_of(program("pdftotext", "poppler-utils"), "-layout", bank / "report.pdf", "-").split("\f")[
        :-1
    ]
    assert len(pages) > 3
    for page in pages:
        assert "Meridian Mutual Bank" in page
        assert "internal use only" in page
    assert "Sign-off" in pages[0]
    assert "Independent validation" in pages[-1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_bank_s_page_is_silent_and_shows_its_logo(browser, bank: Path, scheme):
    """The policy lets the logo and the style through; the console stays empty."""
    page = browser.new_page(color_scheme=scheme)
    console: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.goto((bank / "report.html").as_uri(), wait_until="load")
    assert page.locator("img.logo").evaluate("image => image.naturalWidth > 0")
    assert page.locator(".letterhead").evaluate("head => getComputedStyle(head).display") == "flex"
    assert console == []
    page.close()
