"""A single example, event or value is spoken of as one; and what is alike for all models is said once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.schema.results import Results

pytestmark = pytest.mark.usefixtures("undrawn")


def page(results: Results, folder: Path) -> str:
    """The report as HTML."""
    er.render(results, folder, formats=["html"])
    return (folder / "report.html").read_text(encoding="utf-8")


def test_one_positive_is_one_example_and_one_event(tmp_path: Path) -> None:
    """One of a hundred rows is positive: "1 example", "1 event", and 99 others."""
    rng, truth = np.random.default_rng(6), [1] + [0] * 99
    models = {
        name: {"id": range(100), "y_true": truth, "p_1": 0.05 + 0.3 * np.array(truth) + 0.1 * rng.random(100)}
        for name in ("m1", "m2")
    }
    said = page(er.evaluate(models, resamples=20), tmp_path)
    assert "1 example of “1”" in said
    assert "100 examples, 1 event." in said
    assert "1 examples" not in said
    assert "1 events" not in said


@pytest.mark.slow
def test_the_same_for_every_model_is_said_with_one_number(tmp_path: Path) -> None:
    """A class that no model ever finds: 0 % each; constant scores: the average precision of guessing each."""
    truth = np.array(["x", "y", "z"])[np.arange(120) % 3]
    labels = {
        name: {"id": range(120), "y_true": truth, "y_pred": np.where(truth == "z", wrong, truth)}
        for name, wrong in (("a", "x"), ("b", "y"))
    }
    assert "Recall on “z” is lowest for every model: 0 % each" in page(
        er.evaluate(labels, resamples=20), tmp_path
    )
    flat = {
        name: {"id": range(40), "y_true": [0, 1] * 20, "p_1": [p] * 40}
        for name, p in (("yes", 0.9), ("no", 0.2))
    }
    shown = page(er.evaluate(flat, resamples=20), tmp_path).replace("\xa0", " ")
    assert "No single leader on average precision: 0.500 each" in shown


def test_the_level_of_a_look_is_called_so(tmp_path: Path) -> None:
    """The first of five looks: an interval of 99.9999 % is that of this look."""
    rng = np.random.default_rng(7)
    models = {m: {"id": range(200), "outcome": (rng.random(200) < 0.8).astype(int)} for m in ("a", "b")}
    said = page(er.evaluate(models, resamples=20, looks=5, looks_file=str(tmp_path / "looks.json")), tmp_path)
    assert "%, the level of this look)" in said
    assert "0.0000010" not in said
