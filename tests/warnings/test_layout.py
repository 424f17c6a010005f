"""Warnings about folds, seeds, clusters, weights and time: each is given where its cause is, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.comparisons.measured import MEASURED_OF_SEEDS
from evalreport.warnings.layout import ENOUGH_IF_ALIKE, ENOUGH_IN_TIME, HELD_IN_TIME
from research.studies import tables
from research.studies.time_order import series as drawn_series
from tests.samples.warnings import answers, evaluate, folded, given

pytestmark = pytest.mark.usefixtures("primary_alone")


def test_small_folds():
    """A fold below 30 examples is said; folds of 30 are not."""
    assert "20 examples" in given(evaluate(folded(100, 5)), "small_folds")[0].text
    assert not given(evaluate(folded(150, 5)), "small_folds")


def test_fold_scores_are_no_small_folds():
    """A value of a fold is one row, which says nothing of how many examples the fold tests."""
    scores = {"fold": [str(i) for i in range(10)], "value": [0.8 + i / 100 for i in range(10)]}
    assert not given(evaluate({"a": scores, "b": {**scores, "value": [0.7] * 10}}), "small_folds")


def test_class_missing_in_fold():
    """With classes dealt in step with the folds every fold lacks one; in leave-one-out that is no fault."""
    # Ids alternate between two classes, and so do two folds of even and odd places.
    assert "2 of 2 folds" in given(evaluate(folded(80, 2)), "class_missing_in_fold")[0].text
    assert not given(evaluate(folded(80, 5)), "class_missing_in_fold")
    assert not given(evaluate(folded(12, 12)), "class_missing_in_fold")


def test_folds_taken_as_independent():
    """Beside a corrected test it is for information; asked for, a naive test is a warning that names itself."""
    (beside,) = given(evaluate(folded(150, 5)), "folds_taken_as_independent")
    assert beside.level == "info"
    (asked,) = given(evaluate(folded(150, 5), tests=("cv_paired_t",)), "folds_taken_as_independent")
    assert asked.level == "caution"
    assert "cv_paired_t" in asked.about


@pytest.mark.parametrize("seeds, said", [(2, True), (4, True), (5, False)])
def test_few_seeds(seeds: int, said: bool):
    """Fewer than five seeds are few; where the test was measured to miss its level, the rate is said."""
    ids = [f"{i:03d}" for _ in range(seeds) for i in range(40)]
    seed = [str(s) for s in range(seeds) for _ in range(40)]
    found = given(evaluate(answers(40 * seeds, id=ids, seed=seed)), "few_seeds")
    assert bool(found) == said
    if seeds in MEASURED_OF_SEEDS:
        assert f"{100 * MEASURED_OF_SEEDS[seeds]:.1f} %" in found[0].text


@pytest.mark.parametrize(
    "sizes, effective, few_groups",
    [
        ([20] * 10, None, None),
        ([20] * 9, "9.0", False),
        ([20] * 3, "3.0", True),
        ([400] + [10] * 30, "1.0", True),
    ],
)
def test_few_clusters(sizes: list[int], effective: str | None, few_groups: bool | None):
    """Warned of by the effective number, (sum n^2)^2 / sum n^4: thirty-one clusters may count as one."""
    place = [f"g{g}" for g, size in enumerate(sizes) for _ in range(size)]
    found = given(evaluate(answers(len(place), place=place), cluster="place"), "few_clusters")
    assert bool(found) == (effective is not None)
    if found:
        assert f"count as {effective} of equal size" in found[0].text
        assert ("A few clusters carry the result." in found[0].text) == few_groups


@pytest.mark.parametrize(
    "weights, effective",
    [
        ([1.0] * 100, None),
        ([1.0] * 99, "99.0"),
        ([1.0] * 290 + [30.0] * 10, "37.5"),
        ([1.0, 2.0] * 100, None),
    ],
)
def test_unequal_weights(weights: list[float], effective: str | None):
    """Warned of where Kish's (sum w)^2 / sum w^2 is under half of n, or under 100: 590^2 / 9290 = 37.57."""
    found = given(evaluate(answers(len(weights), w=weights), weight="w"), "unequal_weights")
    assert bool(found) == (effective is not None)
    if found:
        assert f"count as {effective} of equal weight" in found[0].text


