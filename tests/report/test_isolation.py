"""Names from right to left keep to themselves: numbers beside them stay where they are."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

import evalreport as er
from evalreport.report.isolation import isolated
from evalreport.report.page import page
from evalreport.report.sections import describe
from evalreport.report.typography import breakable
from evalreport.report.view import view_of

HEBREW, ARABIC = (
    "\u05de\u05d5\u05d3\u05dc-\u05d1",
    "\u0646\u0645\u0648\u0630\u062c-\u0623\u0633\u0627\u0633\u064a",
)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (f"<p>{HEBREW} 0.76); 150</p>", f"<p><bdi>{HEBREW}</bdi> 0.76); 150</p>"),
        (f"<p>{HEBREW}, {ARABIC} 50</p>", f"<p><bdi>{HEBREW}</bdi>, <bdi>{ARABIC}</bdi> 50</p>"),
        (f"<p>{HEBREW} {ARABIC}</p>", f"<p><bdi>{HEBREW} {ARABIC}</bdi></p>"),
        (f"<p>\u201c{HEBREW}-3\u201d (47 %)</p>", f"<p>\u201c<bdi>{HEBREW}-3</bdi>\u201d (47 %)</p>"),
        (f'<p title="a > {HEBREW}">x</p>', f'<p title="a > {HEBREW}">x</p>'),
        (
            f"<title>{HEBREW}</title><script>'{HEBREW}'</script>",
            f"<title>{HEBREW}</title><script>'{HEBREW}'</script>",
        ),
        (
            f"<svg><text>{HEBREW} 3</text></svg>",
            f'<svg><text><tspan unicode-bidi="isolate">{HEBREW}</tspan> 3</text></svg>',
        ),
        (f"<svg><title>{HEBREW}</title></svg>", f"<svg><title>{HEBREW}</title></svg>"),
        (f"<bdi>{HEBREW}</bdi>", f"<bdi>{HEBREW}</bdi>"),
        ("<p>forest 0.76</p>", "<p>forest 0.76</p>"),
    ],
)
def test_runs_from_right_to_left_are_isolated(document: str, expected: str) -> None:
    """In text, not in attributes and scripts; a word at a time, with what is glued to it."""
    assert isolated(document) == expected


def test_a_name_from_right_to_left_is_not_broken() -> None:
    """Each part would be laid out by itself, the second to the right of the first."""
    assert "<wbr>" not in breakable(HEBREW)
    assert "<wbr>" in breakable("random_forest")


def test_every_name_of_a_page_is_isolated() -> None:
    """Models and labels, wherever they stand as text; numbers are outside."""
    labels = ["\u0622\u0645\u0646", "\u0636\u0627\u0631"]
    truth = [labels[k % 2] for k in range(40)]
    models = {HEBREW: [labels[k % 3 > 1] for k in range(40)], ARABIC: [labels[k % 2] for k in range(40)]}
    view = view_of(er.evaluate(models, truth=truth, resamples=20))
    written = page(view, describe(view), {}, time=datetime(2026, 1, 1, tzinfo=UTC))
    text = re.sub(r"<(script|style|title|option)\b.*?</\1>", "", written, flags=re.DOTALL)
    outside = re.sub(r"<bdi>.*?</bdi>|<tspan[^>]*>.*?</tspan>|<[^>]*>", "", text, flags=re.DOTALL)
    assert HEBREW in text
    assert not re.search("[\u0590-\u08ff]", outside)
    inside = re.findall(r"<bdi>(.*?)</bdi>", written)
    assert not [run for run in inside if re.search(r"(^|\s)\d", run)]
