"""Writing the asked outputs: all into a temporary folder beside the target, moved in at the end."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalreport.config import OutputOptions
from evalreport.errors import OutputError
from evalreport.report.brand import TemplateError
from evalreport.results import Results, to_json

if TYPE_CHECKING:
    from evalreport.report.figures import Figure
    from evalreport.report.sections import Described
    from evalreport.report.view import View

# The files of `figures/` that are ours, so that those of others are left alone.
FIGURE_NAMES = (
    "forest",
    "ranks",
    "strip",
    "roc",
    "pr",
    "confusion",
    *("error-rates", "reliability", "rejection", "sweep", "gain", "lift", "p-values"),
    *("scores", "predicted-true", "residuals", "value-calibration", "f1-at-recall", "count-sets"),
    *("estimates", "learning", "learning-panels", "decomposition", "complexity", "replicates"),
)
NUMBERED = re.compile(r"slices-\d+-\d+\.svg")


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
        When the folder cannot be written; or, after the other outputs were written, when the PDF was named
        and could not be made, or when a template of the user's is wrong.
    UsageError
        When there is no such folder of templates.
    """
    target = Path(output)
    files, failures = _made(results, options)
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
    if not failures:
        return RenderOutcome(paths)
    said = _said(failures)
    # Whoever names a format or brings templates asks for what then cannot be made; a PDF by default does not.
    if options.formats_named or any(isinstance(error, TemplateError) for error in failures.values()):
        raise OutputError("; ".join(said))
    return RenderOutcome(paths, said)


def _said(failures: Mapping[str, OutputError]) -> tuple[str, ...]:
    """Say each reason once, with every output that it prevents."""
    by_reason: dict[str, list[str]] = {}
    for name, error in failures.items():
        by_reason.setdefault(str(error), []).append(name)
    return tuple(f"no {' and no '.join(names)} was made: {reason}" for reason, names in by_reason.items())


def _made(results: Results, options: OutputOptions) -> tuple[dict[str, bytes], dict[str, OutputError]]:
    """Make every asked output in memory, by its name in the folder; say of each other one why it cannot be made."""
    from evalreport.report.texts import catalogue_of, speaking

    try:
        catalogue = catalogue_of(options.templates)
    except TemplateError as error:
        # Without its texts only the numbers can be given.
        asked = {"report.html": "html", "report.pdf": "pdf", "summary.md": "md"}
        failures: dict[str, OutputError] = {
            name: error for name, kind in asked.items() if kind in options.formats
        }
        return {"results.json": to_json(results)} if "json" in options.formats else {}, failures
    with speaking(catalogue):
        return _said_in_it(results, options)


def _said_in_it(results: Results, options: OutputOptions) -> tuple[dict[str, bytes], dict[str, OutputError]]:
    """Make the outputs, all in one language."""
    from evalreport.report.figures import drawn
    from evalreport.report.sections import describe
    from evalreport.report.view import view_of

    view, formats, data = view_of(results), options.formats, to_json(results)
    sections = describe(view) if "html" in formats or "pdf" in formats else ()
    svgs = {figure.name: drawn(figure) for section in sections for figure in _figures(section.content)}
    ways: dict[str, tuple[bool, Callable[[], bytes]]] = {
        "report.html": ("html" in formats, lambda: _html(view, sections, svgs, options)),
        "report.pdf": ("pdf" in formats, lambda: _pdf(view, svgs, options, data)),
        "results.json": ("json" in formats, lambda: data),
        "summary.md": ("md" in formats, lambda: _markdown(view, options)),
    }
    files: dict[str, bytes] = {}
    failures: dict[str, OutputError] = {}
    for name, (wanted, make) in ways.items():
        try:
            if wanted:
                files[name] = make()
        except OutputError as error:
            failures[name] = error
    return files | {f"figures/{name}.svg": _encoded(svg) for name, svg in svgs.items()}, failures


def _html(
    view: View, sections: tuple[Described, ...], svgs: Mapping[str, str], options: OutputOptions
) -> bytes:
    from evalreport.report.html import html_page

    return _encoded(html_page(view, sections, svgs, title=options.title, templates=options.templates))


def _pdf(view: View, svgs: Mapping[str, str], options: OutputOptions, data: bytes) -> bytes:
    from evalreport.report.html import paper_page
    from evalreport.report.pdf import pdf_bytes
    from evalreport.report.sections import describe

    brief = options.detail == "brief"
    kept = describe(view, brief=brief)
    page = paper_page(view, kept, svgs, title=options.title, templates=options.templates, brief=brief)
    return pdf_bytes(page, data)


def _markdown(view: View, options: OutputOptions) -> bytes:
    from evalreport.report.markdown import summary_markdown

    return _encoded(summary_markdown(view, title=options.title, templates=options.templates))


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
    numbered = [p.name for p in (target / "figures").iterdir() if NUMBERED.fullmatch(p.name)]
    names = [*OURS, *(f"figures/{name}.svg" for name in FIGURE_NAMES), *(f"figures/{n}" for n in numbered)]
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
