"""The version of this program, below everything that prints it, and what this version makes of its own files."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source, source_hash
from pathlib import Path
from typing import Any, TypeVar, cast

T = TypeVar("T")

DEVELOPMENT = "0.1.0.dev0"
"""Of every tree that is no release: the next release, in development.

It stands in the tree, and not in git's history, so that equal trees write equal results wherever they came from: a full
clone, one without tags, an archive, a copied folder.
"""


def _installed() -> str:
    """Return the version that the build wrote into the package, or DEVELOPMENT in a checkout."""
    # A wheel holds the templates inside the package; in a checkout they stand beside it.
    if not (Path(__file__).parent / "templates").is_dir():
        return DEVELOPMENT
    from importlib import metadata

    try:
        return metadata.version("evalreport")
    except metadata.PackageNotFoundError:
        return DEVELOPMENT


__version__ = _installed()


def compiled(file: Path, text: bytes, make: Callable[[], T]) -> T:
    """Return what is made of a shipped file, kept where Python keeps its compiled modules.

    Python's own rules hold: it is kept in ``__pycache__`` beside the file or below ``PYTHONPYCACHEPREFIX``, and not at
    all under ``PYTHONDONTWRITEBYTECODE`` or where this user may not write.

    Parameters
    ----------
    text
        What it is made of: once this has changed, it is made anew.
    make
        Returns what ``marshal`` can write: numbers, texts, mappings, code.
    """
    place = Path(cache_from_source(str(file)))
    key = source_hash(f"{__version__} ".encode() + text)
    with suppress(OSError, EOFError, ValueError, TypeError):  # not there, or cut short
        kept = place.read_bytes()
        if kept[: len(key)] == key:
            found: T = marshal.loads(kept[len(key) :])  # noqa: S302  as trusted as the compiled modules beside it
            return found
    made = make()
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _keep(place, key + marshal.dumps(cast("Any", made)))
    return made


def _keep(place: Path, content: bytes) -> None:
    """Write a file as a whole, whoever else does so at the same time."""
    import os

    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
