"""What the functions of the package read: the types of models, columns and paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Protocol

AnyPath = str | PathLike[str]


class Frame(Protocol):
    """A data frame of pandas, polars, pyarrow, duckdb, Dask or Spark."""

    @property
    def columns(self) -> object:
        """The names of its columns, or the columns."""


class Array(Protocol):
    """An array of numpy, or a column of a data frame."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> object: ...


Values = Sequence[object] | Array
"""One value for each example."""
Model = Frame | Values | Mapping[str, object]
"""The predictions of one model: a frame, an array, or columns by their names."""
Models = AnyPath | Sequence[AnyPath] | Frame | Mapping[str, Model]
"""Files, a frame with a column ``model``, or each model's predictions by its name."""

SCHEMES = ("s3", "gs", "https", "http")
"""The addresses that are read."""
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):/{1,2}", re.IGNORECASE)


def is_address(text: object) -> bool:
    """Say whether a text is an address rather than a path.

    Examples
    --------
    >>> [is_address(text) for text in ("s3://bucket/a.csv", "models/a.csv", "hdfs://host/a", "C:/a.csv")]
    [True, False, True, False]
    """
    match = _ADDRESS.match(str(text))
    return match is not None and len(match[1]) > 1 and (match[1].lower() in SCHEMES or "://" in match[0])


def without_login(text: str) -> str:
    """Return a path, or an address without user, password and parameters."""
    scheme, mark, rest = text.partition("://")
    if not mark or not is_address(text):
        return text
    place, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"
