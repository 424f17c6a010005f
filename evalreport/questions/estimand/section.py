"""A small box for the statistician: what is estimated."""

from __future__ import annotations

from evalreport.report.table import Column, Row, Table, Tables
from evalreport.report.view import View
from evalreport.texts import say
from evalreport.texts.labels import sentence_start

PARTS = ("population", "unit", "fixed", "varies", "missing", "family", "declared")


def describe(view: View) -> Tables | None:
    """Lay out the estimand; nothing in results of before."""
    estimand = view.results.estimand
    if estimand is None:
        return None
    rows = tuple(
        Row(None, (sentence_start(view.text(getattr(estimand, part))),), say(f"estimand.part.{part}"))
        for part in PARTS
    )
    heads = (Column(say("estimand.head"), "text"),)
    return Tables((Table(say("estimand.box"), heads, rows, first=""),))
