"""Files that are read with a limit, and written as a whole: a process killed at any moment leaves the old or the new.

There are two ways to replace a folder's files, see ``publish``.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn, TypeAlias

from evalreport import platform
from evalreport.errors import OutputError, UsageError

MOST_BYTES = 500_000_000
"""The largest file that is read whole: the results of a thousand classes have a fifth of this."""
MOST_NESTED = 100
MOST_DIGITS = 300
"""Digits of a whole number in JSON: a number of more cannot be computed with."""
_PART_OF_A_KEY = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART_OF_A_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_A_KEY}){{{MOST_NESTED}}}")
"""A key of more parts: the parser takes time that grows with the square of their number."""

Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | signal.Handlers | None
"""What is done at a signal."""


def content_of(path: str | Path) -> bytes:
    """Return a file's bytes.

    Raises
    ------
    OSError
        There is none that this user may read, it is not a regular file (a pipe would be waited for without end), or it
        is larger than ``MOST_BYTES``.
    """
    descriptor = platform.open_to_read(path)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES // 10**6} MB")
        return stream.read(MOST_BYTES)


def toml_of(path: Path) -> dict[str, object]:
    """Return the content of a TOML file.

    Raises
    ------
    UsageError
        It cannot be read, is no UTF-8 or no TOML; also where it is nested too deeply, or holds a number without end.
    """
    import tomllib

    deep = UsageError(f"{path}: not valid TOML: it is nested too deeply")
    try:
        text = content_of(path).decode("utf-8-sig")
        if _LONG_KEY.search(text):
            raise deep
        table = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name another file") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise deep from None
    except ValueError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    level: list[object] = [table]
    for _ in range(MOST_NESTED):
        level = [part for value in level for part in _parts(value)]
        if not level:
            return table
    raise deep


def _parts(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def with_each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of a JSON text; of one that names a key twice two readers could take two values.

    Raises
    ------
    ValueError
        It does.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object names a key twice")
    return members


def strict_json(data: bytes | str) -> object:
    """Parse JSON that somebody else may have written: each key once, finite numbers, none of more than 300 digits.

    Raises
    ------
    ValueError
        It is no such JSON, no UTF-8, or nested too deeply.

    Examples
    --------
    >>> strict_json('{"n": [1, 2.5]}')
    {'n': [1, 2.5]}
    """
    try:
        content = json.loads(
            data.decode("utf-8") if isinstance(data, bytes) else data,
            object_pairs_hook=with_each_key_once,
            parse_int=_whole_number,
            parse_float=_finite_number,
            parse_constant=_no_number,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _refuse_deep(content, MOST_NESTED)
    return content


def _refuse_deep(value: object, levels: int) -> None:
    if levels == 0:
        raise ValueError(f"nested more than {MOST_NESTED} deep")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if type(part) in (dict, list):
            _refuse_deep(part, levels - 1)


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits; at most {MOST_DIGITS}")
    return int(digits)


def _finite_number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is no finite number")
    return number


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


PATIENCE = 60.0
"""Seconds to wait for a living process that writes to the same place: that takes it a moment."""
LONGEST_NAME = 200
"""Bytes; with the affixes of its hidden name, a longer one would exceed the 255 of file systems."""


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes from the same path until the block has ended, or until this process has.

    The lock is a file beside the path, or inside it where its folder cannot be written to, and goes with the block. On
    a file system without locks nothing keeps two processes apart.

    Raises
    ------
    OutputError
        Another process keeps this one out for ``PATIENCE``.
    OSError
        This user may not write there.
    """
    beside = os.access(path.parent, os.W_OK | os.X_OK)
    lock = hidden(path, "lock") if beside else path / ".evalreport-lock"
    deadline = time.monotonic() + PATIENCE
    while True:
        descriptor = platform.open_to_lock(lock)
        held = False
        try:
            held = _locked(descriptor, lock)
            if held:
                yield
                return
        finally:
            with uninterrupted():
                # An interrupt may have come before it was known whether the lock was got.
                if held or _locked(descriptor, lock):
                    platform.remove_and_close(lock, descriptor)
                else:
                    os.close(descriptor)
        if time.monotonic() > deadline:
            raise OutputError(f"{path}: another evalreport is writing there; wait for it, and try again")
        time.sleep(0.01)


def hidden(path: Path, purpose: str) -> Path:
    """Give the place of a temporary file or folder beside a path."""
    name = path.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    return path.parent / f".{name}.evalreport-{purpose}"


def _locked(descriptor: int, path: Path) -> bool:
    if not platform.lock(descriptor):
        return False
    try:
        # Whoever held it has removed it, and another process may have made it anew.
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back until the block has ended; then they act as ever."""
    before: dict[signal.Signals, Handler] = {}
    held: list[int] = []
    try:
        # Handlers run in the main thread, and no other may set them.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if (
                    signal.getsignal(number) is not None
                ):  # None: set outside of Python, and could not be put back
                    before[number] = signal.signal(number, lambda number, _frame: held.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in held:
            signal.raise_signal(one)


MOVE = ".evalreport-move"
"""The folder inside a folder from which files are moved in; it is there for the time of the move alone."""
_PART = ".evalreport-part"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of output.

    Attributes
    ----------
    name
        Stands in the names of its temporary folders.
    owns
        Whether a path relative to the folder, with ``/``, is one of its files; a sub-folder's path ends with ``/``.
    """

    name: str
    owns: Callable[[str], bool]


