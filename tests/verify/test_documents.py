"""The documents of an output folder beside those that its results.json gives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evalreport.options import OutputOptions
from evalreport.schema.results import Results, to_json
from evalreport.verify import documents
from tests.samples.cases import every
from tests.samples.two_models import run, write

MADE: dict[tuple[bytes, str], object] = {}


@pytest.fixture(autouse=True)
def documents_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all tests compare with one making of the same documents: it takes a second for each edition."""
    make = documents.documents_of

    def once(results: Results, options: OutputOptions) -> object:
        key = (to_json(results), repr(options))
        if key not in MADE:
            MADE[key] = make(results, options)
        return MADE[key]

    monkeypatch.setattr(documents, "documents_of", once)


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
        "html,json,md,csv",
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


@pytest.mark.slow
def test_the_documents_of_a_run_are_those_of_its_results(reported, verify):
    """Every byte agrees but for title and date; the title is said, quietly too."""
    code, said = verify(reported / "out", "--inputs", reported / "models")
    assert code == 0
    (line,) = [line for line in said.splitlines() if line.startswith("checked: ")]
    assert line.startswith(
        "checked: the SHA-256 of 2 inputs, all of results.json, report.html, summary.md, tables/curves.csv, "
    )
    assert line.endswith("; not checked: the date of report.html, the pages of a PDF")
    assert "\nAGREES, but for what is taken on its word: " in said
    code, said = verify(reported / "out", "--inputs", reported / "models", "-q")
    assert (code, "on its word: the title 'Letter 12'" in said) == (0, True)


FORGED = {
    "a figure": ("120", "1200"),
    "names swapped": ("forest", "logreg"),
    "the main part hidden": ('<main id="content">', '<main id="content" hidden>'),
    "another main part": ('<main id="content">', '<main>logreg is ahead</main><main id="content" hidden>'),
    "a headline in front": ('<main id="content">', '<h1>logreg is ahead</h1><main id="content">'),
    "a script": ("</body>", "<script>1</script></body>"),
    "an iframe": ("</body>", '<iframe src="x"></iframe></body>'),
    "a blank in the style": ("<style>", "<style> "),
    "a title in one place": ("<title>", "<title>logreg is ahead of "),
    "another version": ('content="evalreport ', 'content="evalreport 9.'),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FORGED)
def test_a_page_that_was_changed_differs(what, changed, verify):
    """Whatever was changed, the last line says so, and the place is shown."""
    out, models = changed(*FORGED[what])
    code, said = verify(out, "--inputs", models)
    assert (code, "\nDIFFERS: " in said, "AGREES" in said) == (1, True, False)
    assert "report.html is not the document that this version makes of results.json; it differs in " in said


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_chart_that_was_changed_is_no_agreement(changed, verify):
    """Another version of Matplotlib may draw it so, or somebody moved a line: not compared, and no success."""
    out, models = changed("</svg>", "<g></g></svg>")
    code, said = verify(out, "--inputs", models)
    assert (code, "\nIN PART: " in said, "AGREES" in said) == (2, True, False)
    assert "report.html: its charts are not the bytes that this version draws" in said


@pytest.mark.parametrize("name", every(2, ["summary.md", "tables/pairs.csv"]))
def test_every_other_document_is_compared(name, changed, verify):
    """One figure of the summary, and one of a table."""
    out, models = changed("</main>", "</main>")
    place = out / name
    place.write_text(place.read_text(encoding="utf-8").replace("0.", "0.9", 1), encoding="utf-8")
    code, said = verify(out, "--inputs", models)
    assert (code, f"{name} is not the document" in said) == (1, True)


@pytest.mark.slow
def test_a_document_that_results_do_not_give_differs(changed, verify):
    """A model card that the folder's results cannot have written."""
    out, models = changed("</main>", "</main>")
    (out / "card.md").write_text("# logreg is ahead\n", encoding="utf-8")
    assert verify(out, "--inputs", models)[0] == 1


@pytest.mark.slow
def test_a_page_in_full_detail_agrees(tmp_path, reported, verify):
    """The longer page of the same results."""
    run(reported / "models", tmp_path / "out", "-m", "accuracy", "--detail", "full", "-f", "html,json")
    assert verify(tmp_path / "out", "--inputs", reported / "models", "-q") == (0, "")


@pytest.mark.slow
def test_a_page_of_templates_is_compared_where_they_are_named(tmp_path, reported, verify):
    """Without them it is another page."""
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "brand.css").write_text("h1 { color: teal }\n", encoding="utf-8")
    words = ("-m", "accuracy", "--templates", str(templates), "-f", "html,json")
    run(reported / "models", tmp_path / "out", *words)
    inputs = ("--inputs", reported / "models")
    assert verify(tmp_path / "out", *inputs)[0] == 1
    assert verify(tmp_path / "out", *inputs, "--templates", templates, "-q") == (0, "")


@pytest.mark.slow
def test_a_file_without_its_folder_has_no_page(reported, verify):
    """results.json alone says nothing about the page beside it, and that stands there."""
    code, said = verify(reported / "out" / "results.json", "--inputs", reported / "models")
    assert code == 0
    assert "not checked: report.html (none, or its output folder was not named)" in said
