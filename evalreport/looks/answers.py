"""Digests of examples and of each model's answers, also of those examples alone that an earlier look had."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.options import Options
from evalreport.predictions.arrays import Indices, Mask
from evalreport.predictions.table import Column, ModelOutputs, Predictions

BYTES_OF_A_KEY = 8
FACTS = ("weight", "cluster", "truth", "count", "keys")
"""What is a fact about an example; the answers are the models'."""

Keys = np.ndarray[tuple[int], np.dtype[np.uint64]]
Columns = tuple[np.ndarray, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """The examples of a look and the models' answers, sorted by key.

    Attributes
    ----------
    keys
        (n,) hashes of the ids (in a suite of task and id); empty where rows are no examples that can be found again:
        of folds, seeds, data sets or counts.
    facts
        Columns of each fact about the examples: the true values, the weights, the clusters, keys such as the time.
    models
        Columns of each model's answers.
    n
        The number of examples, or of clusters where they are clustered.
    order
        (n,) the rows of the predictions, in the order of the keys.
    """

    keys: Keys
    facts: Mapping[str, Columns]
    models: Mapping[str, Columns]
    n: int
    order: Indices

    def within(self, keys: Keys) -> Answers | None:
        """Return the rows of some examples; None where one of them is not there."""
        if not len(keys) or not len(self.keys):
            return None
        rows = np.isin(self.keys, keys)
        if int(rows.sum()) != len(keys):
            return None
        facts, models = _taken(self.facts, rows), _taken(self.models, rows)
        return Answers(self.keys[rows], facts, models, self.n, self.order[rows])

    def rows_of(self, keys: Keys) -> Mask:
        """Return which rows of the predictions are of some examples."""
        present = np.zeros(len(self.keys), bool)
        present[self.order[np.isin(self.keys, keys)]] = True
        return present

    @property
    def examples_digest(self) -> str:
        """SHA-256 of the ids, the truth, the weights and the clusters."""
        return _sha256((self.keys, *(column for name in FACTS for column in self.facts.get(name, ()))))

    @property
    def fact_digests(self) -> dict[str, str]:
        """SHA-256 of each fact about the examples."""
        return {name: _sha256((self.keys, *columns)) for name, columns in self.facts.items()}

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each model's answers."""
        return {name: _sha256((self.keys, *columns)) for name, columns in self.models.items()}


def answers_of(predictions: Predictions, options: Options) -> Answers:
    """Return the examples and answers of a look.

    Parameters
    ----------
    predictions
        The rows that metrics and comparisons are about.
    """
    keys, order = _keys(predictions)
    columns = {"weight": options.weight, "cluster": options.cluster}
    facts: dict[str, list[np.ndarray]] = {
        what: _of_column(predictions.metadata.get(name)) for what, name in columns.items() if name is not None
    }
    if predictions.y_true is not None:
        facts["truth"] = [_of_labels(predictions.y_true, predictions.classes)]
    if predictions.multiplicity is not None:
        facts["count"] = [predictions.multiplicity]
    keyed = [part for name in sorted(predictions.keys) for part in _of_column(predictions.keys[name])]
    facts |= {"keys": keyed} if keyed else {}
    models = {m.name: tuple(_outputs(predictions, m)) for m in predictions.models}
    clusters = predictions.metadata.get(options.cluster) if options.cluster is not None else None
    n = predictions.n_examples if clusters is None else len(np.unique(clusters.values))
    return Answers(keys, _taken(facts, order), _taken(models, order), n, order)


def _taken(columns: Mapping[str, Sequence[np.ndarray]], rows: Indices | Mask) -> dict[str, Columns]:
    return {name: tuple(column[rows] for column in some) for name, some in columns.items()}


def _keys(predictions: Predictions) -> tuple[Keys, np.ndarray]:
    """Return the sorted keys of the rows, and the order of the rows; no keys where examples cannot be found again."""
    none = np.empty(0, np.uint64)
    as_they_are = np.arange(predictions.n)
    if predictions.design != "test-set" or predictions.multiplicity is not None or predictions.apart:
        return none, as_they_are
    ids = np.array([_hashed(text) for text in predictions.ids.to_pylist()], np.uint64)
    keys = ids[predictions.example]
    tasks = predictions.tasks
    if tasks is not None and tasks.categories is not None:
        names = np.array([_hashed(f"{name}\t") for name in tasks.categories], np.uint64)
        keys = keys ^ (names[tasks.values] * np.uint64(0x9E37_79B9_7F4A_7C15))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    return (keys, order) if len(keys) and bool((keys[1:] != keys[:-1]).all()) else (none, as_they_are)


def _outputs(predictions: Predictions, model: ModelOutputs) -> Iterator[np.ndarray]:
    if model.y_pred is not None:
        yield _of_labels(model.y_pred, predictions.answers)
    for values in (model.score, model.outcome, model.gold, model.present):
        if values is not None:
            yield np.ascontiguousarray(values)
    if model.proba is not None:
        # In the order of the names: a class that only new examples have changes no old column's place.
        for name, column in sorted(zip(predictions.classes, model.proba.T, strict=True)):
            yield np.full(len(column), _hashed(name), np.uint64)
            yield np.ascontiguousarray(column)
    for name, numbers in sorted(model.numbers.items()):
        yield np.full(len(numbers), _hashed(name), np.uint64)
        yield np.ascontiguousarray(numbers)
    if model.attempts is not None:
        yield model.attempts.count
        yield model.attempts.spread


def _of_column(column: Column | None) -> list[np.ndarray]:
    if column is None:
        return []
    if column.categories is None:
        return [np.ascontiguousarray(column.values)]
    return [_of_labels(column.values, column.categories)]


def _of_labels(values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return a hash of each row's label, which does not depend on the other labels; numbers stay as they are."""
    if values.dtype.kind not in "iu":
        return np.ascontiguousarray(values)
    hashes = np.array([*(_hashed(name) for name in names), 0], np.uint64)
    return np.asarray(hashes[values])  # -1, a label that is not given, is the last


def _hashed(text: str) -> int:
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BYTES_OF_A_KEY).digest()
    return int.from_bytes(hashed, "little")


def _sha256(columns: Sequence[np.ndarray]) -> str:
    digest = hashlib.sha256()
    for column in columns:
        little = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
        digest.update(f"{little.dtype.str}{little.shape}".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()
