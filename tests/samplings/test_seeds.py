"""Training seeds: examples and seeds as crossed random effects, paired by the seeds' names or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import evalreport
from evalreport.errors import InputError
from evalreport.samplings.seeds import crossed, seed_term
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results
from tests.reference.second_round import agrees, each
from tests.samples.cases import every

Floats = npt.NDArray[np.float64]


def rows(table: Floats, first_seed: int = 0, column: str = "outcome") -> dict[str, Any]:
    """Write a model's values (n examples, S seeds) as rows."""
    n, s = table.shape
    return {
        "id": [f"e{i:04d}" for i in range(n) for _ in range(s)],
        "seed": [f"s{first_seed + k}" for _ in range(n) for k in range(s)],
        column: table.ravel().tolist(),
    }


def evaluated(a: Floats, b: Floats, *, paired: bool, **options: Any) -> Results:
    """Compare two models by their values; unpaired: the second's seeds have other names."""
    source = {"a": rows(a), "b": rows(b, 0 if paired else 100)}
    return evalreport.evaluate(
        source, options=evalreport.Options(**{"resamples": 20, "task": "outcome", **options})
    )


def leading(results: Results) -> ComparisonRecord:
    """Return the row of the recommended test on the primary metric."""
    return next(row for row in results.comparisons if row.recommended)


@each("seeds")
def test_the_difference_over_seeds_is_the_references(record: dict[str, Any]) -> None:
    """Estimate, error, degrees of freedom, limits and variances between seeds, against R's analysis of variance."""
    a, b = (np.array(record["inputs"][name]) for name in "ab")
    expected = record["value"]
    results = evaluated(a, b, paired=record["inputs"]["paired_seeds"])
    found = leading(results)
    assert (found.test, found.interval_method) == ("seeds_t", "seeds_t")
    assert found.df is not None
    assert found.difference is not None
    assert found.statistic is not None
    assert found.low is not None
    assert found.high is not None
    got = {
        "estimate": found.difference,
        "se": found.difference / found.statistic,
        "df": found.df,
        "low": found.low,
        "high": found.high,
        "sigma2_seed": found.details.get("between_seeds"),
        "sigma2_seed_a": found.details.get("between_seeds_a"),
        "sigma2_seed_b": found.details.get("between_seeds_b"),
        "var_examples": np.var(a.mean(1) - b.mean(1), ddof=1) / len(a),
    }
    for name, value in expected.items():
        assert agrees(float(got[name]), value), name


def answers(truth: npt.NDArray[np.int64], said: npt.NDArray[np.int64], first_seed: int = 0) -> dict[str, Any]:
    """Write labels (n, S) as rows."""
    found = rows(said.astype(str), first_seed, "y_pred")
    return {**found, "y_true": np.repeat(truth, said.shape[1]).astype(str).tolist()}


def drawn(n: int, seeds: int, number: int) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.int64]]]:
    """Draw truths (n,) and two models' labels (n, S), right in about 80 and 75 %."""
    generator = np.random.default_rng(number)
    truth = generator.integers(0, 2, n)
    said = [
        np.where(generator.random((n, seeds)) < p, truth[:, None], 1 - truth[:, None]) for p in (0.8, 0.75)
    ]
    return truth, said


def by_hand(tables: list[Floats]) -> tuple[float, float]:
    """Return the error and degrees of freedom of the means of tables (n, S) of influence about the seeds' values.

    The balanced two-way analysis of variance: one table is a model or a pair with common seeds, two are unpaired. A
    bracket that is dropped from the variance keeps its terms in the degrees of freedom.
    """
    n = len(tables[0])
    row = tables[0].mean(1) - (tables[1].mean(1) if len(tables) > 1 else 0)
    variance = row.var(ddof=1) / n
    spread = variance**2 / (n - 1)
    for table in tables:
        s = table.shape[1]
        residual = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
        msr = (residual**2).sum() / ((n - 1) * (s - 1))
        between = table.mean(0).var(ddof=1) / s
        variance += max(between - msr / (n * s), 0)
        spread += between**2 / (s - 1) + (msr / (n * s)) ** 2 / ((n - 1) * (s - 1))
    return float(variance**0.5), float(variance**2 / spread)


def f1_table(truth: npt.NDArray[np.int64], said: npt.NDArray[np.int64]) -> Floats:
    """Return F1 of each seed plus each influence: 2 tp - F1 (2 tp + fp + fn), over the mean of the bracket."""
    tp = (said == 1) & (truth[:, None] == 1)
    size = (said == 1).astype(float) + (truth[:, None] == 1)
    f1 = 2 * tp.sum(0) / size.sum(0)
    return np.asarray(f1 + (2 * tp - f1 * size) / size.mean(0))


