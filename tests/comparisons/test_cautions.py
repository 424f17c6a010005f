"""Every warning about layouts and choices is given where its cause is, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.comparisons.measured import MEASURED_OF_SEEDS
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord

Columns = dict[str, list[Any]]


def evaluate(models: dict[str, Columns], **options: Any) -> Results:
    """Evaluate with few replicates: no caution here looks at them."""
    return evalreport.evaluate(models, options=evalreport.Options(**{"resamples": 1000, **options}))


def given(results: Results, code: str) -> list[WarningRecord]:
    """Return the warnings of one code."""
    return [w for w in results.warnings if w.code == code]


def answers(n: int, *, classes: int = 2, right: float = 0.8, **columns: list[Any]) -> dict[str, Columns]:
    """Return models a and b over n rows whose ids repeat as ``id`` in ``columns`` says."""
    ids = columns.pop("id", [f"{i:05d}" for i in range(n)])
    truth_of = {i: str(k % classes) for k, i in enumerate(dict.fromkeys(ids))}
    truth = [truth_of[i] for i in ids]
    random, found = np.random.default_rng(20), {}
    for name in ("a", "b"):
        said = [t if random.random() < right else str(random.integers(classes)) for t in truth]
        found[name] = {"id": ids, "y_true": truth, "y_pred": said, **columns}
    return found


def folded(n: int, folds: int, repeats: int = 1, **columns: list[Any]) -> dict[str, Columns]:
    """Return r x k cross-validation with the folds dealt out in turn."""
    ids = [f"{i:05d}" for _ in range(repeats) for i in range(n)]
    fold = [str(i % folds) for _ in range(repeats) for i in range(n)]
    repeat = [str(r) for r in range(repeats) for _ in range(n)]
    return answers(n * repeats, id=ids, fold=fold, repeat=repeat, **columns)


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


@pytest.mark.parametrize("replicates, said", [(30, True), (31, False)])
def test_few_replicates(replicates: int, said: bool):
    """The lecture asks for more than 30 replicates."""
    n = 20
    ids = [f"{i:03d}" for _ in range(replicates) for i in range(n)]
    replicate = [str(r) for r in range(replicates) for _ in range(n)]
    results = evaluate(answers(n * replicates, id=ids, replicate=replicate))
    assert bool(given(results, "few_replicates")) == said


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
        ([1.0] * 290 + [30.0] * 10, "37.4"),
        ([1.0, 2.0] * 100, None),
    ],
)
def test_unequal_weights(weights: list[float], effective: str | None):
    """Warned of where Kish's (sum w)^2 / sum w^2 is under half of n, or under 100: 590^2 / 9290 = 37.47."""
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
    assert given(evaluate(answers(150, time=time)), "time_ordered")
    day = [f"d{i // 5}" for i in range(150)]
    assert not given(evaluate(answers(150, time=time, day=day), cluster="day"), "time_ordered")


def test_metrics_disagree():
    """A model that finds all positives and one that calls few: each is ahead on something; against itself none is."""
    truth = ["1"] * 100 + ["0"] * 300
    bold = ["1"] * 100 + ["1"] * 120 + ["0"] * 180
    shy = ["1"] * 40 + ["0"] * 60 + ["0"] * 300
    ids = [f"{i:04d}" for i in range(400)]
    models = {
        name: {"id": ids, "y_true": truth, "y_pred": said} for name, said in (("bold", bold), ("shy", shy))
    }
    (warning,) = given(evaluate(models), "metrics_disagree")
    ahead, behind = str(warning.text).split("shy leads on")
    assert "recall" in ahead
    assert "precision" in behind
    assert "Decide first which errors matter" in warning.text
    assert not given(evaluate({"a": models["shy"], "b": models["shy"]}), "metrics_disagree")


def probabilities(values: np.ndarray, truth: np.ndarray, **columns: list[Any]) -> Columns:
    """Return one binary model with probabilities."""
    ids = [f"{i:04d}" for i in range(len(truth))]
    return {"id": ids, "y_true": truth.astype(str).tolist(), "p_1": values.tolist(), **columns}


def test_curves_cross():
    """One model ranks half of the positives first, the other half of the negatives last: their curves cross.

    With a hundred of each class that is more than the bands allow for, with five of each it may be chance.
    """
    truth = np.array([1] * 100 + [0] * 100)
    rank = np.arange(200) / 1000
    early = np.where(np.arange(200) < 50, 0.9, 0.3) + rank / 10
    late = np.where(np.arange(200) >= 150, 0.1, 0.6) + rank / 10
    (warning,) = given(
        evaluate({"early": probabilities(early, truth), "late": probabilities(late, truth)}), "curves_cross"
    )
    assert warning.level == "caution"
    few = np.arange(0, 200, 20)
    (warning,) = given(
        evaluate({n: probabilities(p[few], truth[few]) for n, p in (("early", early), ("late", late))}),
        "curves_cross",
    )
    assert warning.level == "info"
    assert not given(
        evaluate({"early": probabilities(early, truth), "again": probabilities(early, truth)}), "curves_cross"
    )


