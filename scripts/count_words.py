"""Count the words of reports: as a page opens, with everything unfolded, and by section.

Words are what a browser shows (`innerText`), so what is hidden by a style does not count. Usage:
``python scripts/count_words.py [--sections] REPORT.html ...``
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.screenshots import browser

WORDS = "text => text.split(/\\s+/).filter(Boolean).length"
WHOLE = f"({WORDS})(document.body.innerText)"
BY_SECTION = f"""[...document.querySelectorAll("main section[id], details.appendix section[id], section[id]")]
    .map(part => [part.id, ({WORDS})(part.innerText)])"""
UNFOLD = "document.querySelectorAll('details').forEach(part => { part.open = true; })"


def count(opened: Any, page: Path) -> tuple[int, int, list[tuple[str, int]]]:
    """Return the words of a page as it opens, with everything unfolded, and those of each section, unfolded."""
    context = opened.new_context(viewport={"width": 1200, "height": 900})
    tab = context.new_page()
    tab.goto(page.resolve().as_uri(), wait_until="load")
    shown = tab.evaluate(WHOLE)
    tab.evaluate(UNFOLD)
    found = shown, tab.evaluate(WHOLE), [tuple(part) for part in tab.evaluate(BY_SECTION)]
    context.close()
    return found


def main() -> None:
    """Print a line a report, and with --sections a line a section."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sections", action="store_true", help="also the words of each section, unfolded")
    parser.add_argument("reports", nargs="+", type=Path)
    arguments = parser.parse_args()
    with browser() as opened:
        for report in arguments.reports:
            shown, unfolded, sections = count(opened, report)
            print(f"{report}: {shown:,} words as it opens, {unfolded:,} unfolded")
            for name, words in sections if arguments.sections else ():
                print(f"  {words:6,}  {name}")


if __name__ == "__main__":
    main()
