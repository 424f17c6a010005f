"""Documents of a user's templates, made in a process with limits on time and memory."""

from __future__ import annotations

import base64
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from evalreport import platform
from evalreport.errors import OutputError
from evalreport.options import PDF
from evalreport.report.brand import TemplateError
from evalreport.texts import say

SECONDS = 30.0
"""Processor time that the templates of one document may take."""
MEMORY = 2 * 1024**3
"""Bytes that the templates' process may add to its size at the start; the largest PDF in full detail needs less than
half of them."""
LARGEST = 200_000_000
"""Bytes of one document; the largest report has a tenth of them."""
TO_START = 120.0
"""Seconds in which the process must have loaded its modules; they do not count as the templates' time."""
TO_LAY_OUT = 10
"""Laying a page out as a PDF may take this many times as long as rendering its templates."""
ON_THE_CLOCK = 4
"""Seconds that may pass for each second of processor time: other programs run as well."""
_SERVE = "import sys; sys.path[:] = {path!r}; from evalreport.report import template_process; template_process.serve()"
_ERRORS: Mapping[bytes, type[OutputError]] = {b"template": TemplateError, b"output": OutputError}
Documents = Mapping[str, tuple[Callable[[], Any], Callable[[Any], bytes]]]
"""By the name of a document: what renders its templates, and what makes its bytes of the result."""


def made_within_limits(
    documents: Callable[..., Documents], arguments: Sequence[object], names: Sequence[str]
) -> dict[str, bytes | OutputError]:
    """Make documents in a process with limits; give each one's content, or why it could not be made.

    Parameters
    ----------
    documents
        A function of a module that returns the documents; it and its arguments are sent to the process.
    names
        Of the documents to make, in their order.
    """
    found: dict[str, bytes | OutputError] = {}
    while left := [name for name in names if name not in found]:
        answers, why = _answers((documents, tuple(arguments), left, SECONDS), left)
        for name, line in zip(left, answers, strict=False):
            kind, _, text = line.partition(b" ")
            content = base64.b64decode(text)
            found[name] = _ERRORS[kind](content.decode()) if kind in _ERRORS else content
        if len(answers) < len(left):
            # The process is gone, and with it the one document: the next ones get another.
            found[left[len(answers)]] = TemplateError(why)
    return found


def _answers(work: tuple[object, ...], names: Sequence[str]) -> tuple[list[bytes], str]:
    """Return the lines of a process that runs ``serve``, one a document, and how it ended."""
    folders = [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 - "" is a folder as well
    limit = TO_START + ON_THE_CLOCK * SECONDS * (len(names) + (TO_LAY_OUT if PDF in names else 0))
    late = say("templates.late", seconds=f"{SECONDS:g}")
    try:
        ended = subprocess.run(  # noqa: S603 - this very interpreter
            [sys.executable, "-P", "-c", _SERVE.format(path=folders)],
            input=pickle.dumps(work), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limit, check=False,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        output, code = ended.stdout, ended.returncode
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
        why = say("templates.ended", how=how, memory=MEMORY // 1024**3)
        why = late if platform.out_of_time(code) else why
    except subprocess.TimeoutExpired as error:
        output = error.output or b""
        why = late if output else say("templates.not_ready", seconds=f"{TO_START:g}")
    # The first line says that it is ready; what follows the last end of a line is cut.
    return output.split(b"\n")[1:-1], why


def serve() -> None:
    """Make the documents that standard input names, and write them to standard output, a line each."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's print must not be part of a reply
    make, arguments, names, seconds = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    documents = make(*arguments)
    sys.dont_write_bytecode = True  # it writes no file
    platform.limit_memory(MEMORY)
    for line in chain([b"ready"], (_answer(documents[name], seconds) for name in names)):
        replies.write(line + b"\n")
        replies.flush()


def _answer(way: tuple[Callable[[], Any], Callable[[Any], bytes]], seconds: float) -> bytes:
    render, finish = way
    try:
        platform.limit_time(seconds)
        rendered = render()
        platform.limit_time(TO_LAY_OUT * seconds)
        made = finish(rendered)
        if len(made) > LARGEST:
            raise TemplateError(f"the templates made more than {LARGEST:,} bytes")
        return b"made " + base64.b64encode(made)
    except TemplateError as error:
        return _error(b"template", error)
    except OutputError as error:
        return _error(b"output", error)
    except MemoryError:
        return _error(b"template", f"the templates need more than {MEMORY // 1024**3} GiB of memory")
    except Exception as error:  # noqa: BLE001 - any error of a user's page
        text = f"what the templates made cannot be used: {type(error).__name__}: {error}"
        return _error(b"template", text)


def _error(kind: bytes, error: object) -> bytes:
    return kind + b" " + base64.b64encode(str(error)[:2000].encode("utf-8", "backslashreplace"))
