"""The digest of a table's content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.loading.load import load
from evalreport.options import Options

Write = Callable[[str, str], Path]

HEAD = "id,y_true,y_pred\n"


def test_inputs_are_recorded(write: Write) -> None:
    """Path relative to MODELS, SHA-256 of the bytes, rows and model of every file."""
    write("models/b.csv", HEAD + "1,1,1\n")
    folder = write("models/a.csv", "id,model,y_true,y_pred\n1,x,1,1\n1,y,1,1\n").parent
    records = load(folder).inputs
    assert [(r.path, r.rows, r.model) for r in records] == [("a.csv", 2, None), ("b.csv", 1, "b")]
    # sha256sum of "id,y_true,y_pred\n1,1,1\n", by coreutils.
    assert records[1].sha256 == "08c4b781a3c726887b0a68857bed0d8eaa435ecd12d0491e113e4298c028417d"


def test_equal_content_has_an_equal_digest() -> None:
    """In memory the digest is over what was understood, not over how it lay there."""
    a: dict[str, Any] = {"id": ["x", "y"], "y_true": [1, 0], "y_pred": [1, 1]}
    b: dict[str, Any] = {"id": np.array(["y", "x"]), "y_true": [0.0, 1.0], "y_pred": ["1", "1"]}
    first, second = load({"m": a}).inputs[0], load({"m": b}).inputs[0]
    assert first.sha256 == second.sha256
    assert first.path == "<memory>"
    assert load({"m": a | {"y_pred": [1, 0]}}).inputs[0].sha256 != first.sha256


def test_very_many_ids_in_memory_have_a_digest_that_tells_them_apart() -> None:
    """Beyond 100,000 ids the digest is taken piece by piece: one id that differs changes it, nothing raises."""
    n = 100_001
    ids = [f"{i:06d}" for i in range(n)]
    label = np.arange(n) % 2
    digests = {
        load({"a": {"id": [*ids[:-1], last], "y_true": label, "y_pred": label}}, options=Options())
        .inputs[0]
        .sha256
        for last in (ids[-1], "x")
    }
    assert len(digests) == 2


def test_costs_are_content() -> None:
    """Answers that only cost more are another input: a run of them is no repetition."""
    rows = {"id": ["a", "b"], "outcome": [1, 0], "cost": [1.0, 2.0]}
    found = {
        load({"m": {**rows, "cost": costs}}, options=Options()).inputs[0].sha256
        for costs in ([1.0, 2.0], [1.0, 3.0], [2.0, 1.0])
    }
    assert len(found) == 3
