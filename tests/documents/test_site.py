"""The pages of the site: what they show is run where a reader would run it, and what it is said to print is printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.options import KEYS
from evalreport.predictions.column_names import (
    ALIASES,
    ANSWERS,
    COSTS,
    LONE_PROBABILITIES,
    PROBABILITY_PREFIXES,
    QUESTION,
)
from scripts.write_figures import BEGIN, END, table
from tests.documents.test_readme import targets_of_make

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SINGLE = (
    *("columns", "attempts", "counts", "audits", "evidence", "files", "imports", "resampling", "scale"),
    "reference/python",
)
PAGES = sorted(
    path.relative_to(ROOT)
    for path in [
        *(DOCS / "tutorial").glob("*.md"),
        *(DOCS / "how-to").glob("*.md"),
        *(DOCS / "recipes").glob("*.md"),
        *(DOCS / "agents").glob("*.md"),
        *(DOCS / f"{name}.md" for name in SINGLE),
    ]
)
BLOCK = re.compile(
    r"(?:^`(?P<file>[\w./=-]+)`\n\n|^(?P<mark>(?:<!-- [^\n]+ -->\n)+)\n*)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def steps(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a reader does: (kind, name of a file or mark, text)."""
    for found in BLOCK.finditer(page):
        mark = (found["mark"] or "").strip().removeprefix("<!-- ").removesuffix(" -->")
        yield found["kind"], found["file"] or mark, found["text"]


@pytest.fixture
def desk(tmp_path: Path) -> tuple[Path, Mapping[str, str]]:
    """A folder as a clone has it, with the commands that a reader types on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("evalreport", "-m evalreport"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (programs / name).chmod(0o755)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB", "CI", "GITLAB"))
    }
    path = f"{programs}:{os.environ['PATH']}"
    return tmp_path, {**kept, "PATH": path, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "COLUMNS": "200"}


def plain(text: str) -> str:
    """Return a line without the spaces that only arrange it."""
    return re.sub(r"\s+", " ", text).strip()


def answer(
    kind: str, text: str, folder: Path, environment: Mapping[str, str], capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Return the exit code of a block and what it prints.

    Lines without anything for a shell are run in this process, which saves half a second to import each of them.
    """
    lines = [line.removeprefix("$ ") for line in text.splitlines()]
    unquoted = re.sub(r"'[^']*'", "", text.replace("$ ", ""))
    if kind == "console" and not re.search(
        r"^(?!evalreport )|[^\w\s./,=:-]", unquoted.rstrip(), re.MULTILINE
    ):
        capsys.readouterr()
        codes = [main(shlex.split(line)[1:]) for line in lines]
        captured = capsys.readouterr()
        return max(codes), captured.out + captured.err
    words = ["bash", "-euc", "\n".join(lines)] if kind == "console" else [sys.executable, "-c", text]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.system
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_can_be_followed_from_top_to_bottom(
    page: Path, desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Its files are written, its commands run in a shell, its scripts by Python; each line shown is printed.

    What a page takes for granted stands above a block as a comment, ``<!-- before: COMMAND -->``.
    """
    folder, environment = desk
    monkeypatch.chdir(folder)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", environment["COLUMNS"])
    printed = ""
    for kind, note, text in steps((ROOT / page).read_text(encoding="utf-8")):
        if note.startswith("not run here: "):
            continue
        if note.startswith("before: "):
            for line in note.removeprefix("before: ").split(" -->\n<!-- before: "):
                subprocess.run(
                    ["bash", "-euc", line], cwd=folder, env=environment, check=True, capture_output=True
                )
        elif note:
            path = folder / note
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            continue
        if kind == "text":
            shown = [plain(line) for line in text.splitlines()]
            missing = [line for line in shown if line not in plain(printed)]
            assert not missing, f"{missing}\nis not in\n{printed}"
        if kind not in ("console", "python"):
            continue
        code, printed = answer(kind, text, folder, environment, capsys)
        assert code == 0, f"{text}\n{printed}"


def test_a_block_that_is_not_run_says_why():
    """Commands and scripts of these pages are run, or a reader of the source learns why not."""
    for page in PAGES:
        for kind, note, text in steps((ROOT / page).read_text(encoding="utf-8")):
            if kind == "console":
                assert all(line.startswith("$ ") for line in text.splitlines()), f"{page}: {text}"
            assert kind, f"{page}: a block without a language\n{text}"
            assert not note.startswith("not run") or len(note) > len("not run here: ") + 20


def test_every_column_and_every_other_name_stands_on_the_page():
    """The table is the program's: each column, each alias, and no other."""
    page = (DOCS / "columns.md").read_text(encoding="utf-8")
    table = page.split("| column | meaning | also accepted |\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    shown = {
        row[0].strip("`"): set(re.findall(r"`([\w<> ]+)`", re.split(r"; or|such as", row[2])[0]))
        for row in rows
    }
    (one, *others) = LONE_PROBABILITIES
    assert {name.lower() for name in shown.pop("p")} | {"p"} == {one, *others}
    assert shown.pop("p_<label>") == {f"{prefix}<label>" for prefix in PROBABILITY_PREFIXES} - {"p_<label>"}
    shown.pop("any other")
    assert not shown.pop("count") | shown.pop(f"{ANSWERS}<model>")
    assert not shown.pop("`, `".join(COSTS))
    assert shown.pop(QUESTION[0]) == set(QUESTION[1:])
    shown["value"].clear()  # a metric's name
    shown = {
        name: aliases for name, aliases in shown.items() if not name.startswith(("tp`", "y_low@", "y_set"))
    }
    known = {name: set(aliases) for name, aliases in ALIASES.items()}
    assert shown == known


def test_the_layouts_of_the_page_are_those_that_the_program_finds():
    """Each design that a run may record is shown with an example file, or named as one of another's."""
    page = (DOCS / "columns.md").read_text(encoding="utf-8")
    for design in ("test-set", "cross-validation", "bootstrap", "datasets", "seeds"):
        assert f"design: {design}\n" in page


def test_the_readme_shows_what_was_measured():
    """Its table is what the records say, and each row names a command that there is."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{BEGIN}{table()}{END}" in text
    assert set(re.findall(r"`make ([a-z-]+)", table())) <= targets_of_make()


def test_every_option_of_a_run_is_on_the_page_of_commands():
    """The page is written from the program (`make docs`); this holds it to the declarations."""
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for key in KEYS:
        assert key.flag in page, key.flag
