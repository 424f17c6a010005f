"""Bootstrap estimates by hand, on pure noise, and from the layouts that files can have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalreport
from evalreport.questions.algorithms.replicates import bootstrap_632plus, optimism_by_example, out_of_bag
from tests.samples.algorithms import estimates, evaluate, nearest, refitted, replicates

pytestmark = pytest.mark.usefixtures("primary_alone")

# Four examples, two replicates. Replicate 1 drew e0 twice, e1 and e2; replicate 2 drew e1, e2 and e3 (twice).
TRUTH = ["a", "a", "b", "b"]
SAID = [["a", "a", "b", "a"], ["b", "a", "a", "b"]]
INBAG = [[2, 1, 1, 0], [0, 1, 1, 2]]
APPARENT = ["a", "a", "b", "a"]


def test_every_estimate_of_four_examples_by_hand() -> None:
    """Out of the bag: e3 in replicate 1 (wrong), e0 in replicate 2 (wrong); e1 and e2 never.

    e_1 = 1. e_R = 1/4 (e3). Optimism: replicate 1 errs on 1/4 of all and 0 of its sample; replicate 2 on 2/4 of
    all, and on e2 alone of its sample: 1/4. Mean of 1/4 and 1/4. gamma: truths 1/2 and 1/2, answers 3/4 a and 1/4 b:
    1 - 1/2. e' = 1/2 and R = 1: .632+ is gamma.
    """
    found = estimates(evaluate(replicates(TRUTH, SAID, INBAG, APPARENT)), "error_rate")
    assert found["resubstitution"].value == 0.25
    assert found["bootstrap_oob"].value == 1.0
    assert found["bootstrap_oob"].details["never_out_of_bag"] == 2
    assert found["bootstrap_optimism"].value == pytest.approx(0.5, abs=1e-15)
    assert found["bootstrap_632"].value == pytest.approx(0.368 * 0.25 + 0.632, abs=1e-15)
    plus = found["bootstrap_632plus"]
    assert (plus.details["gamma"], plus.details["R"]) == (0.5, 1.0)
    assert plus.value == pytest.approx(0.5, abs=1e-15)


def test_optimism_counts_an_example_as_often_as_it_was_drawn() -> None:
    """One replicate drew the example that it errs on three times: its own error is 3/4, not 1/2.

    Everywhere it errs on 1 of 4; so the optimism is 1/4 - 3/4.
    """
    losses, inbag = np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([[3.0, 1.0, 0.0, 0.0]])
    assert optimism_by_example(losses, inbag).mean() == -0.5


@given(
    st.integers(1, 8).flatmap(
        lambda k: st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=k, max_size=k)
    )
)
def test_out_of_bag_averages_lie_between_the_losses(rows: list[list[bool]]) -> None:
    """Whatever is out of the bag, all three averages are shares; where nothing is, they are undefined."""
    losses = np.array(rows, dtype=float)
    found = out_of_bag(losses, ~np.array(rows))
    # Only losses of 0 are out of the bag here.
    assert found.never_out == int(np.array(rows).all(axis=0).sum())
    assert found.value == 0 or np.isnan(found.value)


@given(*[st.floats(0, 1, allow_nan=False)] * 3)
def test_plus_is_between_the_apparent_and_the_capped_error(apparent: float, out: float, gamma: float) -> None:
    """R lies in [0, 1], omega in [.632, 1], and 1 - error gives 1 - the estimate."""
    plus = bootstrap_632plus(apparent, out, gamma)
    assert 0 <= plus.relative_overfitting <= 1
    assert 0.632 - 1e-12 <= plus.omega <= 1 + 1e-12
    low, high = sorted((apparent, min(out, gamma)))
    assert low - 1e-12 <= plus.value <= high + 1e-12
    mirrored = bootstrap_632plus(1 - apparent, 1 - out, 1 - gamma, greater_is_better=True)
    assert mirrored.value == pytest.approx(1 - plus.value, abs=1e-9)


@pytest.mark.slow
def test_nearest_neighbour_on_pure_noise() -> None:
    """1-NN on labels that nothing predicts: e_R = 0, e_1 near 1/2, so .632 near .316 and .632+ near 1/2.

    Its accuracy by .632 is then near .684 where 1/2 is all there is (Efron and Tibshirani 1997, section 1). The bounds
    are three standard errors of one data set of 400 examples, sqrt(1/4 / 400).
    """
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=(400, 5)), generator.permutation(np.repeat([0, 1], 200))
    results = evaluate(replicates(**refitted(nearest, x, y, 60, 6)), metrics=("accuracy",), task="binary")
    error, accuracy = estimates(results, "error_rate"), estimates(results, "accuracy")
    assert error["resubstitution"].value == 0
    assert error["bootstrap_632"].value == pytest.approx(0.632 * 0.5, abs=0.632 * 0.075)
    assert accuracy["bootstrap_632"].value == pytest.approx(0.684, abs=0.632 * 0.075)
    assert error["bootstrap_632plus"].value == pytest.approx(0.5, abs=0.075)
    assert accuracy["bootstrap_632plus"].value == pytest.approx(
        1 - (error["bootstrap_632plus"].value or 0), abs=1e-12
    )
    assert any(w.code == "interpolating_model" for w in results.warnings)
    # Measured in the study of estimators: such intervals hold the truth next to never, so there is none.
    for name in ("bootstrap_optimism", "bootstrap_632", "bootstrap_632plus"):
        assert error[name].low is None
        assert "no interval" in (error[name].reason or "")
    assert error["bootstrap_oob"].low is not None


def test_resubstitution_beside_replicates_needs_no_part(tmp_path: Path) -> None:
    """A second file without the columns part and replicate is read as training rows, which is said."""
    whole = replicates(TRUTH, SAID, INBAG, APPARENT)
    lines = ["id,model,replicate,inbag,y_true,y_pred"]
    lines += [
        ",".join(str(whole[name][i]) for name in ("id", "model", "replicate", "inbag", "y_true", "y_pred"))
        for i in range(8)
    ]
    (tmp_path / "replicas.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rest = [f"e{i:03d},m,{t},{h}" for i, (t, h) in enumerate(zip(TRUTH, APPARENT, strict=True))]
    (tmp_path / "resub.csv").write_text("id,model,y_true,y_pred\n" + "\n".join(rest) + "\n", encoding="utf-8")
    results = evalreport.evaluate(tmp_path, options=evalreport.Options(resamples=10))
    marked = estimates(evaluate(whole), "error_rate")
    for name, found in estimates(results, "error_rate").items():
        assert found.value == marked[name].value
    assert any(f.what == "training rows" for f in results.found)


def test_what_replicates_lack_is_said_with_the_plan_that_makes_it() -> None:
    """Without the fit to all rows there is an out-of-bag error alone; without in-bag rows no B1."""
    alone = estimates(evaluate(replicates(TRUTH, SAID, INBAG)), "error_rate")
    assert alone["bootstrap_oob"].value == 1.0
    for name in ("bootstrap_optimism", "bootstrap_632", "bootstrap_632plus"):
        assert alone[name].value is None
        assert "part = train" in (alone[name].reason or "")
        assert 'scheme "bootstrap-oob"' in (alone[name].reason or "")
    rows = replicates(TRUTH, SAID, INBAG, APPARENT)
    kept = [i for i in range(len(rows["id"])) if rows["inbag"][i] in (0, None)]
    fewer = estimates(
        evaluate({name: [values[i] for i in kept] for name, values in rows.items()}), "error_rate"
    )
    assert fewer["bootstrap_632plus"].value == pytest.approx(0.5)
    assert fewer["bootstrap_optimism"].value is None
    assert "needs every replicate's predictions of all examples" in (fewer["bootstrap_optimism"].reason or "")


def test_limits_are_those_of_a_mean_over_examples() -> None:
    """The out-of-bag limits are Student's t around e_1 with the spread of the examples' own out-of-bag errors."""
    from scipy import stats

    generator = np.random.default_rng(3)
    x, y = generator.normal(size=(60, 2)), generator.integers(0, 2, 60)
    made = refitted(nearest, x, y, 40, 1)
    found = estimates(evaluate(replicates(**made)), "error_rate")["bootstrap_oob"]
    wrong = np.array(made["predicted"]) != np.array(made["truth"])
    out = np.array(made["inbag"]) == 0
    by_example = (wrong & out).sum(axis=0) / out.sum(axis=0)
    low, high = stats.t.interval(0.95, 59, by_example.mean(), stats.sem(by_example))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_regression_has_a_no_information_rate_over_all_pairs() -> None:
    """Gamma of the squared error is the mean of (y_i - h_j)^2 over all pairs: here by counting them."""
    truth, apparent = [1.0, 4.0, 2.5], [1.5, 3.0, 2.0]
    rows = replicates(truth, [[1.0, 3.5, 2.0], [2.0, 4.5, 2.5]], [[1, 0, 2], [0, 2, 1]], apparent)
    results = evaluate(rows, task="regression", metrics=("mae",))
    for metric, loss in (("mse", lambda e: e**2), ("mae", abs)):
        pairs = [loss(y - h) for y in truth for h in apparent]
        gamma = estimates(results, metric)["bootstrap_632plus"].details["gamma"]
        assert gamma == pytest.approx(sum(pairs) / 9, abs=1e-12)


def test_metrics_that_are_no_means_go_by_replicate() -> None:
    """F1 out of the bag is the mean of the replicates' F1s; .632+ has no rate to be made of."""
    generator = np.random.default_rng(8)
    x, y = generator.normal(size=(80, 2)), generator.integers(0, 2, 80)
    x[:, 0] += 1.2 * y
    made = refitted(nearest, x, y, 20, 2)
    found = estimates(evaluate(replicates(**made), metrics=("f1",), positive="1", task="binary"), "f1")
    from sklearn.metrics import f1_score

    out = np.array(made["inbag"]) == 0
    values = [
        f1_score(y[some], np.array(said)[some]) for some, said in zip(out, made["predicted"], strict=True)
    ]
    assert found["bootstrap_oob"].value == pytest.approx(np.mean(values), abs=1e-12)
    assert found["bootstrap_632"].value == pytest.approx(0.368 + 0.632 * np.mean(values), abs=1e-12)
    assert "no no-information rate" in (found["bootstrap_632plus"].reason or "")