@pytest.mark.parametrize("paired", [True, False])
def test_f1_goes_by_the_influence_of_each_example_in_each_seed(paired: bool) -> None:
    """A metric that is no mean: error and degrees of freedom from F1's linearised values, seed by seed."""
    truth, (a, b) = drawn(60, 3, 1)
    source = {"a": answers(truth, a), "b": answers(truth, b, 0 if paired else 10)}
    results = evalreport.evaluate(
        source, options=evalreport.Options(resamples=20, metrics=("f1",), positive="1", tests=("seeds_t",))
    )
    found, tables = leading(results), [f1_table(truth, said) for said in (a, b)]
    error, df = by_hand([tables[0] - tables[1]] if paired else tables)
    difference = tables[0].mean() - tables[1].mean()
    assert found.difference == pytest.approx(difference, rel=1e-12)
    assert found.df == pytest.approx(df, rel=1e-9)
    assert found.statistic == pytest.approx(difference / error, rel=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(difference) / error, df), rel=1e-9)


@pytest.mark.parametrize("metric", every(3, ["accuracy", "f1", "roc_auc", "log_loss", "mcc"]))
def test_one_model_s_own_interval_holds_training_again(metric: str) -> None:
    """The leading interval of a value is seeds_t, at least as wide as Student's t over the examples alone."""
    truth, (a, _) = drawn(80, 4, 2)
    source = {"a": {**answers(truth, a), "p_1": (0.2 + 0.6 * a.ravel()).tolist()}}
    results = evalreport.evaluate(
        source,
        options=evalreport.Options(resamples=20, metrics=(metric,), positive="1", intervals=("normal",)),
    )
    (record,) = [r for r in results.metrics if r.metric == metric]
    first = record.intervals[0]
    assert first.method == "seeds_t"
    (of_examples,) = [r.value for r in results.variance if r.source == "test set"]
    assert record.standard_error is not None
    assert record.standard_error**2 >= of_examples * (1 - 1e-12)
    if metric == "accuracy":
        error, df = by_hand([(a == truth[:, None]).astype(float)])
        half = stats.t.ppf(0.975, df) * error
        assert (first.low, first.high) == pytest.approx((record.value - half, record.value + half), rel=1e-9)


def test_whole_clusters_take_the_place_of_examples() -> None:
    """With --cluster and clusters of one size the table is that of the cluster means: an exact reduction."""
    generator = np.random.default_rng(3)
    of_clusters = generator.normal(size=(12, 3))
    table = np.repeat(of_clusters, 4, axis=0)
    columns = {**rows(table), "group": [f"g{i // 4}" for i in range(48) for _ in range(3)]}
    options = evalreport.Options(resamples=20, task="outcome", cluster="group")
    results = evalreport.evaluate({"a": columns}, options=options)
    error, df = by_hand([of_clusters])
    record = results.metrics[0]
    assert record.standard_error == pytest.approx(error, rel=1e-9)
    half = stats.t.ppf(0.975, df) * error
    assert record.intervals[0].method == "seeds_t"
    assert record.intervals[0].high == pytest.approx(table.mean() + half, rel=1e-9)


def test_slices_keep_their_seeds() -> None:
    """A slice's values and comparisons are by seeds_t too: every seed predicted the whole slice."""
    truth, (a, b) = drawn(60, 3, 4)
    part = {"part_of": [f"{i % 2}" for i in range(60) for _ in range(3)]}
    source = {"a": {**answers(truth, a), **part}, "b": {**answers(truth, b, 10), **part}}
    results = evalreport.evaluate(
        source, options=evalreport.Options(resamples=20, metrics=("accuracy",), slices=("part_of",))
    )
    of_slices = [r for r in results.metrics if r.slice is not None]
    assert {r.intervals[0].method for r in of_slices} == {"seeds_t"}
    assert {r.test for r in results.comparisons if r.slice is not None} == {"seeds_t"}


@pytest.mark.slow
def test_a_slice_of_one_example_has_no_interval_over_seeds() -> None:
    """Of a single example nothing is known of how examples vary; the slice says so, and nothing is divided by 0."""
    truth, (a, b) = drawn(5, 3, 4)
    part = {"part_of": ["alone" if i == 0 else "others" for i in range(5) for _ in range(3)]}
    source = {"a": {**answers(truth, a), **part}, "b": {**answers(truth, b), **part}}
    results = evalreport.evaluate(source, options=evalreport.Options(resamples=20, slices=("part_of",)))
    alone = [r for r in results.metrics if r.slice is not None and r.slice.value == "alone"]
    assert {r.value for r in alone if r.metric == "accuracy"} <= {0.0, 1 / 3, 2 / 3, 1.0}
    shown = [interval for r in alone for interval in r.intervals]
    assert shown
    assert all(interval.low is None and interval.reason is not None for interval in shown)


