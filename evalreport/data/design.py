"""How the predictions were made (one test set, folds, replicates ...), read from the key columns."""

from __future__ import annotations

import numpy as np

from evalreport.data.alignment import Alignment, Indices
from evalreport.data.predictions import Column, Design
from evalreport.results import FoundRecord


def find_design(alignment: Alignment) -> tuple[Design, FoundRecord]:
    """Find the design from the columns that tell one fit from another.

    Returns
    -------
    design, record
        ``datasets`` before ``bootstrap`` before folds before repeats before ``seeds``; else ``test-set``.
    """
    design, why = _design(alignment)
    return design, FoundRecord("design", design, why)


def _design(alignment: Alignment) -> tuple[Design, str]:
    any_row = alignment.rows.max(axis=0)
    codes = {name: column.values[any_row].astype(np.int64) for name, column in alignment.keys.items()}
    tested = _tested(alignment.keys.get("part"), codes.get("part"), len(any_row))
    counts = {name: len(np.unique(code[tested & (code >= 0)])) for name, code in codes.items()}
    if counts.get("dataset", 0) > 1:
        return "datasets", f"there are {counts['dataset']} data sets in the column dataset"
    if counts.get("replicate", 0) > 0:
        return "bootstrap", f"there are {counts['replicate']} replicates in the column replicate"
    if counts.get("fold", 0) > 1:
        return _folds(alignment.example, codes, counts, tested)
    if counts.get("repeat", 0) > 1:
        return "repeated-holdout", f"there are {counts['repeat']} repeats without folds"
    if counts.get("seed", 0) > 1:
        return "seeds", f"there are {counts['seed']} training seeds in the column seed"
    return "test-set", "no column tells one fit from another: each model predicts each example once"


def _tested(part: Column | None, codes: Indices | None, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Say which cells are test predictions."""
    if part is None or codes is None:
        return np.ones(n, dtype=np.bool_)
    assert part.categories is not None
    test = part.categories.index("test") if "test" in part.categories else -2
    return np.asarray(codes == test, dtype=np.bool_)


def _folds(
    example: Indices,
    codes: dict[str, Indices],
    counts: dict[str, int],
    tested: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> tuple[Design, str]:
    repeat = codes["repeat"][tested] if "repeat" in codes else np.zeros(int(tested.sum()), dtype=np.int64)
    example, fold = example[tested], codes["fold"][tested]
    repeats = np.unique(repeat)
    visits = repeat * (int(example.max()) + 1) + example
    fold_sets = [len(np.unique(fold[repeat == r])) for r in repeats]
    text = f"{len(repeats)} x {counts['fold']} folds"
    if _is_partition(visits, example, repeats):
        if len(repeats) == 5 and all(count == 2 for count in fold_sets):
            return "5x2cv", "there are 5 repeats of 2 folds, and each repeat tests every example once"
        return "cross-validation", f"there are {text}, and each repeat tests every example once"
    return "repeated-holdout", f"there are {text}, but a repeat does not test every example exactly once"


def _is_partition(visits: Indices, example: Indices, repeats: Indices) -> bool:
    return len(np.unique(visits)) == len(visits) == len(np.unique(example)) * len(repeats)
