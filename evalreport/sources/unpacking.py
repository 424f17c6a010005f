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


_DICTIONARY, _RECORDS = 2, 3
"""What an Arrow message holds: the batches of them that hold data."""


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


def declared_by_arrow(stream: BinaryIO) -> int:
    """Return the bytes that an Arrow file or stream takes, by the lengths that stand before its compressed buffers.

    The layout is that of the Arrow columnar format 1.5 (Message.fbs, File.fbs): messages of flatbuffers, which in a
    file are found by the blocks of its footer.

    Raises
    ------
    struct.error, ValueError, OSError
        It is damaged.
    """
    start = stream.read(8)
    total = 0
    for place in _blocks_of_file(stream) if start.startswith(b"ARROW1") else _messages_of_stream(stream):
        total += _declared_by_message(stream, place)
    return total


def _blocks_of_file(stream: BinaryIO) -> Iterator[int]:
    """Yield where the footer of a file says that its batches lie."""
    end = stream.seek(-10, io.SEEK_END)
    length = struct.unpack("<i", stream.read(4))[0]
    stream.seek(end - length)
    footer = stream.read(length)
    root = _follow(footer, 0)
    for slot in (2, 3):
        place = _slot(footer, root, slot)
        if place is not None:
            yield from (struct.unpack_from("<q", footer, at)[0] for at in _vector(footer, place, 24))


def _messages_of_stream(stream: BinaryIO) -> Iterator[int]:
    """Yield where the messages of a stream lie, one after the other."""
    place = 0
    while message := _message(stream, place):
        yield place
        metadata, body = message
        at = _slot(metadata, _follow(metadata, 0), 3)
        length = 0 if at is None else struct.unpack_from("<q", metadata, at)[0]
        if length < 0:
            raise ValueError("a message has a negative length")
        place = body + length


def _message(stream: BinaryIO, place: int) -> tuple[bytes, int] | None:
    """Return a message's metadata, and where its body begins; None at the end."""
    stream.seek(place)
    marker = stream.read(4)
    marker = stream.read(4) if marker == b"\xff\xff\xff\xff" else marker
    length = struct.unpack("<i", marker)[0] if marker else 0
    if length <= 0:
        return None
    metadata = stream.read(length)
    return metadata, stream.tell()


def _declared_by_message(stream: BinaryIO, place: int) -> int:
    message = _message(stream, place)
    if message is None:
        return 0
    metadata, body = message
    root = _follow(metadata, 0)
    at, header = _slot(metadata, root, 1), _slot(metadata, root, 2)
    kind = None if at is None else struct.unpack_from("<B", metadata, at)[0]
    if header is None or kind not in (_DICTIONARY, _RECORDS):
        return 0
    batch = _follow(metadata, header)
    if kind == _DICTIONARY:
        batch = _follow(metadata, _required(_slot(metadata, batch, 1)))
    rows = _slot(metadata, batch, 0)
    columns, buffers = (
        list(_vector(metadata, at, 16)) if (at := _slot(metadata, batch, slot)) is not None else []
        for slot in (1, 2)
    )
    # A column of nulls or of bits takes a cell a row once it is read.
    cells = 0 if rows is None else struct.unpack_from("<q", metadata, rows)[0]
    total = 0
    compressed = _slot(metadata, batch, 3) is not None
    for offset, length in (struct.unpack_from("<qq", metadata, at) for at in buffers):
        stream.seek(body + offset)
        declared = struct.unpack("<q", stream.read(8))[0] if compressed and length > 0 else -1
        total += declared if declared >= 0 else length
    return max(int(total), BYTES_A_CELL * cells * len(columns))


def _required(place: int | None) -> int:
    if place is None:
        raise ValueError("a message lacks a part")
    return place


def _follow(data: bytes, place: int) -> int:
    """Return where an offset of a flatbuffer leads to."""
    return int(place + struct.unpack_from("<I", data, place)[0])


def _slot(data: bytes, table: int, slot: int) -> int | None:
    """Return where a field of a flatbuffer's table lies; None where it has its default."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * slot >= struct.unpack_from("<H", data, vtable)[0]:
        return None
    offset = struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0]
    return table + offset if offset else None


def _vector(data: bytes, place: int, size: int) -> range:
    """Return where the structs of a vector lie."""
    start = _follow(data, place)
    count = struct.unpack_from("<I", data, start)[0]
    if count > len(data) // size:
        raise ValueError("a list is longer than the message that holds it")
    return range(start + 4, start + 4 + count * size, size)
