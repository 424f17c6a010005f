"""Which files predictions come from, also those that a result names; what a table of them is for; their digest."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TypeAlias
from urllib.parse import quote, unquote

import numpy as np

from evalreport.errors import InputError, OutputError, is_address
from evalreport.files import recover
from evalreport.loading.columns import (
    Kind,
    Roles,
    about_truth,
    keep,
    require_usable,
    understand,
)
from evalreport.loading.counts import are_counts, roles_of_counts
from evalreport.loading.rows import Table
from evalreport.options import AnyPath, Options
from evalreport.predictions.table import Column, Predictions
from evalreport.schema.inputs import InputRecord, JsonObject
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.reading import (
    DEEPEST,
    UNSAFE_SUFFIXES,
    Belongs,
    Choose,
    Columns,
    Entry,
    belonging,
    file_format,
    fixed_part,
    hidden,
    hive_columns,
    is_part,
    is_pattern,
    is_truth,
    matching,
    model_name,
    not_read,
    of_named_file,
    passed_over,
    readable,
    walk,
)

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
            files, notes = _by_pattern(str(path), root, apart)
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
    return set_truth_apart(found, apart, [str(path) for path in paths], tuple(warnings))


@contextmanager
def copies_of_addresses() -> Iterator[Copies]:
    """Give a folder for copies of files at addresses, which is made when it is asked for and removed at the end."""
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
    found = listed(address)
    entries, warnings = _sifted([e for e in found.entries if apart is None or e.name != apart.name])
    if not found.top:
        for entry in found.entries:
            check_format(entry.file, entry.name)
        belongs = [of_named_file(_placed_at(entry)) for entry in entries]
    else:
        belongs = belonging(entries, found.top, address.shown.rstrip("/"))
    if not entries:
        raise _nothing(_no_file(warnings), address.shown)
    kept = copied(found, entries, copies())
    return [
        File(path, entry.name, entry.name, its)
        for entry, path, its in zip(entries, kept, belongs, strict=True)
    ], warnings


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
    kept, warnings = _sifted(entries)
    files, warnings = _placed(kept, warnings, folder, root, apart)
    return files, [
        *warnings,
        *(warning("ignored_file", "link", about=(link.file,), file=link.file) for link in links),
    ]


def _placed(
    entries: list[Entry], warnings: list[WarningRecord], folder: Path, root: Path, apart: File | None
) -> tuple[list[File], list[WarningRecord]]:
    """Make files of what a local folder holds."""
    if apart is not None:
        entries = [entry for entry in entries if not apart.path.samefile(entry.name)]
    belongs = belonging(entries, folder.absolute().resolve().name, str(folder))
    return [_file(Path(entry.name), root, its) for entry, its in zip(entries, belongs, strict=True)], warnings


def _sifted(entries: Sequence[Entry]) -> tuple[list[Entry], list[WarningRecord]]:
    """Keep the files that can be read, and say which others lie beside them."""
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

        found = listed(read_address(text))
        if found.top:
            raise _nothing(
                f"a folder stands where a file is meant (named by {option})", read_address(text).shown
            )
        entry = found.entries[0]
        check_format(entry.file, entry.name, option)
        path = copied(found, found.entries, copies())[0]
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
    truth = apart
    if apart is not None:
        rest = [file for file in found if not file.path.samefile(apart.path)]
    else:
        named = (
            [f for f in found if not f.belongs.part and is_truth(PurePath(f.name).name)]
            if len(found) > 1
            else []
        )
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
        raise _nothing(_no_file(warnings), ", ".join(paths))
    return Found(tuple(sorted(rest, key=lambda file: file.relative)), truth, warnings)


def _no_file(warnings: Sequence[WarningRecord]) -> str:
    unread = [name for warning in warnings for name in warning.about]
    found = f"; found {', '.join(unread[:3])}{' ...' if len(unread) > 3 else ''}, not read" if unread else ""
    return f"there is no prediction file{found}"


def _check_named(path: Path, option: str | None) -> None:
    where = f" (named by {option})" if option else ""
    if not is_file(path):
        _refuse_special(path)
        found = "a folder stands where a file is meant" if path.is_dir() else "there is no such file"
        raise _nothing(f"{found}{where}", str(path))
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
        raise InputError(
            f"a {suffix.lower()} file is not read{where}: it can run code when it is loaded",
            file=shown,
            expected=f"one of {readable()}",
            remedy="write the predictions as CSV or Parquet",
        )
    if file_format(PurePath(name)) is None:
        raise InputError(
            f"the format {suffix or 'without a suffix'} is not read{where}",
            file=shown,
            expected=f"one of {readable()}",
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
            "it is not a regular file",
            file=str(path),
            expected="a file, not a pipe, a socket or a device",
            remedy="write the predictions into a file",
        )


def _root(paths: Sequence[AnyPath]) -> Path:
    """Return the folder that recorded paths are relative to; those that name columns stay below it."""
    folders = []
    for path in paths:
        base = Path(path)
        if not _holds(base.exists) and is_pattern(str(path)):
            base = Path(fixed_part(str(path)) or ".")
        if not _holds(base.is_dir):
            base = base.parent.parent if is_part(base.name) else base.parent
            while "=" in base.name:
                base = base.parent
        folders.append(base)
    if len(folders) == 1:
        return folders[0]
    return Path(os.path.commonpath([folder.absolute() for folder in folders])) if folders else Path()


def _file(path: Path, root: Path, belongs: Belongs) -> File:
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
    return File(path, str(path), relative, belongs)


def _nothing(problem: str, file: str | None) -> InputError:
    return InputError(
        problem,
        file=file,
        expected=f"a folder of prediction files, or files ({readable()})",
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


def read_with_folders(read: Callable[[Choose], Columns], file: File, choose: Choose) -> Columns:
    """Read a file, and add the columns that its folders give.

    Raises
    ------
    InputError
        The file itself holds such a column, too.
    """
    given = file.belongs.columns
    if not given:
        return read(choose)
    chosen: Mapping[str, Kind] = {}

    def both(names: tuple[str, ...]) -> Mapping[str, Kind]:
        nonlocal chosen
        twice = next((name for name in names if name.strip() in given), None)
        if twice is not None:
            raise InputError(
                "the column is in the file, and its folder gives it, too",
                file=file.name,
                column=twice,
                expected="it in one of the two",
                remedy="leave the column out of the file, or rename the folder",
            )
        chosen = choose((*names, *given))
        return {name: kind for name, kind in chosen.items() if name not in given}

    columns = read(both)
    import pyarrow as pa

    added = {
        name: keep(
            pa.array([value], pa.string()).take(pa.array(np.zeros(columns.rows, np.int32))), chosen[name]
        )
        for name, value in given.items()
        if name in chosen
    }

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        if header is not None and header in given:
            return columns.locate(row, None)[0], given[header] or ""
        return columns.locate(row, header)

    return replace(columns, names=(*columns.names, *given), arrays={**columns.arrays, **added}, locate=locate)


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


Rows = Sequence[JsonObject]
"""``inputs`` of a results.json, which may hold anything."""


def places(inputs: Rows) -> dict[str, str]:
    """Return where each recorded input lies below the folder that stands for MODELS, by its recorded path.

    Examples
    --------
    >>> places([{"path": "s3://bucket/preds/forest/part-0.csv"}, {"path": "s3://bucket/preds/knn/part-0.csv"}])
    {'s3://bucket/preds/forest/part-0.csv': 'forest/part-0.csv', 's3://bucket/preds/knn/part-0.csv': 'knn/part-0.csv'}
    """
    remote = {path: path.partition("://")[2].lstrip("/") for row in inputs if is_address(path := row["path"])}
    common = os.path.commonpath([os.path.dirname(path) for path in remote.values()]) if remote else ""  # noqa: PTH120
    while "=" in common.rpartition("/")[2]:
        common = common.rpartition("/")[0]
    return {
        row["path"]: remote[row["path"]][len(common) + 1 :] if row["path"] in remote else row["path"]
        for row in inputs
    }


def stays_below(place: str) -> bool:
    """Say whether a path from a file that is handed in leads nowhere but below the folder that the user named."""
    relative = PurePosixPath(place)
    return bool(relative.parts) and not (
        relative.is_absolute() or ".." in relative.parts or "\0" in place or "\\" in place
    )


@contextmanager
def at_hand(content: JsonObject, where: AnyPath) -> Iterator[Path]:
    """Give the folder where recorded inputs lie; of an address the copies, and of nothing else that lies there.

    Raises
    ------
    InputError
        The address cannot be read; a single file that is not there is found missing later.
    """
    if not is_address(where):
        yield Path(where)
        return
    from evalreport.sources.addresses import copy_one, read_address

    base = read_address(str(where))
    with TemporaryDirectory(prefix="evalreport-") as made:
        for place in places(content["inputs"]).values():
            if stays_below(place) and not place.startswith("<"):
                to = Path(made, place)
                try:
                    to.parent.mkdir(parents=True, exist_ok=True)
                except OSError:
                    continue  # a name that no folder can have, such as one below another input: found missing
                copy_one(base, quote(place) if base.scheme.startswith("http") else place, to)
        yield Path(made)


def recorded_files(inputs: Rows, folder: Path, truth: str | None) -> Found:
    """Return recorded inputs as files to read, each with the model that was recorded for it."""
    rows_of = Counter(row["model"] for row in inputs if row["model"] is not None)
    files = []
    for path, place in places(inputs).items():
        row = next(row for row in inputs if row["path"] == path)
        own = PurePosixPath(place)
        check_format(own.name, place)
        columns = hive_columns(own.parts[:-1])
        columns.pop("model", None)
        belongs = Belongs(row["model"] or model_name(own), rows_of[row["model"]] > 1, columns)
        files.append(File(folder / place, str(folder / place), path, belongs))
    apart = next((file for file in files if truth is not None and str(file.path) == truth), None)
    return set_truth_apart(files, apart, [str(folder)], ())
