"""Writing the asked outputs: all are made in memory, then moved into the folder as a whole."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evalreport.errors import OutputError
from evalreport.files import Kind, publish
from evalreport.options import FILES, OutputOptions, run_time
from evalreport.report.brand import TemplateError, check_templates
from evalreport.schema.results import Results, to_json

if TYPE_CHECKING:
    from evalreport.plots.pictures import Figure
    from evalreport.report.sections import Described
    from evalreport.report.view import View


MEMORY = 2 * 1024**3
"""Bytes that the templates' process may use beyond what it has at its start; the largest PDF in full detail needs less
than half of them."""
LARGEST = 200_000_000
"""Bytes of one document; the largest report has a tenth of them."""
TO_START = 120.0
"""Seconds until the process has loaded what it needs: that is not the templates' time."""
TO_LAY_OUT = 10
"""How many times as long what follows the templates may take: laying a page out for a PDF takes long with anybody's."""
ON_THE_CLOCK = 4
"""How many seconds may pass for each second of processor time: other programs run as well."""
_FRAME = struct.Struct("<BQ")
_READY, _STEP, _MADE, _TEMPLATE, _OUTPUT = range(5)
_SERVE = "import sys; sys.path[:] = {path!r}; from evalreport.report import writing; writing.serve()"

Documents = Mapping[str, tuple[Callable[..., Any], ...]]
"""The ways to make documents: for each a function without arguments, and those that its result then passes through; the
last one gives bytes."""


def made_within_limits(
    ways: Callable[..., Documents], arguments: Sequence[Any], names: Sequence[str], *, seconds: float
) -> dict[str, bytes | OutputError]:
    """Make documents in a process with limits; give each one's content, or why it could not be made.

    Parameters
    ----------
    ways
        A function of a module that gives the way to make each document; it and its arguments are sent to the process.
    names
        Of the documents to make, in their order.
    seconds
        Processor time of the first function of each document.
    """
    late = f"the templates took more than {seconds:g} s; --template-time gives them another limit"
    found: dict[str, bytes | OutputError] = {}
    while len(found) < len(names):
        left = [name for name in names if name not in found]
        with _started() as process:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(pickle.dumps((ways, tuple(arguments), left, seconds)))
            try:
                _read_frame(process, TO_START, f"the templates' process was not ready within {TO_START:g} s")
                for name in left:
                    kind, content = _read_frame(process, ON_THE_CLOCK * seconds, late)
                    while kind == _STEP:
                        kind, content = _read_frame(process, ON_THE_CLOCK * TO_LAY_OUT * seconds, late)
                    error = {_TEMPLATE: TemplateError, _OUTPUT: OutputError}.get(kind)
                    found[name] = content if error is None else error(content.decode())
            except TemplateError as error:
                # The process is gone, and with it the one document: the next ones get another.
                found[next(name for name in left if name not in found)] = error
    return found


@contextlib.contextmanager
def _started() -> Iterator[subprocess.Popen[bytes]]:
    """Start the process that runs ``serve``, and end it whatever happens."""
    places = [os.path.abspath(place) for place in sys.path]  # noqa: PTH100 - "" is a place as well
    code = _SERVE.format(path=places)
    process = subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _read_frame(process: subprocess.Popen[bytes], seconds: float, late: str) -> tuple[int, bytes]:
    deadline = time.monotonic() + seconds
    kind, size = _FRAME.unpack(_read(process, _FRAME.size, deadline, late))
    if size > LARGEST:
        raise TemplateError(f"the templates made more than {LARGEST:,} bytes")
    return kind, _read(process, size, deadline, late)


def _read(process: subprocess.Popen[bytes], size: int, deadline: float, late: str) -> bytes:
    assert process.stdout is not None
    parts, left = [], size
    while left:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TemplateError(late)
        part = os.read(process.stdout.fileno(), min(left, 1 << 20))
        if not part:
            raise TemplateError(_ended(process.wait(), late))
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _ended(code: int, late: str) -> str:
    if code == -signal.SIGXCPU:
        return late
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
    return f"the templates' process ended {how}; it may use {MEMORY // 1024**3} GiB of memory"


# --- in a process of its own ----------------------------------------------------------------------------------------


