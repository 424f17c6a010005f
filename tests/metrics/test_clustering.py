"""Agreement of groups: scikit-learn's values, derivatives, intervals that hold, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

import evalreport
from evalreport.cli import main
from evalreport.errors import InputError, UsageError
from evalreport.metrics.clustering import GroupTable, Overlap, expected_mutual_information
from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results

Labels = np.ndarray[Any, Any]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clustering.md"

EXACT = 1e-12
"""Both are sums of logarithms in another order."""


def purity(truth: Labels, said: Labels) -> float:
    """Return the share of examples in their group's most frequent class, from scikit-learn's table."""
    table = sk.cluster.contingency_matrix(truth, said)
    return float(table.max(axis=0).sum() / table.sum())


REFERENCE: Mapping[str, Callable[[Labels, Labels], float]] = {
    "rand_index": sk.rand_score,
    "adjusted_rand": sk.adjusted_rand_score,
    "nmi": sk.normalized_mutual_info_score,
    "ami": sk.adjusted_mutual_info_score,
    "homogeneity": sk.homogeneity_score,
    "completeness": sk.completeness_score,
    "v_measure": sk.v_measure_score,
    "purity": purity,
}


def table_of(truth: Labels, said: Labels) -> tuple[GroupTable, np.ndarray]:
    """Return the table of two groupings and its sums."""
    codes = (np.unique(labels, return_inverse=True)[1].astype(np.int32) for labels in (truth, said))
    table = GroupTable.of(*codes)
    return table, table.overlap(table.counts, expected_mutual_information(*table.sizes))


def groupings() -> list[tuple[Labels, Labels]]:
    """Return random groupings of 1 to 150 examples into up to 12 groups, and every pair of trivial ones."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(100):
        n, (k, g) = int(random.integers(1, 150)), random.integers(1, 13, 2)
        found.append((random.integers(0, k, n), random.integers(0, g, n)))
    for n in (1, 2, 30):
        trivial = (np.zeros(n, int), np.arange(n), np.arange(n) % 2)
        found += [(truth, said) for truth in trivial for said in trivial]
    return found


@pytest.mark.slow
def test_values_are_those_of_scikit_learn() -> None:
    """Every metric is scikit-learn's, on random tables, one group, and as many groups as examples."""
    assert set(REFERENCE) == {m.name for m in METRICS.values() if m.tasks == ("clustering",)}
    for truth, said in groupings():
        _, sums = table_of(truth, said)
        for name, reference in REFERENCE.items():
            ours = METRICS[name].computation.function(Overlap(*sums))
            ours = 1.0 if np.isnan(ours) else float(ours)  # by convention, with the reason
            assert ours == pytest.approx(reference(truth, said), abs=EXACT), (name, truth, said)


def test_derivatives_are_those_of_one_more_example() -> None:
    """The derivative by an example of a cell is the change of the value by a small part of one, centred."""
    random = np.random.default_rng(1)
    table, sums = table_of(random.integers(0, 3, 60), random.integers(0, 4, 60))
    step = 1e-5
    for metric in (METRICS[name] for name in REFERENCE):
        moved = table.overlap(table.counts + step * np.eye(len(table.counts)), sums[-1])
        less = table.overlap(table.counts - step * np.eye(len(table.counts)), sums[-1])
        up, down = (metric.computation.function(Overlap(*s.T)) for s in (moved, less))
        slopes = (up - down) / (2 * step)
        # At the data the groups' largest cells are no ties, so purity has a derivative too.
        by_sum = [_slope(metric.computation.function, sums, place) for place in range(len(sums))]
        centred = slopes - (table.counts * slopes).sum() / table.counts.sum()
        assert table.slopes(np.array(by_sum)) == pytest.approx(centred, abs=1e-7), metric.name


def _slope(function: Callable[[Overlap], Any], sums: np.ndarray, place: int) -> float:
    moved = sums.astype(complex)
    moved[place] += 1e-20j
    return float(function(Overlap(*moved)).imag / 1e-20)


