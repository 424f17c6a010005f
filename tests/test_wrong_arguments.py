"""Arguments of a wrong kind or size: one line that names the argument, and no error of a library."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.cli.configuration import settle
from evalreport.errors import EvalreportError, InputError
from tests.samples.cases import every

ROWS = {"id": list(range(30)), "y_true": [0, 1] * 15, "y_pred": [0, 1, 1] * 10}
BIG = 10**400
LONG = pytest.param(10**5000, id="5,000 digits")
REFUSED = (EvalreportError, TypeError, ValueError)


def evaluate(**options: Any) -> er.Results:
    """Evaluate one small model."""
    return er.evaluate({"a": ROWS}, resamples=20, **options)


@pytest.mark.parametrize("jobs", [-1, 0, 1.5, True, "x", None, BIG, LONG])
def test_jobs(jobs: Any) -> None:
    """A whole number of threads."""
    with pytest.raises(REFUSED, match="jobs"):
        evaluate(jobs=jobs)


@pytest.mark.parametrize(
    "size", ["x", -1, 1.5, BIG, LONG, b"1GB", pytest.param("9" * 400 + "GB", id="400 digits"), "1e400GB"]
)
def test_memory_limit(size: Any) -> None:
    """A size with a unit."""
    with pytest.raises(REFUSED, match="memory_limit"):
        evaluate(memory_limit=size)


@pytest.mark.parametrize("name", ["seed", "resamples", "looks", "n_max", "confidence", "margin", "threshold"])
@pytest.mark.parametrize("value", [BIG, -BIG, LONG, "\ud800", object(), b"x", [1], {}, float("nan")])
def test_numbers(name: str, value: Any) -> None:
    """Every number among the options."""
    with pytest.raises(REFUSED, match=name):
        evaluate(**{name: value})


@pytest.mark.parametrize("column", ["id", "y_true", "y_pred"])
@pytest.mark.parametrize("value", [BIG, LONG, "\ud800"])
def test_values_of_a_column(column: str, value: Any) -> None:
    """Whole numbers of 400 digits and lone surrogates, with the model and the column."""
    rows = {**ROWS, column: [value, *ROWS[column][1:]]}
    with pytest.raises(REFUSED, match=column):
        er.evaluate({"a": rows}, resamples=20)


def test_names_of_models() -> None:
    """A lone surrogate is no name that could be written."""
    with pytest.raises(REFUSED, match="name"):
        er.evaluate({"\ud800": ROWS}, resamples=20)


@pytest.mark.parametrize("place", every(2, [None, 1, b"x", [], {}]))
def test_places(place: Any, tmp_path: Path) -> None:
    """What is no path is none, wherever it is meant to be one."""
    results = evaluate()
    for call in (
        lambda: er.render(results, place),
        lambda: er.render(place, tmp_path),
        lambda: er.verify(place),
        lambda: er.verify(results, inputs=place),
        lambda: er.compare_runs(results, place),
        lambda: results.save(place),
        lambda: er.Results.from_json(place),
    ):
        with pytest.raises(REFUSED):
            call()


def test_histories_and_names_to_declare(tmp_path: Path) -> None:
    """An address is text, models are a list of texts."""
    with pytest.raises(REFUSED, match="history"):
        er.verify(evaluate(), history=3)  # type: ignore[arg-type]
    for models in ("ab", [1]):
        with pytest.raises(REFUSED, match="models must be a list of names"):
            er.declare(tmp_path / "c.toml", truth=tmp_path, models=models)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [1e59, 1e150, 1e155, 1e200, 1e307, 1.7e308, 5e-324, 1e-200, 1e-59])
def test_weights_of_any_size(weight: float) -> None:
    """Weights are relative: the results of weights in other units, or one line about the column."""
    rows = {**ROWS, "w": [weight * (1 + k % 2) if weight < 1e308 else weight for k in range(30)]}
    table, options = {"a": rows, "b": rows}, {"metrics": ["accuracy", "f1"], "weight": "w", "resamples": 20}
    if not 1e-60 <= weight <= 1e60:
        with pytest.raises(InputError, match="column 'w'.*divide all weights by the same number"):
            er.evaluate(table, **options)
        return
    plain = {**ROWS, "w": [1 + k % 2 for k in range(30)]}
    found, other = er.evaluate(table, **options), er.evaluate({"a": plain, "b": plain}, **options)
    assert [r.value for r in found.metrics] == pytest.approx([r.value for r in other.metrics])


@pytest.mark.parametrize(
    "name", every(4, ["metrics", "gates", "slices", "baseline", "positive", "weight", "labels", "title"])
)
def test_texts_of_a_million_letters(name: str, tmp_path: Path) -> None:
    """Refused at once, with their name and in one short line."""
    key = {"metrics": "metric", "gates": "gate", "slices": "slice"}.get(name, name)
    listed = name in ("metrics", "gates", "slices", "labels")
    text = f'"{"x" * 1_000_000}"'
    (tmp_path / "evalreport.toml").write_text(f"[evalreport]\n{key} = {f'[{text}]' if listed else text}\n")
    began = time.monotonic()
    with pytest.raises(REFUSED, match=f"{name} is longer than 10,000 characters") as refused:
        settle((tmp_path,), {}, config=tmp_path / "evalreport.toml")
    assert len(str(refused.value)) < 300
    assert time.monotonic() - began < 5


def test_a_key_of_a_million_letters_or_of_50000_parts(tmp_path: Path) -> None:
    """Neither is compared with the known ones for long."""
    for key in ("x" * 1_000_000, ".".join("a" * 50_000)):
        (tmp_path / "evalreport.toml").write_text(f"[evalreport]\n{key} = 1\n")
        began = time.monotonic()
        with pytest.raises(REFUSED) as refused:
            settle((tmp_path,), {}, config=tmp_path / "evalreport.toml")
        assert len(str(refused.value)) < 400
        assert time.monotonic() - began < 5


def test_resamples_beyond_what_an_hour_can_do() -> None:
    """A million is the most."""
    with pytest.raises(REFUSED, match="resamples must be at most 1,000,000"):
        er.evaluate({"a": ROWS}, resamples=1_000_001)
