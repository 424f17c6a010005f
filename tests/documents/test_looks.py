"""docs/looks.md: its commands run, and print what stands there; a pull request with three pushes is one of them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from evalreport.cli import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "looks.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```console\n(?P<commands>(?:\$ .*\n)+)```(?:\n\n```text\n(?P<printed>(?:.*\n)*?)```)?")


@pytest.mark.slow
def test_the_pages_commands_print_what_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three pushes are three looks, the same inputs are one, and the fourth is refused; criteria are followed."""
    monkeypatch.chdir(tmp_path)
    _, pushes = PAGE.split("## A pull request", 1)
    program = re.search(r"`make.py`\n\n```python\n(.*?)```", pushes, re.DOTALL)
    assert program is not None
    Path("make.py").write_text(program[1], encoding="utf-8")
    codes = []
    for block in BLOCK.finditer(pushes):
        capsys.readouterr()
        ended = ""
        for command in block["commands"].splitlines():
            line, _, otherwise = command.removeprefix("$ ").partition(" || ")
            name, *words = shlex.split(line)
            if name == "python":
                subprocess.run([sys.executable, *words], check=True)
                continue
            codes.append(main(words))
            if codes[-1]:
                assert otherwise == 'echo "exit code $?"', command
                ended += f" exit code {codes[-1]}"
        captured = capsys.readouterr()
        said = " ".join((captured.out + captured.err + ended).split())
        for line in (block["printed"] or "").splitlines():
            assert " ".join(line.split()) in said, block["commands"]
    assert codes == [0, 0, 0, 0, 2, 0, 0]


def test_the_page_is_found() -> None:
    """From the README, the index, the pages on gates, reviews and reading."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    for page in ("index.md", "reviews.md", "how-to-read.md", "how-to/gates.md", "../README.md"):
        assert "looks" in (docs / page).read_text(encoding="utf-8"), page
