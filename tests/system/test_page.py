"""The HTML report in a real browser: silent, self-contained, and its controls work."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.texts.visible import short_names
from research.campaign.browser import Seen, unfold, use_everything
from research.campaign.browser import opened as open_in

from .programs import axe_source, evalreport

pytestmark = pytest.mark.system

PHONE, DESK = 360, 1440


@pytest.fixture
def opened(browser, report: Path):
    """The example's report opened from its file, each time as by a reader who never saw it before."""
    contexts = []

    def open_at(width: int, scheme: str = "light", *, javascript: bool = True) -> Seen:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript
        )
        contexts.append(context)
        return open_in(context, report / "report.html")

    yield open_at
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_report_is_silent_and_asks_for_nothing(opened, report: Path, width):
    """Opened and with every button pressed: an empty console, and no request other than the file itself."""
    seen = opened(width)
    use_everything(seen.page)
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
    """Pairs by name: the alphabet, then backwards; a number the greatest first; anywhere on the heading will do."""
    page = opened(DESK).page
    unfold(page)
    table = page.locator("#differences table.sizes").first
    heading = table.locator("thead th").first
    names = "rows => rows.map(row => row.cells[0].innerText.trim().toLowerCase())"
    heading.click(position={"x": 2, "y": 2})
    ascending = table.locator("tbody tr").evaluate_all(names)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert len(ascending) == 10
    assert table.locator("tbody tr").evaluate_all(names) == ascending[::-1]
    assert ascending == sorted(ascending)
    table.locator("thead th").nth(1).click()
    sizes = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => Number(row.cells[1].dataset.order))"
    )
    assert sizes == sorted(sizes, reverse=True)


def test_the_legend_hides_and_shows_a_model_everywhere(opened):
    """One click takes a model out of tables and charts, a second one brings it back."""
    page = opened(DESK).page
    unfold(page)
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
    """Headline, leaderboard and charts are there; the controls that need the script are not shown dead."""
    page = opened(DESK, javascript=False).page
    assert page.locator("#decision").is_visible()
    assert page.locator("table.board tbody tr:visible").count() == 5
    assert page.locator("svg:visible").count() > 3
    assert page.locator("button:visible").count() == 0
    assert page.locator(".tools").count() == 0


def test_the_legend_offers_to_show_all_once_something_is_hidden(opened):
    """Two models hidden, one button brings both back and goes."""
    page = opened(DESK).page
    page.locator(".models summary").click()
    toggles = page.locator("#legend button[data-model]")
    everything = page.locator("#legend button.all")
    assert not everything.is_visible()
    toggles.nth(0).click()
    toggles.nth(1).click()
    everything.click()
    assert toggles.evaluate_all("all => all.map(one => one.getAttribute('aria-pressed'))") == ["true"] * 5
    assert not everything.is_visible()


def test_the_legend_reaches_every_chart_and_table_that_shows_models(opened):
    """With every model hidden but the last, which stays, nothing of the others is left in a table or a chart."""
    page = opened(DESK).page
    unfold(page)
    assert page.locator("svg .series").count() > 10
    toggles = page.locator("#legend button[data-model]").all()
    for toggle in toggles:
        toggle.click()
    assert [toggle.get_attribute("aria-pressed") for toggle in toggles] == ["false"] * 4 + ["true"]
    for toggle in toggles[:-1]:
        key = toggle.get_attribute("data-model")
        assert page.locator(f"table .{key}:visible").count() == 0
        drawn = "all => all.filter(one => one.getClientRects().length > 0).length"
        assert page.locator(f"svg .{key}").evaluate_all(drawn) == 0


def test_a_column_of_tests_is_sorted_best_first(opened):
    """The column of differences sorts the pairs, the greatest first, and back."""
    page = opened(DESK).page
    unfold(page)
    table = page.locator("table.every-test").first
    heading = table.locator("thead th").nth(1)
    values = "cells => cells.map(cell => Number(cell.textContent.replace('\u2212', '-').match(/^[+-]?[\\d.]+/)[0]))"
    for descending in (True, False):
        heading.locator("button").click()
        found = table.locator("tbody td:nth-child(2)").evaluate_all(values)
        assert len(found) == 10
        assert found == sorted(found, reverse=descending)


