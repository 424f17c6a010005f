"""The comparison of two runs in words: as text, and as Markdown for a review."""

from __future__ import annotations

from evalreport.cli import main


def test_markdown_is_for_a_review(compare, tmp_path):
    """A marker, tables, nothing from a file unescaped; written to a file where that is asked for."""
    code, said = compare("better", "-f", "md", "-o", tmp_path / "comment.md", inputs=True)
    text = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert (code, said) == (0, "")
    assert text.startswith("<!-- evalreport:")
    assert "**The gate forest.accuracy ≥ 0.7 was removed; forest is better: accuracy " in text
    assert "| Gate | Old | New |  |" in text
    assert "forest.accuracy &gt;= 0.7 | pass | REMOVED |" in text
    assert "<details><summary>Other metrics (shown, not judged)" in text


def test_hostile_names_stay_text(made, compare, tmp_path):
    """A model's name with marks and an escape sequence acts neither on a comment nor on a terminal."""
    content = (made / "better-out/results.json").read_text(encoding="utf-8")
    (tmp_path / "r.json").write_text(content.replace('"tree"', '"<b>@all\\u001b[2J|x"'), encoding="utf-8")
    main(
        [
            "compare-runs",
            str(made / "base-out"),
            str(tmp_path / "r.json"),
            "-f",
            "md",
            "-o",
            str(tmp_path / "c.md"),
        ]
    )
    text = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "\x1b" not in text
    assert "&lt;b&gt;\\@\u200dall" in text