def test_suspicious_threshold():
    """Labels cut where the accuracy is highest on the test set are suspicious; labels cut at one half are not."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 300)
    p = 1 / (1 + np.exp(-(truth * 2.0 - 2.2 + random.normal(size=300))))
    cuts = np.unique(p)
    accuracies = [((p >= cut) == truth).mean() for cut in cuts]
    best = cuts[int(np.argmax(accuracies))]
    fitted = probabilities(p, truth, y_pred=[str(int(v >= best)) for v in p])
    usual = probabilities(p, truth, y_pred=[str(int(v >= 0.5)) for v in p])
    (warning,) = given(evaluate({"fitted": fitted, "usual": usual}), "suspicious_threshold")
    assert warning.about == ("fitted", "accuracy")


def test_truth_near_zero():
    """One true value of a millionth makes most of the MAPE; with ordinary values nothing does."""
    random = np.random.default_rng(4)
    truth = random.uniform(5, 15, 100)
    said = truth + random.normal(size=100)
    ids = [f"{i:03d}" for i in range(100)]
    plain = {"a": {"id": ids, "y_true": truth.tolist(), "y_pred": said.tolist()}}
    assert not given(evaluate(plain), "truth_near_zero")
    truth[0] = 1e-6
    tiny = {"a": {"id": ids, "y_true": truth.tolist(), "y_pred": said.tolist()}}
    assert "one example whose" in given(evaluate(tiny), "truth_near_zero")[0].text


def test_trained_on_test_takes_the_verdict():
    """Examples of both parts are a blocker: numbers without verdict and letters; other training rows are none."""
    part = ["train"] * 50 + ["test"] * 100
    leaking = answers(150, id=[f"{i:03d}" for i in [*range(50), *range(40, 140)]], part=part)
    results = evaluate(leaking)
    (blocker,) = given(results, "trained_on_test")
    assert blocker.level == "blocker"
    assert "10 examples" in blocker.text
    assert results.verdicts == ()
    assert {r.letters for r in results.ranking} == {""}
    assert results.metrics[0].value is not None
    apart = answers(150, id=[f"{i:03d}" for i in range(150)], part=part)
    assert not given(evaluate(apart), "trained_on_test")
    assert evaluate(apart).verdicts


def test_repeated_examples_count_once():
    """Ten repeats of ten positives are ten positives, not a hundred."""
    ids = [f"{i:03d}" for _ in range(10) for i in range(60)]
    truth = ["1" if int(i) < 10 else "0" for i in ids]
    repeat = [str(r) for r in range(10) for _ in range(60)]
    fold = [str(int(i) % 2) for i in ids]
    model = {"id": ids, "y_true": truth, "y_pred": truth, "repeat": repeat, "fold": fold}
    results = evaluate({"a": model, "b": model})
    assert "10 examples of class 1" in given(results, "few_of_a_class")[0].text


def test_information_comes_after_warnings():
    """What changes no reading stands last, so that the first few that a terminal shows are those that do."""
    levels = [w.level for w in evaluate(folded(100, 5)).warnings]
    assert "info" in levels
    assert levels == sorted(levels, key=lambda level: level == "info")


@pytest.mark.parametrize("right, said", [(9, True), (10, False), (20, False), (21, True)])
def test_few_right_or_few_wrong(right: int, said: bool):
    """Of 30 answers fewer than 10 right, or fewer than 10 wrong, are too few for a normal interval."""
    truth = [str(i % 2) for i in range(30)]
    label = [t if i < right else str(1 - int(t)) for i, t in enumerate(truth)]
    model = {"id": [f"{i:02d}" for i in range(30)], "y_true": truth, "y_pred": label}
    assert bool(given(evaluate({"a": model}), "few_successes_or_failures")) == said


@pytest.mark.parametrize("shift, said", [(0.5, False), (2.0, True)])
def test_worse_than_the_mean(shift: float, said: bool):
    """Truth 0 to 4 varies by 2 about its mean: errors of 0.5 give R^2 = 1 - 0.25 / 2, errors of 2 give 1 - 4 / 2."""
    truth = [float(i % 5) for i in range(50)]
    model = {"id": [f"{i:02d}" for i in range(50)], "y_true": truth, "y_pred": [t + shift for t in truth]}
    results = evaluate({"a": model}, task="regression", metrics=("r2",))
    assert results.metrics[0].value == pytest.approx(1 - shift**2 / 2)
    assert bool(given(results, "worse_than_mean")) == said


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
