"""Options: ranges, defaults, and one name or a list."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import evalreport
from evalreport.errors import UsageError
from evalreport.options import (
    KEYS,
    Options,
    OutputOptions,
    output_options,
    validate,
    validate_output,
    with_fields,
)


def test_every_field_of_the_records_has_a_key():
    """formats_named is no option: it says whether the formats were named."""
    names = {entry.name for record in (Options, OutputOptions) for entry in fields(record)}
    assert names - {"formats_named"} == {key.field for key in KEYS}


def test_a_word_file_is_answered_with_how_one_is_made():
    """Somebody asks for docx: the formats that there are, and the page that says what pandoc does."""
    with pytest.raises(UsageError, match=r"unknown format 'docx'.*summary\.md by pandoc \(docs/output\.md\)"):
        output_options({"formats": "docx"})


def read_in(package: Path) -> set[str]:
    """Return the options that modules read, as ``options.NAME``, ``output.NAME`` or in quotes for ``getattr``.

    A module ``options.py`` declares and checks its own: what only a check reads has no effect.
    """
    sources = [
        path.read_text(encoding="utf-8")
        for path in package.rglob("*.py")
        if path.name not in ("options.py", "keywords.py")
    ]
    by_name = [source for source in sources if "getattr(" in source]
    return {
        name for source in sources for name in re.findall(r"\b(?:options|deciding|output)\.(\w+)", source)
    } | {name for source in by_name for name in re.findall(r"""["'](\w+)["']""", source)}


def test_every_option_is_read_somewhere():
    """An option that is declared and said, but that no module asks for, does nothing: the last step was forgotten."""
    assert {key.field for key in KEYS} <= read_in(Path(evalreport.__file__).parent)


def test_an_option_that_only_its_own_check_reads_is_not_read(tmp_path):
    """Nor one whose name is that of a record's field; a stage of a run reads it."""
    room = tmp_path / "missed"
    room.mkdir()
    (room / "options.py").write_text(
        "def check_ranges(self):\n    options = self\n    assert options.share > 0\n"
    )
    (room / "section.py").write_text("def describe(view):\n    return view.record.share\n")
    assert "share" not in read_in(tmp_path)
    (room / "compute.py").write_text("def missed(run):\n    return run.options.share\n")
    assert read_in(tmp_path) == {"share"}


@pytest.mark.parametrize(
    "given, message",
    [
        ({"confidence": 95}, "95 % is 0.95"),
        ({"confidence": 0}, "between 0 and 1"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"confidence": float("nan")}, "finite"),
        ({"confidence": "0.9"}, "confidence must be a number, not '0.9'"),
        ({"confidence": None}, "confidence must be a number, not None"),
        ({"resamples": 0}, "at least 1"),
        ({"resamples": 10.5}, "whole number"),
        ({"resamples": True}, "whole number"),
        ({"seed": -1}, "at least 0"),
        ({"threshold": float("inf")}, "finite"),
        ({"margin": 0.0}, "greater than 0"),
        ({"margin": -0.1}, "greater than 0"),
        ({"task": "binray"}, "did you mean binary?"),
        ({"correction": "fdr"}, "unknown correction 'fdr'"),
        ({"join": "inner"}, "unknown join 'inner'"),
        ({"lower_is_better": "yes"}, "true or false"),
        ({"metrics": [1]}, "list of names"),
        ({"metrics": [""]}, "list of names"),
        ({"metric": "f1"}, "did you mean metrics?"),
        ({"outcome": "a", "value": "b"}, "contradict"),
        ({"outcome": "a", "task": "binary"}, "belongs to the task outcome"),
        ({"value": "a", "task": "outcome"}, "belongs to the task scores"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(given, message):
    """Before any file is read; the message says what is allowed."""
    with pytest.raises(UsageError) as caught:
        with_fields(Options(), given)
    assert message in str(caught.value)


def test_the_edges_of_the_ranges_are_allowed():
    """Seed 0 is a seed; one replicate is a replicate."""
    validate(Options(seed=0, resamples=1, confidence=0.5, threshold=-3.0, margin=1e-9))
    validate_output(OutputOptions())


@pytest.mark.parametrize(
    "given, message",
    [
        ({"jobs": 0}, "at least 1"),
        ({"formats": []}, "at least one of"),
        ({"formats": "htm"}, "did you mean html?"),
        ({"output": "-"}, "add -f json"),
        ({"memory_limit": "4"}, "a size such as 4GB"),
        ({"memory_limit": "-4GB"}, "a size such as 4GB"),
        ({"memory_limit": "1e3GB"}, "a size such as 4GB"),
        ({"memory_limit": "99MB"}, "at least 100MB"),
        ({"memory_limit": 4}, "text in quotes"),
        ({"detail": "long"}, "unknown detail"),
        ({"formats_named": True}, "unknown option"),
    ],
)
def test_an_output_option_that_is_not_allowed_is_refused(given, message):
    """The same, for what changes only the outputs."""
    with pytest.raises(UsageError) as caught:
        output_options(given)
    assert message in str(caught.value)


def test_fields_take_one_name_or_a_list_and_numpy_numbers():
    """What people pass from a notebook; the records hold plain values, which results.json can write."""
    import numpy as np

    options = with_fields(Options(), {"metrics": "f1", "seed": np.int64(3), "margin": np.float64(0.5)})
    assert options.metrics == ("f1",)
    assert (type(options.seed), type(options.margin)) == (int, float)
    assert with_fields(Options(), {"metrics": ["f1", "mcc", "f1"]}).metrics == ("f1", "mcc")
