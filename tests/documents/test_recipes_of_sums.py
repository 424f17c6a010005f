"""The recipes of docs/sums.md run on what seqeval and pycocotools give, and their rows are read."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sums.md"


def recipe(about: str) -> str:
    """Return the block of code that holds a name."""
    (block,) = [
        b for b in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL) if about in b
    ]
    return block


def entities(tags: list[str]) -> list[tuple[str, int, int]]:
    """Return (type, first, last) of each entity of BIO tags, as seqeval's `get_entities` does."""
    found: list[tuple[str, int, int]] = []
    for place, tag in enumerate(tags):
        kind, _, label = tag.partition("-")
        if kind == "I" and found and found[-1][0] == label and found[-1][2] == place - 1:
            found[-1] = (label, found[-1][1], place)
        elif kind in ("B", "I"):
            found.append((label, place, place))
    return found


def test_entities_of_seqeval_become_rows_by_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """True: PER at 0 to 1, ORG at 3; said: PER at 0 to 1, PER at 3. The second document has nothing to find."""
    scoring = ModuleType("seqeval.metrics.sequence_labeling")
    scoring.get_entities = entities  # type: ignore[attr-defined]
    for name, module in (("seqeval", ModuleType("seqeval")), ("seqeval.metrics", ModuleType("metrics"))):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "seqeval.metrics.sequence_labeling", scoring)
    names: dict[str, Any] = {
        "y_true": [["B-PER", "I-PER", "O", "B-ORG"], ["O", "O"], ["B-ORG", "O"]],
        "y_pred": [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-ORG"], ["B-ORG", "O"]],
    }
    exec(recipe("seqeval"), names)  # noqa: S102 - the page's own code
    assert sorted(names["rows"]) == [
        (0, "ORG", 0, 0, 1), (0, "PER", 1, 1, 0), (1, "ORG", 0, 1, 0), (2, "ORG", 1, 0, 0),
    ]  # fmt: skip
    table = pd.DataFrame(names["rows"], columns=["document", "label", "tp", "fp", "fn"])
    results = er.evaluate({"m": table}, resamples=20)
    assert (results.task, results.unit, results.n) == ("sums", "document", 3)
    assert results.metrics[0].value == pytest.approx(2 * 2 / (2 * 2 + 2 + 1))


def test_matches_of_pycocotools_become_rows_by_image() -> None:
    """One image: a sure match, an unsure one, a sure miss, a crowd that is ignored with its detection."""
    everything, small = [0, 1e10], [0, 1024]
    of_image = {
        "image_id": 7, "category_id": 3, "aRng": everything, "maxDet": 100,
        "dtMatches": np.array([[11, 12, 0, 13], [0, 0, 0, 0]]), "dtScores": [0.9, 0.3, 0.8, 0.7],
        "dtIgnore": np.array([[False, False, False, True], [False] * 4]),
        "gtIgnore": np.array([0, 0, 0, 1]),
    }  # fmt: skip
    evaluation = SimpleNamespace(
        params=SimpleNamespace(iouThrs=np.linspace(0.5, 0.95, 10), areaRng=[everything, small]),
        evalImgs=[of_image, None, of_image | {"aRng": small}],
    )
    names: dict[str, Any] = {"evaluation": evaluation, "np": np}
    exec(recipe("evalImgs"), names)  # noqa: S102
    assert names["rows"] == [(7, 3, 1, 1, 2)]
    table = pd.DataFrame(names["rows"], columns=["image_id", "label", "tp", "fp", "fn"])
    assert er.evaluate({"m": table}, resamples=20).unit == "image"
