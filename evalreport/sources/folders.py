"""The files of a folder, and the model of each by the names of files and folders."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from urllib.parse import unquote

from evalreport.errors import InputError
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.reading import UNSAFE_SUFFIXES, file_format, model_name, readable

_SILENTLY_IGNORED = (
    *("readme", "license", "licence", "notice", "changelog", "makefile", "evalreport.toml"),
    # Beside a data set that Hugging Face saved.
    *("dataset_info.json", "state.json"),
)


_ANNOTATIONS = (".md", ".toml", ".yaml", ".yml", ".ini", ".rst")


_RECORD = "resample.json"  # what `evalreport resample` writes beside its predictions


_WILD = re.compile(r"[*?\[]")


_HIVE = re.compile(r"([^=]+)=(.*)")


_HIVE_EMPTY = "__HIVE_DEFAULT_PARTITION__"


# Spark, pyarrow and Dask (part-0, part.0), DuckDB (data_0), exports and shards (000000000000, train-00000-of-00005).
_PART = re.compile(r"(part[-_.]?\d.*|data_\d+|0\d{5,}|.*\d{5}-of-\d{5})", re.IGNORECASE)


MOST_FILES = 100_000


DEEPEST = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """One prediction file of a folder, a pattern or an address.

    Attributes
    ----------
    name
        What messages call it.
    folders
        Those between MODELS and the file.
    file
        The file's own name.
    """

    name: str
    folders: tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Belongs:
    """A file's model, whether other files may hold more of it, and the columns that its folders give."""

    model: str
    part: bool = False
    columns: Mapping[str, str | None] = field(default_factory=dict)


def belonging(entries: Sequence[Entry], top: str, shown: str) -> list[Belongs]:
    """Say which model each file of one folder or pattern belongs to.

    Parameters
    ----------
    top
        The name of the folder that MODELS names.
    shown
        What messages call it.

    Raises
    ------
    InputError
        The layout can be understood in two ways.
    """
    inside = [entry for entry in entries if entry.folders]
    loose = [entry for entry in entries if not entry.folders and not is_truth(entry.file)]
    if inside and loose:
        raise _ambiguous(
            f"it holds prediction files ({loose[0].file}) beside folders of them ({'/'.join(inside[0].folders)}/)",
            shown,
            f"type '{shown}/*' for the files alone, '{shown}/*/*' for the folders alone",
        )
    if inside:
        return _in_folders(entries, inside, top, shown)
    if loose and all(is_part(entry.file) for entry in loose):
        return [_own(e) if is_truth(e.file) else Belongs(folder_model(top), part=True) for e in entries]
    return [_own(entry) for entry in entries]


def _own(entry: Entry) -> Belongs:
    return Belongs(model_name(PurePath(entry.file)))


def _in_folders(entries: Sequence[Entry], inside: Sequence[Entry], top: str, shown: str) -> list[Belongs]:
    first = inside[0]
    keys = tuple(hive_columns(first.folders))
    unlike = next((entry for entry in inside if tuple(hive_columns(entry.folders)) != keys), None)
    if unlike is not None:
        raise _ambiguous(
            f"{'/'.join(first.folders)}/ and {'/'.join(unlike.folders)}/ do not name the same columns",
            shown,
            "give every file the same folders COLUMN=VALUE, in the same order, or name one of the two alone",
        )
    plain = [tuple(folder for folder in entry.folders if "=" not in folder) for entry in inside]
    named = "model" in keys
    deep = next((folders for folders in plain if len(folders) > (len(plain[0]) if named else 1)), None)
    if deep is not None or (named and len(set(plain)) > 1):
        raise _ambiguous(
            f"it holds folders within folders ({'/'.join(deep or plain[-1])}/), and a sub-folder is one model",
            shown,
            f"name the folder whose sub-folders are the models, such as '{shown}/{(deep or plain[-1])[0]}',"
            " or call the folders model=NAME/",
        )
    by_parts = not named and not plain[0]
    if (mixed := {len(folders) for folders in plain}) != {len(plain[0])}:
        raise _ambiguous(f"models lie {min(mixed)} and {max(mixed)} folders deep", shown, "name them apart")
    if by_parts and not all(is_part(entry.file) for entry in inside):
        raise _ambiguous(
            f"its folders name {', '.join(keys)} but no model",
            shown,
            "put the files into folders model=NAME/, or into one folder for each model",
        )
    found = []
    for entry in entries:
        if not entry.folders:
            found.append(_own(entry))
            continue
        columns = hive_columns(entry.folders)
        folder = next((name for name in entry.folders if "=" not in name), top)
        model = columns.pop("model") if named else folder_model(folder)
        found.append(Belongs(model or "", True, columns))
    return found


def of_named_file(path: PurePath) -> Belongs:
    """Say which model a file belongs to that was named itself: its folders ``model=NAME/`` count, and parts' folder."""
    folders: list[str] = []
    for folder in reversed(path.parent.parts):
        if not _HIVE.fullmatch(folder):
            break
        folders.insert(0, folder)
    columns = hive_columns(folders)
    above = path.parent.parts[-len(folders) - 1 :][:1]
    if "model" in columns:
        return Belongs(columns.pop("model") or "", True, columns)
    if is_part(path.name) and above and above[0] not in ("/", "..", "."):
        return Belongs(above[0], True, columns)
    return Belongs(model_name(path), bool(columns), columns)


