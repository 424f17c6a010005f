"""A real browser that opens a file and notices everything that the page does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# A browser that shows one file: nothing of it may call home, or a request could not be told from the page's.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Seen:
    """A page and what the browser noticed while it was used."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium(path: str | None = None) -> Iterator[Any]:
    """Start Debian's Chromium without a window, with a fresh profile that is thrown away.

    Raises
    ------
    FileNotFoundError
        It is not installed.
    """
    from playwright.sync_api import sync_playwright

    program = path or shutil.which("chromium")
    if program is None:
        raise FileNotFoundError("chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield launched
        launched.close()


def opened(context: Any, file: Path) -> Seen:
    """Open a file in a new page, whose messages, errors, dialogs and requests are noted."""
    seen = Seen(context.new_page())

    def dismissed(dialog: Any) -> None:
        seen.console.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    seen.page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    seen.page.on("pageerror", lambda error: seen.console.append(f"error: {error}"))
    seen.page.on("dialog", dismissed)
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.goto(file.as_uri(), wait_until="load")
    return seen


def unfold(page: Any) -> None:
    """Open every part that is folded away."""
    page.locator("details").evaluate_all("parts => parts.forEach(part => { part.open = true; })")


def use_everything(page: Any) -> None:
    """Unfold every part, press every button once, look at every explanation and type in every field."""
    unfold(page)
    for button in page.locator("button:visible").all():
        button.click()
        if page.locator("dialog[open]").count():
            page.keyboard.press("Escape")
    for field_ in page.locator("input:visible").all():
        field_.fill("x")
        field_.fill("")
    page.locator("[data-tip]").evaluate_all("tips => tips.forEach(tip => tip.focus())")