def groups_of(n: int, *, seed: int, noise: Mapping[str, float], k: int = 3) -> dict[str, dict[str, Any]]:
    """Return models that put a share of the examples into a group drawn at random, under names of their own."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, k, n)
    source = {}
    for place, (name, share) in enumerate(noise.items()):
        said = np.where(random.random(n) < share, random.integers(0, k, n), truth)
        source[name] = {
            "y_true": [f"kind {code}" for code in truth],
            "y_pred": [str((code + place) % k) for code in said],
            "half": (np.arange(n) % 2).tolist(),
            "ward": (np.arange(n) // 5).tolist(),
        }
    return source


@pytest.fixture(scope="module")
def results() -> Results:
    """Three clusterings of 300 examples, of which one is the first with its groups renamed."""
    source = groups_of(300, seed=2, noise={"close": 0.1, "far": 0.5})
    renamed = {"0": "zebra", "1": "ape", "2": "0"}
    source["renamed"] = source["close"] | {"y_pred": [renamed[label] for label in source["close"]["y_pred"]]}
    return evalreport.evaluate(source, task="clustering", slices=("half",), resamples=400)


def test_names_of_groups_mean_nothing(results: Results) -> None:
    """Groups under other names have the same values, and difference 0 at p = 1."""
    for name in REFERENCE:
        close, renamed = (
            next(r for r in results.metrics if (r.model, r.metric, r.slice) == (model, name, None))
            for model in ("close", "renamed")
        )
        assert close.value == pytest.approx(renamed.value, abs=1e-12)
        assert close.intervals[0].low is not None
        assert close.intervals[0].low < close.value < close.intervals[0].high  # type: ignore[operator]
    rows = [r for r in results.comparisons if (r.a, r.b) == ("close", "renamed") and r.slice is None]
    assert {r.metric for r in rows} == set(REFERENCE)
    assert {r.p_value for r in rows} == {1.0}
    assert {r.test for r in rows if r.recommended} == {"interval"}


def test_the_decision_is_on_the_adjusted_rand_index(results: Results) -> None:
    """The adjusted Rand index decides; the far clustering is told apart, and sections about classes stay away."""
    assert results.primary_metric == "adjusted_rand"
    assert [r.model for r in results.ranking][-1] == "far"
    told = {
        (r.a, r.b): r.p_adjusted for r in results.comparisons if r.recommended and r.p_adjusted is not None
    }
    assert told["close", "far"] is not None
    assert told["close", "far"] < 0.05
    of_classes = (results.classes, results.confusion, results.baselines, results.disagreements)
    assert (*of_classes, results.unanimity, results.effects, results.curves) == ([],) * 7
    assert {w.code for w in results.warnings} <= {
        "clustering_bootstrap",
        "several_comparisons",
        "overlap_is_no_test",
        "reused_test_set",
        "few_resamples",
        "few_resamples_for_family",
    }
    assert any(r.slice is not None and r.value is not None for r in results.metrics)


def test_a_slice_is_a_run_on_its_rows(results: Results) -> None:
    """The values of a slice are scikit-learn's on its rows."""
    close = groups_of(300, seed=2, noise={"close": 0.1, "far": 0.5})["close"]
    truth, said = (np.array(close[name])[::2] for name in ("y_true", "y_pred"))
    (record,) = (
        r
        for r in results.metrics
        if r.slice is not None and (r.model, r.metric, r.slice.value) == ("close", "adjusted_rand", "0")
    )
    assert record.value == pytest.approx(sk.adjusted_rand_score(truth, said), abs=EXACT)


def test_whole_clusters_of_examples_are_drawn() -> None:
    """With --cluster Student's t by clusters leads, as for every other metric."""
    source = groups_of(200, seed=3, noise={"a": 0.2, "b": 0.5})
    found = evalreport.evaluate(source, task="clustering", cluster="ward", resamples=100)
    assert {r.intervals[0].method for r in found.metrics} == {"cluster_wilson"}
    assert {r.test for r in found.comparisons if r.recommended} == {"cluster_t"}


