"""How the predictions were made (one test set, folds, replicates ...), read from the key columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from evalreport.data.alignment import Alignment
from evalreport.data.columns import IDENTITY_COLUMNS
from evalreport.data.predictions import Column, Design, Indices
from evalreport.records import FoundRecord

Mask = npt.NDArray[np.bool_]


def find_design(alignment: Alignment, *, of_examples: bool) -> tuple[Design, FoundRecord]:
    """Find the design from the columns that tell one fit from another.

    Parameters
    ----------
    alignment
        The aligned rows.
    of_examples
        False where rows are scores: no example shows whether folds are a partition.

    Returns
    -------
    design, record
        ``datasets`` before ``bootstrap`` before folds before repeats before ``seeds``; else ``test-set``.
    """
    design, why = _design(alignment, of_examples=of_examples)
    return design, FoundRecord("design", design, why)


def _design(alignment: Alignment, *, of_examples: bool) -> tuple[Design, str]:
    any_row = alignment.rows.max(axis=0)
    cells = {name: Column(c.values[any_row], c.categories) for name, c in alignment.keys.items()}
    return design_of(cells, alignment.example if of_examples else None, len(any_row))


def design_of(keys: Mapping[str, Column], example: Indices | None, n: int) -> tuple[Design, str]:
    """Find the design of n rows from their key columns and (n,) examples; None where rows are scores."""
    codes = {name: keys[name].values.astype(np.int64) for name in IDENTITY_COLUMNS if name in keys}
    tested = _tested(keys.get("part"), codes.get("part"), n)
    inner = codes.get("inner_fold")
    if inner is not None and (tested & (inner < 0)).any():
        tested &= inner < 0  # rows of inner folds chose parameters
    counts = {name: len(np.unique(code[tested & (code >= 0)])) for name, code in codes.items()}
    if counts.get("dataset", 0) > 1:
        return "datasets", f"there are {counts['dataset']} data sets in the column dataset"
    if counts.get("replicate", 0) > 0:
        return "bootstrap", f"there are {counts['replicate']} replicates in the column replicate"
    if counts.get("fold", 0) > 1:
        return _folds(example, codes, counts, tested)
    if counts.get("repeat", 0) > 1:
        return "repeated-holdout", f"there are {counts['repeat']} repeats without folds"
    if counts.get("seed", 0) > 1:
        return "seeds", f"there are {counts['seed']} training seeds in the column seed"
    return "test-set", "no column tells one fit from another: each model predicts each example once"


def _tested(part: Column | None, codes: Indices | None, n: int) -> Mask:
    """Say which cells are test predictions."""
    if part is None or codes is None:
        return np.ones(n, dtype=np.bool_)
    assert part.categories is not None
    test = part.categories.index("test") if "test" in part.categories else -2
    return np.asarray(codes == test, dtype=np.bool_)


def _folds(
    example: Indices | None, codes: dict[str, Indices], counts: dict[str, int], tested: Mask
) -> tuple[Design, str]:
    fold = codes["fold"][tested]
    repeat = codes["repeat"][tested] if "repeat" in codes else np.zeros(len(fold), dtype=np.int64)
    repeats = np.unique(repeat)
    text = f"there are {len(repeats)} x {counts['fold']} folds"
    if example is not None and not _is_partition(example[tested], repeat, len(repeats)):
        return "repeated-holdout", f"{text}, but a repeat does not test every example exactly once"
    if example is not None:
        text += ", and each repeat tests every example once"
    if len(repeats) == 5 and all(len(np.unique(fold[repeat == r])) == 2 for r in repeats):
        return "5x2cv", text
    return "cross-validation", text


def _is_partition(example: Indices, repeat: Indices, n_repeats: int) -> bool:
    """Say whether every repeat tests every example exactly once."""
    visits = repeat * (int(example.max()) + 1) + example
    return len(np.unique(visits)) == len(visits) == len(np.unique(example)) * n_repeats
