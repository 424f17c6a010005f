"""Writing the asked outputs: all into a temporary folder beside the target, moved in at the end."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalreport.config import OutputOptions
from evalreport.errors import OutputError
from evalreport.results import Results, to_json

if TYPE_CHECKING:
    from evalreport.report.figures import Figure

# The files of `figures/` that are ours, so that those of others are left alone.
FIGURE_NAMES = ("forest", "ranks", "strip", "roc", "pr", "confusion")


@dataclass(frozen=True, slots=True)
class RenderOutcome:
    """What was written, and what could not be, in words for the user."""

    paths: tuple[Path, ...]
    warnings: tuple[str, ...] = ()


NO_OPTIONS = OutputOptions()


def render(results: Results, output: Path | str, *, options: OutputOptions = NO_OPTIONS) -> RenderOutcome:
    """Write the asked formats into a folder; until all are made, what stands there stays as it is.

    Files of an earlier report are replaced (or removed where this one does not make them); files of
    others in the folder are not touched.

    Parameters
    ----------
    output
        The folder; it is made where it does not exist.
    options
        Formats, detail, title, templates.

    Raises
    ------
    OutputError
        When the folder cannot be written; or when the PDF was named and could not be made, after the
        other outputs were written.
    UsageError
        When a template is wrong.
    """
    target = Path(output)
    files, failure = _made(results, options)
    try:
        with _beside(target) as folder:
            _fill(folder, files)
            _move_in(folder, target, to_json(results))
    except OSError as error:
        raise OutputError(
            f"cannot write to {target}: {error.strerror or error}; what stood there before is as it was."
            " Make room or name another folder with -o"
        ) from error
    paths = tuple(target / name for name in files)
    if failure is None:
        return RenderOutcome(paths)
    if options.formats_named:
        raise failure
    return RenderOutcome(paths, (f"no report.pdf was made: {failure}",))


def _made(results: Results, options: OutputOptions) -> tuple[dict[str, bytes], OutputError | None]:
    """Make every asked output in memory, by its name in the folder."""
    from evalreport.report.figures import drawn
    from evalreport.report.html import html_page, paper_page
    from evalreport.report.markdown import summary_markdown
    from evalreport.report.sections import describe
    from evalreport.report.view import view_of

    view, formats, data = view_of(results), options.formats, to_json(results)
    files: dict[str, bytes] = {}
    failure: OutputError | None = None
    svgs: dict[str, str] = {}
    sections = describe(view) if "html" in formats or "pdf" in formats else ()
    for section in sections:
        for figure in _figures(section.content):
            svgs[figure.name] = drawn(figure)
    if "html" in formats:
        page = html_page(view, sections, svgs, title=options.title, templates=options.templates)
        files["report.html"] = _encoded(page)
    if "pdf" in formats:
        brief = options.detail == "brief"
        kept = describe(view, brief=brief)
        page = paper_page(view, kept, svgs, title=options.title, templates=options.templates, brief=brief)
        try:
            from evalreport.report.pdf import pdf_bytes

            files["report.pdf"] = pdf_bytes(page, data)
        except OutputError as error:
            failure = error
    if "json" in formats:
        files["results.json"] = data
    if "md" in formats:
        files["summary.md"] = _encoded(summary_markdown(view, templates=options.templates))
    files |= {f"figures/{name}.svg": _encoded(svg) for name, svg in svgs.items()}
    return files, failure


def _encoded(text: str) -> bytes:
    """Encode as UTF-8; a lone surrogate, which has no encoding, is written as a question mark."""
    return text.encode("utf-8", errors="replace")


def _figures(content: object) -> Iterator[Figure]:
    """Find the figures that a section asks for: its field ``figure`` or ``figures``."""
    for candidate in (getattr(content, "figure", None), *(getattr(content, "figures", None) or ())):
        if candidate is not None:
            yield candidate


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Make a temporary folder on the same file system, so that moving is renaming."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


OURS = ("report.html", "report.pdf", "results.json", "summary.md")


def _move_in(folder: Path, target: Path, data: bytes) -> None:
    """Rename every file into place, and remove those of an earlier run that are about other results."""
    target.mkdir(exist_ok=True)
    (target / "figures").mkdir(exist_ok=True)
    names = [*OURS, *(f"figures/{name}.svg" for name in FIGURE_NAMES)]
    stale = [] if _is_about(target, data) else [target / name for name in names]
    made = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    for name in made:
        (folder / name).replace(target / name)
    for path in stale:
        if path.relative_to(target) not in made:
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        (target / "figures").rmdir()  # only when nothing is in it


def _is_about(target: Path, data: bytes) -> bool:
    """Say whether the folder holds outputs of these very results, made with another choice of formats."""
    earlier = target / "results.json"
    return earlier.is_file() and earlier.read_bytes() == data