def test_other_tests_say_that_training_noise_is_not_included() -> None:
    """Tests over examples are about these trained models; with seeds of other names what needs pairs is refused."""
    truth, (a, b) = drawn(40, 3, 5)
    for shift in (0, 10):
        results = evalreport.evaluate(
            {"a": answers(truth, a), "b": answers(truth, b, shift)},
            options=evalreport.Options(
                resamples=20, metrics=("accuracy",), tests=("bootstrap_difference", "permutation")
            ),
        )
        by_test = {row.test: row for row in results.comparisons}
        assert "training noise not included" in (by_test["bootstrap_difference"].caution or "")
        assert (by_test["permutation"].p_value is None) == bool(shift)
        assert ("seeds of other names" in (by_test["permutation"].reason or "")) == bool(shift)


def test_a_metric_without_influence_values_says_that_its_interval_leaves_training_out() -> None:
    """The median absolute error has no seeds_t: its leading interval is over the examples, and says so."""
    generator = np.random.default_rng(12)
    truth = generator.normal(size=40)
    said = truth[:, None] + generator.normal(size=(40, 3))
    source = {"a": {**rows(said, column="y_pred"), "y_true": np.repeat(truth, 3).tolist()}}
    results = evalreport.evaluate(
        source, options=evalreport.Options(resamples=50, task="regression", metrics=("medae", "rmse"))
    )
    of_median, of_rmse = (
        next(r.intervals[0] for r in results.metrics if r.metric == m) for m in ("medae", "rmse")
    )
    assert (of_rmse.method, of_rmse.reason) == ("seeds_t", None)
    assert of_median.low is not None
    assert "training noise not included" in (of_median.reason or "")


def test_one_seed_of_a_model_is_said_in_the_verdict() -> None:
    """A model with one seed beside one with three: its bracket is left out, a warning and the verdict say so."""
    generator = np.random.default_rng(6)
    a, b = generator.normal(size=(30, 3)), generator.normal(0.1, size=(30, 1))
    results = evaluated(a, b, paired=False)
    found = leading(results)
    assert set(found.details) == {"between_seeds_a"}
    expected, _ = by_hand([a - b])  # a single column of b moves no seed of a
    assert found.statistic == pytest.approx((a.mean() - b.mean()) / expected, rel=1e-9)
    assert str(results.verdicts[0].text).endswith(
        "About these trained models: training noise not included (b: one seed)."
    )
    assert [w.about for w in results.warnings if w.code == "one_seed"] == [("b",)]


def test_one_seed_of_each_model_is_a_plain_test_set() -> None:
    """Seeds of other names, one a model, tell no fits apart: McNemar leads, and the verdict says what it is about."""
    truth, (a, b) = drawn(40, 1, 7)
    source = {"a": answers(truth, a), "b": answers(truth, b, 10)}
    results = evalreport.evaluate(source, options=evalreport.Options(resamples=20, metrics=("accuracy",)))
    assert (results.design, leading(results).test) == ("test-set", "mcnemar_midp")
    assert "About these trained models" in results.verdicts[0].text


def test_seeds_in_part_shared_are_refused_by_name() -> None:
    """Neither paired nor unpaired: the message names models, common seeds and the odd one, and what to do."""
    a = np.zeros((5, 3))
    source = {"a": rows(a), "b": rows(a[:, :2])}
    with pytest.raises(InputError) as raised:
        evalreport.evaluate(source, options=evalreport.Options(task="outcome"))
    said = str(raised.value)
    assert "'s0', 's1'" in said
    assert "only one of them has 's2'" in said
    assert "--join intersect" in said
    results = evalreport.evaluate(
        source, options=evalreport.Options(task="outcome", resamples=20, join="intersect")
    )
    assert {r.repeat for r in results.folds} == {"s0", "s1"}


