"""Standard output and standard error that never stop the work: a refused write is noted, and reported at the end."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

from evalreport.cli.plain_signs import PLAIN_SIGNS

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Forgiving(io.FileIO):
    """A descriptor that notes the first error of a write (``refused``), and takes everything after it for written."""

    refused: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        """Write some bytes; say how many are done with."""
        if self.refused is None:
            try:
                return super().write(data)
            except OSError as error:
                self.refused = error
        return memoryview(data).nbytes


@contextmanager
def forgiving_streams() -> Iterator[Callable[[], OSError | None]]:
    """Write to standard output and error without ever failing; yield a function that says how standard output failed.

    A stream that somebody put in their place, such as a test's, is used as it is.
    """
    _open_closed_descriptors()
    outputs: list[tuple[io.TextIOWrapper, _Forgiving]] = []

    def failure() -> OSError | None:
        for text, _ in outputs:
            text.flush()
        return next((raw.refused for _, raw in outputs if raw.refused is not None), None)

    with ExitStack() as stack:
        if sys.stderr is sys.__stderr__:
            text, _ = _forgiving(2, sys.stderr, line_buffering=True)
            stack.callback(setattr, sys, "stderr", sys.stderr)
            stack.callback(text.flush)
            sys.stderr = text
        if sys.stdout is sys.__stdout__:
            outputs.append(
                _forgiving(1, sys.stdout, line_buffering=getattr(sys.stdout, "line_buffering", False))
            )
            stack.callback(setattr, sys, "stdout", sys.stdout)
            sys.stdout = outputs[0][0]
        yield failure
        failure()


def _forgiving(
    descriptor: int, stream: TextIO | None, *, line_buffering: bool
) -> tuple[io.TextIOWrapper, _Forgiving]:
    """Return a text stream to a descriptor, in the encoding of Python's own, and what is below it.

    Characters that the encoding lacks are written as plain ones, else as escapes.
    """
    if stream is not None:
        stream.flush()
    raw = _Forgiving(descriptor, "w", closefd=False)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors=PLAIN_SIGNS,
        line_buffering=line_buffering,
    )
    return text, raw


def _open_closed_descriptors() -> None:
    """Let a closed standard stream be one that refuses to be written to: else the next opened file takes its place."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
