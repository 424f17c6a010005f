"""The page of warnings: every code that the program can give stands there, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from evalreport.schema.warnings import LEVELS
from evalreport.texts import group_of
from evalreport.warnings import all_checks
from scripts import write_reference
from tests.samples.syntax import tree_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "warnings.md"


@cache
def emitted() -> frozenset[str]:
    """Return the code of every WarningRecord that the package makes."""
    return frozenset(_emitted())


def _emitted() -> Iterator[str]:
    for path in sorted((ROOT / "evalreport").rglob("*.py")):
        if not re.search(r"\b(WarningRecord|warning)\(", path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in (
                "WarningRecord",
                "warning",
            ):
                continue
            named = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            code = [*node.args, *named][0]
            if path.match("schema/warnings.py"):
                continue  # the function that makes them
            assert isinstance(code, ast.Constant), (
                f"{path}:{node.lineno}: a code must be written out to be found"
            )
            assert isinstance(code.value, str)
            yield code.value


def test_every_code_has_a_heading_and_every_heading_a_code():
    """docs/warnings.md explains exactly the codes that the package can give, each once."""
    headings = re.findall(r"^### `(\w+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert set(headings) ^ emitted() == set()


def test_a_code_that_the_page_does_not_explain_stands_at_its_end_with_its_meaning(tmp_path, monkeypatch):
    """`make docs` writes its heading, so that a question's warning touches its own room alone."""
    page = tmp_path / "warnings.md"
    without = re.sub(
        r"### `curves_cross`\n.*?(?=### )", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    page.write_text(without, encoding="utf-8")
    monkeypatch.setattr(write_reference, "WARNINGS_PATH", page)
    said = write_reference.warnings_page().partition("## Other warnings")[2]
    meaning = group_of("meaning")["curves_cross"]
    assert f"\n\n### `curves_cross`\n\nCaution or info. {meaning}\n\n" in said


def test_every_code_has_a_meaning_and_levels_are_of_codes():
    """`evalreport list warnings` names exactly the codes that the package can give; no level is of another."""
    assert group_of("meaning").keys() ^ emitted() == set()
    assert LEVELS.keys() <= emitted()


def test_every_code_of_a_check_has_a_title():
    """The list of checks of a report names each: its title stands under ``[caution_head]``."""
    without = {code for one in all_checks() for code in one.codes} - group_of("caution_head").keys()
    assert without == set(), "write a title for each under [caution_head]"


def test_every_entry_says_something():
    """Below each code stand at least two sentences: what it means and what to do or to read."""
    parts = re.split(r"^### `(\w+)`$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for code, text in zip(parts[::2], parts[1::2], strict=True):
        said = text.split("\n## ")[0]
        assert len(re.findall(r"[.:] ?", said)) >= 2, code
