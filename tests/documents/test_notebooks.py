"""The notebooks of the documentation run from top to bottom, and say what they print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scripts.notebooks import Cell, as_markdown, cells, run

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def test_there_are_notebooks_for_classifiers_and_for_language_models():
    """Both are in the table of contents."""
    assert [path.stem for path in NOTEBOOKS] == ["scikit-learn", "two-versions"]
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(f"\ntutorial/{path.stem}\n" in index for path in NOTEBOOKS)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_as_jupyter_writes_it_and_its_links_lead_somewhere(notebook: Path):
    """Format 4.5 with an id for each cell, and nothing that was run before."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    text = "\n".join(cell.text for cell in cells(notebook) if not cell.is_code)
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (notebook.parent / target).exists(), target


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_quotes_its_own_verdict(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """In an empty folder; a line after ``>`` is the first sentence of the results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {}
    done = list(run(notebook, names))
    quoted = [line for cell in done if not cell.is_code for line in re.findall(r"^> (.*)$", cell.text, re.M)]
    assert quoted == [names["results"].verdict]
    shown = [cell.shown for cell in done if cell.is_code]
    assert any('<div class="evalreport">' in text and "<svg" in text for text in shown)
    text = "\n".join(re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL) for text in shown)
    if notebook.stem == "scikit-learn":
        assert names["results"].best is None
        assert {"report.html", "results.json", "summary.md"} <= {
            path.name for path in Path("report").iterdir()
        }
    else:  # the topic that the simulation breaks is the one that is named
        assert re.findall(r"caution new is worse .* where topic is (\w+):", text) == ["refunds"]
        assert "pass new.mean_outcome - old.mean_outcome &gt; -0.02" in text


def test_a_cell_shows_what_it_prints_and_its_last_value(tmp_path: Path):
    """As Jupyter: a value with a page of its own as that, another as text, none where the last line is no value."""
    sources = (
        ("markdown", "# Title\n\ntext"),
        ("code", "x = 1\nprint('<b>', x)"),
        ("code", "'a & b'"),
        (
            "code",
            "class Page:\n    def _repr_html_(self):\n        return '<p>one</p>\\n\\n<p>two</p>'\nPage()",
        ),
        ("code", "y = x + 1"),
        (
            "code",
            "import matplotlib.figure\nfigure = matplotlib.figure.Figure()\nfigure.text(0, 0, 'z')\nfigure",
        ),
    )
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(
        json.dumps({"cells": [{"cell_type": kind, "source": [text]} for kind, text in sources]})
    )
    names: dict[str, Any] = {}
    title, printed, text, page, silent, figure = run(notebook, names)
    assert title == Cell(False, "# Title\n\ntext")
    assert printed.shown == "<pre>&lt;b&gt; 1\n</pre>\n"
    assert text.shown == "<pre>&#x27;a &amp; b&#x27;</pre>"
    assert page.shown == "<p>one</p>\n\n<p>two</p>"
    assert (silent.shown, names["y"]) == ("", 2)
    assert figure.shown.strip().startswith("<svg")
    parts = as_markdown(notebook)
    assert parts.startswith("# Title\n\ntext\n\n```python\nx = 1\n")
    assert (
        '```{raw} html\n<div class="output" style="overflow-x: auto">\n<p>one</p>\n<p>two</p>\n</div>\n```'
        in parts
    )
