"""How a value changed since an earlier run: what is compared with what, and by which interval."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.errors import EvalreportError
from evalreport.history.run_differences import recorded_limits, square_and_add
from evalreport.history.store import accept, prune, runs
from evalreport.loading.load import load
from evalreport.metrics.registry import PRIMARY
from evalreport.schema.audit import HistoryRecord
from evalreport.schema.comparisons import ComparisonRecord
from tests.samples.audits import audited, options, right, share
from tests.samples.cases import every

ALIKE = ("default_", "slovak_", "breast_cancer_632_", "diabetes_bootstrap")
"""Files whose task and layout others have too, which are smaller."""
FILES = sorted(
    path
    for path in (Path(__file__).parents[1] / "data" / "predictions").glob("*")
    if not path.name.startswith(ALIKE)
)
THEN = share(90, 100)
# Wrong on 12 more examples, and right on 3 that were wrong then.
NOW = [0] * 12 + share(78, 78) + [1] * 3 + [0] * 7


def both(now, then, **given) -> ComparisonRecord:
    """The recommended comparison of the two runs' answers as two models of one run."""
    source = now | {"then": next(iter(then.values()))}
    results = evalreport.evaluate(source, options=options(**given))
    row = next(r for r in results.comparisons if r.recommended)
    assert (row.a, row.b) == ("forest", "then")
    return row


def changed(history, *sources, **given) -> HistoryRecord:
    """Audit one source after the other; return the last one's change since the accepted run."""
    for source in sources:
        found, _, _ = audited(history, source, **given)
    return found.results.history[0]


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_on_the_same_examples_both_runs_are_compared_as_two_models_of_one_run_are(history, metric):
    """Difference, interval, test and p-value are those of `evaluate` on the two columns of answers."""
    found = changed(history, right(THEN), right(NOW), metrics=(metric,))
    wanted = both(right(NOW), right(THEN), metrics=(metric,))
    assert found.paired
    assert (found.difference, found.low, found.high) == (wanted.difference, wanted.low, wanted.high)
    assert (found.test, found.p_value, found.interval_method) == (
        wanted.test,
        wanted.p_value,
        wanted.interval_method,
    )


def test_the_paired_difference_of_accuracies_follows_by_hand(history):
    """Of 100 examples 12 are lost and 3 gained: now - then = -0.09; 0.81 now, 0.90 then."""
    found = changed(history, right(THEN), right(NOW))
    assert found.difference == pytest.approx(-0.09, abs=1e-12)
    assert (found.value, found.reference_value) == pytest.approx((0.81, 0.90))
    assert found.interval_method == "plus_two"
    assert found.text == "pair by pair on the same 100 examples"


def test_on_other_examples_the_runs_are_two_independent_samples(history):
    """Newcombe's method 10 on 90 of 100 then and 81 of 100 now, which is square-and-add of the Wilson limits."""
    found = changed(history, right(THEN), right(NOW, first=1000))
    assert not found.paired
    now, then = wilson(81, 100), wilson(90, 100)
    by_hand = square_and_add((0.81, *now), (0.90, *then))
    assert found.interval_method == "newcombe_independent"
    assert (found.low, found.high) == pytest.approx((by_hand.low, by_hand.high), abs=1e-12)
    assert found.text == "as independent samples (n = 100 then, 100 now)"


