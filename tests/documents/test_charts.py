"""Every chart stands in docs/charts.md, and every picture there is one that the script draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalreport import plots

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "charts.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", plots.__all__)
def test_every_chart_is_documented(name: str) -> None:
    """By its public name."""
    assert re.search(rf"`(plots\.|with plots\.)?{name}\b", PAGE)


def test_every_picture_is_there_and_is_shown() -> None:
    """No broken link, and no picture that nobody sees."""
    shown = set(re.findall(r"\]\(gallery/(\w+\.svg)\)", PAGE))
    assert shown == {path.name for path in (ROOT / "docs" / "gallery").iterdir()}


def test_the_page_runs() -> None:
    """Its example gives axes."""
    from matplotlib import pyplot as plt

    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, object] = {}
    exec(code, found)  # noqa: S102  the page's own example
    assert found["axes"].get_xlabel() == "False positive rate"  # type: ignore[attr-defined]
    plt.close("all")