def test_weights_are_refused_rather_than_left_out() -> None:
    """Under --weight the bootstrap estimates and the decomposition are not made; the reason stands."""
    rows = replicates(TRUTH, SAID, INBAG, APPARENT)
    rows["w"] = [1.0 + int(i[1:]) for i in rows["id"]]
    results = evaluate(rows, weight="w")
    found = estimates(results, "error_rate")
    assert found["bootstrap_632plus"].value is None
    assert "--weight" in (found["bootstrap_632plus"].reason or "")
    # Weights 1, 2, 3, 4, and only e003 is wrong.
    assert found["resubstitution"].value == pytest.approx(4 / 10)
    assert not results.decomposition


def test_clusters_widen_the_limits_of_examples_that_agree() -> None:
    """Every example twice, as clusters of two: the standard error is that of half as many examples.

    sum over clusters of (2 d)^2 G/(G - 1) / n^2 against sum d^2 n/(n - 1) / n^2.
    """
    generator = np.random.default_rng(4)
    x, y = generator.normal(size=(30, 2)), generator.integers(0, 2, 30)
    made = refitted(nearest, x, y, 30, 5)
    double = {
        "truth": made["truth"] * 2,
        "predicted": [said * 2 for said in made["predicted"]],
        "inbag": [counts * 2 for counts in made["inbag"]],
        "apparent": made["apparent"] * 2,
    }
    rows = replicates(**double)
    rows["g"] = [str(int(i[1:]) % 30) for i in rows["id"]]
    alone = estimates(evaluate(rows), "error_rate")["bootstrap_oob"].standard_error
    together = estimates(evaluate(rows, cluster="g"), "error_rate")["bootstrap_oob"].standard_error
    assert alone is not None
    assert together == pytest.approx(alone * np.sqrt(2 * (30 / 29) / (60 / 59)), rel=1e-12)


