"""Writing the asked outputs: all are made in memory, then moved into the folder as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.config import OutputOptions
from evalreport.errors import OutputError
from evalreport.keys import FILES
from evalreport.publishing import Kind, publish
from evalreport.report.brand import TemplateError, check_templates
from evalreport.results import Results, to_json

if TYPE_CHECKING:
    from evalreport.report.figures import Figure
    from evalreport.report.limited import Documents
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
NUMBERED = re.compile(r"figures/slices-\d+-\d+\.svg")
OURS = frozenset({*FILES.values(), "figures/", *(f"figures/{name}.svg" for name in FIGURE_NAMES)})


@dataclass(frozen=True, slots=True)
class RenderOutcome:
    """What was written, and what could not be, in words for the user."""

    paths: tuple[Path, ...]
    warnings: tuple[str, ...] = ()


NO_OPTIONS = OutputOptions()
NOTHING: Mapping[str, bytes] = {}


def render(
    results: Results,
    output: Path | str,
    *,
    options: OutputOptions = NO_OPTIONS,
    beside: Mapping[str, bytes] = NOTHING,
    done: Callable[[], None] = lambda: None,
) -> RenderOutcome:
    """Write the asked formats into a folder, all or none; a process killed at any moment leaves one run's files.

    Files of an earlier report are replaced, and removed where this one does not make them; those about the very same
    results stay. Files of others in the folder are not touched.

    Parameters
    ----------
    output
        The folder; it is made where it does not exist.
    options
        Formats, detail, title, templates.
    beside
        Further files of this run that belong into the folder, by their names.
    done
        Called when the report stands in the folder, before an interrupt that came meanwhile is raised.

    Raises
    ------
    OutputError
        When the folder cannot be written; or, after the other outputs were written, when the PDF was named
        and could not be made, or when a template of the user's is wrong.
    UsageError
        When there is no such folder of templates, or a folder stands where a file must go.
    """
    check_templates(options.templates)
    target, data = Path(output), to_json(results)
    made, failures = _made(results, options, data)
    files = {**made, **beside}
    try:
        publish(
            target,
            files,
            kind=Kind("report", lambda name: name in files or is_ours(name)),
            stays=lambda folder: _is_about(folder, data),
            done=done,
        )
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


def is_ours(name: str) -> bool:
    """Whether a path in an output folder is that of a report's file; a sub-folder's path ends with ``/``."""
    return name in OURS or bool(NUMBERED.fullmatch(name))


def _is_about(folder: Path, data: bytes) -> bool:
    """Say whether the folder holds outputs of these very results, made with another choice of formats."""
    earlier = folder / FILES["json"]
    return earlier.is_file() and earlier.read_bytes() == data


def _said(failures: Mapping[str, OutputError]) -> tuple[str, ...]:
    """Say each reason once, with every output that it prevents."""
    by_reason: dict[str, list[str]] = {}
    for name, error in failures.items():
        by_reason.setdefault(str(error), []).append(name)
    return tuple(f"no {' and no '.join(names)} was made: {reason}" for reason, names in by_reason.items())


def _made(
    results: Results, options: OutputOptions, data: bytes
) -> tuple[dict[str, bytes], dict[str, OutputError]]:
    """Make every asked output in memory, by its name in the folder; say of each other one why it cannot be made."""
    from evalreport.report.translation import catalogue_of
    from evalreport.texts import speaking

    given = {FILES["json"]: data} if "json" in options.formats else {}
    names = [FILES[form] for form in options.formats if form != "json"]
    try:
        catalogue = catalogue_of(options.templates)
    except TemplateError as error:
        # Without its texts only the numbers can be given.
        return given, dict.fromkeys(names, error)
    with speaking(catalogue):
        outcomes, svgs = _documents_made(results, options, data, names)
    made = given | {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, bytes)}
    failures = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, OutputError)}
    figures = {f"figures/{name}.svg": _encoded(svg) for name, svg in svgs.items()}
    return {name: made[name] for name in FILES.values() if name in made} | figures, failures


def _documents_made(
    results: Results, options: OutputOptions, data: bytes, names: list[str]
) -> tuple[dict[str, bytes | OutputError], dict[str, str]]:
    """Draw the figures and make the documents: here, or where a user's templates may run."""
    from evalreport.report.figures import drawn
    from evalreport.report.sections import describe
    from evalreport.report.view import view_of

    view = view_of(results)
    sections = describe(view) if {"html", "pdf"} & set(options.formats) else ()
    svgs = {figure.name: drawn(figure) for section in sections for figure in _figures(section.content)}
    if options.templates is not None:
        from evalreport.report.limited import made_within_limits

        arguments = (results, svgs, options, data)
        return made_within_limits(_by_templates, arguments, names, seconds=options.template_time), svgs
    outcomes: dict[str, bytes | OutputError] = {}
    ways = _ways(view, sections, svgs, options, data)
    for name in names:
        try:
            make, *steps = ways[name]
            outcomes[name] = reduce(lambda made, step: step(made), steps, make())
        except OutputError as error:
            outcomes[name] = error
    return outcomes, svgs


def _by_templates(
    results: Results, svgs: Mapping[str, str], options: OutputOptions, data: bytes
) -> Documents:
    """Give the ways to make the documents, in a process that knows nothing yet."""
    from evalreport.report.sections import describe
    from evalreport.report.translation import catalogue_of
    from evalreport.report.view import view_of
    from evalreport.texts import speaking

    def spoken(make: Callable[..., Any], *made: Any) -> Any:
        with speaking(catalogue):
            return make(*made)

    catalogue, view = catalogue_of(options.templates), view_of(results)
    with speaking(catalogue):
        sections = describe(view) if "html" in options.formats else ()
    ways = _ways(view, sections, svgs, options, data)
    return {name: tuple(partial(spoken, step) for step in way) for name, way in ways.items()}


def _ways(
    view: View,
    sections: tuple[Described, ...],
    svgs: Mapping[str, str],
    options: OutputOptions,
    data: bytes,
) -> Documents:
    return {
        FILES["html"]: (partial(_html, view, sections, svgs, options),),
        FILES["pdf"]: (partial(_paper, view, svgs, options), partial(_pdf, data)),
        FILES["md"]: (partial(_markdown, view, options),),
    }


def _html(
    view: View, sections: tuple[Described, ...], svgs: Mapping[str, str], options: OutputOptions
) -> bytes:
    from evalreport.report.html import html_page

    return _encoded(html_page(view, sections, svgs, title=options.title, templates=options.templates))


def _paper(view: View, svgs: Mapping[str, str], options: OutputOptions) -> str:
    from evalreport.report.html import paper_page
    from evalreport.report.sections import describe

    brief = options.detail == "brief"
    kept = describe(view, brief=brief)
    return paper_page(view, kept, svgs, title=options.title, templates=options.templates, brief=brief)


def _pdf(data: bytes, page: str) -> bytes:
    from evalreport.report.pdf import pdf_bytes

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
