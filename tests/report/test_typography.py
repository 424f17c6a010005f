"""Line breaks: which words and numbers stay together."""

from __future__ import annotations

from evalreport.report.typography import held, unbroken


def test_a_heading_holds_together_what_is_read_as_one() -> None:
    """A number stays with its sign, n with its number, and no short word stands alone in the last line."""
    said = held(
        "Scanner B fell from 94.6 % (n = 37) to 18.4 % (n = 38). Equal within ±0.01, p < 0.001 by 7.8."
    )
    for together in ("94.6\xa0%", "n\xa0=\xa037", "within\xa0±0.01", "p\xa0<\xa00.001", "by\xa07.8."):
        assert together in said


def test_words_with_a_hyphen_stay_on_one_line() -> None:
    """Marked up as one; what is hostile is escaped, and what is long may break."""
    assert str(unbroken("by mid-p, --test <b-c>")) == (
        'by <span class="unbroken">mid-p,</span> <span class="unbroken">--test</span> '
        '<span class="unbroken">&lt;b-c&gt;</span>'
    )
    assert "span" not in str(unbroken("a-" * 30))