def serve() -> None:
    """Make what standard input asks for, and write it to standard output."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's print is no answer
    ways, arguments, names, seconds = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    documents = ways(*arguments)
    sys.dont_write_bytecode = True  # it writes no file
    _limit_memory()
    _reply(replies, _READY, b"")
    for name in names:
        _reply(replies, *_answer(documents[name], seconds, replies))


def _answer(way: Sequence[Callable[..., Any]], seconds: float, replies: BinaryIO) -> tuple[int, bytes]:
    try:
        _limit_time(seconds)
        made = way[0]()
        for step in way[1:]:
            _reply(replies, _STEP, b"")
            _limit_time(TO_LAY_OUT * seconds)
            made = step(made)
        return _MADE, made
    except TemplateError as error:
        return _TEMPLATE, _message(error)
    except OutputError as error:
        return _OUTPUT, _message(error)
    except MemoryError:
        return _TEMPLATE, f"the templates need more than {MEMORY // 1024**3} GiB of memory".encode()
    except Exception as error:  # noqa: BLE001 - what the page of a user's template leads to is not ours
        return _TEMPLATE, _message(f"what the templates made cannot be used: {type(error).__name__}: {error}")


def _message(error: object) -> bytes:
    return str(error)[:2000].encode("utf-8", "backslashreplace")


def _reply(replies: BinaryIO, kind: int, content: bytes) -> None:
    replies.write(_FRAME.pack(kind, len(content)) + content)
    replies.flush()


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - Linux; elsewhere there is none
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """Let the system end this process after so much more processor time, also when the one that started it is gone."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


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
    "audited",
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
    from evalreport.report.brand import catalogue_of
    from evalreport.texts import speaking

    given = {FILES["json"]: data} if "json" in options.formats else {}
    names = [FILES[form] for form in options.formats if form != "json"]
    try:
        catalogue = catalogue_of(options.templates)
    except TemplateError as error:
        # Without its texts only the numbers can be given.
        return given, dict.fromkeys(names, error)
    if not names:
        return given, {}
    with speaking(catalogue):
        outcomes, svgs = _documents(results, options, data, names)
    made = given | {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, bytes)}
    failures = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, OutputError)}
    figures = {f"figures/{name}.svg": _encoded(svg) for name, svg in svgs.items()}
    return {name: made[name] for name in FILES.values() if name in made} | figures, failures


def _documents(
    results: Results, options: OutputOptions, data: bytes, names: Sequence[str]
) -> tuple[dict[str, bytes | OutputError], dict[str, str]]:
    """Draw the figures and make the documents, in the templates' process where the user brings templates.

    Returns
    -------
    tuple
        The content of each document, or why it could not be made, by its name; and the figures as SVG.
    """
    from evalreport.plots.pictures import drawn
    from evalreport.report.sections import describe
    from evalreport.report.view import view_of

    view = view_of(results)
    sections = describe(view) if {"html", "pdf"} & set(options.formats) else ()
    svgs = {figure.name: drawn(figure) for section in sections for figure in _figures(section.content)}
    if options.templates is not None:
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
    from evalreport.report.brand import catalogue_of
    from evalreport.report.sections import describe
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
    from evalreport.report.html import html_page, paper_page, pdf_bytes
    from evalreport.report.markdown import summary_markdown
    from evalreport.report.sections import describe

    time, brief = run_time(options.time), options.detail == "brief"
    html = partial(html_page, title=options.title, templates=options.templates, time=time)
    paper = partial(paper_page, title=options.title, templates=options.templates, time=time, brief=brief)
    markdown = partial(summary_markdown, view, title=options.title, templates=options.templates)
    return {
        FILES["html"]: (partial(html, view, sections, svgs), _encoded),
        FILES["pdf"]: (
            lambda: paper(view, describe(view, brief=brief), svgs),
            partial(pdf_bytes, attachment=data, time=time),
        ),
        FILES["md"]: (markdown, _encoded),
    }


def _encoded(text: str) -> bytes:
    """Encode as UTF-8; a lone surrogate, which has no encoding, is written as a question mark."""
    return text.encode("utf-8", errors="replace")


def _figures(content: object) -> Iterator[Figure]:
    """Find the figures that a section asks for: its field ``figure`` or ``figures``."""
    for candidate in (getattr(content, "figure", None), *(getattr(content, "figures", None) or ())):
        if candidate is not None:
            yield candidate
