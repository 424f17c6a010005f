"""results.schema.json describes every results.json; results that come back from it draw the same report."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import jsonschema
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.history.connection import open_history
from evalreport.options import OutputOptions, Task
from evalreport.report.writing import _made
from evalreport.schema.json_schema import SCHEMA_FILE, TASKS, json_schema
from evalreport.schema.recorded import parsed, results_of
from evalreport.schema.results import SCHEMA, Results, to_json
from scripts.golden_reports import CASES, _source
from tests.samples.audits import audited

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DRAWN = OutputOptions(formats=("html", "json", "md", "csv", "tex", "card"), time="2026-01-01", detail="full")


def _golden(name: str) -> Callable[[], Results]:
    files, options = CASES[name]
    return lambda: er.evaluate(_source(files, options), resamples=20, seed=0, **options)


def _weeks(*names: str) -> Results:
    """Return what the example's audit of the last of these weeks finds, with its own options."""
    given = tomllib.loads((EXAMPLES / "nightly-audit/evalreport.toml").read_text(encoding="utf-8"))[
        "evalreport"
    ]
    options: dict[str, Any] = {f"{key}s": tuple(given[key]) for key in ("metric", "slice", "gate")}
    with TemporaryDirectory() as folder:
        history = open_history(f"sqlite:///{folder}/audits.db", create=True)
        for name in names:
            found, _, _ = audited(
                history, EXAMPLES / "nightly-audit/predictions" / name, resamples=20, **options
            )
        history.engine.dispose()
    return found.results


SOURCES: dict[str, Callable[[], Results]] = {
    **{name: _golden(name) for name in CASES},
    **{
        folder: lambda folder=folder, **options: er.evaluate(EXAMPLES / folder, resamples=20, **options)
        for folder in ("credit-default/models", "judged/answers", "suite/models", "5x2cv/predictions")
    },
    "bias-variance, ten replicates": lambda: er.evaluate(
        pq.read_table(
            EXAMPLES / "bias-variance/predictions/predictions.parquet", filters=[("replicate", "<=", 10)]
        ),
        resamples=20,
    ),
    "nightly-audit, the first week": lambda: _weeks("week-00"),
    "nightly-audit, a week that fell": lambda: _weeks("week-00", "week-12"),
}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    """The schema that is shipped, itself checked against its dialect."""
    document = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


def test_the_schema_is_the_one_of_the_records() -> None:
    """`make docs` wrote it after the last change of a record; it is in its dialect and bears the results' name."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == json_schema()
    document = json.loads(json_schema())
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == SCHEMA
    assert {entry.name for entry in fields(Results)} | {"sentences"} == set(document["properties"])
    assert get_args(Task) == TASKS


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_results_fit_the_schema_and_come_back_the_same(
    name: str, schema: jsonschema.Draft202012Validator
) -> None:
    """Every golden input and every example: valid, and read back as the same records, value by value."""
    results = SOURCES[name]()
    data = to_json(results)
    found = sorted(
        error.json_path + ": " + error.message[:200] for error in schema.iter_errors(json.loads(data))
    )
    assert found == []
    again = results_of(parsed(data, name))
    assert to_json(again) == data
    # The written form of records tells 1 from 1.0, and shows the order of mappings; NaN is NaN.
    assert repr(again) == repr(results)


@pytest.mark.slow
def test_results_that_come_back_draw_the_same_report() -> None:
    """The same bytes of every document; that the records are the same is asked of every input above."""
    results = SOURCES["nightly-audit, a week that fell"]()
    data = to_json(results)
    (first, failed), (second, also) = (
        _made(each, DRAWN, data) for each in (results, results_of(parsed(data, "results.json")))
    )
    assert not failed
    assert not also
    assert first == second


def test_a_wrong_file_does_not_fit(schema: jsonschema.Draft202012Validator) -> None:
    """A text for a number, an unknown verdict, a field that is missing; a field that is not known yet fits."""
    content = json.loads(to_json(SOURCES["single"]()))
    assert schema.is_valid({**content, "of_a_later_version": 1})
    assert not schema.is_valid({**content, "n": "many"})
    assert not schema.is_valid({key: value for key, value in content.items() if key != "metrics"})
    metrics = [{**content["metrics"][0], "value": "high"}]
    assert not schema.is_valid({**content, "metrics": metrics})
