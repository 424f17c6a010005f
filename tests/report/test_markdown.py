"""The report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evalreport.report.markdown import escaped, summary_markdown
from evalreport.report.view import view_of
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.texts.visible import visible
from research.campaign.names import NASTY

Simulate = Callable[..., Results]


def test_a_gate_in_the_summary_is_named_once(simulate: Simulate) -> None:
    """Each line begins with its outcome, then says what was asked and what was found."""
    gate = GateRecord(gate="n >= 500", outcome="pass", value=1200.0, text="n = 1200", low=None, high=None)
    text = summary_markdown(view_of(simulate(gates=(gate,))))
    assert "- **pass**: n ≥ 500 (n = 1200)" in text


def test_escaping_markdown_keeps_plain_text() -> None:
    """A plain name is not changed by escaping."""
    assert escaped("ResNet-50 (v1.8)") == "ResNet-50 (v1.8)"


ANY = st.one_of(
    st.sampled_from(NASTY),
    st.text(alphabet=st.characters(), max_size=40),
    st.lists(st.sampled_from(NASTY[:-3]), min_size=2, max_size=3).map("".join),
)


@given(text=ANY)
@settings(max_examples=300, deadline=None)
def test_escaped_markdown_says_what_was_meant(text: str) -> None:
    """Another program reads the escaped text back as its visible form, with joiners after @ and #."""
    shown = re.sub(r"@(?=\w)", "@\u200d", re.sub(r"#(?=\d)", "#\u200d", " ".join(visible(text).split(" "))))
    inline = MarkdownIt("commonmark").parseInline("x" + escaped(text) + "x")[0]
    read = "".join(mark.content for mark in inline.children or ())
    assert read == f"x{shown}x"


@pytest.mark.parametrize(
    "address", ["https://example.org", "http://x.y", "www.example.org", "WWW.example.org"]
)
def test_a_bare_address_is_no_link_in_the_summary(address: str) -> None:
    """GitHub makes links of what begins with a scheme or www: both are broken by a backslash."""
    assert not re.search(r"(?<!\\)://|www\.", escaped(f"see {address}"), flags=re.IGNORECASE)


@pytest.mark.parametrize("name", ["@octocat", "see #123", "a@b @org/team", "owner/repo#7"])
def test_a_name_neither_notifies_a_person_nor_links_an_issue(name: str) -> None:
    """GitHub looks for both in the text that it shows, where backslashes are gone: a joiner stands between."""
    inline = MarkdownIt("commonmark").parseInline(escaped(name))[0]
    shown = "".join(mark.content for mark in inline.children or ())
    assert not re.search(r"@\w|#\d", shown)
    assert shown.replace("\u200d", "") == name
