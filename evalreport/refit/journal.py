"""The journal of finished fits: each is kept at once, so that an interrupted plan goes on where it stopped."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from evalreport import platform
from evalreport.errors import OutputError, UsageError

_MAGIC = b"evalreport fits 3\n"
_HEAD = struct.Struct("<Q32s32s")
"""Of a record: the length of its body, the task's key, the body's digest."""


@dataclass(slots=True)
class Journal:
    """The open file of finished fits, the fits read from it, and whether the file has served and is to be removed."""

    path: Path
    stream: BinaryIO
    fits: dict[bytes, pa.Table] = field(default_factory=dict)
    served: bool = False

    def add(self, key: bytes, table: pa.Table) -> None:
        """Write one finished fit, so that it survives the end of this process.

        Raises
        ------
        OutputError
            The disk is full.
        """
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        body = sink.getvalue().to_pybytes()
        try:
            self.stream.write(_HEAD.pack(len(body), key, hashlib.sha256(body).digest()) + body)
            self.stream.flush()
        except OSError as error:
            raise OutputError(
                f"{self.path}: a finished fit cannot be written: {error.strerror}; make room"
            ) from error


def journal_path(output: Path) -> Path:
    """Return the path of the hidden file of finished fits beside an output."""
    return output.parent / f".{output.name}.fits"


@contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """Open the journal of an output for this process alone.

    Raises
    ------
    UsageError
        Another process works on the same output, or the folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = platform.open_to_lock(path, 0o666, follow=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; name another place with -o") from None
    served = False
    try:
        if not platform.lock(descriptor):
            output = path.name.removeprefix(".").removesuffix(".fits")
            raise UsageError(
                f"{path.parent / output}: another evalreport resample is at work on this output; wait for it, or name"
                " another with -o"
            )
        with open(descriptor, "r+b", closefd=False) as stream:
            journal = Journal(path, stream)
            end = _read(stream, journal.fits)
            stream.seek(end)
            stream.truncate()
            if end == 0:
                stream.write(_MAGIC)
                stream.flush()
            yield journal
            served = journal.served
    finally:
        if served:
            platform.remove_and_close(path, descriptor)
        else:
            os.close(descriptor)


def _read(stream: BinaryIO, fits: dict[bytes, pa.Table]) -> int:
    """Read the complete records; return where the last one ends (0: no journal of this format)."""
    size = os.fstat(stream.fileno()).st_size
    if stream.read(len(_MAGIC)) != _MAGIC:
        return 0
    end = len(_MAGIC)
    while True:
        head = stream.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return end
        length, key, checksum = _HEAD.unpack(head)
        body = stream.read(length) if length <= size - end else b""
        if len(body) < length or hashlib.sha256(body).digest() != checksum:
            return end
        fits[key] = pa.ipc.open_stream(body).read_all()
        end += _HEAD.size + length