def test_numbers_of_very_many_examples_stay_in_one_piece(opened):
    """Five decimals, as a million examples have them: no number of the ranking breaks, or leaves its cell."""
    cells = opened(DESK).page.locator(".board tbody").first.locator(".c-v, .c-g, .c-v2, .c-g2, .c-s")
    lines = """cells => cells.map(cell => {
        const number = document.createRange(), holder = cell.querySelector("button, span") || cell;
        holder.textContent = "0.84215";
        number.selectNodeContents(holder);
        const room = cell.getBoundingClientRect(), taken = number.getBoundingClientRect();
        return [taken.height < 30, taken.left >= room.left && taken.right <= room.right + 0.5];
    })"""
    found = cells.evaluate_all(lines)
    assert len(found) >= 20
    assert all(one and inside for one, inside in found)


def test_the_example_stays_within_its_number_of_words(opened):
    """What a reader meets: at most 1,700 words as the page opens, fewer than 8,314 with everything unfolded."""
    page = opened(DESK).page
    words = "document.body.innerText.split(/\\s+/).filter(Boolean).length"
    assert 500 < page.evaluate(words) <= 1700
    unfold(page)
    assert 4000 < page.evaluate(words) < 8314


def test_the_filter_keeps_the_rows_with_every_word(opened):
    """Of the metrics' table the row of one metric is left, the count is said, and all come back."""
    page = opened(DESK).page
    unfold(page)
    region = page.locator("#metrics .tools.wide").first
    table = page.locator("#metrics .tools.wide + .scroll table").first
    rows = "tbody tr:not(.group):visible"
    before = table.locator(rows).count()
    region.locator("input").fill("decisions jaccard index")
    assert table.locator(rows).count() == 1
    assert table.locator("tr.group:visible").count() == 1
    assert region.locator(".found").inner_text() == f"1 of {before} rows"
    region.locator("input").fill("no such words")
    assert table.locator("tbody tr:visible").count() == 0
    region.locator("input").fill("")
    assert table.locator(rows).count() == before


def copied(page: Any, table: str, form: str) -> str:
    """Copy a table where the browser allows no clipboard, and return what is offered to copy by hand."""
    # A page that is not allowed to write: the promise is refused, as by a browser that asks and is told no.
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: "
        "{ writeText: () => Promise.reject(new Error('refused')) } })"
    )
    page.locator(f"{table} .copy", has_text=form).first.click()
    area = page.locator("dialog[open] textarea")
    selected = area.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert selected == area.input_value()
    page.locator("dialog[open] button").click()
    return selected


def test_a_table_is_copied_as_csv(opened):
    """Numbers have a minus of ASCII, limits two columns, a picture none; hidden models are left out."""
    page = opened(DESK).page
    page.locator(".models summary").click()
    page.locator("#legend button[data-model]").first.click()
    text = copied(page, "#decision", "CSV")
    head, *rows = csv.reader(io.StringIO(text))
    assert head[:5] == ["#", "Model", "ROC AUC", "ROC AUC, low", "ROC AUC, high"]
    assert head[5:8] == ["behind", "behind, low", "behind, high"]
    assert [len(row) for row in rows] == [len(head)] * 4
    assert all(re.fullmatch(r"0\.\d+", cell) for row in rows for cell in row[2:5])
    assert all(re.fullmatch(r"[-+]?0\.\d+", cell) for row in rows for cell in row[6:8])
    assert "−" not in text


def test_pairs_are_copied_as_csv_in_rows_of_their_own(opened):
    """Of five models ten rows: a, b, their difference, its limits, p and the verdict; numbers in plain ASCII."""
    page = opened(DESK).page
    head, *rows = csv.reader(io.StringIO(copied(page, "#pairs", "CSV")))
    assert head == ["a", "b", "difference", "low", "high", "p", "verdict"]
    assert len(rows) == len({frozenset(row[:2]) for row in rows}) == 10
    for row in rows:
        assert all(re.fullmatch(r"-?0\.\d+", cell) for cell in row[2:5])
        assert re.fullmatch(r"<?[01](\.\d+)?", row[5])
        assert row[6] in ("better", "worse", "undecided", "equivalent", "not worse")


def test_counts_are_copied_with_the_heads_of_their_columns(opened):
    """Above the heads stand those of groups of columns, which are no row of the table."""
    page = opened(DESK).page
    head, *rows = csv.reader(io.StringIO(copied(page, "#cases", "CSV")))
    assert head[0] == "Model"
    assert head[-1] == "Cleared"
    assert len(rows) == 5


