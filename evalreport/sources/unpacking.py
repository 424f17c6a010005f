"""The unpacked size of a file, from its own declarations or by counting, checked before it fills the memory.

A few megabytes can declare, or unpack to, a thousand times as much. Such a file is refused by its numbers alone.
"""

from __future__ import annotations

import gzip
import io
import math
import struct
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import duckdb
import pyarrow as pa
from numpy.lib import format as npy

from evalreport.errors import InputError, UsageError
from evalreport.sources.database import database, usable_memory
from evalreport.sources.reading import literal_path

MOST_GROWTH = 200
"""How many times its size a file may unpack to; predictions with ids have never been seen to reach a tenth of it."""


ALWAYS = 256_000_000
"""Bytes that any file may unpack to."""


BYTES_A_CELL = 8
"""A number as it is kept; a label takes half of it."""


BYTES_A_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Room:
    """What a file may unpack to.

    Attributes
    ----------
    name
        What messages call the file.
    bytes_
        The most that it may unpack to.
    by_user
        Whether the user has set this limit.
    """

    name: str
    bytes_: int
    by_user: bool

    def check(self, unpacked: int, *, at_least: bool = False) -> None:
        """Refuse a file that unpacks to more.

        Raises
        ------
        InputError, UsageError
            It does: more than files of predictions do, or more than the user's limit.
        """
        if unpacked <= self.bytes_:
            return
        problem = f"it unpacks to {'more than' if at_least else 'about'} {_size(min(unpacked, 10**15))}"
        if self.by_user:
            raise UsageError(
                f"the memory limit of {_size(self.bytes_)} leaves no room to read {self.name}: {problem};"
                " give more with --memory-limit"
            )
        most, always = _size(self.bytes_), _size(ALWAYS)
        raise InputError.of(
            "unpacks_to_more", file=self.name, problem=problem, most=most, times=MOST_GROWTH, always=always
        )


def room_of(path: Path, name: str, memory_limit: int | None, *, streamed: bool = False) -> Room:
    """Return how much a file may unpack to.

    Parameters
    ----------
    memory_limit
        What the user gives; None: a multiple of the file's size, within what this machine has.
    streamed
        It is unpacked a little at a time and never in memory as a whole, so that the memory limit does not apply.
    """
    usual = max(ALWAYS, MOST_GROWTH * path.stat().st_size)
    if memory_limit is None:
        return Room(name, usual if streamed else min(usual, usable_memory()), by_user=False)
    return Room(name, max(usual, memory_limit) if streamed else memory_limit, by_user=True)


def _size(unpacked: int) -> str:
    return f"{unpacked / 1e9:,.1f} GB" if unpacked >= 1e9 else f"{unpacked / 1e6:,.0f} MB"


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a text file, plain or gzipped, for its bytes."""
    with path.open("rb") as plain:
        yield gzip.GzipFile(fileobj=plain) if is_gzipped(path) else plain


def is_gzipped(path: Path) -> bool:
    """Say whether a file's name says so."""
    return path.name.lower().endswith(".gz")


