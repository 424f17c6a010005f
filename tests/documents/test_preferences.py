"""The recipe for preferences: its file is written and compared by the command that the page names."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import evalreport as er

PAGE = Path(__file__).resolve().parents[2] / "docs" / "attempts.md"


def test_the_recipe_gives_wins_less_losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five wins, two ties and one loss of eight, by hand; the error is that of means of prompts."""
    section = PAGE.read_text(encoding="utf-8").partition("## Which of two answers people prefer")[2]
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(block, {})  # noqa: S102 - a block of our own page
    assert "run preferences.csv --cluster prompt" in section
    results = er.evaluate("preferences.csv", cluster="prompt", resamples=50)
    values = {row.model: row.value for row in results.metrics if row.metric == "mean_outcome"}
    assert values == {"a": pytest.approx(6 / 8), "b": pytest.approx(2 / 8)}
    (row,) = [row for row in results.comparisons if row.recommended]
    assert abs(row.difference) == pytest.approx(5 / 8 - 1 / 8)
    assert np.isfinite(row.p_value)
