"""The HTML report in a real browser: silent, self-contained, and its controls work."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .programs import axe_source

pytestmark = pytest.mark.system

PHONE, DESK = 360, 1440


@dataclass
class Seen:
    """A page and what the browser noticed while it was used."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def opened(browser, report: Path):
    """The example's report opened from its file, each time as by a reader who never saw it before."""
    contexts = []

    def open_at(width: int, scheme: str = "light", *, javascript: bool = True) -> Seen:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript
        )
        contexts.append(context)
        seen = Seen(context.new_page())
        seen.page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
        seen.page.on("pageerror", lambda error: seen.console.append(f"error: {error}"))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto((report / "report.html").as_uri(), wait_until="load")
        return seen

    yield open_at
    for context in contexts:
        context.close()


def use_everything(seen: Seen) -> None:
    """Press every button of the report once."""
    for button in seen.page.locator("button:visible").all():
        button.click()


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_report_is_silent_and_asks_for_nothing(opened, report: Path, width):
    """Opened and with every button pressed: an empty console, and no request other than the file itself."""
    seen = opened(width)
    use_everything(seen)
    seen.page.wait_for_timeout(300)
    assert seen.console == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [
        (report / "report.html").as_uri()
    ]


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_page_does_not_scroll_sideways(opened, width):
    """On a phone and on a desk the page is as wide as the window; wide tables scroll inside their box."""
    page = opened(width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_theme_button_changes_the_colours_and_its_own_name(opened):
    """Light becomes dark and light again; the button always names the other one."""
    page = opened(DESK, "light").page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    button = page.locator("#theme")
    assert button.text_content() == "Dark theme"
    button.click()
    assert page.evaluate(background) != light
    assert button.text_content() == "Light theme"
    button.click()
    assert page.evaluate(background) == light


def test_the_theme_follows_the_system_until_the_button_is_used(opened):
    """A dark system shows the dark report without a click."""
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened(DESK, "light").page.evaluate(background)
    assert opened(DESK, "dark").page.evaluate(background) != light


def test_a_click_on_a_heading_sorts_the_table_and_a_second_one_turns_it_round(opened):
    """The leaderboard by model name: the alphabet, then backwards; the heading says which to assistive tools."""
    page = opened(DESK).page
    table = page.locator("table.board").first
    heading = table.locator("thead th.first")
    names = "rows => rows.map(row => row.cells[1].innerText.trim().toLowerCase())"
    heading.locator("button").click()
    ascending = table.locator("tbody tr").evaluate_all(names)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert len(ascending) == 5
    assert table.locator("tbody tr").evaluate_all(names) == ascending[::-1]
    assert [name.split()[-1] for name in ascending] == sorted(name.split()[-1] for name in ascending)


def test_the_legend_hides_and_shows_a_model_everywhere(opened):
    """One click takes a model out of tables and charts, a second one brings it back."""
    page = opened(DESK).page
    toggle = page.locator("#legend button[data-model]").first
    key = toggle.get_attribute("data-model")
    marked = page.locator(f".{key}:visible")
    before = marked.count()
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "false"
    assert before > 1
    assert page.locator(f"table .{key}:visible").count() == 0
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "true"
    assert page.locator(f".{key}:visible").count() == before


def test_the_report_is_whole_without_javascript(opened):
    """Verdict, leaderboard and charts are there; the controls that need the script are not shown dead."""
    page = opened(DESK, javascript=False).page
    assert page.locator("#verdict").is_visible()
    assert page.locator("table.board tbody tr:visible").count() == 5
    assert page.locator("svg:visible").count() > 3
    assert page.locator("button:visible").count() == 0


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(opened, scheme, width):
    """axe-core, every rule, both themes, phone and desk: no violation."""
    page = opened(width, scheme).page
    page.evaluate(axe_source())
    violations = page.evaluate("axe.run(document).then(found => found.violations)")
    said = [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in violations]
    assert not said, "\n".join(said)