def named_by(path: str, model: str) -> str:
    """Say what gave a model its name, by the recorded path: its file, its folder, a folder ``model=`` or that of parts.

    Examples
    --------
    >>> [named_by(path, "a") for path in ("a.csv", "a/part-0.csv", "model=a/day=3/part-0.csv", "part-0.csv")]
    ['file', 'folder', 'hive', 'parts']
    """
    *folders, file = PurePath(path).parts
    if "model" in hive_columns(folders):
        return "hive"
    if model in folders:
        return "folder"
    return "file" if model == model_name(PurePath(file)) else "parts"


def hive_columns(folders: Sequence[str]) -> dict[str, str | None]:
    """Return the columns that folders ``COLUMN=VALUE`` give; None: an empty cell.

    Examples
    --------
    >>> hive_columns(("run", "model=a%20b", "day=3"))
    {'model': 'a b', 'day': '3'}
    """
    pairs = [match.groups() for folder in folders if (match := _HIVE.fullmatch(folder))]
    return {unquote(name): None if value == _HIVE_EMPTY else unquote(value) for name, value in pairs}


def folder_model(folder: str) -> str:
    """Return the model that a folder's name says: NAME of ``model=NAME``, too."""
    return hive_columns([folder]).get("model") or folder


def is_part(file: str) -> bool:
    """Say whether a file is named as one part of several: its name is no model's."""
    return _PART.fullmatch(model_name(PurePath(file))) is not None


def is_truth(file: str) -> bool:
    """Say whether a file is named as the one of true values."""
    return file.lower().split(".")[0] == "truth"


def _ambiguous(problem: str, shown: str, remedy: str) -> InputError:
    return InputError.of("layout", file=shown, problem=problem, remedy=remedy)


def is_pattern(text: str) -> bool:
    """Say whether a path holds a wildcard."""
    return _WILD.search(text) is not None


def fixed_part(pattern: str) -> str:
    """Return the folder of a pattern, up to its first wildcard.

    Examples
    --------
    >>> fixed_part("preds/*/part-*.csv"), fixed_part("*.csv"), fixed_part("/data/a[12]/m.csv")
    ('preds', '', '/data')
    """
    return pattern[: _WILD.search(pattern + "*").start()].rpartition("/")[0]  # type: ignore[union-attr]


def fits(place: Sequence[str], pattern: Sequence[str]) -> bool:
    """Say whether folders and file match a pattern, folder by folder; ``**`` matches any number of folders.

    Examples
    --------
    >>> fits(("forest", "day=3", "part-0.csv"), ("*", "**", "*.csv"))
    True
    """
    if not pattern or not place:
        return not pattern and not place
    if pattern[0] == "**":
        return fits(place, pattern[1:]) or fits(place[1:], pattern)
    return fnmatch.fnmatchcase(place[0], pattern[0]) and fits(place[1:], pattern[1:])


def matching(entries: Sequence[Entry], pattern: str) -> list[Entry]:
    """Keep what matches a pattern, and what lies below the folders that match; without the folders it spells out."""
    spelled = tuple(part for part in pattern[len(fixed_part(pattern)) :].split("/") if part)
    for wanted in (spelled, (*spelled, "**", "*")):
        kept = [entry for entry in entries if fits((*entry.folders, entry.file), wanted)]
        if kept:
            return [replace(entry, folders=_varying(entry.folders, wanted[:-1])) for entry in kept]
    return []


def _varying(folders: tuple[str, ...], spelled: Sequence[str]) -> tuple[str, ...]:
    if "**" in spelled:
        return folders
    return tuple(f for f, s in zip(folders, spelled, strict=True) if _WILD.search(s) or "=" in f)


def walk(folder: Path, *, deepest: int = DEEPEST) -> Iterator[tuple[Entry, bool]]:
    """Yield the files of a folder and of those below it, in order, and whether one is a link to a folder.

    Such links are not followed: a loop would not end, and a link may lead anywhere.

    Raises
    ------
    InputError
        A folder cannot be read, or there are too many files.
    """
    yielded = 0
    left: list[tuple[str, ...]] = [()]
    while left:
        folders = left.pop()
        here = folder.joinpath(*folders)
        try:
            with os.scandir(here) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise InputError.of("folder_unreadable", file=str(here), why=error.strerror) from None
        below = []
        for entry in inside:
            if entry.is_dir(follow_symlinks=False):
                below += [] if hidden(entry.name) else [(*folders, entry.name)]
                continue
            yielded += 1
            if yielded > MOST_FILES:
                raise too_many(str(folder))
            link = entry.is_symlink() and _leads_to_folder(entry)
            yield Entry(str(here / entry.name), folders, entry.name), link
        if len(folders) < deepest:
            left += reversed(below)


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def hidden(folder: str) -> bool:
    """Say whether a folder is a hidden or technical one: .git, _temporary, _delta_log, __pycache__."""
    return folder.startswith((".", "_"))


def passed_over(file: str) -> bool:
    """Say whether a file usually accompanies predictions, such as _SUCCESS, so that it needs no warning."""
    lower = file.lower()
    return (
        lower.startswith((".", *_SILENTLY_IGNORED))
        or lower.endswith((_RECORD, *_ANNOTATIONS))
        or (lower.startswith("_") and file_format(PurePath(lower)) is None)
    )


def not_read(name: str) -> WarningRecord:
    """Say that a file of another format was not read."""
    why = "unsafe" if PurePath(name).suffix.lower() in UNSAFE_SUFFIXES else "unknown"
    return warning("ignored_file", why, about=(name,), file=name, formats=readable())


def too_many(shown: str) -> InputError:
    """Say that a folder holds more files than predictions come in."""
    return InputError.of("too_many_files", file=shown, most_files=MOST_FILES)