def blocks(path: Path, room: Room) -> Iterator[bytes]:
    """Yield a text file's bytes, some at a time, and no more than there is room for.

    Raises
    ------
    InputError
        It unpacks to more, or holds next to nothing but empty lines, each of which would be looked at in turn.
    """
    done = 0
    with opened(path) as stream:
        while block := stream.read(BYTES_A_BLOCK):
            done += len(block)
            if is_gzipped(path):
                room.check(done, at_least=True)
            if len(block) == BYTES_A_BLOCK and not block.strip(b"\r\n"):
                raise InputError.of("empty_lines", file=room.name, bytes_a_block=BYTES_A_BLOCK // 10**6)
            yield block


def declared_by_npz(stream: BinaryIO, name: str) -> int:
    """Return the bytes that the arrays of an npz take, by the archive's directory and the arrays' own headers.

    Raises
    ------
    InputError
        An array is in the archive twice.
    ValueError, OSError, zipfile.BadZipFile ...
        The archive is damaged; an array's header promises more than the archive holds.
    """
    total = 0
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        twice = [n for n, k in Counter(m.filename.removesuffix(".npy") for m in members).items() if k > 1]
        if twice:
            raise InputError.of("array_twice", file=name, column=twice[0])
        for member in members:
            with archive.open(member) as content:
                readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
                read_header = readers.get(npy.read_magic(content))
                if read_header is None:
                    raise ValueError(f"{member.filename} has named fields")
                shape, _, dtype = read_header(content)
                cells = math.prod(shape)
                if not dtype.hasobject and cells * dtype.itemsize > member.file_size:
                    raise ValueError(f"{member.filename} holds fewer values than it says")
                total += max(member.file_size, BYTES_A_CELL * cells)
    return total


class Chunk(NamedTuple):
    """A column within one row group of a Parquet file: its path, values, rows, unpacked bytes and physical type."""

    group: int
    column: str
    values: int
    rows: int
    size: int
    kind: str


def chunks_of_parquet(path: Path) -> list[Chunk]:
    """Return what the metadata of a Parquet file say of its parts; parts of a nested column have ", " in their path.

    DuckDB reads them: where they are damaged, pyarrow may end the process.

    Raises
    ------
    ValueError
        The metadata cannot be read.
    """
    query = """SELECT row_group_id, path_in_schema, num_values, row_group_num_rows, total_uncompressed_size, type
        FROM parquet_metadata(?) ORDER BY row_group_id, column_id"""
    try:
        with database() as connection:
            return [Chunk(*row) for row in connection.execute(query, [literal_path(path)]).fetchall()]
    except duckdb.Error as error:
        raise ValueError(str(error)) from None


def declared_by_parquet(chunks: Collection[Chunk], headers: Collection[str]) -> int:
    """Return the bytes that some columns of a Parquet file take, by its metadata.

    A run of equal values takes a few bytes in the file, and a cell each in memory.
    """
    total = 0
    for chunk in chunks:
        parts = chunk.column.split(", ")  # a header may hold these, too
        if any(", ".join(parts[:end]) in headers for end in range(1, len(parts) + 1)):
            total += max(chunk.size, BYTES_A_CELL * max(chunk.values, chunk.rows))
    return total


def declared_by_arrow(stream: pa.NativeFile) -> int:
    """Return the bytes that an Arrow file or stream takes, by the lengths that stand before its compressed buffers.

    Arrow reads the messages and checks that each is well-formed. Where they lie in a file, and what a message says of
    its buffers, it keeps to itself: that is read off the flatbuffers of the columnar format 1.5 (File.fbs and
    Message.fbs).

    Raises
    ------
    struct.error, pa.ArrowException, OSError
        It is damaged.
    """
    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    messages = _messages_of_file(stream) if is_file else pa.ipc.MessageReader.open_stream(stream)
    return sum(_declared_by_message(message) for message in messages)


def _messages_of_file(stream: pa.NativeFile) -> Iterator[pa.ipc.Message]:
    """Yield the batches of a file, where its footer says that they lie."""
    end = stream.seek(-10, io.SEEK_END)
    length = struct.unpack("<i", stream.read(4))[0]
    stream.seek(end - length)
    footer = memoryview(stream.read(length))
    root = _part(footer, 0)
    for slot in (2, 3):
        for place, *_ in _structs(footer, root, slot, "<qqq"):
            stream.seek(place)
            yield pa.ipc.read_message(stream)


def _declared_by_message(message: pa.ipc.Message) -> int:
    if message.type not in ("record batch", "dictionary"):
        return 0
    metadata, body = memoryview(message.metadata), memoryview(message.body)
    batch = _part(metadata, _part(metadata, 0), 2)
    if message.type == "dictionary":
        batch = _part(metadata, batch, 1)
    columns, buffers = (_structs(metadata, batch, slot, "<qq") for slot in (1, 2))
    compressed = _slot(metadata, batch, 3) is not None
    total = 0
    for offset, length in buffers:
        declared = struct.unpack_from("<q", body, offset)[0] if compressed and length > 0 else -1
        total += declared if declared >= 0 else length
    # A column of nulls or of bits takes a cell a row once it is read.
    rows = _slot(metadata, batch, 0)
    cells = 0 if rows is None else struct.unpack_from("<q", metadata, rows)[0]
    return max(total, BYTES_A_CELL * cells * len(columns))


def _part(data: memoryview, table: int, slot: int | None = None) -> int:
    """Return where a part of a flatbuffer's table begins; without a slot the table itself, at the head of the data.

    Raises
    ------
    struct.error
        There is no such part.
    """
    place = table if slot is None else _slot(data, table, slot)
    if place is None:
        raise struct.error("a message lacks a part")
    return int(place + struct.unpack_from("<I", data, place)[0])


def _slot(data: memoryview, table: int, slot: int) -> int | None:
    """Return where a field of a flatbuffer's table lies; None where it has its default."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * slot >= struct.unpack_from("<H", data, vtable)[0]:
        return None
    offset = struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0]
    return table + offset if offset else None


def _structs(data: memoryview, table: int, slot: int, layout: str) -> list[tuple[int, ...]]:
    """Return the structs of a vector; none where the table has no such vector."""
    if _slot(data, table, slot) is None:
        return []
    start = _part(data, table, slot)
    end = start + 4 + struct.calcsize(layout) * struct.unpack_from("<I", data, start)[0]
    return list(struct.iter_unpack(layout, data[start + 4 : end]))
