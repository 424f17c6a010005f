"""`evalreport list`: every registered thing, whole, one a line where nobody reads it on a terminal."""

from __future__ import annotations

import pytest

from evalreport.comparisons import TESTS
from evalreport.intervals import INTERVALS
from evalreport.metrics import METRICS
from evalreport.metrics.curves import CURVES


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
