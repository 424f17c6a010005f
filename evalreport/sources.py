"""What the functions of the package read: the types of models, columns and paths."""

from __future__ import annotations

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
