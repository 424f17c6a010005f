"""The first sentence of an audit before the true values are known: whether scores moved, and nothing of quality."""

from __future__ import annotations

from evalreport.headline.facts import Facts
from evalreport.headline.rules import DATA_QUESTIONS, params_of
from evalreport.schema.decisions import HeadlineRecord
from evalreport.schema.results import Results
from evalreport.texts import Message
from evalreport.texts.visible import visible

MOST = 2
"""Changes that the sentence names."""


def headline_of_scores(results: Results) -> HeadlineRecord:
    """Return the first sentence of an audit without true values."""
    facts = Facts(results)
    moved = []
    for question in ("scores", "predicted_labels", *DATA_QUESTIONS):
        for row in facts.alarms(question):
            about = facts.name(row.about) if row.about in results.models else visible(row.about)
            message = Message(f"headline.data.{question}", about=about, what=row.text)
            if message not in moved:
                moved.append(message)
    if moved:
        of_scores = moved[0].code.endswith(("scores", "predicted_labels"))
        key = "headline.scores_moved" if of_scores else "headline.data_moved"
        text = Message("headline.sentence", text=Message(key, changes=tuple(moved[:MOST])))
        return HeadlineRecord(text=text, code="data_changed", params=params_of(text), tone="undecided")
    text = Message("headline.sentence", text=Message("headline.scores_alike", n=results.n))
    return HeadlineRecord(text=text, code="no_alarm", params=params_of(text), tone="neutral")
