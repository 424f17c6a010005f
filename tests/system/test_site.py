"""The page of all audits in a real browser: silent, without a request, without barriers, on a phone as on a desk."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import ROOT, axe_source, evalreport

pytestmark = pytest.mark.system

EXAMPLE = ROOT / "examples" / "nightly-audit"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three weeks of the example, the last after the scanner failed."""
    folder = tmp_path_factory.mktemp("site")
    history = f"sqlite:///{folder / 'audits.db'}"
    for week, day, code in (("00", "2024-09-02", 0), ("01", "2024-09-09", 0), ("11", "2024-11-18", 1)):
        done = evalreport(
            "audit", EXAMPLE / "predictions" / f"week-{week}", "--config", EXAMPLE / "evalreport.toml",
            "--history", history, "--time", day, "-o", folder / "reports" / week, "-q", cwd=folder,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
    words = ("history", "site", folder / "out", "--history", history, "--reports", folder / "reports")
    done = evalreport(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out" / "index.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_page_is_silent_fits_and_has_no_barrier(browser, site: Path, scheme, width):
    """Empty console, no request but the file, no scrolling of the page sideways, and nothing that axe-core finds."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    console: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(site.as_uri(), wait_until="load")
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert console == []
    assert [url for url in requests if not url.startswith("data:")] == [site.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(axe_source())
    violations = page.evaluate("axe.run(document).then(found => found.violations)")
    assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in violations] == []
    page.close()


def test_every_audit_leads_to_its_report(browser, site: Path):
    """Each link of the table opens a report with the title of one."""
    page = browser.new_page()
    page.goto(site.as_uri())
    addresses = [link.evaluate("link => link.href") for link in page.locator("td.open a").all()]
    assert len(addresses) == 3
    for address in addresses:
        page.goto(address)
        assert page.locator("section#decision").count() == 1
    page.close()
