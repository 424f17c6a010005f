"""A secret, and that no text holds it."""

from __future__ import annotations

SECRET = "Hunter2-geheim"

LATER = "Zweites#Wort"


def holds_none(text: str) -> None:
    """No secret, nor a part of the odd one."""
    for part in (SECRET, "ses@me", LATER):
        assert part not in text