def test_a_table_is_copied_as_markdown(opened):
    """One line a row, the same number of cells in each, the metric's family before its name."""
    page = opened(DESK).page
    unfold(page)
    lines = copied(page, "#metrics", "Markdown").splitlines()
    assert lines[0].startswith("| Given by | Metric | Metric, interval | logreg | logreg, interval |")
    assert set(lines[1]) == {"|", "-"}
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {lines[1].count("|")}
    assert any(line.startswith("| Decisions | Accuracy | Wilson | 0.9") for line in lines)


def test_a_table_is_copied_as_latex(opened):
    """A tabular with the rules of booktabs, the same number of cells in each row, no sign that LaTeX would read."""
    page = opened(DESK).page
    unfold(page)
    lines = copied(page, "#decision", "LaTeX").splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert lines[1].startswith(r"\begin{tabular}{lr")
    assert lines[-1] == r"\end{tabular}"
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert len(rows) == 6
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    assert "−" not in "".join(lines)


def test_a_copy_goes_to_the_clipboard_where_that_is_allowed(opened):
    """The button says so, and no box opens."""
    page = opened(DESK).page
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: "
        "{ writeText: text => { window.written = text; return Promise.resolve(); } } })"
    )
    page.locator("#decision .copy").first.click()
    page.wait_for_function("document.querySelector('#decision .copy').textContent === 'Copied'")
    assert page.evaluate("window.written").startswith("| \\# | Model |")
    assert page.locator("dialog[open]").count() == 0


def test_an_explanation_shows_on_hover_focus_and_touch(opened):
    """The formula with its counts; Escape closes it, and while it is open it describes the value."""
    page = opened(DESK).page
    unfold(page)
    page.locator(".models").evaluate("part => { part.open = false; }")
    value = page.locator("#metrics .tip", has_text=re.compile(r"^0\.\d+$")).first
    box = page.locator("#tip")
    value.hover()
    assert re.match(r"ROC AUC = 0\.\d+; DeLong on the logit scale \[0\.\d+, 0\.\d+\]; ", box.inner_text())
    assert value.get_attribute("aria-describedby") == "tip"
    page.keyboard.press("Escape")
    assert not box.is_visible()
    page.mouse.move(0, 0)
    value.focus()
    assert box.is_visible()
    place = box.bounding_box()
    assert 0 <= place["x"] <= DESK - place["width"]
    assert place["y"] >= 0


def test_an_explanation_shows_without_the_script_too(opened):
    """Where no script runs the style sheet writes it at the foot of the window."""
    page = opened(DESK, javascript=False).page
    value = page.locator("#decision td .tip").first
    value.hover()
    written = "getComputedStyle(document.querySelector('#decision td .tip'), '::after').content"
    assert page.evaluate(written).startswith('"[0.93')


def test_sections_figures_and_tables_have_links_that_lead_to_them(opened):
    """Each link of the page leads to a part of the page; a folded part opens when its address is followed."""
    page = opened(DESK).page
    addresses = page.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert all(address.startswith("#") for address in addresses)
    assert page.evaluate("all => all.filter(a => !document.getElementById(a.slice(1)))", addresses) == []
    assert {"#decision", "#pairs", "#figure-roc"} <= set(addresses)
    folded = page.locator("main details").first.get_attribute("id")
    assert not page.locator(f"#{folded}").evaluate("part => part.open")
    page.evaluate("id => { location.hash = id; }", folded)
    page.wait_for_function("id => document.getElementById(id).open", arg=folded)


def test_a_link_shows_on_hover_and_focus(opened):
    """It is there for keyboard and mouse, and does not clutter the page otherwise."""
    page = opened(DESK).page
    unfold(page)
    link = page.locator("#pairs h2 .anchor")
    opacity = "link => getComputedStyle(link).opacity"
    assert link.evaluate(opacity) == "0"
    page.locator("#pairs h2").hover()
    assert link.evaluate(opacity) == "1"
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    link.focus()
    assert link.evaluate(opacity) == "1"


def test_the_browser_prints_the_whole_report_in_light_colours(opened, tmp_path: Path):
    """From the dark theme too: nothing folded but what is long, no control, the definitions."""
    page = opened(DESK, "dark").page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".button:visible, .tools:visible, .toolbar:visible, .anchor:visible").count() == 0
    assert page.locator("details:not([open]):not(.long)").count() == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(25, 28, 32)"
    assert "2 TP / (2 TP + FP + FN)" in page.locator("#glossary").inner_text()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


