"""Which files predictions come from, what a table of them is for, and what it is known by."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evalreport.config import Options
from evalreport.data.columns import (
    Kind,
    Roles,
    about_truth,
    require_usable,
    understand,
)
from evalreport.data.concatenation import Table
from evalreport.data.counts import are_counts, roles_of_counts
from evalreport.data.predictions import Column, Predictions
from evalreport.data.reading import UNSAFE_SUFFIXES, Choose, Columns, dotted, file_format
from evalreport.errors import InputError, OutputError
from evalreport.files import recover
from evalreport.records import InputRecord, WarningRecord, warning

_SILENTLY_IGNORED = ("readme", "license", "licence", "notice", "changelog", "makefile", "evalreport.toml")
_ANNOTATIONS = (".md", ".toml", ".yaml", ".yml", ".ini", ".rst")
_RECORD = "resample.json"  # what `evalreport resample` writes beside its predictions


@dataclass(frozen=True, slots=True)
class File:
    """One file to read: where it is, what messages call it, and its path relative to MODELS."""

    path: Path
    name: str
    relative: str


@dataclass(frozen=True, slots=True)
class Found:
    """The files to read; ``truth`` is the file of true values, where there is one."""

    files: tuple[File, ...]
    truth: File | None
    warnings: tuple[WarningRecord, ...]


def find_files(source: str | Path | Sequence[str | Path], truth: str | None) -> Found:
    """Find the prediction files of a folder, or check the files that were named.

    Raises
    ------
    InputError
        Where nothing is there, a file cannot be read by us, its name is not UTF-8, a folder holds no prediction file,
        or a killed process left it half moved in and this user cannot end that.
    """
    paths = [Path(source)] if isinstance(source, (str, Path)) else [Path(path) for path in source]
    if not paths:
        raise _nothing("no file was named", None)
    for path in paths:
        _end_move(path)
        if not _holds(path.exists):
            raise _nothing("there is no such file or folder", str(path))
    apart = Path(truth) if truth is not None else None
    if apart is not None:
        _check_named(apart, "--truth")
    found: list[File] = []
    warnings: list[WarningRecord] = []
    root = _root(paths)
    for path in paths:
        if path.is_dir():
            entries, notes = _sift(path)
            found += [_file(entry, root) for entry in entries]
            warnings += notes
        else:
            _check_named(path, None)
            found.append(_file(path, root))
    return _set_truth_apart(found, apart, root, paths, tuple(warnings))


def _end_move(path: Path) -> None:
    """Bring to its end what a killed `evalreport resample` left half moved into a folder, or into that of a file."""
    folder = path if _holds(path.is_dir) else path.parent
    try:
        if _holds(folder.exists):
            recover(folder)
    except OutputError as error:
        raise InputError(str(error)) from None


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _set_truth_apart(
    found: list[File], apart: Path | None, root: Path, paths: list[Path], warnings: tuple[WarningRecord, ...]
) -> Found:
    if apart is not None:
        truth: File | None = _file(apart, root)
        rest = [file for file in found if not file.path.samefile(apart)]
    else:
        named = [f for f in found if f.path.name.lower().split(".")[0] == "truth"] if len(found) > 1 else []
        if len(named) > 1:
            raise InputError(
                f"both {named[0].relative} and {named[1].relative} could hold the true values",
                file=named[0].name,
                expected="one file of true values",
                remedy="remove one, or name the right one with --truth",
            )
        truth = named[0] if named else None
        rest = [file for file in found if file is not truth]
    if not rest:
        unread = [name for warning in warnings for name in warning.about]
        seen = (
            f"; found {', '.join(unread[:3])}{' ...' if len(unread) > 3 else ''}, not read" if unread else ""
        )
        raise _nothing(f"there is no prediction file{seen}", ", ".join(map(str, paths)))
    return Found(tuple(sorted(rest, key=lambda file: file.relative)), truth, warnings)


def _sift(folder: Path) -> tuple[list[Path], list[WarningRecord]]:
    """Keep the files of a folder (not of its subfolders) that can be read, and say which others there are."""
    kept: list[Path] = []
    warnings: list[WarningRecord] = []
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise _nothing(f"the folder cannot be read: {error.strerror}", str(folder)) from None
    for path in entries:
        name = path.name.lower()
        if name.startswith(".") or name.startswith(_SILENTLY_IGNORED) or path.suffix.lower() in _ANNOTATIONS:
            continue
        if name.endswith(_RECORD) or not is_file(path):
            if file_format(path) is not None:
                _refuse_special(path)
            continue
        if file_format(path) is not None:
            kept.append(path)
        else:
            unsafe = path.suffix.lower() in UNSAFE_SUFFIXES
            why = "unsafe" if unsafe else "unknown"
            warnings.append(
                warning("ignored_file", why, about=(path.name,), file=path.name, formats=", ".join(dotted()))
            )
    return kept, warnings


def _check_named(path: Path, option: str | None) -> None:
    where = f" (named by {option})" if option else ""
    if not is_file(path):
        _refuse_special(path)
        found = "a folder stands where a file is meant" if path.is_dir() else "there is no such file"
        raise _nothing(f"{found}{where}", str(path))
    if path.suffix.lower() in UNSAFE_SUFFIXES:
        raise InputError(
            f"a {path.suffix.lower()} file is not read{where}: it can run code when it is loaded",
            file=str(path),
            expected=f"one of {', '.join(dotted())}",
            remedy="write the predictions as CSV or Parquet",
        )
    if file_format(path) is None:
        raise InputError(
            f"the format {path.suffix or 'without a suffix'} is not read{where}",
            file=str(path),
            expected=f"one of {', '.join(dotted())}",
            remedy="write the predictions as CSV or Parquet",
        )


def is_file(path: Path) -> bool:
    """Say whether a path is one of a file; also of a path that the system refuses, such as one that is too long."""
    return _holds(path.is_file)


def _holds(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except (OSError, ValueError):
        return False


def _refuse_special(path: Path) -> None:
    """Refuse a pipe, a socket or a device: reading one would wait without end."""
    if _holds(path.exists) and not path.is_dir():
        raise InputError(
            "it is no regular file",
            file=str(path),
            expected="a file, not a pipe, a socket or a device",
            remedy="write the predictions into a file",
        )


def _root(paths: list[Path]) -> Path:
    if len(paths) == 1:
        return paths[0] if paths[0].is_dir() else paths[0].parent
    folders = [(path if path.is_dir() else path.parent).absolute() for path in paths]
    return Path(os.path.commonpath(folders))


def _file(path: Path, root: Path) -> File:
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise InputError(
            "the file's name is not UTF-8",
            file=str(path),
            expected="names of files and folders in UTF-8: a file's name is the name of its model",
            remedy="rename it",
        ) from None
    try:
        relative = path.absolute().relative_to(root.absolute()).as_posix()
    except ValueError:
        relative = path.name
    return File(path, str(path), relative)


def _nothing(problem: str, file: str | None) -> InputError:
    return InputError(
        problem,
        file=file,
        expected=f"a folder of prediction files, or files ({', '.join(dotted())})",
        remedy="check the path; each model is a file with the columns id, y_true, y_pred",
    )


IDS_AT_ONCE = 100_000


def content_digest(predictions: Predictions) -> str:
    """Return a SHA-256 over what was understood: the same however it lay in memory."""
    digest = hashlib.sha256()
    for part in _content(predictions):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def memory_record(predictions: Predictions) -> InputRecord:
    """Describe predictions that came from memory as one input."""
    return InputRecord(path="<memory>", sha256=content_digest(predictions), rows=predictions.n, model=None)


def table_of(
    read: Callable[[Choose], Columns], name: str, model: str, options: Options, *, predictions: bool
) -> Table:
    """Read the columns that the options have a use for; without ``predictions``: of true values."""
    roles: list[Roles] = []

    def choose(names: tuple[str, ...]) -> Mapping[str, Kind]:
        if predictions and are_counts(names):
            role = roles_of_counts(names, file=name, options=options)
        else:
            role = understand(names, file=name, options=options if predictions else about_truth(options))
            if predictions:
                require_usable(role, names, name)
        roles.append(role)
        return role.kinds()

    columns = read(choose)
    return Table(name, model, roles[-1].without(columns.left_out), columns)


def _content(predictions: Predictions) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    yield repr((predictions.task, predictions.classes, predictions.positive)).encode()
    ids = predictions.ids
    yield pc.binary_length(ids).to_numpy(zero_copy_only=False).tobytes()
    for start in range(0, len(ids), IDS_AT_ONCE):
        # Rebuilt, so that the piece has its text to itself; how long that is stands in the lengths.
        piece = pa.concat_arrays([ids.slice(start, IDS_AT_ONCE)])
        text, length = piece.buffers()[2], pc.sum(pc.binary_length(piece)).as_py()
        yield text.to_pybytes()[:length] if text is not None else b""
    yield predictions.example.tobytes()
    if predictions.multiplicity is not None:
        yield predictions.multiplicity.tobytes()
    if predictions.y_true is not None:
        yield predictions.y_true.tobytes()
    for model in predictions.models:
        yield model.name.encode()
        for values in (model.y_pred, model.score, model.proba, model.outcome, model.present):
            yield b"" if values is None else np.ascontiguousarray(values).tobytes()
        if model.attempts is not None:
            yield model.attempts.count.tobytes() + model.attempts.spread.tobytes()
        if model.gold is not None:
            yield model.gold.tobytes()
        yield from _columns(model.columns)
    yield from _columns({**predictions.keys, **predictions.metadata})


def _columns(columns: Mapping[str, Column]) -> Iterator[bytes]:
    for name in sorted(columns):
        yield repr((name, columns[name].categories)).encode()
        yield columns[name].values.tobytes()
