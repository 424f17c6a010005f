"""Notebooks of the documentation: their cells are run, and become pages of the site.

A page is Markdown. Below each cell stands what Jupyter would show: what it prints, then the value of its last line.
There is no kernel and no server: the cells run in this process, one after the other.
"""

from __future__ import annotations

import ast
import html
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: whether it is code, its text, and of code that was run what it shows as HTML."""

    is_code: bool
    text: str
    shown: str = ""


def cells(notebook: Path) -> list[Cell]:
    """Return the cells of a notebook, not run."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return [Cell(cell["cell_type"] == "code", "".join(cell["source"])) for cell in content["cells"]]


def run(notebook: Path, names: dict[str, Any]) -> Iterator[Cell]:
    """Run the cells of a notebook in the current folder; ``names`` takes the variables that they set."""
    names["__name__"] = "__main__"
    for number, cell in enumerate(cells(notebook)):
        yield (
            Cell(True, cell.text, _shown(cell.text, f"{notebook.name}[{number}]", names))
            if cell.is_code
            else cell
        )


def _shown(code: str, file: str, names: dict[str, Any]) -> str:
    """Run the code of a cell, and return what it prints and the value of its last line as HTML."""
    tree, printed, value = ast.parse(code, file), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, file, "exec"), names)  # noqa: S102 - the documentation's own lines
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), file, "eval"), names)  # noqa: S307 - the same
    text = f"<pre>{html.escape(printed.getvalue())}</pre>\n" if printed.getvalue() else ""
    return text + ("" if value is None else _html_of(value))


def _html_of(value: Any) -> str:
    if hasattr(value, "savefig"):
        import matplotlib.pyplot as plt

        drawn = io.StringIO()
        value.savefig(drawn, format="svg", bbox_inches="tight")
        plt.close(value)
        return drawn.getvalue().partition("<!DOCTYPE")[2].partition(">")[2]
    as_html = getattr(value, "_repr_html_", None)
    return str(as_html()) if as_html else f"<pre>{html.escape(repr(value))}</pre>"


def as_markdown(notebook: Path) -> str:
    """Run a notebook in a folder of its own, and return the page: its texts, its code and what each cell shows."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return "\n\n".join(map(_page_part, run(notebook, {})))


def _page_part(cell: Cell) -> str:
    if not cell.is_code:
        return cell.text
    code = f"```python\n{cell.text}\n```"
    # Blank lines would end a block of HTML.
    shown = "\n".join(line for line in cell.shown.splitlines() if line.strip())
    if not shown:
        return code
    shown = shown.replace("<svg ", '<svg style="max-width: 100%; height: auto" ')
    return f'{code}\n\n```{{raw}} html\n<div class="output" style="overflow-x: auto">\n{shown}\n</div>\n```'