def test_cluster_across_folds():
    """A cluster tested in two folds of a repeat was partly seen in training; whole clusters in a fold were not."""
    divided = folded(150, 5, place=[f"g{i // 6}" for i in range(150)])
    assert "25 clusters" in given(evaluate(divided, cluster="place"), "cluster_across_folds")[0].text
    whole = folded(150, 5, place=[f"g{i % 25}" for i in range(150)])
    assert not given(evaluate(whole, cluster="place"), "cluster_across_folds")


def test_time():
    """Folds dealt out in turn are mixed in time, blocks are not; on one test set neighbours in time are named."""
    time = list(range(150))
    assert given(evaluate(folded(150, 5, time=time)), "random_split_in_time")
    blocks = answers(150, fold=[str(i // 30) for i in range(150)], time=time)
    assert not given(evaluate(blocks), "random_split_in_time")
    (found,) = given(evaluate(answers(150, time=time)), "time_ordered")
    assert "times as wide" in found.text
    assert not given(evaluate(answers(150, time=time), order="time"), "time_ordered")
    day = [f"d{i // 5}" for i in range(150)]
    assert not given(evaluate(answers(150, time=time, day=day), cluster="day"), "time_ordered")


def test_a_series_that_is_worth_few_independent_examples():
    """AR(1) of 0.9, n = 100, is worth about 5 by the formula; independent examples are not few."""
    random = np.random.default_rng(4)
    steps, series = random.normal(size=100), np.zeros(100)
    for t in range(1, 100):
        series[t] = 0.9 * series[t - 1] + steps[t]
    time = list(range(100))

    def said(outcome: np.ndarray) -> list[object]:
        source = {"a": {"id": time, "time": time, "outcome": outcome.tolist()}}
        return given(evaluate(source, task="outcome", order="time", resamples=2), "few_in_time")

    (found,) = said(series)
    assert "fewer than 70" in found.text
    assert "81 to 96 %" in found.text
    assert not said(steps)


def test_a_long_series_of_much_alike_examples_is_worth_few_too():
    """500 squared errors of an AR(1) of 0.8 are worth about 110: said below 200, with the rates of such series."""
    series = drawn_series(np.random.default_rng(2), 0.8, 500, 1)[0]
    time, truth = [f"{i:03d}" for i in range(500)], np.zeros(500)
    source = {"a": {"id": time, "time": time, "y_true": truth, "y_pred": series.tolist()}}
    (found,) = given(
        evaluate(source, task="regression", metrics=("rmse",), order="time", resamples=2), "few_in_time"
    )
    assert "fewer than 200" in found.text
    assert "92 to 96 %" in found.text


def test_the_rates_of_series_worth_more_are_the_study_s():
    """RMSE, F1 and AUC of 500 examples with neighbours alike by 0.8, worth 70 to 200: least and most that held."""
    rows = [
        row
        for row in tables.read(tables.DOCS / "time-order.csv")
        if (row["correlation"], row["n"]) == ("0.8", "500") and row["metric"] != "mean_outcome"
    ]
    held = [float(row[name]) for row in rows for name in ("value_held", "difference_held")]
    assert (round(100 * min(held)), round(100 * max(held))) == HELD_IN_TIME[ENOUGH_IF_ALIKE]


def test_the_rates_of_short_series_are_the_study_s():
    """Least and most that intervals held where n (1 - r) / (1 + r) independent examples tell as much."""
    held = []
    for row in tables.read(tables.DOCS / "time-order.csv"):
        r, n = float(row["correlation"]), int(row["n"])
        if n * (1 - r) / (1 + r) < ENOUGH_IN_TIME:
            held += [float(row[name]) for name in ("value_held", "difference_held") if row[name]]
    assert (round(100 * min(held)), round(100 * max(held))) == HELD_IN_TIME[ENOUGH_IN_TIME]


def test_calibration_in_order_of_time():
    """Not tested, and said: the metrics of calibration have the intervals of the order of time."""
    random = np.random.default_rng(6)
    p = random.uniform(0.05, 0.95, 150)
    truth = (random.random(150) < p).astype(int).astype(str).tolist()
    model = {
        "id": [f"{i:05d}" for i in range(150)],
        "y_true": truth,
        "p_1": p.tolist(),
        "time": [*range(150)],
    }
    of_calibration = ("observed_expected", "calibration_in_the_large", "calibration_slope")
    metrics = ("accuracy", *of_calibration)
    ordered = evaluate({"a": model}, order="time", metrics=metrics)
    assert not ordered.calibration
    assert given(ordered, "calibration_not_tested")
    leading = {m.metric: m.intervals[0].method for m in ordered.metrics if m.metric in of_calibration}
    assert leading == dict.fromkeys(of_calibration, "hac_t")
    assert not given(evaluate({"a": model}, order="time", metrics=("accuracy",)), "calibration_not_tested")
    assert not given(evaluate({"a": model}, metrics=metrics), "calibration_not_tested")


def test_the_widening_by_time_is_that_of_the_intervals():
    """The largest ratio of hac_t's half width to Student's, of the models' values and their difference."""
    random = np.random.default_rng(8)
    drift = random.normal(size=(2, 200)).cumsum(axis=1) / 10
    time, truth = list(range(200)), random.normal(size=200)
    source = {
        name: {"id": time, "time": time, "y_true": truth.tolist(), "y_pred": (truth + one).tolist()}
        for name, one in zip("ab", drift, strict=True)
    }
    plain, ordered = (
        evaluate(source, metrics=("mae",), intervals=("t", "hac_t"), tests=("paired_t", "hac_t"), order=order)
        for order in (None, "time")
    )
    (warned,) = (w for w in plain.warnings if w.code == "time_ordered")
    widths = [
        [
            *(
                (i.high - i.low)
                for m in found.metrics
                for i in m.intervals
                if i.method == method and i.low is not None
            ),
            *((c.high - c.low) for c in found.comparisons if c.test == test),
        ]
        for found, method, test in ((plain, "t", "paired_t"), (ordered, "hac_t", "hac_t"))
    ]
    expected = max(after / before for before, after in zip(*widths, strict=True))
    assert warned.text.params["ratio"] == pytest.approx(expected, rel=1e-9)
    assert expected > 1


def test_information_comes_after_warnings():
    """What changes no reading stands last, so that the first few that a terminal shows are those that do."""
    levels = [w.level for w in evaluate(folded(100, 5)).warnings]
    assert "info" in levels
    assert levels == sorted(levels, key=lambda level: level == "info")


@pytest.mark.parametrize("partly, divided", [(False, 0), (True, 4)])
def test_cluster_tested_in_part(partly: bool, divided: int):
    """Of eight clusters of five, each repeat holds out three: whole ones are fine, four that lack one example are not.

    Every example is tested in some repeat.
    """
    tested = [
        (5 * cluster + k, repeat)
        for repeat in range(4)
        for cluster in (2 * repeat, 2 * repeat + 1, (2 * repeat + 3) % 8)
        for k in range(5)
        if not (partly and cluster == 2 * repeat + 1 and k == 0)
    ]
    rows = answers(
        len(tested),
        id=[f"{example:02d}" for example, _ in tested],
        repeat=[str(repeat) for _, repeat in tested],
        place=[f"g{example // 5}" for example, _ in tested],
    )
    found = given(evaluate(rows, cluster="place"), "cluster_across_folds")
    assert [f"{divided} clusters of 'place'" in w.text for w in found] == [True] * bool(divided)


@pytest.mark.parametrize("replicates, said", [(30, True), (31, False)])
def test_few_replicates(replicates: int, said: bool):
    """The lecture asks for more than 30 replicates."""
    n = 20
    ids = [f"{i:03d}" for _ in range(replicates) for i in range(n)]
    replicate = [str(r) for r in range(replicates) for _ in range(n)]
    results = evaluate(answers(n * replicates, id=ids, replicate=replicate))
    assert bool(given(results, "few_replicates")) == said
