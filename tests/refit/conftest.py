"""Small examples and plans for the tests of resampling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.refit.examples import Examples, read_examples
from evalreport.refit.plans import DataSource

TREE = '[[estimator]]\nname = "tree"\nimport = "sklearn.tree:DecisionTreeClassifier"\n'
BAYES = '[[estimator]]\nname = "bayes"\nimport = "sklearn.naive_bayes:GaussianNB"\n'


def write_examples(path: Path, n: int = 60, *, seed: int = 0) -> None:
    """Two numeric features, two classes (a third of them yes), six groups, a date a day; the truth is learnable."""
    generator = np.random.default_rng(seed)
    label = np.where(np.arange(n) % 3 == 0, "yes", "no")
    first = generator.normal(size=n) + (label == "yes")
    second = generator.normal(size=n)
    lines = ["id,first,second,ward,day,label,value"]
    for i in range(n):
        day = f"2024-{1 + i // 28 % 12:02d}-{1 + i % 28:02d}"
        numbers = float(first[i]), float(second[i]), float(2 * first[i] - second[i])
        lines.append(f"e{i},{numbers[0]!r},{numbers[1]!r},w{i % 6},{day},{label[i]},{numbers[2]!r}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds ``examples.csv`` with 60 examples."""
    write_examples(tmp_path / "examples.csv")
    return tmp_path


@pytest.fixture
def plan(folder: Path) -> Callable[..., Path]:
    """Write a plan about the examples and return its path."""

    def write(scheme: str, *estimators: str, data: str = "", top: str = "", name: str = "plan.toml") -> Path:
        path = folder / name
        features = "" if "features" in data else 'features = ["first", "second"]\n'
        target = "" if "target" in data else 'target = "label"\n'
        path.write_text(
            f'{top}\n[data]\nfile = "examples.csv"\n{target}{features}{data}\n[scheme]\n{scheme}\n'
            + "\n".join(estimators or (TREE, BAYES))
        )
        return path

    return write


@pytest.fixture
def examples(folder: Path) -> Examples:
    """The 60 examples, with groups."""
    return examples_of(folder, group="ward")


def examples_of(folder: Path, **fields: Any) -> Examples:
    """Read the examples of a folder with other parts for the columns."""
    given = {"target": "label", "features": ("first", "second"), **fields}
    return read_examples(DataSource(file=Path("examples.csv"), **given), folder)
