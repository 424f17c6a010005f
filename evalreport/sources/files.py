"""Finding the prediction files of folders, patterns, addresses and lists of files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TypeAlias, TypeGuard
from urllib.parse import unquote

from evalreport.errors import InputError, OutputError, is_address
from evalreport.files import recover
from evalreport.options import AnyPath
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.folders import (
    DEEPEST,
    Belongs,
    Entry,
    belonging,
    fixed_part,
    hidden,
    is_part,
    is_pattern,
    is_truth,
    matching,
    not_read,
    of_named_file,
    passed_over,
    walk,
)
from evalreport.sources.other_tools import import_of, refuse_logs
from evalreport.sources.reading import UNSAFE_SUFFIXES, file_format, how_written, readable
from evalreport.texts import say

Copies: TypeAlias = Callable[[], Path]
"""Gives the folder for copies of files at addresses."""


@dataclass(frozen=True, slots=True)
class File:
    """One file to read.

    Attributes
    ----------
    path, name, relative
        Where its bytes are (of an address: a copy), what messages call it, and its path relative to MODELS
        (of an address: the address).
    belongs
        Its model, unless it holds a column ``model``, and the columns that its folders give.
    """

    path: Path
    name: str
    relative: str
    belongs: Belongs


@dataclass(frozen=True, slots=True)
class Found:
    """The files to read; ``truth`` is the file of true values, where there is one."""

    files: tuple[File, ...]
    truth: File | None
    warnings: tuple[WarningRecord, ...]


def find_files(source: AnyPath | Sequence[AnyPath], truth: str | None, copies: Copies) -> Found:
    """Find the prediction files of folders, patterns and addresses, or check the files that were named.

    Parameters
    ----------
    copies
        Where copies of files at addresses are kept: they must be there as long as the files are read.

    Raises
    ------
    InputError
        Where nothing is there, a file cannot be read by us, its name is not UTF-8, a folder holds no prediction file,
        a layout can be understood in two ways, an address cannot be read, or a killed process left a folder half
        moved in and this user cannot end that.
    """
    paths = [source] if isinstance(source, (str, PathLike)) else list(source)
    if not paths:
        raise _nothing("no file was named", None)
    apart = None
    if truth is not None:
        apart = _named(truth, "--truth", copies)
    root = _root([path for path in paths if not is_address(path)])
    found: list[File] = []
    warnings: list[WarningRecord] = []
    for path in paths:
        if is_address(path):
            files, notes = _at_address(str(path), apart, copies)
        elif not _holds(Path(path).exists) and is_pattern(str(path)):
            files, notes = _by_pattern(PurePath(path).as_posix(), root, apart)
        else:
            _end_move(Path(path))
            if not _holds(Path(path).exists):
                raise _nothing("there is no such file or folder", str(path))
            if Path(path).is_dir():
                files, notes = _in_folder(Path(path), root, apart)
            else:
                _check_named(Path(path), None)
                files, notes = [_file(Path(path), root, of_named_file(Path(path)))], []
        found += files
        warnings += notes
    _refuse_other_case(found)
    return set_truth_apart(found, apart, [str(path) for path in paths], tuple(warnings))


def _refuse_other_case(found: Sequence[File]) -> None:
    """Refuse a file that was named twice, in upper and lower case, where the file system does not tell them apart.

    It would be two models with the same answers.
    """
    first: dict[str, File] = {}
    for file in found:
        other = first.setdefault(str(file.path).casefold(), file)
        # As texts: paths of Windows are equal whatever their case.
        if str(other.path) == str(file.path) or not _holds(partial(other.path.samefile, file.path)):
            continue
        listed = {path.name for path in file.path.parent.iterdir()}
        if str(other.path.parent) != str(file.path.parent) or not {other.path.name, file.path.name} <= listed:
            raise InputError.of("other_case", file=file.name, first=other.name)


@contextmanager
def copies_of_addresses() -> Iterator[Copies]:
    """Give a folder for copies of files at addresses, made on first use and removed at the end."""
    with ExitStack() as stack:
        made: list[Path] = []

        def folder() -> Path:
            if not made:
                made.append(Path(stack.enter_context(TemporaryDirectory(prefix="evalreport-"))))
            return made[0]

        yield folder


def _at_address(text: str, apart: File | None, copies: Copies) -> tuple[list[File], list[WarningRecord]]:
    from evalreport.sources.addresses import copied, listed, read_address

    address = read_address(text)
    listing = listed(address)
    entries, warnings = _sifted([e for e in listing.entries if apart is None or e.name != apart.name])
    if not listing.top:
        for entry in listing.entries:
            check_format(entry.file, entry.name)
        belongs = [of_named_file(_placed_at(entry)) for entry in entries]
    else:
        belongs = belonging(entries, listing.top, address.shown.rstrip("/"))
    if not entries:
        raise _no_file(warnings, address.shown)
    kept = copied(listing, entries, copies())
    three = zip(entries, kept, belongs, strict=True)
    return [File(path, entry.name, entry.name, its) for entry, path, its in three], warnings


def _placed_at(entry: Entry) -> PurePosixPath:
    """Return the path of a file at an address, as it is called there."""
    scheme, _, path = entry.name.partition("://")
    return PurePosixPath(unquote(path) if scheme.startswith("http") else path)


def _by_pattern(pattern: str, root: Path, apart: File | None) -> tuple[list[File], list[WarningRecord]]:
    base = Path(fixed_part(pattern) or ".")
    if not _holds(base.is_dir):
        raise _nothing("there is no such folder", str(base))
    _end_move(base)
    depth = DEEPEST if "**" in pattern else len(PurePath(pattern).parts) - len(base.parts) + 1
    entries: list[Entry] = []
    warnings: list[WarningRecord] = []
    for deepest in (depth, DEEPEST):
        everything = [entry for entry, link in walk(base, deepest=deepest) if not link]
        entries, warnings = _sifted(matching(everything, pattern))
        if entries:
            return _placed(entries, warnings, base, root, apart)
    raise _nothing("no prediction file matches this pattern", pattern)


def _in_folder(folder: Path, root: Path, apart: File | None) -> tuple[list[File], list[WarningRecord]]:
    entries: list[Entry] = []
    links: list[Entry] = []
    for entry, link in walk(folder):
        (links if link and not hidden(entry.file) else entries).append(entry)
    if (folder / "dataset_dict.json").is_file():  # of Hugging Face
        parts = sorted({entry.folders[0] for entry in entries if entry.folders}) or ["SPLIT"]
        raise InputError.of("splits", file=str(folder), splits=parts, remedy=str(folder / parts[0]))
    kept, warnings = _sifted(entries)
    if all(import_of(Path(entry.name)) for entry in kept):
        refuse_logs((Path(entry.name) for entry in entries), str(folder))
    warnings += [warning("ignored_file", "link", about=(link.file,), file=link.file) for link in links]
    return _placed(kept, warnings, folder, root, apart)


def _placed(
    entries: list[Entry], warnings: list[WarningRecord], folder: Path, root: Path, apart: File | None
) -> tuple[list[File], list[WarningRecord]]:
    """Make files of what a local folder holds."""
    if apart is not None:
        entries = [entry for entry in entries if not apart.path.samefile(entry.name)]
    belongs = belonging(entries, folder.absolute().resolve().name, str(folder))
    return [_file(Path(entry.name), root, its) for entry, its in zip(entries, belongs, strict=True)], warnings


def _sifted(entries: Sequence[Entry]) -> tuple[list[Entry], list[WarningRecord]]:
    """Keep the files that can be read, with a warning about each other file beside them."""
    kept: list[Entry] = []
    others: list[Entry] = []
    for entry in entries:
        if passed_over(entry.file):
            continue
        if file_format(PurePath(entry.file)) is None:
            others.append(entry)
        elif is_address(entry.name) or is_file(Path(entry.name)):
            kept.append(entry)
        else:
            _refuse_special(Path(entry.name))
    beside = {(), *(entry.folders for entry in kept)}
    return kept, [
        not_read(entry.file)
        for entry in others
        if entry.folders in beside and (is_address(entry.name) or is_file(Path(entry.name)))
    ]


def _named(text: str, option: str | None, copies: Copies) -> File:
    """Return one file that was named itself."""
    if is_address(text):
        from evalreport.sources.addresses import copied, listed, read_address

        listing = listed(read_address(text))
        if listing.top:
            raise _nothing(
                f"a folder stands where a file is meant (named by {option})", read_address(text).shown
            )
        entry = listing.entries[0]
        check_format(entry.file, entry.name, option)
        path = copied(listing, listing.entries, copies())[0]
        return File(path, entry.name, entry.name, of_named_file(PurePath(entry.file)))
    _check_named(Path(text), option)
    return _file(Path(text), Path(text).parent, of_named_file(Path(text)))


def _end_move(path: Path) -> None:
    """Bring to its end what a killed `evalreport resample` left half moved into a folder, or into that of a file."""
    folder = path if _holds(path.is_dir) else path.parent
    try:
        if _holds(folder.exists):
            recover(folder)
    except OutputError as error:
        raise InputError(str(error)) from None


Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]

AGGREGATE, COUNTS = "aggregate.json", "counts.parquet"
"""The manifest in a folder of counts, which `evalreport aggregate` writes, and the counts."""

RESULTS = "results.json"
"""What a run writes beside its report."""


def is_path(source: object) -> TypeGuard[Paths | Found]:
    """Say whether predictions are given as files: paths, addresses, or files that were found."""
    if isinstance(source, (list, tuple)):
        return all(isinstance(item, (str, PathLike)) for item in source)
    return isinstance(source, (str, PathLike, Found))


def aggregate_in(source: object) -> Path | None:
    """Return the folder of an aggregate where the source is one, or its counts, else None; a killed move is ended.

    Raises
    ------
    InputError
        The move cannot be ended by this user.
    """
    if isinstance(source, (list, tuple)) and len(source) == 1:
        source = source[0]
    if not isinstance(source, (str, Path)) or is_address(source):
        return None
    _end_move(Path(source))
    folder = Path(source).parent if Path(source).name == COUNTS else Path(source)
    return folder if is_file(folder / AGGREGATE) else None


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def set_truth_apart(
    found: list[File], apart: File | None, paths: list[str], warnings: tuple[WarningRecord, ...]
) -> Found:
    """Tell the file of true values from the predictions: the one that was named, else the one called truth.

    Raises
    ------
    InputError
        Two are called so, or nothing is left.
    """

    def called_truth(files: Sequence[File]) -> list[File]:
        return [file for file in files if not file.belongs.part and is_truth(PurePath(file.name).name)]

    truth = apart
    if apart is not None:
        rest = [file for file in found if not file.path.samefile(apart.path)]
        others = called_truth(rest)
        if len(others) < len(rest):
            rest = [file for file in rest if file not in others]
            names = [PurePath(file.name).name for file in others]
            warnings += tuple(warning("ignored_file", "truth", about=(name,), file=name) for name in names)
    else:
        named = called_truth(found) if len(found) > 1 else []
        if len(named) > 1:
            first, second = (file.relative for file in named[:2])
            raise InputError.of("two_truths", file=named[0].name, first=first, second=second)
        truth = named[0] if named else None
        rest = [file for file in found if file is not truth]
    if not rest:
        raise _no_file(warnings, ", ".join(paths))
    return Found(tuple(sorted(rest, key=lambda file: file.relative)), truth, warnings)


def _no_file(warnings: Sequence[WarningRecord], file: str) -> InputError:
    unread = [name for warning in warnings for name in warning.about]
    if RESULTS in unread:
        return InputError.of("results_of_a_run", file=file, found=RESULTS, where="")
    if not unread:
        return _nothing(say("nothing_there.prediction"), file)
    names = f"{', '.join(unread[:3])}{' ...' if len(unread) > 3 else ''}"
    remedy = how_written(PurePath(unread[0]).suffix)
    return InputError.of("nothing_read", file=file, found=names, formats=readable(), remedy=remedy)


def _check_named(path: Path, option: str | None) -> None:
    where = f" (named by {option})" if option else ""
    if not is_file(path):
        _refuse_special(path)
        there = say("nothing_there.folder" if path.is_dir() else "nothing_there.file")
        raise _nothing(f"{there}{where}", str(path))
    check_format(path.name, str(path), option)


def check_format(name: str, shown: str, option: str | None = None) -> None:
    """Refuse a file by its name: one that can run code, or is of no format that is read.

    Raises
    ------
    InputError
        What the file is, and the formats that are read.
    """
    where = f" (named by {option})" if option else ""
    suffix = PurePath(name).suffix
    if suffix.lower() in UNSAFE_SUFFIXES:
        said = {"where": where, "formats": readable(), "remedy": how_written(suffix)}
        raise InputError.of(
            "unsafe_format", file=shown, line=None, column=None, suffix=suffix.lower(), **said
        )
    if option is None and not is_address(shown):
        refuse_logs([Path(shown)], shown)
    if PurePath(name).name == RESULTS:
        raise InputError.of("results_of_a_run", file=shown, found=RESULTS, where=where)
    if file_format(PurePath(name)) is None:
        said = {"where": where, "formats": readable(), "remedy": how_written(suffix)}
        value = suffix or "without a suffix"
        raise InputError.of("unknown_format", file=shown, line=None, column=None, value=value, **said)


def is_file(path: Path) -> bool:
    """Say whether a path is a file; False for a path that the system refuses, for example because it is too long."""
    return _holds(path.is_file)


def _holds(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except (OSError, ValueError):
        return False


def _refuse_special(path: Path) -> None:
    """Refuse a pipe, a socket or a device: reading one would wait without end."""
    if _holds(path.exists) and not path.is_dir():
        raise InputError.of("special_file", file=str(path))


def _root(paths: Sequence[AnyPath]) -> Path:
    """Return the folder that recorded paths are relative to; those that name columns stay below it."""
    folders = []
    for path in paths:
        base = Path(path)
        if not _holds(base.exists) and is_pattern(str(path)):
            base = Path(fixed_part(PurePath(path).as_posix()) or ".")
        if not _holds(base.is_dir):
            base = base.parent.parent if is_part(base.name) else base.parent
            while "=" in base.name:
                base = base.parent
        folders.append(base)
    if len(folders) == 1:
        return folders[0]
    try:
        return Path(os.path.commonpath([folder.absolute() for folder in folders]))
    except ValueError:  # none, or on several drives
        return Path()


def _file(path: Path, root: Path, belongs: Belongs) -> File:
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise InputError.of("name_not_utf_eight", file=str(path)) from None
    try:
        relative = path.absolute().relative_to(root.absolute()).as_posix()
    except ValueError:
        relative = path.name
    return File(path, str(path), relative, belongs)


def _nothing(problem: str, file: str | None) -> InputError:
    return InputError.of("nothing_found", file=file, problem=problem, formats=readable())