def publish(
    target: Path,
    files: Mapping[str, bytes],
    *,
    kind: Kind,
    stays: Callable[[Path], bool] = lambda _folder: False,
    done: Callable[[], None] = lambda: None,
) -> None:
    """Replace the files of one kind in a folder, all or none.

    Parameters
    ----------
    target
        The folder; it is made where it does not exist.
    files
        Content by relative path, at most one sub-folder deep; all of them are of the kind.
    kind
        Other files of this kind in the folder are removed; all others stay untouched.
    stays
        Asked with the folder as it stands: whether what is of this kind, and not made anew, stays all the same.
    done
        Called once the files are in the folder, before a pending interrupt is raised.

    Raises
    ------
    UsageError
        A folder stands where a file must go, or a file where a folder must; nothing was changed.
    OSError
        They cannot be written; the folder is as it was.
    OutputError
        Another process does not end its own move; or this one broke off on the way, and the next run ends it.
    """
    assert all(kind.owns(name) for name in files), "a file that its kind does not own would never be removed"
    folder = Path(os.path.realpath(target))
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = hidden(folder, kind.name)
    with alone(folder):
        _clear(beside, folder, kind)
        _bring_to_its_end(folder)
        check_way(folder, files)
        if not _exchanged(folder, beside, files, kind=kind, stays=stays, done=done):
            _moved(folder, files, kind=kind, stays=stays, done=done)


def write_whole(path: Path, content: bytes) -> None:
    """Write one file, whole or not at all; its folder is made where it does not exist."""
    with writing_whole(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a stream whose content becomes the file when the block ends well; else the file stays as it was.

    Its folder is made where it does not exist. What a killed process left is overwritten by the next one.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path), _in_place_of(path) as stream:
        yield stream


