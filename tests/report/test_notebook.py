"""The leaderboard in a notebook."""

from __future__ import annotations

from collections.abc import Callable

from evalreport.report.notebook import leaderboard_html
from evalreport.schema.results import Results


def test_notebook_table_has_a_row_for_each_model(simulate: Callable[..., Results]) -> None:
    """The table that a notebook shows has the models in rank order and no script or style."""
    page = leaderboard_html(simulate())
    order = [page.index(f"<th>{name}</th>") for name in ("forest", "boosting", "logreg", "knn", "tree")]
    assert order == sorted(order)
    assert "<script" not in page
    assert "style=" not in page
