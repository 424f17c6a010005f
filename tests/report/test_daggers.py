"""Daggers are explained on paper, each once, unless the table's note does."""

from __future__ import annotations

from evalreport.report.table import Cell, Row, Table


def test_the_words_of_daggers_stand_once_below_the_table():
    """Two cells with one reason and a label with another; none where the note has a dagger of its own."""
    rows = (
        Row(None, (Cell("0", note="no positive"), Cell("1", note="no positive")), "a"),
        Row(None, ("2", Cell("3")), Cell("b", note="too small")),
    )
    assert Table("", ("x", "y"), rows).daggers == ("no positive", "too small")
    assert Table("", ("x", "y"), rows, "† Too small: b.").daggers == ()
