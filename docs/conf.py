"""The documentation site (`make site`): Sphinx reads the Markdown of the checkout where it stands."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evalreport.version import __version__

project = "evalreport"
author = "The evalreport authors"
copyright = "The evalreport authors"  # noqa: A001 - Sphinx's name for it
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
# The source is the whole checkout, so that links between documents lead the same way here and in the repository.
root_doc = "docs/index"
include_patterns = [
    "docs/*.md", "docs/**/*.md", "docs/tutorial/*.ipynb",
    "examples/*/README.md", "templates/README.md", "README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md", "SECURITY.md", "research/README.md",
]  # fmt: skip
myst_enable_extensions = ["colon_fence", "html_image"]
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .go"


def setup(app: Any) -> None:
    """Show tables in files as plain text; Pygments has no lexer for them. Run notebooks, and add what is no page."""
    from myst_parser.parsers.sphinx_ import MystParser
    from pygments.lexers.special import TextLexer

    class NotebookParser(MystParser):
        """Runs a notebook and parses the page that comes of it."""

        supported = ("notebook",)

        def parse(self, _: str, document: Any) -> None:
            from scripts.notebooks import as_markdown

            super().parse(as_markdown(Path(document["source"])), document)

    app.add_lexer("csv", TextLexer)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("doctree-resolved", link_pictures)
    app.connect("build-finished", add_to_pages)


def link_pictures(_: Any, doctree: Any, page: str) -> None:
    """Put links to the report of its example beside each picture; the picture itself leads to the page."""
    from docutils import nodes

    from scripts.live_reports import links

    for image in list(doctree.findall(nodes.image)):
        forms = links(image["uri"], page)
        if not forms or isinstance(image.parent, nodes.reference):
            continue
        picture = nodes.reference("", "", image.deepcopy(), refuri=forms["HTML"])
        row = nodes.inline("", "", classes=["reports"])
        for form, address in forms.items():
            row += [nodes.Text(" "), nodes.reference("", form, refuri=address)]
        image.replace_self([picture, row])


def add_to_pages(app: Any, failure: Exception | None) -> None:
    """Make the reports behind the pictures, write llms.txt and llms-full.txt, and check every link of the site."""
    from scripts.live_reports import example_of, make
    from scripts.site_files import finish

    if failure is None:
        make({name for picture in app.env.images if (name := example_of(picture))}, Path(app.outdir))
        finish(Path(app.outdir))


html_theme = "furo"
html_title = "evalreport"
html_favicon = None
html_static_path: list[str] = []
html_extra_path = ["site"]  # the address of the site itself leads to docs/index.html
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"source_view_link": "", "top_of_page_buttons": []}
