"""Before a run: `evalreport init`, `list` and `templates`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from evalreport.cli.configuration import read_config
from evalreport.cli.preparation import starter
from evalreport.comparisons import TESTS
from evalreport.intervals import INTERVALS
from evalreport.metrics import METRICS
from evalreport.metrics.curves import CURVES
from evalreport.options import KEYS, Options, OutputOptions, filled


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


def test_init_writes_the_commented_configuration(run):
    """Into the current folder, or one that is named and made; standard output says where."""
    assert run("init").out == "evalreport.toml\n"
    assert Path("evalreport.toml").read_text(encoding="utf-8") == starter()
    assert "\n##:schema ./evalreport.schema.json\n" in starter()  # taplo's directive once its # is off
    assert run("init", "new/project").code == 0
    assert Path("new/project/evalreport.toml").is_file()


def test_init_never_overwrites(run):
    """A file that is there stays as it is, and so does a file where the folder should be."""
    Path("evalreport.toml").write_text("mine")
    outcome = run("init")
    assert outcome.code == 2
    assert (
        outcome.err
        == "evalreport: evalreport.toml: already exists and was left as it is; name another folder\n"
    )
    assert Path("evalreport.toml").read_text() == "mine"
    for folder in ("evalreport.toml", "evalreport.toml/below"):
        assert run("init", folder).code == 2


def test_a_started_project_runs(run, fakes):
    """The configuration that init writes is taken as it is, and sets nothing."""
    from evalreport.options import Options

    run("init")
    assert run("run", "models").code == 0
    assert fakes.calls[0]["options"] == Options()


def test_templates_are_copied_and_those_there_are_kept(run):
    """The same files as `list templates` names."""
    names = run("list", "templates").out.split()
    assert "base.html.j2" in names
    Path("mine").mkdir()
    Path("mine/base.html.j2").write_text("edited")
    outcome = run("templates", "copy", "mine")
    assert outcome.code == 0
    assert outcome.out == f"mine: {len(names) - 1} files copied, 1 kept as they were\n"
    assert Path("mine/base.html.j2").read_text() == "edited"
    assert sorted(p.relative_to("mine").as_posix() for p in Path("mine").rglob("*") if p.is_file()) == sorted(
        names
    )


def test_templates_need_a_folder(run):
    """A file in the way is one message."""
    Path("taken").write_text("mine")
    outcome = run("templates", "copy", "taken")
    assert outcome.code == 2
    assert outcome.err.startswith("evalreport: taken: cannot be written")


@pytest.mark.parametrize(
    "words, registry", [("metrics", METRICS), ("intervals", INTERVALS), ("tests", TESTS), ("curves", CURVES)]
)
def test_every_entry_stands_on_one_line_with_its_label_and_summary(run, words, registry):
    """Tab-separated and not cut, so that grep and cut work on it."""
    outcome = run("list", words)
    assert outcome.code == 0
    rows = {line.split("\t")[0]: line.split("\t") for line in outcome.out.splitlines()}
    assert list(rows) == list(registry)
    for name, entry in registry.items():
        shown = entry.display if words == "metrics" else entry
        assert rows[name][1] == shown.label
        assert rows[name][-1] == shown.summary


def test_warnings_have_a_code_levels_and_a_meaning(run):
    """The first level is the usual one; a warning that is named nowhere else is a caution."""
    outcome = run("list", "warnings")
    assert outcome.code == 0
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in outcome.out.splitlines()}
    assert rows["few_examples"] == ["caution", "There are fewer than 30 examples."]
    assert rows["trained_on_test"][0] == "blocker"
    assert rows["several_comparisons"][0] == "info"
    assert rows["gold_not_random"][0] == "blocker, caution, info"
    assert all(len(row) == 2 and row[1].endswith(".") for row in rows.values())


def test_a_metric_names_its_tasks_and_recommended_interval(run):
    """ROC AUC is for two classes; what leads is the first of its intervals."""
    row = next(
        line.split("\t") for line in run("list", "metrics").out.splitlines() if line.startswith("roc_auc\t")
    )
    assert row[2] == "binary"
    assert row[3] == METRICS["roc_auc"].inference.intervals[0]


def test_on_a_terminal_names_are_never_cut(run, monkeypatch):
    """Sixty columns wrap the sentences and keep the names that people copy."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    out = run("list", "intervals").out
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == list(INTERVALS)
    assert max(len(line) for line in out.splitlines()) <= 60
    words = " ".join(out.split())
    assert all(entry.label.split()[0] in words for entry in INTERVALS.values())


def test_the_schema_of_the_settings_takes_what_init_writes(run):
    """Every key of the started file is valid; a wrong key, type or choice is not, as `run` refuses them."""
    import json

    from jsonschema import Draft202012Validator

    schema = json.loads(run("schema", "--settings").out)
    Draft202012Validator.check_schema(schema)
    valid = Draft202012Validator(schema).is_valid
    uncommented = re.sub(r"^#(?=\w)", "", starter(), flags=re.MULTILINE)
    assert valid(tomllib.loads(uncommented))
    assert valid({"evalreport": {"metric": "f1", "format": "html"}})
    for wrong in ({"sead": 1}, {"seed": "x"}, {"join": "outer"}, {"wide": 1}, {"metric": [1]}):
        assert not valid({"evalreport": wrong}), wrong
    assert not valid({"seed": 1})
