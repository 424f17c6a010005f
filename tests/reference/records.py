"""The outside reference records: reading them, and the tolerance that each one deserves."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "data"

# The file and the positive class of each data set.
DATASETS: Mapping[str, tuple[str, str | None]] = {
    "breast_cancer_test": ("breast_cancer_test.csv", "malignant"),
    "default_test": ("default_test.csv.gz", "Yes"),
    "diabetes_test": ("diabetes_test.csv", None),
    "digits_test": ("digits_test.parquet", None),
    "ext_pathology": ("ext_pathology.csv", "abnorm"),
    "ext_solubility": ("ext_solubility.csv", None),
    "ext_two_class": ("ext_two_class.csv", "Class1"),
    "slovak_default_eval": ("slovak_default_eval.csv", "Yes"),
}

# Closed forms: the files print 15 significant digits, and neither side loses more than five of them.
CLOSED_FORM = 1e-10

# Where the source itself is less exact than that: our value may differ from it by its own error.
LOOSER: Mapping[str, tuple[float, str]] = {
    "paired difference, Tango score interval": (1e-5, "the source's root finding stops at about 1e-5"),
    "calibration_slope_intercept": (1e-5, "the source's iteration stops at about 1e-5"),
}

Record = Mapping[str, Any]


@functools.cache
def records_of(dataset: str) -> tuple[Record, ...]:
    """Return all reference records of one data set, in the order of the file."""
    path = DATA / "reference" / f"{dataset}.json"
    return tuple(json.loads(path.read_text(encoding="utf-8")))


def all_records() -> Iterator[Record]:
    """Yield the records of every data set, then the standalone ones."""
    for dataset in (*DATASETS, "standalone"):
        yield from records_of(dataset)


def numbers(value: Any) -> dict[str, float | None]:
    """Return a record's value as named numbers: a plain one is named ``value``, an undefined one is None."""
    named = value if isinstance(value, dict) else {"value": value}
    return {key: _number(number) for key, number in named.items()}


def _number(text: Any) -> float | None:
    if text is None or text == "NaN":
        return None
    return float(
        {"Infinity": math.inf, "-Infinity": -math.inf}.get(text, text) if isinstance(text, str) else text
    )


def tolerance_of(record: Record, expected: float) -> float:
    """Return the absolute tolerance of one closed-form number: relative above 1, absolute below."""
    looser = LOOSER.get(record["quantity"])
    return (looser[0] if looser else CLOSED_FORM) * max(1.0, abs(expected))
