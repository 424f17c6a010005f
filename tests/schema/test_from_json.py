"""Saved results as records again: the same JSON, and the same sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError
from evalreport.schema.results import Results, to_json
from evalreport.texts import coded, joined


@pytest.fixture(scope="module")
def results() -> Results:
    """Two models with probabilities, a slice column and gates: verdicts, warnings and reasons of many kinds."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 120)
    models = {
        name: {"y_score": np.clip(0.5 + 0.2 * (2 * truth - 1) + rng.normal(0, s, 120), 0.01, 0.99)}
        for name, s in (("ash", 0.2), ("birch", 0.4))
    }
    return er.evaluate(models, truth=truth, gates=["ash.roc_auc >= 0.7", "n >= 1000"], resamples=100)


def test_saved_results_come_back(results: Results, tmp_path: Path) -> None:
    """Written again they are the same bytes, and verdicts and warnings have codes and parameters."""
    place = tmp_path / "any-name.json"
    place.write_bytes(to_json(results))
    found = er.Results.from_json(place)
    assert to_json(found) == to_json(results)
    for kept, made in zip(
        (*found.verdicts, *found.warnings), (*results.verdicts, *results.warnings), strict=True
    ):
        assert [coded(part)[0] for part in joined(kept.text)] == [
            coded(part)[0] for part in joined(made.text)
        ]
        assert str(kept.text) == str(made.text)
    assert str(found.headline.text) == str(results.headline.text)  # type: ignore[union-attr]


def test_a_text_that_was_edited_stays_as_it_is(results: Results, tmp_path: Path) -> None:
    """Its parameters no longer say the same, so the text is taken for what it is."""
    place = tmp_path / "results.json"
    text = str(results.verdicts[0].text)
    place.write_bytes(to_json(results).replace(text.encode(), b"Both are wonderful."))
    assert er.Results.from_json(place).verdicts[0].text == "Both are wonderful."


def test_what_is_no_results_is_refused(tmp_path: Path) -> None:
    """With the place of the wrong type."""
    place = tmp_path / "results.json"
    place.write_text('{"schema": "evalreport/results/2", "signature": 3}')
    with pytest.raises(InputError, match="signature must be a text, not a whole number"):
        er.Results.from_json(place)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('"n": 120', '"n": 1' + "0" * 400, "a whole number of 401 digits"),
        ('"n": 120', '"n": 1e400', "no finite number"),
        ('"options": {', '"options": {"x": ' + "[" * 200 + "]" * 200 + ",", "nested more than 100 deep"),
        ('"options": {', '"options": {"x": ' + "[" * 100_000 + ",", "nested too deeply"),
        ('"signature": "', '"signature": 3, "x": "', "signature must be a text, not a whole number"),
        ('"n": 120', '"n": 120, "n": 120', "names a key twice"),
        (
            '"models": [\n  "ash"',
            '"models": [\n  "' + "a" * 1_000_000 + '"',
            r"models\[0\]: .* length <= 1000",
        ),
    ],
    ids=["digits", "infinite", "deep", "deeper", "type", "twice", "name"],
)
def test_a_hostile_file_is_refused_in_one_line(
    results: Results, tmp_path: Path, old: str, new: str, said: str
) -> None:
    """Whatever a file holds, reading it ends with one message that names the file."""
    place = tmp_path / "results.json"
    text = to_json(results).decode()
    assert old in text
    place.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as refused:
        er.Results.from_json(place)
    assert str(place) in str(refused.value)
    assert len(str(refused.value)) < 600
    assert "\n" not in str(refused.value)


def test_a_model_whose_name_no_page_can_show_is_refused() -> None:
    """A run would write results that nothing reads."""
    with pytest.raises(InputError, match="has a name of 1,001 characters"):
        er.evaluate({"m" * 1001: [1, 0, 1]}, truth=[1, 0, 1])
