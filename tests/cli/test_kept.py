"""What is made of shipped files is kept where Python keeps compiled modules, under its rules, and made anew in time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalreport.version import compiled


def made_of(file: Path, text: str, made: list[str]) -> dict[str, str]:
    """Return something made of a text, and note that it was made."""

    def make() -> dict[str, str]:
        made.append(text)
        return {"of": text}

    return compiled(file, text.encode(), make)


def test_it_is_made_once_until_the_text_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice from one text it is made once; another text makes it anew; a copy that was cut short counts for nothing."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    made: list[str] = []
    for text in ("a", "a", "b", "b"):
        assert made_of(tmp_path / "page.j2", text, made) == {"of": text}
    assert made == ["a", "b"]
    (kept,) = tmp_path.rglob("*.pyc")
    assert kept.parent.name == "__pycache__"
    kept.write_bytes(kept.read_bytes()[:-3])
    assert made_of(tmp_path / "page.j2", "b", made) == {"of": "b"}
    assert made == ["a", "b", "b"]


def test_python_s_own_rules_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written where no bytecode is to be; else below the prefix, if any; where that fails, nothing fails."""
    made: list[str] = []
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made_of(tmp_path / "page.j2", "a", made)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "prefix"))
    made_of(tmp_path / "page.j2", "a", made)
    assert [path.parts[-1] for path in tmp_path.rglob("*.pyc")] == [
        f"page.{sys.implementation.cache_tag}.pyc"
    ]
    assert not (tmp_path / "__pycache__").exists()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    assert made_of(tmp_path / "other.j2", "a", made) == {"of": "a"}
    assert made == ["a", "a", "a"]
