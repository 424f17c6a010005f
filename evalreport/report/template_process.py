"""Documents of a user's templates, made in a process with limits on time and memory."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from evalreport import platform
from evalreport.errors import OutputError
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
_FRAME = struct.Struct("<BQ")
_READY, _STEP, _MADE, _TEMPLATE, _OUTPUT = range(5)
_SERVE = "import sys; sys.path[:] = {path!r}; from evalreport.report import template_process; template_process.serve()"
Documents = Mapping[str, tuple[Callable[..., Any], ...]]
"""The steps to each document by its name: a function without arguments, then functions of the result before.

The last one returns bytes."""


def made_within_limits(
    documents: Callable[..., Documents], arguments: Sequence[object], names: Sequence[str]
) -> dict[str, bytes | OutputError]:
    """Make documents in a process with limits; give each one's content, or why it could not be made.

    Parameters
    ----------
    documents
        A function of a module that returns the steps to each document; it and its arguments are sent to the process.
    names
        Of the documents to make, in their order.
    """
    late = say("templates.late", seconds=f"{SECONDS:g}")
    found: dict[str, bytes | OutputError] = {}
    while len(found) < len(names):
        left = [name for name in names if name not in found]
        with _started() as (process, replies):
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(pickle.dumps((documents, tuple(arguments), left, SECONDS)))
            try:
                _read_frame(process, replies, TO_START, say("templates.not_ready", seconds=f"{TO_START:g}"))
                for name in left:
                    kind, content = _read_frame(process, replies, ON_THE_CLOCK * SECONDS, late)
                    while kind == _STEP:
                        kind, content = _read_frame(
                            process, replies, ON_THE_CLOCK * TO_LAY_OUT * SECONDS, late
                        )
                    error = {_TEMPLATE: TemplateError, _OUTPUT: OutputError}.get(kind)
                    found[name] = content if error is None else error(content.decode())
            except TemplateError as error:
                # The process is gone, and with it the one document: the next ones get another.
                found[next(name for name in left if name not in found)] = error
    return found


@contextlib.contextmanager
def _started() -> Iterator[tuple[subprocess.Popen[bytes], platform.Replies]]:
    """Start the process that runs ``serve``, and end it in any case."""
    folders = [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 - "" is a folder as well
    code = _SERVE.format(path=folders)
    process = subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    replies = platform.Replies(process)
    try:
        yield process, replies
    finally:
        process.kill()
        process.wait()
        replies.close()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _read_frame(
    process: subprocess.Popen[bytes], replies: platform.Replies, seconds: float, late: str
) -> tuple[int, bytes]:
    deadline = time.monotonic() + seconds
    kind, size = _FRAME.unpack(_read(process, replies, _FRAME.size, deadline, late))
    if size > LARGEST:
        raise TemplateError(f"the templates made more than {LARGEST:,} bytes")
    return kind, _read(process, replies, size, deadline, late)


def _read(
    process: subprocess.Popen[bytes], replies: platform.Replies, size: int, deadline: float, late: str
) -> bytes:
    parts, left = [], size
    while left:
        try:
            part = replies.read(min(left, 1 << 20), deadline - time.monotonic())
        except TimeoutError:
            raise TemplateError(late) from None
        if not part:
            raise TemplateError(_ended(process.wait(), late))
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _ended(code: int, late: str) -> str:
    if platform.out_of_time(code):
        return late
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
    return say("templates.ended", how=how, memory=MEMORY // 1024**3)


def serve() -> None:
    """Make the documents that standard input names, and write them to standard output."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's print must not be part of a reply
    make, arguments, names, seconds = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    documents = make(*arguments)
    sys.dont_write_bytecode = True  # it writes no file
    platform.limit_memory(MEMORY)
    _reply(replies, _READY, b"")
    for name in names:
        _reply(replies, *_answer(documents[name], seconds, replies))


def _answer(steps: Sequence[Callable[..., Any]], seconds: float, replies: BinaryIO) -> tuple[int, bytes]:
    try:
        platform.limit_time(seconds)
        made = steps[0]()
        for step in steps[1:]:
            _reply(replies, _STEP, b"")
            platform.limit_time(TO_LAY_OUT * seconds)
            made = step(made)
        return _MADE, made
    except TemplateError as error:
        return _TEMPLATE, _message(error)
    except OutputError as error:
        return _OUTPUT, _message(error)
    except MemoryError:
        return _TEMPLATE, f"the templates need more than {MEMORY // 1024**3} GiB of memory".encode()
    except Exception as error:  # noqa: BLE001 - any error of a user's page
        return _TEMPLATE, _message(f"what the templates made cannot be used: {type(error).__name__}: {error}")


def _message(error: object) -> bytes:
    return str(error)[:2000].encode("utf-8", "backslashreplace")


def _reply(replies: BinaryIO, kind: int, content: bytes) -> None:
    replies.write(_FRAME.pack(kind, len(content)) + content)
    replies.flush()
