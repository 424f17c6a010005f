"""One table of options: the flags, the configuration file and the records agree."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import evalreport
from evalreport.options import KEYS, Options, OutputOptions

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
    "--wide",
    "--labels",
    "--outcome",
    "--value",
    "--lower-is-better",
    "--higher-is-better",
    "--order",
    "--horizon",
    "--gold-sampled",
    "--judge-scale",
    "--alarms",
    "--attempts-by",
    "--class-order",
    "--encoding",
    "--finds",
    "--level",
    "--probabilities",
    "--sort-quantiles",
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
    "--thresholds",
    "--grade",
    "--cost",
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


def test_run_takes_every_promised_option(run):
    """Each promised spelling stands in the help of run, and so does every option that is declared."""
    shown = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run("run", "--help").out.split("Input:")[1]))
    flags = {key.flag for key in KEYS} | {key.short for key in KEYS if key.short}
    assert set(PROMISED) <= flags | {"--config"} <= shown


def test_the_help_states_the_defaults_that_hold():
    """The numbers in the summaries are those of the records."""
    for key in KEYS:
        stated = re.search(r"\(default ([\w.-]+?)[.;)]*\s*[;)]", key.summary)
        if stated and key.field not in ("threshold",):
            record = Options() if key.field in {f.name for f in fields(Options)} else OutputOptions()
            assert str(getattr(record, key.field)) == stated[1], key.name


@pytest.mark.parametrize(
    "words, instead",
    [
        (["--exact"], "--exact is gone: leave it out"),
        (["--template-time", "60"], "--template-time is gone: leave it out, templates have 30 seconds"),
        (["--against=0.8"], "for a bar of your own use --gate"),
    ],
)
def test_an_option_that_is_gone_is_named_with_what_replaces_it(run, tmp_path, monkeypatch, words, instead):
    """A flag, a key of evalreport.toml and a keyword: exit code 2 and one line that says what to do instead."""
    monkeypatch.chdir(tmp_path)
    answer = run("run", "models", *words)
    assert answer.code == 2
    assert instead in answer.err
    field = words[0].partition("=")[0].lstrip("-").replace("-", "_")
    Path("evalreport.toml").write_text(f"[evalreport]\n{field} = 1\n")
    assert instead in run("run", "models").err
    with pytest.raises(TypeError, match=f"--{field.replace('_', '-')} is gone"):
        evalreport.evaluate("models", **{field: 1})


@pytest.mark.parametrize("name", ["wilson_f1", "wilson_f1s", "wilson_recalls"])
def test_an_interval_of_class_shares_that_is_gone_names_plus_four(run, tmp_path, name):
    """METHODS 6B: plus_four took the place of all three."""
    (tmp_path / "a.csv").write_text("id,y_true,y_pred\n1,yes,yes\n2,no,no\n")
    answer = run("run", str(tmp_path / "a.csv"), "--interval", name, "-o", str(tmp_path / "out"))
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith(f"evalreport: {name} is gone: ")
    assert "plus_four" in answer.err.splitlines()[-1]


@pytest.mark.parametrize("kind", ["test", "interval"])
def test_a_method_that_is_gone_is_named_with_its_successor(run, tmp_path, kind):
    """Exit code 2, and one line that names what leads instead."""
    (tmp_path / "a.csv").write_text("id,y_true,y_pred\n1,yes,yes\n2,no,no\n")
    answer = run("run", str(tmp_path / "a.csv"), f"--{kind}", "newey_west", "-o", str(tmp_path / "out"))
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith(
        "evalreport: newey_west is gone: in order of time hac_t leads"
    )
