"""Secrets are known by the errors' module and hidden in every text that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalreport.errors import cleared, forget, redacted, remember, remember_address
from tests.samples.secrets import holds_none


@pytest.fixture(autouse=True)
def _nothing_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder with predictions, and no secret left from another test."""
    monkeypatch.chdir(tmp_path)
    forget()
    (tmp_path / "models").mkdir()
    rows = "".join(f"e{i},{i % 2},{i % 3 % 2}\n" for i in range(30))
    (tmp_path / "models" / "forest.csv").write_text(f"id,y_true,y_pred\n{rows}")
    yield
    forget()


def test_a_text_of_the_data_stays_as_it_is() -> None:
    """Ids that are addresses, in a study of phishing: only what this process was given is hidden in records."""
    remember_address("https://me:Hunter2-geheim@example.org/?token=abcdefgh")
    data = ("http://login:pass@evil.example/?token=1", "Hunter2-geheim", ["abcdefgh"], {"k": 1.5})
    assert cleared(data) == ("http://login:pass@evil.example/?token=1", "***", ["***"], {"k": 1.5})


@pytest.mark.parametrize(
    "text, shown",
    [
        ("no secret here: a@b.example, 3:4@5", "no secret here: a@b.example, 3:4@5"),
        ("(postgresql://me:a@b@host/db)", "(postgresql://me:***@host/db)"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("https://me:x@host and https://tok@host/p", "https://***@host and https://***@host/p"),
        ("s3://bucket/a.csv?X-Amz-Signature=ab12&x=1", "s3://bucket/a.csv?X-Amz-Signature=***&x=1"),
        ("x://h/?api_key=1;PASSWORD=2&pass%77ord=3#f", "x://h/?api_key=***&pass%77ord=***#f"),
        ("sqlite:////home/me@work/audits.db", "sqlite:////home/me@work/audits.db"),
    ],
)
def test_addresses_are_shown_without_their_secrets(text: str, shown: str) -> None:
    """By hand: user names of databases stay, those of web addresses can be tokens and go."""
    assert redacted(text) == shown


def test_a_short_secret_is_hidden_as_a_word_only() -> None:
    """Else a password `a` would hide every a of a message; a long one is hidden wherever it stands."""
    remember("ab", "long-enough-secret")
    assert redacted("ab, abc, (ab) xlong-enough-secretx") == "***, abc, (***) x***x"
    assert cleared(["ab"]) == ["ab"]


def test_a_secret_is_hidden_as_an_address_spells_it() -> None:
    """Escaped and plain are one secret."""
    remember_address("postgresql://me:Zweites%23Wort@host/db")
    holds_none(redacted("Zweites%23Wort Zweites#Wort"))
    assert "Zweites" not in redacted("Zweites%23Wort Zweites#Wort")
