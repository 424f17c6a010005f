"""`evalreport verify` of a report with looks: what follows from its inputs, and what is only its word."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.looks.conftest import models
from tests.samples.cases import every
from tests.samples.two_models import run

ACCURACIES = {"good": 0.9, "poor": 0.7}


def write_models(folder: Path, n: int) -> Path:
    """Write the first n examples of two models."""
    folder.mkdir(parents=True)
    for name, columns in models(n, accuracies=ACCURACIES).items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))
    return folder


@pytest.fixture(scope="module")
def looked(tmp_path_factory) -> Path:
    """A folder with the models and the reports of three looks, of which the first decided."""
    place = tmp_path_factory.mktemp("looks")
    for number, n in enumerate((800, 850, 900), 1):
        words = ("-m", "accuracy", "--looks", "5", "--looks-file", str(place / "looks.json"))
        run(write_models(place / f"models{number}", n), place / f"out{number}", *words)
    return place


@pytest.mark.slow
def test_every_look_agrees_and_says_what_is_its_word(looked, verify):
    """The first look has no other before it; of the third one two are named, and their decision, quietly too."""
    assert verify(looked / "out1", "--inputs", looked / "models1", "-q") == (0, "")
    code, said = verify(looked / "out3", "--inputs", looked / "models3", "-q")
    assert (code, "differ: 0" in said) == (0, True)
    assert "on its word: looks 1 to 2, which came before, and what they decided (good / poor)" in said
    assert "\nAGREES, but for what is taken on its word" in said


def first(content: Any) -> Any:
    """Return the first of the looks before."""
    return content["looks"]["earlier"][0]


FORGERIES = {
    "the level of all": lambda content: content["looks"].update(level=0.05),
    "the number of looks": lambda content: content["looks"].update(looks=1),
    "which look it is": lambda content: content["looks"].update(look=1),
    "an earlier level": lambda content: first(content).update(level=0.05),
    "an earlier number": lambda content: first(content).update(n=700),
    "an earlier verdict": lambda content: first(content)["verdicts"][0].update(difference=0.3),
    "the verdict now": lambda content: content["verdicts"][0].update(low=0.19),
    "the look that decided": lambda content: content["verdicts"][0].update(decided_at=2),
    "no look that decided": lambda content: content["verdicts"][0].update(decided_at=-1),
    "a look cut out": lambda content: content["looks"]["earlier"].pop(0),
    "how many were decided": lambda content: first(content).update(decided=0),
    "a number of 300 digits": lambda content: first(content).update(n=10**299),
    "another hypothesis": lambda content: content["looks"]["hypothesis"].update(positive="0"),
    "other answers": lambda content: content["looks"]["digests"].update(good="0" * 64),
    "no looks": lambda content: content.update(looks=None),
}


@pytest.mark.parametrize("what", every(3, FORGERIES))
def test_a_forged_look_differs(what, looked, verify, tmp_path):
    """Levels, order and decisions follow from the looks before; counts and digests from the inputs."""
    place = Path(shutil.copy(looked / "out3/results.json", tmp_path))
    content = json.loads(place.read_text(encoding="utf-8"))
    FORGERIES[what](content)
    place.write_text(json.dumps(content), encoding="utf-8")
    code, said = verify(place, "--inputs", looked / "models3", "-q")
    assert (code, "\nDIFFERS: " in said) == (1, True), said


def test_a_look_that_was_counted_is_computed_again(looked, verify, tmp_path):
    """Without a file the level is alpha / looks: "look 1 of 5, level 0.05" differs."""
    words = ("-m", "accuracy", "--looks", "5", "--look", "1")
    run(looked / "models1", tmp_path / "out", *words)
    place = tmp_path / "out/results.json"
    assert verify(place, "--inputs", looked / "models1", "-q") == (0, "")
    content = json.loads(place.read_text(encoding="utf-8"))
    content["looks"]["level"] = 0.05
    place.write_text(json.dumps(content), encoding="utf-8")
    code, said = verify(place, "--inputs", looked / "models1")
    assert (code, "looks.level: recorded 0.05, recomputed 0.01" in said) == (1, True)
