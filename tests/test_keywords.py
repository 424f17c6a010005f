"""Keywords of the public functions: documented, and suggested where one is misspelt.

That they are typed is held by mypy, on tests/samples/typed_keywords.py.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

import evalreport as er
from evalreport.errors import UsageError
from evalreport.options import RENDERING, Options, OutputOptions


@pytest.mark.parametrize(
    "function, keyword, meant",
    [
        (er.evaluate, "confidnce", "confidence"),
        (er.evaluate, "metric", "metrics"),
        (er.compare, "metric", "metrics"),
        (er.evaluate, "Truth", "truth"),
        (er.load, "possitive", "positive"),
        (er.check, "tasks", "task"),
        (er.render, "format", "formats"),
        (er.resample, "job", "jobs"),
        (er.compare_runs, "input", "inputs"),
        (er.verify, "job", "jobs"),
        (er.plan, "halfwidth", "half_width"),
    ],
)
def test_a_misspelt_keyword_is_a_type_error_with_a_suggestion(function, keyword, meant):
    """As for any function of Python, and as for a misspelt option; before anything is read."""
    for kind in (TypeError, UsageError):
        with pytest.raises(kind, match=rf"{function.__name__}\(\): .*did you mean {meant}\b"):
            function(**{keyword: "x"})


def test_the_help_of_a_function_documents_every_keyword_that_it_takes():
    """Those of the options are written from their declarations, in the words of the command line."""
    for function, record, left_out in (
        (er.evaluate, Options, {"truth"}),
        (er.render, OutputOptions, {f.name for f in fields(OutputOptions)} - set(RENDERING)),
    ):
        documented = inspect.getdoc(function).split("Other Parameters")[1].split("\nReturns")[0]
        names = set(re.findall(r"^(\w+) : ", documented, flags=re.MULTILINE))
        assert names == {f.name for f in fields(record)} - left_out
        assert function.__annotations__["return"] in ("Results", "RenderOutcome")
    assert "Confidence level of the intervals" in er.evaluate.__doc__


def test_an_option_of_outputs_is_a_keyword_of_render_or_of_running():
    """A new one that changes documents is named in RENDERING, else `render` would refuse it; others are named here."""
    of_running = {"output", "junit", "jobs", "memory_limit", "engine", "log_format", "quiet", "verbose"}
    of_running |= {"formats_named"}  # whether the user named the formats
    assert {f.name for f in fields(OutputOptions)} == {*RENDERING} | of_running
