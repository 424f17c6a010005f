"""Small prediction files that the tests write themselves."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of text or bytes below the temporary folder, gzipped where its name ends so."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return _write


@pytest.fixture
def refused(write: Write) -> Callable[..., InputError]:
    """Load one file that must be refused, and return the error."""

    def _refused(name: str, content: str | bytes, **options: Any) -> InputError:
        with pytest.raises(InputError) as caught:
            load(write(name, content), options=Options(**options))
        return caught.value

    return _refused


@pytest.fixture
def loaded(write: Write) -> Callable[..., Predictions]:
    """Load one file of the given content."""

    def _loaded(content: str, name: str = "model.csv", **options: Any) -> Predictions:
        return load(write(name, content), options=Options(**options))

    return _loaded


def arrays_of(predictions: Predictions) -> Iterator[tuple[str, Any]]:
    """Yield everything that an analysis reads, as plain values."""
    yield "task", (predictions.task, predictions.design, predictions.classes, predictions.positive)
    yield "ids", predictions.ids.to_pylist()
    yield "example", predictions.example.tolist()
    yield "y_true", None if predictions.y_true is None else predictions.y_true.tolist()
    for model in predictions.models:
        yield (
            model.name,
            [plain(getattr(model, f)) for f in ("y_pred", "score", "proba", "outcome", "present")],
        )
        yield f"{model.name} columns", columns_of(model.columns)
    yield "keys", columns_of(predictions.keys)
    yield "metadata", columns_of(predictions.metadata)


def columns_of(columns: Any) -> Any:
    """Return columns as plain values; nan as text, since nan is not equal to itself."""
    return {name: (plain(column.values), column.categories) for name, column in columns.items()}


def plain(values: Any) -> Any:
    """Return an array as a list, with nan as text."""
    if values is None:
        return None
    return np.where(np.isnan(values), -1e99, values).tolist() if values.dtype.kind == "f" else values.tolist()


@pytest.fixture
def content() -> Callable[[Predictions], dict[str, Any]]:
    """Everything that an analysis reads, to be compared with ``==``."""
    return lambda predictions: dict(arrays_of(predictions))


@pytest.fixture
def model_of() -> Callable[[Predictions, str], ModelOutputs]:
    """One model's outputs by its name."""
    return lambda predictions, name: next(m for m in predictions.models if m.name == name)


@pytest.fixture
def codes_of() -> Callable[[Predictions], list[str]]:
    """The codes of a table's warnings."""
    return lambda predictions: [warning.code for warning in predictions.warnings]
