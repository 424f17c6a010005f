"""One table of options: the flags, the configuration file and the records agree."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields

import pytest

from evalreport.cli.configuration import read_config
from evalreport.cli.preparation import starter
from evalreport.errors import UsageError
from evalreport.options import (
    KEYS,
    Options,
    OutputOptions,
    filled,
    output_options,
    validate,
    validate_output,
    with_fields,
)

# The command line that evalreport promises: scripts hang on these spellings.
PROMISED = [
    "-o",
    "--output",
    "-f",
    "--format",
    "--truth",
    "--task",
    "--positive",
    "--threshold",
    "--join",
    "--missing",
    "--outcome",
    "--value",
    "--lower-is-better",
    "--gold-sampled",
    "-b",
    "--baseline",
    "-m",
    "--metric",
    "--interval",
    "--test",
    "--confidence",
    "--resamples",
    "--seed",
    "--correction",
    "--margin",
    "--slice",
    "--cluster",
    "--weight",
    "--gate",
    "--detail",
    "--templates",
    "--title",
    "--time",
    "-j",
    "--jobs",
    "--config",
    "-q",
    "--quiet",
    "-v",
    "--verbose",
]


# What came beside the promise; an addition is free, but it is named here.
ADDED = {
    "--average",
    "--noise",
    "--same-input",
    "--kohavi-wolpert",
    "--exact",
    "--fixed-class-counts",
    "--against",
    "--cost-ratio",
    "--what-if-threshold",
    "--log-format",
    "--memory-limit",
    "--engine",
    "--junit",
    "--template-time",
}


def test_run_takes_every_promised_option(run):
    """Each promised spelling stands in the help of run, and no other but those that were added on purpose."""
    found = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run("run", "--help").out.split("Input:")[1]))
    assert set(PROMISED) <= found
    flags = {key.flag for key in KEYS} | {key.short for key in KEYS if key.short}
    assert flags | {"--config"} == set(PROMISED) | ADDED, "a new option is named in ADDED"


def test_every_field_of_the_records_has_a_key():
    """formats_named is no option: it says whether the formats were named."""
    names = {entry.name for record in (Options, OutputOptions) for entry in fields(record)}
    assert names - {"formats_named"} == {key.field for key in KEYS}


def test_the_help_states_the_defaults_that_hold():
    """The numbers in the summaries are those of the records."""
    for key in KEYS:
        stated = re.search(r"\(default ([\w.-]+?)[.;)]*\s*[;)]", key.summary)
        if stated and key.field not in ("threshold",):
            record = Options() if key.field in {f.name for f in fields(Options)} else OutputOptions()
            assert str(getattr(record, key.field)) == stated[1], key.name


def test_the_started_configuration_parses_and_holds_every_key(tmp_path):
    """As written it sets nothing; with every # taken off its keys it sets every key."""
    text = starter()
    assert tomllib.loads(text) == {"evalreport": {}}
    uncommented = re.sub(r"^#(?=\w)", "", text, flags=re.MULTILINE)
    assert set(tomllib.loads(uncommented)["evalreport"]) == {key.name for key in KEYS}
    path = tmp_path / "evalreport.toml"
    path.write_text(uncommented)
    values = read_config(path)
    assert set(values) == {key.field for key in KEYS}
    assert filled(OutputOptions, values).formats_named


def test_the_started_configuration_states_the_defaults(tmp_path):
    """A key whose default is a value stands there with that value."""
    path = tmp_path / "evalreport.toml"
    path.write_text(re.sub(r"^#(?=\w)", "", starter(), flags=re.MULTILINE))
    values = read_config(path)
    for record in (Options(), OutputOptions()):
        for entry in fields(record):
            default = getattr(record, entry.name)
            if default in (None, ()) or entry.name == "formats_named":
                continue
            expected = tmp_path / default if entry.name == "output" else default
            assert values[entry.name] == expected, entry.name


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
