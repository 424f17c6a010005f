"""Writing the requested outputs: all are made in memory, then moved into the folder as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.errors import OutputError
from evalreport.files import Kind, publish
from evalreport.options import FILES, JSON, PAGE, PDF, SUMMARY, Format, OutputOptions, run_time
from evalreport.report.brand import TemplateError, check_templates
from evalreport.report.template_process import Documents, made_within_limits
from evalreport.schema.results import Results, to_json

if TYPE_CHECKING:
    from evalreport.report.sections import Described
    from evalreport.report.view import View


FIGURES = (
    "coverage-by-level", "audited", "ranks", "strip", "roc", "pr", "error-rates", "reliability", "murphy",
    "murphy-difference", "miscalibration-discrimination", "rejection", "sweep", "gain", "lift", "confusion", "scores",
    "predicted-true", "residuals", "estimates", "learning", "learning-panels", "over-time-0", "over-time-1",
    "over-time-2", "calibration-0", "calibration-1", "calibration-2", "net-benefit", "net-benefit-difference",
    "interventions-avoided", "quality-against-cost", "decomposition", "complexity", "replicates", "count-sets",
    "f1-at-recall",
)  # fmt: skip
"""The names of all figures, by which the files of a report are told from other files in ``figures/``."""
OURS = frozenset(
    (
        *("tables/", "figures/", *chain.from_iterable(FILES.values())),
        *(f"figures/{name}.{kind}" for name in FIGURES for kind in ("svg", "png")),
    )
)


@dataclass(frozen=True, slots=True)
class RenderOutcome:
    """The paths that were written, and a message for each output that could not be made."""

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
    """Write the requested formats into a folder, all or none; a process killed at any moment leaves one run's files.

    Files of an earlier report are replaced, and removed where this one does not make them; those about the very same
    results stay. Files of others in the folder are not touched.

    Parameters
    ----------
    output
        The folder; it is made where it does not exist.
    options
        Formats, detail, title, templates.
    beside
        Further files of this run for the same folder, by their names.
    done
        Called when the report is in the folder, before an interrupt that came meanwhile is raised.

    Raises
    ------
    OutputError
        When the folder cannot be written; or, after the other outputs were written, when the PDF was named
        and could not be made, or when a template of the user's is wrong.
    UsageError
        When there is no such folder of templates, or a folder has the name of a file to write.
    """
    check_templates(options.templates)
    options = replace(options, time=run_time(options.time).isoformat())  # one time for all documents
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
            f"cannot write to {target}: {error.strerror or error}; the files that were there are unchanged."
            " Make room or name another folder with -o"
        ) from error
    paths = tuple(target / name for name in files)
    if not failures:
        return RenderOutcome(paths)
    reasons: dict[str, list[str]] = {}
    for name, failure in failures.items():
        reasons.setdefault(str(failure), []).append(name)
    messages = tuple(f"no {' and no '.join(names)} was made: {reason}" for reason, names in reasons.items())
    # With named formats or the user's templates a missing output is an error; a PDF by default is not.
    if options.formats_named or any(isinstance(failure, TemplateError) for failure in failures.values()):
        raise OutputError("; ".join(messages))
    return RenderOutcome(paths, messages)


def document(results: Results, form: Format, options: OutputOptions) -> bytes:
    """Make one document in memory.

    Raises
    ------
    OutputError
        It could not be made.
    """
    check_templates(options.templates)
    options = replace(options, formats=(form,), time=run_time(options.time).isoformat())
    made, failures = _made(results, options, to_json(results))
    for failure in failures.values():
        raise failure
    return made[FILES[form][0]]


def documents_of(results: Results, options: OutputOptions) -> tuple[dict[str, bytes], dict[str, OutputError]]:
    """Make every document of the formats in memory: contents by file name, and why others could not be made."""
    check_templates(options.templates)
    return _made(results, options, to_json(results))


def is_ours(name: str) -> bool:
    """Return whether a path in an output folder is that of a report's file; a sub-folder's path ends with ``/``."""
    return name in OURS


def _is_about(folder: Path, data: bytes) -> bool:
    """Return whether the folder holds outputs of the same results, made with another choice of formats."""
    earlier = folder / JSON
    return earlier.is_file() and earlier.read_bytes() == data


def _made(
    results: Results, options: OutputOptions, data: bytes
) -> tuple[dict[str, bytes], dict[str, OutputError]]:
    """Make every requested output in memory: contents by file name, and the errors of those that cannot be made."""
    from evalreport.report.translations import catalogue_of
    from evalreport.texts import speaking
    from evalreport.texts.units import in_units

    given = {JSON: data} if "json" in options.formats else {}
    names = [name for form in options.formats for name in FILES[form] if name != JSON]
    try:
        catalogue = catalogue_of(options.templates)
    except TemplateError as error:
        return given, dict.fromkeys(names, error)  # without its texts only the numbers can be given
    if not names and options.figures is None:
        return given, {}
    with speaking(in_units(results.unit, catalogue)):
        plain = _plain_files(results, options)
        pages = [name for name in names if name not in plain]
        outcomes, figures = _documents(results, options, data, pages)
    made = given | plain | {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, bytes)}
    failures = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, OutputError)}
    return {
        name: made[name] for files in FILES.values() for name in files if name in made
    } | figures, failures


def _plain_files(results: Results, options: OutputOptions) -> dict[str, bytes]:
    """Make the files that no template has a part in: tables, LaTeX, the model card."""
    from evalreport.report import latex, tables
    from evalreport.report.model_card import model_card
    from evalreport.report.view import view_of

    view = view_of(results)
    made: dict[str, bytes] = {}
    if "csv" in options.formats:
        made |= {f"tables/{name}.csv": content for name, content in tables.tables(view).items()}
    if "tex" in options.formats:
        made |= {"table.tex": _encoded(latex.table(view)), "methods.tex": _encoded(latex.paragraph(view))}
    if "card" in options.formats:
        made["card.md"] = _encoded(model_card(view))
    return made


def _documents(
    results: Results, options: OutputOptions, data: bytes, names: Sequence[str]
) -> tuple[dict[str, bytes | OutputError], dict[str, bytes]]:
    """Draw the figures and make the documents, in the templates' process where the user brings templates.

    Returns
    -------
    tuple
        The content of each document, or why it could not be made, by its name; and the files of the figures.
    """
    from evalreport.plots.pictures import drawn, painted
    from evalreport.report.sections import describe, figures_of
    from evalreport.report.view import view_of

    view = view_of(results)
    paged = bool({PAGE, PDF} & set(names))
    drawing = paged or options.figures is not None
    sections = describe(view, full=options.detail == "full") if drawing else ()
    figures = [figure for section in sections for figure in figures_of(section.content)]
    svgs = {figure.name: drawn(figure) for figure in figures if paged or options.figures == "svg"}
    if options.figures == "png":
        files = {f"figures/{figure.name}.png": painted(figure) for figure in figures}
    else:
        files = {f"figures/{name}.svg": _encoded(svg) for name, svg in svgs.items() if options.figures}
    if options.templates is not None:
        arguments = (results, svgs, options, data)
        return made_within_limits(_by_templates, arguments, names), files
    outcomes: dict[str, bytes | OutputError] = {}
    documents = _ways(view, sections, svgs, options, data)
    for name in names:
        render_templates, finish = documents[name]
        try:
            outcomes[name] = finish(render_templates())
        except OutputError as error:
            outcomes[name] = error
    return outcomes, files


def _by_templates(
    results: Results, svgs: Mapping[str, str], options: OutputOptions, data: bytes
) -> Documents:
    """Return the ways to the documents, with the user's texts, for the templates' process."""
    from evalreport.report.sections import describe
    from evalreport.report.translations import catalogue_of
    from evalreport.report.view import view_of
    from evalreport.texts import speaking
    from evalreport.texts.units import in_units

    def spoken(make: Callable[..., Any], *made: Any) -> Any:
        with speaking(catalogue):
            return make(*made)

    catalogue, view = in_units(results.unit, catalogue_of(options.templates)), view_of(results)
    with speaking(catalogue):
        sections = describe(view, full=options.detail == "full") if "html" in options.formats else ()
    ways = _ways(view, sections, svgs, options, data)
    return {name: (partial(spoken, begin), partial(spoken, finish)) for name, (begin, finish) in ways.items()}


def _ways(
    view: View, sections: tuple[Described, ...], svgs: Mapping[str, str], options: OutputOptions, data: bytes
) -> Documents:
    """Return for each document the function that renders its templates, and the one that makes bytes of the result."""
    from evalreport.report.evidence import describe_evidence
    from evalreport.report.markdown import summary_markdown
    from evalreport.report.page import Medium, page
    from evalreport.report.pdf import pdf_bytes
    from evalreport.report.sections import describe

    time, brief = run_time(options.time), options.detail == "brief"
    own: Any = {"title": options.title, "templates": options.templates}

    def paper() -> str:
        described = describe(view, brief=brief, full=not brief)
        evidence = None
        if options.sign_off or not brief:
            names = frozenset(section.name for section in described)
            evidence = describe_evidence(view, options.sign_off, data=data, names=names)
        medium: Medium = "brief" if brief else "full"
        return page(view, described, svgs, medium=medium, time=time, evidence=evidence, **own)

    return {
        PAGE: (partial(page, view, sections, svgs, time=time, **own), _encoded),
        PDF: (paper, partial(pdf_bytes, attachment=data, time=time)),
        SUMMARY: (partial(summary_markdown, view, **own), _encoded),
    }


def _encoded(text: str) -> bytes:
    """Encode as UTF-8; a lone surrogate, which has no encoding, is written as a question mark."""
    return text.encode("utf-8", errors="replace")