@pytest.mark.slow
def test_intervals_hold_where_groups_are_filled_and_are_refused_where_not() -> None:
    """Of 60 sets of 500 examples with 5 in a cell at least 51 intervals of NMI hold its mean over such sets.

    They held 94 of 100; where the replicates are not moved to the value it is 54. A count below 51 of 60 at 0.94 comes
    once in 130 times; the seeds are fixed.
    """
    sets = [groups_of(500, seed=seed, noise={"m": 0.4}, k=10) for seed in range(300)]
    mean = np.mean([sk.normalized_mutual_info_score(s["m"]["y_true"], s["m"]["y_pred"]) for s in sets])
    held = 0
    for source in sets[:60]:
        found = evalreport.evaluate(source, task="clustering", metrics=("nmi",), resamples=300)
        (interval, *_) = found.metrics[0].intervals
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= mean <= interval.high
    assert held >= 51
    thin = evalreport.evaluate(groups_of(60, seed=0, noise={"m": 0.4}, k=4), task="clustering", resamples=100)
    without = {
        r.metric for r in thin.metrics if r.intervals[0].low is None and "fewer than 5" in str(r.reason)
    }
    assert without == {"nmi", "ami", "homogeneity", "completeness", "v_measure"}


def test_perfect_agreement_has_no_interval() -> None:
    """No replicate of the true groups varies: the value is 1, and no limits are made up."""
    truth = ["a", "b"] * 30
    found = evalreport.evaluate(
        {"m": {"y_true": truth, "y_pred": [label.upper() for label in truth]}}, task="clustering"
    )
    for record in found.metrics:
        assert record.value == pytest.approx(1, abs=EXACT)
        assert record.intervals[0].low is None
        assert record.intervals[0].reason


def test_what_it_is_not_defined_for_is_refused() -> None:
    """Weights, several fits, probabilities and metrics of other tasks are refused with the reason."""
    source = groups_of(40, seed=4, noise={"a": 0.2})
    with pytest.raises(UsageError, match="no pair has a weight"):
        evalreport.evaluate(source, task="clustering", weight="ward")
    folds = {"a": source["a"] | {"id": list(range(40)), "fold": [i % 4 for i in range(40)]}}
    with pytest.raises(UsageError, match="several fits have no names in common"):
        evalreport.evaluate(folds, task="clustering")
    with pytest.raises(InputError, match="belong to classes"):
        evalreport.evaluate({"a": source["a"] | {"score": [0.5] * 40}}, task="clustering")
    with pytest.raises(UsageError, match="these data are clustering"):
        evalreport.evaluate(source, task="clustering", metrics=("accuracy",))


@pytest.mark.slow
def test_a_million_examples_cost_what_their_cells_do() -> None:
    """Replicates are drawn by cell: with a million examples as many draws as with a thousand."""
    random = np.random.default_rng(5)
    truth = random.integers(0, 4, 10**6).astype(np.int32)
    table = GroupTable.of(truth, (truth + (random.random(10**6) < 0.1)).astype(np.int32))
    assert len(table.counts) == 8
    assert table.counts.sum() == 10**6


def test_the_page_about_clusterings_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of docs/clustering.md run one after the other, and the mixture is found better than k-means."""
    monkeypatch.chdir(tmp_path)
    python, console = re.findall(
        r"^```\w+\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    exec(compile(python, PAGE.name, "exec"), {})  # noqa: S102 - our own page
    (line,) = console.splitlines()
    assert main([*shlex.split(line)[2:], "-f", "json"]) == 0
    found = json.loads((tmp_path / "evalreport-out" / "results.json").read_text(encoding="utf-8"))
    assert [row["model"] for row in found["ranking"]] == ["mixture", "k-means"]


def test_the_kind_of_task_is_no_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--task with the name of a task of a suite says that the option is about the kind of task."""
    assert main(["run", str(tmp_path), "--task", "gsm8k"]) == 2
    assert "kind of task, no column" in capsys.readouterr().err
