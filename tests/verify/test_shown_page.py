"""The figures of report.html beside those of results.json."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.samples.two_models import run, write


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> Path:
    """A folder with models/ and out/ of one run, with its page under a title of its own."""
    place = tmp_path_factory.mktemp("page")
    write(place / "models")
    run(
        place / "models",
        place / "out",
        "-m",
        "accuracy",
        "--slice",
        "sex",
        "--title",
        "Letter 12",
        "-f",
        "html,json",
    )
    return place


@pytest.fixture
def changed(reported, tmp_path):
    """Replace a text of the page; return the output folder and the models."""

    def change(old: str, new: str, count: int = 1) -> tuple[Path, Path]:
        out = Path(shutil.copytree(reported / "out", tmp_path / "out"))
        page = (out / "report.html").read_text(encoding="utf-8")
        assert old in page
        (out / "report.html").write_text(page.replace(old, new, count), encoding="utf-8")
        return out, reported / "models"

    return change


def test_the_page_of_a_run_shows_the_figures_of_its_results(reported, verify):
    """Title and date are the reader's; every other figure agrees, and one line says what was looked at."""
    code, said = verify(reported / "out", "--inputs", reported / "models")
    assert code == 0
    (line,) = [line for line in said.splitlines() if line.startswith("checked: ")]
    assert line.startswith("checked: the SHA-256 of 2 inputs, all of results.json, ")
    assert line.endswith(" figures of report.html; not checked: charts and the pages of the PDF")


def test_a_figure_that_was_changed_on_the_page_is_exit_1(changed, verify):
    """One 120 became 1200 in one sentence: named as the page shows it and as the results give it."""
    out, models = changed("120", "1200")
    code, said = verify(out, "--inputs", models)
    assert code == 1
    assert "report.html differs from results.json in 1 text with figures:" in said
    assert "1200" in said


def test_two_figures_that_changed_places_are_found(changed, verify):
    """The accuracies of the two models, swapped in the page: the same figures in another order."""
    out, models = changed("</main>", "</main>")
    rows = json.loads((out / "results.json").read_text())["metrics"]
    a, b = (f"{r['value']:.3f}" for r in rows if r["slice"] is None and r["metric"] == "accuracy")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert a in page
    assert b in page
    page = page.replace(a, "~~~").replace(b, a).replace("~~~", b)
    (out / "report.html").write_text(page, encoding="utf-8")
    assert verify(out, "--inputs", models)[0] == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<style>", "<style>/* ours */", "its style is not that of this version"),
        ('content="evalreport ', 'content="evalreport 9.', "made by version 9."),
    ],
)
def test_a_page_with_a_look_of_its_own_or_of_another_version_is_not_checked(changed, verify, old, new, said):
    """It is said, and what can be recomputed still agrees."""
    out, models = changed(old, new)
    code, text = verify(out, "--inputs", models)
    assert code == 0
    assert f"not checked: report.html ({said}" in text


def test_a_file_without_its_folder_has_no_page(reported, verify):
    """results.json alone says nothing about the page beside it, and that stands there."""
    code, said = verify(reported / "out" / "results.json", "--inputs", reported / "models")
    assert code == 0
    assert "not checked: report.html (name the output folder)" in said
