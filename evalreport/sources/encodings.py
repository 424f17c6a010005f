"""Text files in another encoding than UTF-8, as copies in UTF-8."""

from __future__ import annotations

import codecs
import gzip
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, cast

from evalreport.errors import InputError, UsageError
from evalreport.sources.files import Copies, File
from evalreport.sources.reading import file_format
from evalreport.sources.unpacking import BYTES_A_BLOCK, is_gzipped, opened

_TEXT = frozenset(("csv", "tsv", "csv.gz", "tsv.gz", "jsonl", "jsonl.gz"))


def in_utf_8(file: File, encoding: str | None, copies: Copies) -> File:
    """Return a file of text with a copy of its content in UTF-8; a file of another format, or in UTF-8, as it is.

    Raises
    ------
    UsageError
        The encoding is unknown.
    InputError
        The file is not in the encoding; with the line.
    """
    decoder = None if encoding is None else _decoder(encoding)
    if decoder is None or file_format(file.path) not in _TEXT:
        return file
    folder = copies() / f"encoded-{sum(1 for _ in copies().iterdir())}"
    folder.mkdir()
    path = folder / file.path.name
    line = 1
    with ExitStack() as stack:
        source = stack.enter_context(opened(file.path))
        sink: IO[bytes] = stack.enter_context(path.open("wb"))
        if is_gzipped(file.path):
            packed = gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=1)
            sink = stack.enter_context(cast("IO[bytes]", packed))
        try:
            while block := source.read(BYTES_A_BLOCK):
                text = decoder.decode(block)
                sink.write(text.encode("utf-8"))
                line += text.count("\n")
            sink.write(decoder.decode(b"", final=True).encode("utf-8"))
        except UnicodeError as error:
            start = error.start if isinstance(error, UnicodeDecodeError) else 0
            line += error.object[:start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0
            raise InputError.of("other_encoding", file=file.name, line=line, encoding=encoding) from None
    return replace(file, path=path)


def _decoder(encoding: str) -> codecs.IncrementalDecoder | None:
    """Return what decodes a text; None: UTF-8, which is read as it is."""
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, UnicodeError, ValueError):
        raise UsageError(
            f"--encoding {encoding}: no such encoding of text; name one such as latin-1, cp1252 or utf-16"
        ) from None
    return None if codec.name in ("utf-8", "utf-8-sig") else codecs.getincrementaldecoder(encoding)("strict")
