"""The summary of a recorded run is read as if it were hostile."""

from __future__ import annotations

import json

import pytest

from evalreport.history.summaries import read_summary

WHOLE = {
    "n": 40,
    "primary_metric": "accuracy",
    "values": {"a": [0.8, 0.6, 0.9]},
    "models": ["a"],
    "task": "binary",
    "headline": "a has an accuracy of 0.8",
    "tone": "neutral",
    "evidence": {"look": 2, "accepted": [1], "ids": ["0f"], "compared": 2, "horizon": 365},
}


def test_a_summary_is_read_whole() -> None:
    """As it was written."""
    assert read_summary(json.dumps(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    "text, said",
    [
        (b"{}", "no text"),
        ("{", "no JSON"),
        ("{}", "n"),
        ('{"n": 1, "n": 2}', "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps({**WHOLE, "n": "many"}), "n"),
        (json.dumps({**WHOLE, "values": {"a": [1]}}), "values"),
        (json.dumps({**WHOLE, "evidence": {"look": -1}}), "evidence.look: expected a whole number >= 0"),
        (json.dumps({**WHOLE, "evidence": {"compared": 10**9 + 1}}), "evidence.compared: expected"),
        (json.dumps({**WHOLE, "evidence": {"horizon": 1001}}), "evidence.horizon: expected"),
        (json.dumps({**WHOLE, "evidence": {"ids": ["<script>"]}}), "evidence.ids"),
    ],
)
def test_what_is_no_summary_is_refused_in_words(text: object, said: str) -> None:
    """Never taken in part."""
    with pytest.raises(ValueError, match=said):
        read_summary(text)
