"""Standard output and standard error that never stop the work, and signs that every terminal shows.

A refused write is noted, and reported at the end.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
import codecs
import unicodedata


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
            by_line = getattr(sys.stdout, "line_buffering", False)
            outputs.append(_forgiving(1, sys.stdout, line_buffering=by_line))
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
    buffer, encoding = io.BufferedWriter(raw), getattr(stream, "encoding", None) or "utf-8"
    return io.TextIOWrapper(buffer, encoding, PLAIN_SIGNS, line_buffering=line_buffering), raw


def _open_closed_descriptors() -> None:
    """Let a closed standard stream be one that refuses to be written to: else the next opened file takes its place."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)


PLAIN_SIGNS = "evalreport.plain_signs"
"""The name of the error handler of streams."""


_PLAIN = {
    **dict.fromkeys("\u2212\u2013\u2014\u2010\u2011\u2500\u2501", "-"),
    **dict.fromkeys("\u201c\u201d\u201e", '"'),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u00a0\u202f\u2009\u200a", " "),
    **dict.fromkeys("\u2022\u00b7", "*"),
    "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2248": "~", "\u00b1": "+-", "\u00d7": "x", "\u2026": "...",
    "\u2192": "->", "\u2190": "<-", "\u0394": "Delta", "\u03b1": "alpha", "\u03b2": "beta", "\u03b4": "delta",
    "\u03ba": "kappa", "\u03bb": "lambda", "\u03c1": "rho", "\u03c7": "chi", "\u221e": "inf", "\u221a": "sqrt",
    "\u2713": "ok", "\u2717": "x", "\u00a7": "section ",
}  # fmt: skip


_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
"""Digits of a power, and its minus."""


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Return plain characters for those that cannot be encoded: by the table, without accents, else escapes."""
    assert isinstance(error, UnicodeEncodeError)
    signs = []
    for place in range(error.start, error.end):
        sign, before = error.object[place], error.object[place - 1 : place]
        if sign in _RAISED:
            signs.append("^" * (before not in _RAISED or not before) + "0123456789-"[_RAISED.index(sign)])
        else:
            signs.append(_plain(sign, error.encoding))
    return "".join(signs), error.end


def _plain(sign: str, encoding: str) -> str:
    for text in (_PLAIN.get(sign, ""), unicodedata.normalize("NFKC", sign), _without_accents(sign)):
        if text and text != sign and _fits(text, encoding):
            return text
    return sign.encode("ascii", "backslashreplace").decode("ascii")


def _without_accents(sign: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(part))


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


codecs.register_error(PLAIN_SIGNS, _plain_signs)
