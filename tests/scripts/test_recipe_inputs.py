"""The inputs of the recipes, and the numbers that their pages promise."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from scripts.recipe_inputs import RECIPES
from tests.documents.test_site import steps

PAGES = Path(__file__).resolve().parents[2] / "docs" / "recipes"


@pytest.mark.parametrize("name", RECIPES)
def test_inputs_are_the_same_every_time(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A file of at least 40 rows, used by a page."""
    monkeypatch.chdir(tmp_path)
    RECIPES[name]()
    (path,) = tmp_path.iterdir()
    first = path.read_bytes()
    RECIPES[name]()
    assert path.read_bytes() == first
    assert first.count(b"\n") > 40
    assert any(f"scripts.recipe_inputs {name} " in page.read_text("utf-8") for page in PAGES.glob("*.md"))


def test_every_recipe_shows_a_command_and_what_comes_out():
    """A run, and lines that the run prints; every page is in the table of contents."""
    index = (PAGES.parent / "index.md").read_text(encoding="utf-8")
    for page in sorted(PAGES.glob("*.md")):
        blocks = list(steps(page.read_text(encoding="utf-8")))
        assert any(kind == "console" and "evalreport run " in text for kind, _, text in blocks), page
        assert sum(kind == "text" for kind, _, _ in blocks) >= 2, page
        assert f"\nrecipes/{page.stem}\n" in index


def test_weights_by_censoring_give_the_brier_score_of_graf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Graf et al. (1999), formula 4, computed here from the patients; the weights add up to all of them."""
    monkeypatch.chdir(tmp_path)
    RECIPES["survival"]()
    page = (PAGES / "survival.md").read_text(encoding="utf-8")
    (script,) = [text for kind, note, text in steps(page) if note == "weights.py"]
    exec(script, {})  # noqa: S102 - the page's own lines
    patients = pd.read_csv("patients.csv")
    years, dead, horizon = patients.years.to_numpy(), patients.dead.to_numpy(), 5
    order = np.lexsort((-dead, years))  # deaths first
    followed = np.ones(
        len(years)
    )  # G just before each patient's end, and the last one of all before the horizon
    share, before = 1.0, 1.0
    last, at_horizon = -1.0, 1.0
    for place, patient in enumerate(order):
        if years[patient] != last:
            before, last = share, years[patient]
        followed[patient] = before
        if not dead[patient]:
            share *= 1 - 1 / (len(order) - place)
            if years[patient] < horizon:
                at_horizon = share
    results = er.evaluate("survival", weight="ipcw", metrics=["brier"], resamples=100)
    values = {row.model: row.value for row in results.metrics}
    for model in ("new", "old"):
        risk = patients[f"risk_{model}"].to_numpy()
        died = (years < horizon) & (dead == 1)
        graf = np.where(died, (1 - risk) ** 2 / followed, np.where(years >= horizon, risk**2 / at_horizon, 0))
        assert values[model] == pytest.approx(graf.mean(), rel=1e-12)
    weights = pd.read_csv("survival/new.csv").ipcw
    assert weights.sum() == pytest.approx(len(patients), rel=1e-12)
    assert re.search(rf"new +{values['new']:.4f} ", page)