def wilson(successes: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson (1927): (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    p = successes / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def test_examples_that_are_shared_by_two_different_sets_are_said(history):
    """A window that moved on by a half: not paired, and why the interval is careful."""
    found = changed(history, right(THEN), right(NOW, first=50))
    assert not found.paired
    assert "50 of them the same, which makes the interval too wide rather than too narrow" in found.text


def test_row_numbers_are_no_ids(history):
    """Files without ids have equal row numbers whatever they hold: never paired."""
    sources = []
    for pattern in (THEN, NOW):
        columns = dict(right(pattern)["forest"])
        del columns["id"]
        sources.append({"forest": columns})
    found = changed(history, *sources)
    assert not found.paired
    assert "without a column id nothing says which examples are the same" in found.text


def test_a_corrected_truth_is_no_change_of_the_model(history):
    """The same answers under two corrected labels: the difference is 0 and the corrections are said."""
    before = right(THEN)
    after = {"forest": dict(before["forest"])}
    after["forest"]["y_true"] = ["1", "0", *before["forest"]["y_true"][2:]]
    found = changed(history, before, after)
    assert (found.paired, found.difference) == (True, 0.0)
    assert "2 true values changed since, and both runs are judged by today's" in found.text


def test_without_the_predictions_the_intervals_of_both_runs_are_used(history):
    """After pruning: square-and-add of the recommended intervals, said to be too wide."""
    audited(history, right(THEN))
    audited(history, right(share(50, 60), first=5000))
    accept(history, 1, time="2025-01-01T00:00:00Z")
    for run in runs(history):
        prune(history, "default", [run.id], predictions_only=True)
    accept(history, 2, time="2025-01-01T00:00:00Z")
    audited(history, right(share(40, 60), first=7000))
    prune(history, "default", [1], predictions_only=True)
    accept(history, 1, time="2025-01-02T00:00:00Z")
    found = changed(history, right(NOW))
    by_hand = square_and_add((0.81, *wilson(81, 100)), (0.90, *wilson(90, 100)))
    assert (found.run, found.interval_method) == (1, "square_and_add")
    assert (found.low, found.high) == pytest.approx((by_hand.low, by_hand.high), abs=1e-12)
    assert "the predictions are not kept" in found.text


def test_square_and_add_is_newcombes_published_interval():
    """Newcombe (1998) Stat Med 17:873, method 10, 56/70 against 48/80: 0.0524 to 0.3339."""
    found = square_and_add((56 / 70, *wilson(56, 70)), (48 / 80, *wilson(48, 80)))
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)


def test_a_model_that_the_earlier_run_lacks_is_said(history):
    """No guess, and what to do."""
    found = changed(history, right(THEN, model="tree"), right(NOW))
    assert found.difference is None
    assert "holds no model 'forest': accept a run that does" in found.reason


def test_another_task_is_not_compared(history):
    """Classes then, numbers now."""
    numbers = {"forest": {"id": ["a", "b", "c"], "y_true": [0.5, 1.5, 2.25], "y_pred": [0.4, 1.7, 2.0]}}
    audited(history, right(THEN))
    found, _, _ = audited(history, numbers, metrics=())
    assert {record.difference for record in found.results.history} == {None}
    assert "about another task (binary, positive class 1)" in found.results.history[0].reason


def test_a_class_that_came_later_is_a_class_of_both(history):
    """Three classes, then a fourth: the codes of both runs mean the same labels."""
    then = {"forest": {"id": list("abcdef"), "y_true": list("xyzxyz"), "y_pred": list("xyzxyy")}}
    now = {"forest": {"id": list("abcdef"), "y_true": list("xyzxyw"), "y_pred": list("xyzxyw")}}
    found = changed(history, then, now)
    assert (found.value, found.reference_value) == pytest.approx((1.0, 5 / 6))
    assert found.paired


def test_probabilities_of_other_classes_are_put_in_place(history):
    """Log loss of the earlier probabilities is what it was, though a class came before theirs."""
    columns = {"id": list("abc"), "y_true": list("xyz"), "p_x": [0.7, 0.2, 0.1], "p_y": [0.2, 0.6, 0.1]}
    then = {"forest": columns | {"p_z": [0.1, 0.2, 0.8]}}
    now = {"forest": columns | {"p_z": [0.1, 0.1, 0.7], "p_a": [0.0, 0.1, 0.1]}}
    found = changed(history, then, now, metrics=("log_loss",))
    by_hand = -float(np.mean(np.log([0.7, 0.6, 0.8])))
    assert found.reference_value == pytest.approx(by_hand, rel=1e-12)


def test_folds_are_paired_where_they_are_the_same(history):
    """Cross-validation of the same examples in the same folds: the corrected test of the algorithms."""
    folds = [str(place % 5) for place in range(100)]
    now, then = right(NOW), right(THEN)
    for source in (now, then):
        source["forest"]["fold"] = folds
    found = changed(history, then, now)
    wanted = both(now, then)
    assert (found.test, found.p_value) == ("corrected_resampled_t", wanted.p_value)
    assert (found.low, found.high) == (wanted.low, wanted.high)


def test_other_folds_are_compared_by_their_intervals(history):
    """Folds are no independent examples: the two recommended intervals are all that can be used."""
    then, now = right(THEN), right(NOW)
    then["forest"]["fold"] = [str(place % 5) for place in range(100)]
    now["forest"]["fold"] = [str(place // 20) for place in range(100)]
    found = changed(history, then, now)
    assert found.interval_method == "square_and_add"
    assert "the folds are not the same" in found.text


def test_the_last_run_is_asked_beside_the_accepted_one(history):
    """Two records a model where they differ, one where they are the same run."""
    audited(history, right(THEN))
    second, _, _ = audited(history, right(NOW))
    third, _, _ = audited(history, right(share(95, 100)))
    assert [(r.reference, r.run) for r in second.results.history] == [("accepted", 1)]
    assert [(r.reference, r.run) for r in third.results.history] == [("accepted", 1), ("last", 2)]


def test_clusters_and_weights_are_kept_for_the_comparison(history):
    """With --cluster on both sets the values' limits are those of clusters, and their squares are added."""
    then, now = right(THEN), right(NOW, first=1000)
    for source in (then, now):
        source["forest"]["who"] = [f"c{place // 5}" for place in range(100)]
    plain = changed(history, right(THEN), right(NOW, first=1000), series="plain")
    found = changed(history, then, now, cluster="who", series="clusters")
    assert (found.test, found.interval_method) == ("interval", "square_and_add")
    assert found.high - found.low > plain.high - plain.low


def test_records_are_results_like_any_other(history):
    """They are in results.json under `history`, as flat records."""
    found, _, _ = audited(history, right(THEN))
    assert found.results.history == []
    found, _, _ = audited(history, right(NOW))
    record = found.results.history[0]
    assert replace(record) == record
    assert (record.time, record.level, record.model) == (runs(history)[0].time, 0.95, "forest")


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_unchanged_predictions_show_no_change_in_any_task_and_design(history, path):
    """The same predictions under another seed are another run: paired with the first, and 0 away from it."""
    try:
        metrics = (PRIMARY[load(path).task],)
    except EvalreportError:
        pytest.skip("the file is no predictions")
    audited(history, path, metrics=metrics, resamples=20)
    found, _, added = audited(history, path, metrics=metrics, resamples=20, seed=1)
    assert added
    assert len(found.results.history) == len(found.results.models)
    assert {(record.paired, record.difference) for record in found.results.history} == {(True, 0.0)}


def of_rows(n: int, seed: int, *, clusters: bool = False) -> dict[str, Any]:
    """Draw a test set of each task with skewed errors and outcomes of five levels."""
    rng = np.random.default_rng(seed)
    truth, score = rng.integers(0, 2, n), rng.random(n)
    columns: dict[str, Any] = {"id": [f"{seed}-{i}" for i in range(n)]}
    if clusters:
        columns["who"] = [f"{seed}-{i // 2}" for i in range(n)]
    return {
        "regression": {**columns, "y_true": rng.normal(size=n), "y_pred": rng.standard_t(4, n)},
        "outcome": {**columns, "outcome": rng.choice([0, 0.25, 0.5, 1], n)},
        "binary": {**columns, "y_true": truth, "score": score, "p_1": (score + truth) / 2.1},
    }


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize(
    ("task", "metric"),
    every(3, [("regression", "rmse"), ("regression", "mse"), ("regression", "mae"), ("regression", "r2"),
     ("outcome", "mean_outcome"), ("binary", "accuracy"), ("binary", "log_loss"), ("binary", "roc_auc")]),
)  # fmt: skip
def test_recorded_limits_give_what_the_rows_of_two_test_sets_give(task, metric, clusters):
    """12 rows against 40: the factor 1 + 6 / n of means and their roots, none of shares and areas."""
    sets = [of_rows(n, seed, clusters=clusters)[task] for n, seed in ((12, 1), (40, 2))]
    options = {"metrics": (metric,), "resamples": 200, **({"cluster": "who"} if clusters else {})}
    if task == "binary":
        options["positive"] = "1"
    apart = evalreport.evaluate({"a": sets[0], "b": sets[1]}, join="independent", **options)
    row = next(c for c in apart.comparisons if c.metric == metric and c.recommended)
    records = (next(m for m in apart.metrics if (m.model, m.metric) == (name, metric)) for name in "ab")
    recorded = square_and_add(*(recorded_limits(record) for record in records))
    assert (recorded.low, recorded.high) == pytest.approx((row.low, row.high), rel=1e-9)
