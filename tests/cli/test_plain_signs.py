"""Plain signs where the encoding of the output lacks the typographic ones."""

from __future__ import annotations

import pytest

from evalreport.cli.streams import PLAIN_SIGNS


@pytest.mark.parametrize(
    "text, encoding, plain",
    [
        ("\u0394 \u22120.12 [\u22120.48, +0.26] \u2265 0.9", "ascii", "Delta -0.12 [-0.48, +0.26] >= 0.9"),
        ("\u0394 \u22120.12 \u201cA\u201d \u2026", "cp1252", "Delta -0.12 \u201cA\u201d \u2026"),
        ("a\u2019s \u201cB\u201d \u2013 1.2\u00d710\u207b\u2075", "ascii", 'a\'s "B" - 1.2x10^-5'),
        ("R\u00b2 \u00b1 1\u00a0%", "ascii", "R^2 +- 1 %"),
        ("K\u00e4se", "ascii", "Kase"),
        ("\u6a21\u578b", "ascii", "\\u6a21\\u578b"),
    ],
)
def test_signs_that_an_encoding_lacks_are_plain(text: str, encoding: str, plain: str) -> None:
    """No escapes but for letters of other scripts, and no error."""
    assert text.encode(encoding, PLAIN_SIGNS).decode(encoding) == plain
