"""Counts of a table, and a folder of predictions for engines to count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import evalreport.metrics  # noqa: F401 - registers what is added up of scores

N = 500


def by_hand(frames: dict[str, pd.DataFrame], *slices: str) -> Counter[tuple[object, ...]]:
    """Count with pandas: joined by id, then how often each row occurs."""
    models = [frame.set_index("id").sort_index() for _, frame in sorted(frames.items())]
    columns = [
        models[0]["y_true"],
        *(model["y_pred"] for model in models),
        *(models[0][name] for name in slices),
    ]
    return Counter(tuple(None if pd.isna(v) else v for v in row) for row in zip(*columns, strict=True))


def counted(table: pa.Table) -> Counter[tuple[object, ...]]:
    """Return the rows of counts by what they stand for."""
    rows = zip(*(table[name].to_pylist() for name in table.column_names[1:]), strict=True)
    return Counter(dict(zip(rows, table["count"].to_pylist(), strict=True)))


def write(folder: Path, **columns: list[object]) -> Path:
    """Write one model."""
    pq.write_table(pa.table(columns), folder / "tree.parquet")
    return folder


def faulty(frames: dict[str, pd.DataFrame], folder: Path, fault: str) -> None:
    """Write the models with one thing wrong in the second."""
    good, bad = frames["forest"], frames["logreg"].sort_values("id").reset_index(drop=True)
    if fault == "twice":
        bad = pd.concat([bad, bad.iloc[[7]]])
    elif fault == "moved":  # as many rows as ids: only a count by id finds it
        bad.loc[7, "id"] = bad.loc[8, "id"]
    elif fault == "lacking":
        bad = bad.drop(index=[7, 8])
    elif fault == "truth":
        bad.loc[7, "y_true"] = "eel" if bad.loc[7, "y_true"] != "eel" else "cat"
    elif fault == "no id":
        bad.loc[7, "id"] = None
    elif fault == "slice":
        bad["place"] = "east"
    good.to_parquet(folder / "forest.parquet", index=False)
    bad.to_parquet(folder / "logreg.parquet", index=False)