def test_outcomes_judged_elsewhere_have_no_632plus() -> None:
    """Without a truth there is nothing to pair predictions with; .632 stands."""
    rows = replicates([1, 0, 1, 1], [[1, 0, 1, 0], [0, 0, 1, 1]], INBAG, [1, 1, 1, 1])
    rows["outcome"] = rows.pop("y_pred")
    del rows["y_true"]
    found = estimates(evaluate(rows), "mean_outcome")
    assert found["bootstrap_632"].value is not None
    assert "no no-information rate" in (found["bootstrap_632plus"].reason or "")


def test_samples_of_another_size_have_no_632() -> None:
    """A sample of half the size leaves out 61 % of the examples, not 37 %: the weight .632 is not theirs."""
    generator = np.random.default_rng(3)
    inbag = [np.bincount(generator.integers(0, 40, 20), minlength=40).tolist() for _ in range(20)]
    truth = [i % 2 for i in range(40)]
    said = [[int(generator.random() < 0.7) ^ (1 - y) for y in truth] for _ in range(20)]
    found = estimates(evaluate(replicates(truth, said, inbag, truth), task="binary"), "error_rate")
    assert found["bootstrap_oob"].value is not None
    for name in ("bootstrap_632", "bootstrap_632plus"):
        assert found[name].value is None
        assert "not as large as the data" in (found[name].reason or "")
    assert found["bootstrap_optimism"].value is None


def test_an_estimate_below_any_loss_has_no_limits() -> None:
    """Fits that err in their samples alone: e_R + optimism is below 0 and no interval around it means anything."""
    generator = np.random.default_rng(4)
    truth = generator.normal(size=30).tolist()
    inbag = [np.bincount(generator.integers(0, 30, 30), minlength=30).tolist() for _ in range(10)]
    said = [[y + (3.0 if k else 0.5) for y, k in zip(truth, bag, strict=True)] for bag in inbag]
    rows = replicates(truth, said, inbag, [y + 0.3 + 0.1 * (i % 3) for i, y in enumerate(truth)])
    results = evaluate(rows, task="regression", metrics=("mse", "rmse"))
    optimism = estimates(results, "mse")["bootstrap_optimism"]
    assert optimism.value is not None
    assert optimism.value < 0
    assert (optimism.low, optimism.high) == (None, None)
    assert "outside the range" in (optimism.reason or "")
    assert estimates(results, "rmse")["bootstrap_optimism"].value is None
    # Out of the bag every loss is 1/4: nothing tells how far that may be, which is said.
    out = estimates(results, "mse")["bootstrap_oob"]
    assert out.value == pytest.approx(0.25, abs=1e-12)
    assert out.low is None
    assert "same for every example" in (out.reason or "")
