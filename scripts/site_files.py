"""What `make site` adds to the pages: llms.txt, llms-full.txt, and the check that every link leads somewhere.

`docs/conf.py` calls ``finish`` once the pages are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs" / "index.md"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FULL_SECTIONS = ("Tutorials", "How to", "Recipes", "For coding agents", "Reference", "Explanation")
"""Captions of the table of contents whose pages are in llms-full.txt."""


def contents() -> Mapping[str, tuple[str, ...]]:
    """Return the pages of each section of the documentation, by caption: paths without suffix from `docs` on.

    Examples
    --------
    >>> contents()["Tutorials"][0]
    'tutorial/models-to-pdf'
    """
    sections: dict[str, tuple[str, ...]] = {}
    for match in TOCTREE.finditer(INDEX.read_text(encoding="utf-8")):
        lines = [line.strip() for line in match[1].splitlines()]
        caption = next(
            line.removeprefix(":caption:").strip() for line in lines if line.startswith(":caption:")
        )
        sections[caption] = tuple(line for line in lines if line and not line.startswith(":"))
    return sections


def source_of(page: str) -> Path:
    """Return the file of a page: Markdown, or a notebook."""
    path = INDEX.parent / page
    markdown = path.with_name(path.name + ".md")
    return markdown if markdown.exists() else path.with_name(path.name + ".ipynb")


def guide() -> str:
    """Return llms.txt: every page of the documentation by section, with its title and its first sentence."""
    title, summary = title_and_summary(INDEX)
    lines = [f"# {title}", "", f"> {summary}", ""]
    for caption, pages in contents().items():
        lines += [f"## {caption}", ""]
        for page in pages:
            title, summary = title_and_summary(source_of(page))
            lines.append(f"- [{title}]({address(page)})" + (f": {summary}" if summary else ""))
        lines.append("")
    return "\n".join(lines)


def address(page: str) -> str:
    """Return the address of a page from the root of the site.

    Examples
    --------
    >>> address("../README"), address("columns")
    ('README.html', 'docs/columns.html')
    """
    return f"{page.removeprefix('../') if page.startswith('../') else f'docs/{page}'}.html"


def whole_guide() -> str:
    """Return llms-full.txt: the text of all pages that a user needs, one after the other."""
    sections = contents()
    pages = [page for caption in FULL_SECTIONS for page in sections.get(caption, ())]
    return "\n\n".join(f"<!-- {address(page)} -->\n\n{text_of(source_of(page))}" for page in pages)


def text_of(path: Path) -> str:
    """Return the Markdown of a page; of a notebook its texts and its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        import json

        cells = json.loads(text)["cells"]
        sources = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        text = "\n\n".join(f"```python\n{code}\n```" if kind == "code" else code for kind, code in sources)
    return re.sub(r"\A---\n.*?^---\n", "", text, flags=re.MULTILINE | re.DOTALL).strip() + "\n"


def title_and_summary(path: Path) -> tuple[str, str]:
    """Return the first heading of a page and the first sentence of its first paragraph, without marks of Markdown."""
    blocks = re.split(r"\n\s*\n", re.sub(r"^```.*?^```$", "", text_of(path), flags=re.MULTILINE | re.DOTALL))
    titled = next(i for i, block in enumerate(blocks) if block.startswith("# "))
    heading, _, rest = blocks[titled].partition("\n")
    plain = [
        block for block in [rest, *blocks[titled + 1 :]] if re.match(r"(?!\d+\.)[\w*\[“`]", block.strip())
    ]
    paragraph = " ".join(plain[0].split()) if plain else ""
    sentence = re.match(r".*?[.?!](?=\s|$)", paragraph)
    words = sentence[0] if sentence else paragraph
    return heading.removeprefix("# ").strip(), re.sub(r"\[([^\]]*)\]\([^)]*\)|\*\*|\*", r"\1", words)


def finish(site: Path) -> None:
    """Write what is added to the pages of a finished site.

    Raises
    ------
    ValueError
        A link leads nowhere.
    """
    (site / "llms.txt").write_text(guide(), encoding="utf-8")
    (site / "llms-full.txt").write_text(whole_guide(), encoding="utf-8")
    if broken := list(broken_links(site, site.rglob("*.html"))):
        raise ValueError("links that lead nowhere:\n" + "\n".join(broken))


class _Addresses(HTMLParser):
    """Collects the addresses that a page leads to, and the names of its parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads_to: list[str] = []
        self.parts: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "base":
                self.leads_to.append(value)
            elif name in ("id", "name") and value:
                self.parts.add(value)


def broken_links(site: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Yield ``page: address`` for each relative link to a file that is not there, or to a part that its page lacks."""
    read: dict[Path, _Addresses] = {}

    def addresses(page: Path) -> _Addresses:
        if page not in read:
            read[page] = _Addresses(page.read_text(encoding="utf-8"))
        return read[page]

    for page in sorted(pages):
        for link in dict.fromkeys(addresses(page).leads_to):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("data:"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target /= "index.html"
            is_page = target.suffix == ".html" and target.is_file()
            lost = is_page and parts.fragment and unquote(parts.fragment) not in addresses(target).parts
            if not target.is_file() or lost:
                yield f"{page.relative_to(site)}: {link}"