def test_an_id_that_a_seed_lacks_is_named() -> None:
    """Seeds of other names, of which one leaves out an example: refused with the id; intersect leaves it out."""
    generator = np.random.default_rng(8)
    a, b = generator.normal(size=(6, 2)), generator.normal(size=(6, 3))
    source = {"a": rows(a), "b": {name: values[:-1] for name, values in rows(b, 5).items()}}
    with pytest.raises(InputError, match="'b' does not predict 1 of the ids with each of its seeds: 'e0005'"):
        evalreport.evaluate(source, options=evalreport.Options(task="outcome"))
    results = evalreport.evaluate(
        source, options=evalreport.Options(task="outcome", resamples=20, join="intersect")
    )
    assert results.n == 5
    assert leading(results).difference == pytest.approx(a[:5].mean() - b[:5].mean(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [3, 5])
def test_the_same_algorithm_twice_is_rarely_told_apart(seeds: int) -> None:
    """Paired seeds whose spread is twice that of the examples, the worst case: at most 6.5 % of 4,000 at 5 %.

    Normal differences of 60 examples without a main effect; one Monte Carlo error is 0.35 points. Ignoring the seeds
    rejects in over 30 % there.
    """
    generator, n, repeats = np.random.default_rng(9), 60, 4000
    told, naively = 0, 0
    for _ in range(repeats):
        table = generator.normal(size=(n, seeds)) + generator.normal(0, 2 / n**0.5, seeds)
        values, row = table.mean(0), table.mean(1)
        of_examples = row.var(ddof=1) / n
        found = crossed(of_examples, n - 1, [seed_term(values, (table - values) / (n * seeds))])
        told += 2 * stats.t.sf(abs(values.mean()) / found.error, found.df) <= 0.05
        naively += 2 * stats.t.sf(abs(values.mean()) / of_examples**0.5, n - 1) <= 0.05
    assert told / repeats <= 0.065
    assert naively / repeats > 0.3


def folded(n: int, folds: int, seeds: int, *, own: bool) -> dict[str, list[Any]]:
    """Write the key columns of folds with seeds: the same division for every seed, or one of its own for each."""
    generator = np.random.default_rng(10)
    divisions = [generator.permutation(n) % folds for _ in range(seeds)]
    return {
        "id": [f"e{i:03d}" for _ in range(seeds) for i in range(n)],
        "seed": [str(s) for s in range(seeds) for _ in range(n)],
        "fold": [str(f) for s in range(seeds) for f in divisions[s if own else 0]],
    }


def two_on_folds(keys: dict[str, list[Any]]) -> dict[str, dict[str, list[Any]]]:
    """Draw two models' answers on folds, right in about 80 and 70 %."""
    generator = np.random.default_rng(11)
    truth = [str(int(i[1:]) % 2) for i in keys["id"]]
    source = {}
    for model, chance in (("a", 0.8), ("b", 0.7)):
        right = generator.random(len(truth)) < chance
        said = [t if r else str(1 - int(t)) for t, r in zip(truth, right, strict=True)]
        source[model] = {**keys, "y_true": truth, "y_pred": said}
    return source


def of_folds(source: dict[str, dict[str, list[Any]]]) -> Results:
    """Compare the two."""
    options = evalreport.Options(resamples=20, metrics=("accuracy",), intervals=("corrected_t",))
    return evalreport.evaluate(source, options=options)


def test_folds_with_seeds_are_tested_on_the_mean_over_seeds() -> None:
    """10 folds x 3 seeds: corrected resampled t on ten fold values, each the mean over the seeds; found says so."""
    source = two_on_folds(folded(100, 10, 3, own=False))
    results = of_folds(source)
    assert results.design == "cross-validation"
    assert "mean over its 3 training seeds" in next(f.why for f in results.found if f.what == "design")
    values = {}
    for model, columns in source.items():
        right = np.array(columns["y_true"]) == np.array(columns["y_pred"])
        fold = np.array(columns["fold"])
        # Folds are of one size with every seed: the mean over seeds is that over all answers of the fold.
        values[model] = np.array([right[fold == str(f)].mean() for f in range(10)])
        assert [r.value for r in results.folds if r.model == model] == pytest.approx(values[model], rel=1e-12)
    assert {r.n for r in results.folds} == {10}
    x = values["a"] - values["b"]
    found = leading(results)
    assert (found.test, found.df) == ("corrected_resampled_t", 9)
    # Nadeau and Bengio (2003): variance factor 1/J + n_test/n_train, J - 1 degrees of freedom.
    assert found.statistic == pytest.approx(x.mean() / np.sqrt((1 / 10 + 10 / 90) * x.var(ddof=1)), rel=1e-9)
    assert [m.value for m in results.metrics] == pytest.approx([v.mean() for v in values.values()], rel=1e-12)


def test_seeds_with_folds_of_their_own_are_the_repeats() -> None:
    """Every seed divides the examples anew: the same figures as from a column repeat, up to the order of sums."""
    keys = folded(60, 5, 3, own=True)
    renamed = {("repeat" if name == "seed" else name): values for name, values in keys.items()}
    first, second = of_folds(two_on_folds(keys)), of_folds(two_on_folds(renamed))
    assert first.comparisons == second.comparisons
    for one, other in zip(first.metrics, second.metrics, strict=True):
        assert (one.model, one.intervals) == (other.model, other.intervals)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-12)
    assert leading(first).df == 14