@contextlib.contextmanager
def _in_place_of(path: Path) -> Iterator[BinaryIO]:
    """Give a stream to a file beside this one, which takes its place and its rights when the block ends well."""
    part = hidden(path, "part")
    try:
        with part.open("wb") as stream:
            yield stream
        if path.exists():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def change_whole(path: Path, change: Callable[[bytes | None], bytes | None]) -> None:
    """Replace one file by a function of its content, with no other process in between; its folder is made if need be.

    Parameters
    ----------
    change
        Returns the new content of the old one (None: there is no file), or None to leave the file as it is.

    Raises
    ------
    OSError
        It cannot be read or written; it is as it was.
    OutputError
        Another process keeps the file for too long.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path):
        content = change(content_of(path) if path.exists() else None)
        if content is None:
            return
        with _in_place_of(path) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())


def check_way(folder: Path, names: Collection[str]) -> None:
    """Check that these files can be written into the folder.

    Raises
    ------
    UsageError
        A folder stands where a file must go, or a file (or a link) where a folder must.
    """
    for name in sorted(names):
        path = folder / name
        above = path.parent
        if above != folder and os.path.lexists(above) and not _is_folder(above):
            raise UsageError(
                f"{above}: is not a folder, and a folder is needed there; move it away, or name another with -o"
            )
        if _is_folder(path):
            raise UsageError(
                f"{path}: is a folder, where a file must go; move it away, or name another with -o"
            )


def recover(target: Path) -> None:
    """Undo or finish what a killed process left half moved into a folder; wait for one that is still at it.

    Raises
    ------
    OutputError
        A living process does not end its move; or this user cannot bring a dead one's to its end.
    """
    folder = Path(os.path.realpath(target))
    if os.path.lexists(folder / MOVE):
        try:
            with alone(folder):
                _bring_to_its_end(folder)
        except OSError as error:
            raise OutputError(
                f"{target}: a run was killed while it moved its files in, and this user cannot finish that:"
                f" {error.strerror or error}"
            ) from error


# --- exchange -------------------------------------------------------------------------------------------------------


def _exchanged(
    folder: Path,
    new: Path,
    files: Mapping[str, bytes],
    *,
    kind: Kind,
    stays: Callable[[Path], bool],
    done: Callable[[], None],
) -> bool:
    """Fill a new folder beside and let the two change places; say whether that was possible."""
    there = folder.is_dir()
    try:
        if there and not _may_leave(folder, kind):
            return False
        new.mkdir()
        if there and not _alike(new, folder):
            return False
        _fill(new, files)
        if there and stays(folder):
            _link(new, folder, [name for name in _standing(folder, kind)[0] if name not in files])
        with uninterrupted():
            if not there:
                new.rename(folder)
            elif _may_leave(folder, kind):
                platform.exchange(new, folder)
            else:
                return False
            done()
    except OSError:
        return False
    finally:
        _clear(new, folder, kind)
    return True


def _may_leave(folder: Path, kind: Kind) -> bool:
    """Whether this process may replace a folder that holds only its own files and is not its working directory."""
    allowed = os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    return allowed and not Path.cwd().is_relative_to(folder) and not _standing(folder, kind)[1]


def _alike(new: Path, folder: Path) -> bool:
    """Give a new folder the mode of the old one; say whether owner, group and attributes agree as well."""
    made, there = new.stat(), folder.stat()
    if (made.st_uid, made.st_gid) != (there.st_uid, there.st_gid) or platform.attributes(
        new
    ) != platform.attributes(folder):
        return False
    new.chmod(stat.S_IMODE(there.st_mode))
    return True


def _clear(beside: Path, folder: Path, kind: Kind) -> None:
    """Remove a temporary folder from beside a folder; what is not of the kind goes to where it stood.

    It holds new files that never moved in; or, after the exchange, the old folder, into which another program may have
    written at the last moment.
    """
    with contextlib.suppress(OSError):
        if _is_folder(beside):
            _retire(beside, folder, "", kind)


def _retire(old: Path, folder: Path, above: str, kind: Kind) -> None:
    for entry in list(os.scandir(old)):
        path, name = old / entry.name, above + entry.name
        if _is_folder(path) and kind.owns(f"{name}/"):
            _retire(path, folder, f"{name}/", kind)
        elif not _is_folder(path) and kind.owns(name):
            path.unlink()
        elif not os.path.lexists(folder / name):
            (folder / above).mkdir(exist_ok=True)
            path.rename(folder / name)
    old.rmdir()


# --- move -----------------------------------------------------------------------------------------------------------


def _moved(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    kind: Kind,
    stays: Callable[[Path], bool],
    done: Callable[[], None],
) -> None:
    """Write the files inside the folder, put the old ones aside, move the new ones in."""
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    part, move = folder / _PART, folder / MOVE
    try:
        for place in (part, part / "old", part / "new"):
            place.mkdir()
        _fill(part / "new", files)
        with uninterrupted():
            part.rename(move)
            try:
                keep = stays(folder)
                standing, _ = _standing(folder, kind)
                _put_aside([name for name in standing if name in files or not keep], folder, move / "old")
                (move / "new").rename(move / "in")
            finally:
                _bring_to_its_end(folder)
            done()
    finally:
        _remove(part)
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()  # only when nothing came into it


def _put_aside(names: Collection[str], folder: Path, old: Path) -> None:
    for name in names:
        (old / name).parent.mkdir(exist_ok=True)
        (folder / name).rename(old / name)
    for above in {(folder / name).parent for name in names} - {folder}:
        with contextlib.suppress(OSError):
            above.rmdir()  # only when nothing is in it


def _bring_to_its_end(folder: Path) -> None:
    """Roll back an unfinished move, else complete it.

    Raises
    ------
    OutputError
        That is not possible now.
    """
    part, move = folder / _PART, folder / MOVE
    _remove(part)
    if not _is_folder(move):
        return
    source = move / "in" if _is_folder(move / "in") else move / "old"
    try:
        for name in (name for name in _names_in(source) if not name.endswith("/")):
            check_way(folder, [name])
            (folder / name).parent.mkdir(exist_ok=True)
            (source / name).replace(folder / name)
        move.rename(part)  # half-removed, it would be taken for one that is to be undone
    except (OSError, UsageError) as error:
        raise OutputError(
            f"{folder}: files that a run was moving in are not all in their places ({error}); the next run into this"
            " folder finishes that"
        ) from error
    _remove(part)


# --- files ----------------------------------------------------------------------------------------------------------


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into a folder, and onto the disk: a power cut must not leave a whole folder of empty ones."""
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    for name in files:
        platform.flush_to_disk(folder / name)


def _link(new: Path, folder: Path, names: Collection[str]) -> None:
    for name in names:
        (new / name).parent.mkdir(exist_ok=True)
        platform.link(folder / name, new / name)


def _standing(folder: Path, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the names in a folder: the files of this kind, and all others."""
    names = _names_in(folder)
    ours = [name for name in names if kind.owns(name) and not name.endswith("/")]
    return ours, [name for name in names if not kind.owns(name)]


def _names_in(folder: Path, above: str = "") -> list[str]:
    """Return what is in a folder and in its sub-folders, whose names end with "/"; no link is followed."""
    names = []
    for entry in os.scandir(folder) if _is_folder(folder) else ():
        is_folder = entry.is_dir(follow_symlinks=False)
        names.append(f"{above}{entry.name}{'/' if is_folder else ''}")
        if is_folder and not above:
            names += _names_in(folder / entry.name, f"{entry.name}/")
    return sorted(names)


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder itself, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def _remove(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)


__all__ = ["MOVE", "Kind", "change_whole", "check_way", "publish", "recover", "write_whole", "writing_whole"]
