"""Finished fits on disk: one file beside the output, so that an interrupted plan goes on where it stopped.

Each record is written at once and carries its length and checksum: what a killed process left half-written is cut off.
A record is found by the digest of everything that decides it, so a changed plan reuses what it still shares.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from evalreport.errors import OutputError, UsageError
from evalreport.learning.fitting import Fitted, Said

_MAGIC = b"evalreport fits 2\n"
_HEAD = struct.Struct("<Q32s32s")
_ARRAYS = ("rows", "y_pred", "proba", "score")


@dataclass(slots=True)
class Journal:
    """The open file of finished fits, and those that it held."""

    stream: BinaryIO
    found: dict[bytes, Fitted] = field(default_factory=dict)

    def add(self, key: bytes, fitted: Fitted) -> None:
        """Write one finished fit; it survives the end of this process from here on.

        Raises
        ------
        OutputError
            Where there is no room for it.
        """
        body = _packed(fitted)
        try:
            self.stream.write(_HEAD.pack(len(body), key, hashlib.sha256(body).digest()) + body)
            self.stream.flush()
        except OSError as error:
            raise OutputError(
                f"{self.stream.name}: a finished fit cannot be written: {error.strerror}; make room"
            ) from error


def journal_path(output: Path) -> Path:
    """Return the hidden file beside an output that keeps its finished fits."""
    return output.parent / f".{output.name}.fits"


@contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """Open the journal of an output for this process alone.

    Raises
    ------
    UsageError
        Where another process is at work on the same output, or the place cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        stream = path.open("r+b")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; name another place with -o") from None
    with stream:
        _lock(stream, path)
        journal = Journal(stream)
        end = _read(stream, journal.found)
        stream.seek(end)
        stream.truncate()
        if end == 0:
            stream.write(_MAGIC)
            stream.flush()
        yield journal


def _lock(stream: BinaryIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system: nothing keeps two processes apart
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        output = path.name.removeprefix(".").removesuffix(".fits")
        raise UsageError(
            f"{path.parent / output}: another evalreport resample is at work on this output; wait for it, or name"
            " another with -o"
        ) from None


def _read(stream: BinaryIO, found: dict[bytes, Fitted]) -> int:
    """Read the whole records; return where the last one ends (0: no journal of this form)."""
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
        found[key] = _unpacked(body)
        end += _HEAD.size + length


def _packed(fitted: Fitted) -> bytes:
    """Write a fit as a line of JSON and the arrays' bytes; nothing that could run code when it is read."""
    arrays: list[bytes] = []
    blocks = []
    for block in fitted.blocks:
        entry: dict[str, Any] = {"part": block.part, "inner_fold": block.inner_fold}
        for name in _ARRAYS:
            values = getattr(block, name)
            if values is not None:
                kept = np.ascontiguousarray(values)
                entry[name] = [kept.dtype.str, list(kept.shape)]
                arrays.append(kept.tobytes())
        blocks.append(entry)
    said = {
        "blocks": blocks,
        "params": fitted.params,
        "n_parameters": fitted.n_parameters,
        "vc_dimension": fitted.vc_dimension,
        "messages": fitted.messages,
    }
    return b"".join([json.dumps(said).encode(), b"\n", *arrays])


def _unpacked(body: bytes) -> Fitted:
    line, _, rest = body.partition(b"\n")
    said = json.loads(line)
    place = 0
    blocks = []
    for entry in said["blocks"]:
        arrays: dict[str, Any] = dict.fromkeys(_ARRAYS)
        for name in _ARRAYS:
            if name in entry:
                kind, shape = np.dtype(entry[name][0]), tuple(entry[name][1])
                count = int(np.prod(shape))
                arrays[name] = np.frombuffer(rest, kind, count, place).reshape(shape)
                place += count * kind.itemsize
        blocks.append(Said(part=entry["part"], inner_fold=entry["inner_fold"], **arrays))
    return Fitted(
        blocks=tuple(blocks),
        params=said["params"],
        n_parameters=said["n_parameters"],
        vc_dimension=said["vc_dimension"],
        messages=tuple(said["messages"]),
    )
