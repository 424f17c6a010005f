"""The leaderboard in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from markupsafe import escape

from evalreport.report import notebook
from evalreport.report.notebook import leaderboard_html
from evalreport.report.sections import decision
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def test_notebook_table_has_a_row_for_each_model(simulate: Callable[..., Results]) -> None:
    """The table that a notebook shows has the models in rank order and no script or style."""
    page = leaderboard_html(simulate())
    order = [page.index(f"<th>{name}</th>") for name in ("forest", "boosting", "logreg", "knn", "tree")]
    assert order == sorted(order)
    assert "<script" not in page
    assert "style=" not in page


def test_notebook_table_has_the_cautions_and_explains_nothing_that_it_does_not_show(
    simulate: Callable[..., Results],
) -> None:
    """The brackets, the grey and the shade of the drawn leaderboard are not in it."""
    results = simulate()
    found = decision.describe(view_of(results))
    page = leaderboard_html(results)
    assert found.board is not None
    assert found.board.notes.reading
    assert found.board.notes.reading not in page
    assert all(str(escape(text)) in page for text in found.cautions)


def test_notebook_has_the_intervals_as_a_picture(simulate: Callable[..., Results]) -> None:
    """An inline SVG, and little enough to be kept in a notebook."""
    page = leaderboard_html(simulate())
    assert "<svg" in page
    assert len(page) < 60_000


def test_notebook_says_where_the_whole_report_is(simulate: Callable[..., Results]) -> None:
    """And how many cautions there are where it shows only some of them."""
    results = simulate()
    page = leaderboard_html(results)
    assert "results.save(&#34;report&#34;) writes the whole report" in page
    found = decision.describe(view_of(results))
    assert (f"{found.all_cautions} cautions in all: results.warnings." in page) == (found.all_cautions > 1)


def test_a_notebook_shows_the_first_twenty_of_very_many_models(
    simulate: Callable[..., Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none of them is behind the board has a row for each; a cell of a notebook stays below 60,000 letters."""
    results = simulate()
    view = view_of(results)
    decided = decision.describe(view)
    assert decided.board is not None
    panels = tuple(replace(panel, gaps=panel.gaps[:1] * 300) for panel in decided.board.panels)
    board = replace(decided.board, rows=decided.board.rows[:1] * 300, panels=panels)
    board = replace(board, notes=replace(board.notes, names="x" * 90_000))
    monkeypatch.setattr(decision, "describe", lambda _: replace(decided, board=board))
    monkeypatch.setattr(notebook, "_picture", lambda _: "")
    view.__dict__["models"] = view.models[:1] * 300  # the cached property
    monkeypatch.setattr(notebook, "view_of", lambda _: view)
    page = leaderboard_html(results)
    assert len(page) < 30_000  # the picture of twenty models has no more than that
    assert page.count("<tr><td>") == 20
    assert "280 further models: results.to_frame(&#34;ranking&#34;)." in page
