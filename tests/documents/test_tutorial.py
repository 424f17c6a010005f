"""The tutorials on language models: their commands run on the logs beside them, and print what stands there."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from evalreport.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"```console\n\$ (?P<command>.*)\n(?P<printed>(?:.*\n)*?)```")


def plain(text: str) -> str:
    """Return a text with single spaces: lines are wrapped by the width of the terminal."""
    return " ".join(text.split())


PAGES = {
    "tutorial-language-models": (("large.eval", "small.eval"), [0, 3, 0, 4]),
    "tutorial-regressions": (("support-old.eval", "support-new.eval"), [0, 1, 4]),
}
"""Each page with the logs that it needs, and the exit codes of its commands."""


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_stands_there(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of a block stands in what its command prints; `comment` knows of no review here."""
    logs, expected = PAGES[page]
    for name in logs:
        shutil.copy(DOCS / "language-models" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    codes = []
    for block in BLOCK.finditer((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        program, *words = shlex.split(block["command"])
        if program == "cat":
            said = Path(words[0]).read_text(encoding="utf-8")
        else:
            codes.append(main(words))
            captured = capsys.readouterr()
            said = captured.out + captured.err
        for line in filter(None, map(plain, block["printed"].splitlines())):
            assert line in plain(said), block["command"]
    assert codes == expected
    report = plain(Path("evalreport-out/report.html").read_text(encoding="utf-8"))
    if page == "tutorial-language-models":
        assert "More questions would help to tell the models apart; more attempts hardly would" in report
        assert all(plain(cell) in report for cell in (">0.0515<", ">0.0467<", ">0.0364<"))
