"""One table in every form in which people bring it: files of each format, data frames and arrays."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

FORMS = (
    *("csv", "tsv", "csv.gz", "semicolons", "parquet", "arrow", "jsonl", "npz"),
    *("pandas", "polars", "pyarrow", "arrays"),
)
"""Files by their suffix, and objects of Python by their library."""


def in_form(form: str, table: Mapping[str, Sequence[Any]], folder: Path, model: str = "m") -> Any:
    """Return the models of a run: a file in a folder, or a mapping of the model's name to its columns.

    Parameters
    ----------
    table
        Columns of one type each; None is an empty cell.
    """
    if form in ("pandas", "polars", "pyarrow", "arrays"):
        return {model: in_memory(form, table)}
    suffix = "csv" if form == "semicolons" else form
    path = folder / f"{model}.{suffix}"
    if form in ("csv", "tsv", "csv.gz", "semicolons"):
        text = delimited(table, {"tsv": "\t", "semicolons": ";"}.get(form, ","))
        path.write_bytes(gzip.compress(text.encode()) if form == "csv.gz" else text.encode())
    elif form == "parquet":
        pq.write_table(pa.table(dict(table)), path)
    elif form == "arrow":
        with pa.ipc.new_file(str(path), pa.table(dict(table)).schema) as writer:
            writer.write_table(pa.table(dict(table)))
    elif form == "jsonl":
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        np.savez(path, **{name: array(values) for name, values in table.items()})
    return path


def in_memory(form: str, table: Mapping[str, Sequence[Any]]) -> Any:
    """Return the columns of one model as an object of a library."""
    if form == "pandas":
        return pd.DataFrame(table)
    if form == "polars":
        return pl.DataFrame(table)
    if form == "pyarrow":
        return pa.table(dict(table))
    return {name: array(values) for name, values in table.items()}


def array(values: Sequence[Any]) -> np.ndarray:
    """Return a column of numpy, which has no empty cell but nan and the empty text."""
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values], dtype=str)
    gaps = any(value is None for value in values)
    return np.array([np.nan if value is None else value for value in values], dtype=float if gaps else None)


def delimited(table: Mapping[str, Sequence[Any]], delimiter: str) -> str:
    """Return a table as text; with semicolons, numbers have a decimal comma, as in half of Europe."""

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        return text.replace(".", ",") if delimiter == ";" and isinstance(value, float) else text

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table)
    writer.writerows([cell(value) for value in row] for row in zip(*table.values(), strict=True))
    return stream.getvalue()
