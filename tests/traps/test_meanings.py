"""Traps AQ to AS, AV and AW: one value in two spellings, a score of the other class, two models under one name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.texts.visible import short_names

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"


@pytest.mark.parametrize(
    "name, classes, accuracy", [("minus-zero", ["0", "1"], 7 / 8), ("plus-one", ["-1", "1"], 6 / 8)]
)
def test_aq_labels_that_are_one_number_are_one_class(name: str, classes: list[str], accuracy: float) -> None:
    """numpy.round writes -0.0, LIBSVM +1; right answers counted by hand."""
    found = er.evaluate(CASES / "equal-numbers" / f"{name}.csv", metrics=["accuracy"], resamples=20)
    assert list(found.classes) == classes
    assert found.metrics[0].value == accuracy


def test_ar_confidence_in_the_answer_is_turned() -> None:
    """ROC AUC of POSITIVE's probability is 0.9638, of the column as it stands 0.538."""
    found = er.evaluate(CASES / "confidence" / "prediction-score.csv", metrics=["roc_auc"], resamples=20)
    assert found.metrics[0].value == pytest.approx(0.9638009049773756, abs=1e-12)
    assert "score_is_confidence" in [w.code for w in found.warnings]


def test_as_two_configurations_of_one_provider_are_two_models(tmp_path: Path) -> None:
    """Promptfoo's own table: column 0 passes 6 of 9 tests, column 1 all."""
    out = tmp_path / "out.csv"
    assert (
        main(
            ["import", "promptfoo", str(CASES / "two-configurations" / "results.json"), "-o", str(out), "-q"]
        )
        == 0
    )
    passed: dict[str, float] = {}
    for row in csv.DictReader(out.read_text(encoding="utf-8").splitlines()):
        passed[row["model"]] = passed.get(row["model"], 0) + float(row["outcome"])
    assert list(passed.values()) == [6, 9]


def test_av_short_names_of_models_are_told_apart() -> None:
    """None has a number in its place, and a key stands beside them."""
    found = er.evaluate(CASES / "names" / "llms.csv", metrics=["mean_outcome"], resamples=20)
    short = short_names(found.models)
    assert not any("#" in name for name in short.values())
    summary = found.summary()
    for model, name in short.items():
        assert model == name or f"{name} is {model}" in summary


@pytest.mark.parametrize("name", ["ids", "zones"])
def test_aw_the_same_instants_are_the_same_ids(name: str) -> None:
    """In nanoseconds and microseconds, in Berlin and in UTC."""
    assert len(er.load(CASES / "instants" / name).ids) == 10