def test_the_keyboard_reaches_every_control_in_reading_order(opened):
    """Tab leads from the skip link through theme and sections; each control shows that it has the focus."""
    page = opened(DESK).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "theme"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate(outline) == "solid"


def test_the_example_is_less_than_a_megabyte(report: Path):
    """So that it can be attached and mailed."""
    assert (report / "report.html").stat().st_size < 1_000_000


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(opened, scheme, width):
    """axe-core, every rule, both themes, phone and desk: no violation."""
    page = opened(width, scheme).page
    unfold(page)
    page.evaluate(axe_source())
    violations = page.evaluate("axe.run(document).then(found => found.violations)")
    said = [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in violations]
    assert not said, "\n".join(said)


HOSTILE = (
    '=HYPERLINK("http://example.org","x")',
    "@SUM(1+1)",
    "-2+3, a; b",
    '"quoted" | <b>bold</b>',
    "\u202etxt",
)


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of models with hostile names, by the real program; test_pdf.py has the PDF of others."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = ["id,model,y_true,y_pred"]
    for k, name in enumerate(HOSTILE):
        quoted = '"' + name.replace('"', '""') + '"'
        rows += [
            f"{i},{quoted},{'=1+1' if i % 3 else '<b>'},{'=1+1' if (i * (k + 2)) % 5 else '<b>'}"
            for i in range(60)
        ]
    (folder / "all.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = evalreport("run", "all.csv", "-f", "html", "-o", "out", "--title", "<i>=1+1</i>", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_no_cell_of_a_copied_csv_is_a_formula(browser, hostile_report: Path):
    """Of every table of a report with hostile names: a cell that a spreadsheet would run begins with an apostrophe."""
    page = browser.new_page()
    page.goto((hostile_report / "report.html").as_uri(), wait_until="load")
    unfold(page)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: "
        "{ writeText: text => { (window.written = window.written || []).push(text); return Promise.resolve(); } } })"
    )
    for button in page.locator(".copy:visible", has_text="CSV").all():
        button.click()
    cells = {
        cell
        for text in page.evaluate("window.written")
        for row in csv.reader(io.StringIO(text))
        for cell in row
    }
    for cell in cells:
        assert not re.match(r"[\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]", cell) or re.fullmatch(
            r"[-+]\d+(\.\d+)?", cell
        ), cell
    assert short_names(HOSTILE)[HOSTILE[0]] in cells  # shortened, it begins with no sign
    assert "'@SUM(1+1)" in cells
    assert any("old</b>" in cell for cell in cells)
    page.close()


def test_hostile_names_run_nothing(browser, hostile_report: Path):
    """With every control used there is no dialog, no message, no element of theirs."""
    page = browser.new_page()
    noticed: list[str] = []
    page.on("console", lambda message: noticed.append(message.text))
    page.on("dialog", lambda dialog: noticed.append(dialog.message))
    page.goto((hostile_report / "report.html").as_uri(), wait_until="load")
    unfold(page)
    page.locator("[data-tip]").evaluate_all("tips => tips.forEach(tip => tip.focus())")
    assert noticed == []
    assert page.locator("td b b, th b b, h1 i").count() == 0
    assert "<i>=1+1</i>" in page.locator(".masthead .title").inner_text()
    page.close()


def test_the_ratio_of_costs_is_seen_without_scrolling(browser, tmp_path: Path):
    """At 1280 px the table beside the picture of costs, with limits in four columns, is no wider than its place."""
    random = np.random.default_rng(3)
    models = {
        name: {
            "id": [f"q{k}" for k in range(300)],
            "outcome": random.integers(0, 2, 300).tolist(),
            "cost": (random.exponential(size=300) * mean).round(6).tolist(),
        }
        for name, mean in (("opus", 0.03), ("sonnet", 0.009), ("haiku", 0.0023))
    }
    results = er.evaluate(models, baseline="opus", resamples=50)
    er.render(results, tmp_path, formats=["html"])
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((tmp_path / "report.html").as_uri(), wait_until="load")
    table, place = (
        page.locator(f".cost {part}").first.bounding_box() for part in ("table", ".column:last-child")
    )
    assert table["width"] <= place["width"] + 1
    page.close()
