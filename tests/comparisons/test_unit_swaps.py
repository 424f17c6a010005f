"""Permutation tests of what needs single rows, against every way to swap them, and the errors of sums of many rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

import evalreport
from evalreport.comparisons.permutation import Draws, _of_patterns
from evalreport.comparisons.unit_swaps import Products, _normal_part, _unit_squares, sums_by_bits
from evalreport.samplings import sampling_by
from tests.samples.pairs import Source, ids, row, run, scores, values
from tests.samples.swaps import Value, auc, enumerated


def at_ten(t: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """Return the share of positives among the ten highest scores; those tied at the cut count by their share."""
    cut = np.sort(s)[-10]
    above, level = s > cut, s == cut
    return float((t[above].sum() + t[level].mean() * (10 - above.sum())) / 10)


def r_precision(t: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """Return the share of positives among as many highest scores as there are positives."""
    p = int(t.sum())
    cut = np.sort(s)[-p]
    above, level = s > cut, s == cut
    return float((t[above].sum() + t[level].mean() * (p - above.sum())) / p)


RANKS: dict[str, Value] = {
    "recall_at_10": lambda t, s, w: at_ten(t, s, w) * 10 / t.sum(),
    "r_precision": r_precision,
}


@pytest.mark.parametrize("metric", sorted(RANKS))
def test_ranks_of_what_is_not_smooth(metric: str) -> None:
    """Ranks within each model change sides and the difference itself is compared, so that the test does not lead."""
    random = np.random.default_rng(3)
    truth = np.tile([0, 1, 0], 4)
    a, b = np.round(truth + random.normal(size=12), 1), 50 * np.round(truth + 2 * random.normal(size=12), 1)
    found = row(run(scores(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    assert not found.recommended
    expected = enumerated(truth, rankdata(a), rankdata(b), RANKS[metric], np.arange(12), mean=True)
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert "exchangeable" in str(found.caution)


def relative_error(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return the absolute error over that of the mean truth."""
    return float((w * np.abs(t - p)).sum() / (w * np.abs(t - np.average(t, weights=w))).sum())


def median_error(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return the median of the absolute errors."""
    return float(np.median(np.abs(t - p)))


VALUES: dict[str, Value] = {
    "medae": median_error,
    "rae": relative_error,
}


@pytest.mark.parametrize("metric", sorted(VALUES))
def test_values_of_all_rows(metric: str) -> None:
    """Predictions themselves change sides; RAE has influence values, so that each swap is studentised."""
    random = np.random.default_rng(4)
    truth = random.normal(size=10)
    a, b = truth + random.normal(size=10), truth + 2 * random.normal(size=10)
    found = row(run(values(truth, a=a, b=b), metrics=(metric,), tests=("permutation",)), "permutation")
    assert found.recommended == (metric == "rae")
    expected = enumerated(truth, a, b, VALUES[metric], np.arange(10), mean=metric != "rae")
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert ("exchangeable" in str(found.caution)) == (metric != "rae")


def three_classes(n: int, seed: int) -> tuple[np.ndarray, list[np.ndarray], Source]:
    """Return truth, two tables of probabilities and the models that give them."""
    random = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    tables = []
    for noise in (0.7, 2.0):
        z = np.exp(np.eye(3)[truth] + noise * random.normal(size=(n, 3)))
        tables.append(z / z.sum(axis=1, keepdims=True))
    names = np.array(["x", "y", "z"])
    source = {
        name: {"id": ids(n), "y_true": names[truth].tolist()}
        | {f"p_{label}": table[:, k].tolist() for k, label in enumerate(names)}
        for name, table in zip("ab", tables, strict=True)
    }
    return truth, tables, source


@pytest.mark.parametrize("metric", ["roc_auc_ovr", "roc_auc_ovo"])
def test_ranks_of_several_classes(metric: str) -> None:
    """Each class's ranks within a model change sides together, and each swap is studentised."""
    truth, tables, source = three_classes(8, 5)
    multi = {"roc_auc_ovr": "ovr", "roc_auc_ovo": "ovo"}[metric]
    # The enumeration hands whole rows on: ranks of all three columns, put into one number.
    ranks = [np.column_stack([rankdata(column) for column in table.T]) for table in tables]
    held = np.concatenate(ranks)

    def value(t: np.ndarray, places: np.ndarray, w: np.ndarray) -> float:
        scores_of = held[places.astype(int)]
        areas = []
        for k in range(3):
            for j in [None] if multi == "ovr" else [j for j in range(3) if j != k]:
                some = np.full(len(t), True) if j is None else (t == k) | (t == j)
                areas.append(auc((t[some] == k).astype(int), scores_of[some, k], w[some]))
        return float(np.mean(areas))

    found = row(run(source, metrics=(metric,)), "permutation")
    assert found.recommended
    expected = enumerated(truth, np.arange(8), np.arange(8, 16), value, np.arange(8))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_whole_clusters_of_rows_change_sides() -> None:
    """Under --cluster a cluster's rows change sides together."""
    random = np.random.default_rng(8)
    unit = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 1, 2, 3, 4])
    truth = random.normal(size=25)
    a, b = truth + random.normal(size=25), truth + 1.5 * random.normal(size=25)
    source = values(truth, a=a, b=b)
    for model in source.values():
        model["site"] = [f"s{u}" for u in unit]
    found = row(run(source, metrics=("medae",), cluster="site", tests=("permutation",)), "permutation")
    expected = enumerated(truth, a, b, VALUES["medae"], unit, mean=True)
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("clustered", [False, True])
def test_errors_follow_from_sums_of_products(clustered: bool) -> None:
    """The squares from sums of products are those of all units, one by one, also of models that hardly differ."""
    random = np.random.default_rng(2)
    n, p = 200, 3
    ones = np.ones((n, 1))
    for apart in (1.0, 1e-6):
        first = np.hstack([ones, random.gamma(1.0, size=(n, p - 1))])
        second = first.copy()
        second[20:, 1] += apart * random.normal(size=n - 20)
        one, other = sparse.csr_array(first), sparse.csr_array(second)
        change = sparse.csr_array(other - one)
        change.eliminate_zeros()
        factors = 1 / (1 - random.uniform(0.1, 0.4, size=n)) if clustered else 1.01
        moving = np.flatnonzero(np.diff(change.indptr))
        swapped = np.zeros((50, n))
        swapped[:, moving] = random.random((50, len(moving))) < 0.5
        products = Products.of(
            (one, other), change, (1, p), factors, lambda table, of=swapped[:, moving]: np.asarray(of @ table)
        )
        assert products is not None
        slopes = random.normal(size=(50, p))
        slopes[:, 0] = -(slopes[:, 1:] @ first[:, 1:].mean(axis=0))
        both = [slopes, slopes + apart * 1e-3 * random.normal(size=(50, p))]
        assert products.moved == pytest.approx(swapped @ change, abs=1e-10)
        expected = _unit_squares(both, (one, other), swapped, factors)
        assert products.squares(both) == pytest.approx(expected, rel=1e-6)


def test_without_any_spread_the_error_is_nothing() -> None:
    """Errors of 1 against errors of 2 throughout: no example says anything that the others do not."""
    one, other = (sparse.csr_array(np.column_stack([np.ones(40), np.full(40, e)])) for e in (1.0, 4.0))
    change = sparse.csr_array(other - one)
    change.eliminate_zeros()
    products = Products.of((one, other), change, (1, 2), 1.0, lambda table: np.zeros((1, table.shape[1])))
    assert products is not None
    slopes = [np.array([[-0.5 * e, 0.5]]) / 40 for e in (1.0, 4.0)]
    assert products.squares(slopes).tolist() == [0.0]


@pytest.mark.parametrize("metric", ["rmse", "r2", "r2_correlation"])
def test_drawn_swaps_find_the_p_of_single_units(metric: str) -> None:
    """Sums of products give the p-value that the definition gives under swaps drawn apart from them."""
    random = np.random.default_rng(11)
    n = 60
    truth = random.normal(size=n)
    a, b = truth + random.normal(size=n), truth + 1.25 * random.normal(size=n)
    # Beside the paired t test that leads swaps are drawn only where they are named.
    results = run(values(truth, a=a, b=b), metrics=(metric,), resamples=20_000, tests=("permutation",))
    found = row(results, "permutation")

    def influence(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if metric == "rmse":
            value = np.sqrt(((p - truth) ** 2).mean(axis=-1, keepdims=True))
            return value, ((p - truth) ** 2 - value**2) / (2 * value)
        y, f = truth - truth.mean(), p - p.mean(axis=-1, keepdims=True)
        if metric == "r2":
            value = 1 - ((p - truth) ** 2).sum(axis=-1, keepdims=True) / (y * y).sum()
            return value, -((p - truth) ** 2 - (1 - value) * y * y) / (y * y).mean()
        r = (y * f).sum(axis=-1, keepdims=True) / np.sqrt((y * y).sum() * (f * f).sum(axis=-1, keepdims=True))
        u, v = y / y.std(), f / f.std(axis=-1, keepdims=True)
        return r * r, 2 * r * (u * v - r * (u * u + v * v) / 2)

    def statistic(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        (one, by_one), (other, by_other) = influence(first), influence(second)
        squares = ((by_one - by_other) ** 2).sum(axis=-1)
        return np.abs(one - other)[..., 0] / np.sqrt(squares / (n * (n - 1)))

    swaps = 20_000
    bits = random.random((swaps, n)) < 0.5
    p = float(np.mean(statistic(np.where(bits, b, a), np.where(bits, a, b)) >= statistic(a, b)))
    assert 0.02 < p < 0.9
    assert found.p_value == pytest.approx(p, abs=5 * np.sqrt(2 * p * (1 - p) / swaps))


@pytest.mark.parametrize(("observed", "all_drawn"), [(0.2, False), (4.0, True)])
def test_drawing_ends_only_where_nothing_can_be_decided(observed: float, all_drawn: bool) -> None:
    """Swaps of rows end after the first ones where p is far above the level; a small p rests on all of them."""
    units = sampling_by(500)

    def of_block(swapped: np.ndarray) -> tuple[np.ndarray, None]:
        first = (swapped - 0.5).sum(axis=1) / np.sqrt(125)
        return np.where(swapped.any(axis=1), first, observed), None

    found = _of_patterns(units, np.full(500, True), Draws(20_000, 1_000, 0.05, 1), of_block)
    swaps = len(found.differences)
    assert swaps == 20_000 if all_drawn else 1_000 <= swaps < 3_000


def test_a_large_family_can_be_decided_on_what_has_no_influence_values() -> None:
    """Eight models make 28 pairs, and 200 resamples would leave no p-value times 28 below 0.05."""
    random = np.random.default_rng(1)
    truth = random.normal(size=60)
    models = {f"m{k:02d}": truth + (0.2 + 0.4 * k) * random.normal(size=60) for k in range(8)}
    results = evalreport.evaluate(
        values(truth, **models), options=evalreport.Options(metrics=("medae",), resamples=200)
    )
    assert sum(verdict.verdict in ("better", "worse") for verdict in results.verdicts) > 8


def test_units_of_great_leverage_swap_alone_and_the_rest_is_normal() -> None:
    """Of heavy tails the greatest make the sum uneven: without them it has the rest's products, also of multiples."""
    values = np.random.default_rng(3).gamma(1.0, size=(30_000, 2)) ** 2.5
    values = np.column_stack([values, -2 * values[:, 0]])
    found = _normal_part(values)
    assert found is not None
    many, root = found
    assert 0 < np.count_nonzero(~many) <= len(values) / 64
    assert values[~many].max() == values.max()
    assert root.T @ root == pytest.approx(values[many].T @ values[many], rel=1e-12)


def test_sums_by_bits_have_the_moments_of_fair_coins() -> None:
    """Each pattern's sums lie about half of its total with a quarter of its products, and multiples stay multiples."""
    random = np.random.default_rng(5)
    values = np.column_stack([random.normal(size=700), np.zeros(700)])
    values = np.column_stack([values, 3 * values[:, 0]])
    found = dict(sums_by_bits(values, np.array([100, 600]), 20_000, 1))
    for own, some in enumerate((values[:100], values[100:])):
        sums, spread = found[own], np.sqrt((some[:, 0] ** 2).sum() / 4)
        assert sums[:, 0].mean() == pytest.approx(some[:, 0].sum() / 2, abs=5 * spread / np.sqrt(20_000))
        assert sums[:, 0].std() == pytest.approx(spread, rel=0.03)  # five standard errors of 20,000 draws
        assert not sums[:, 1].any()
        np.testing.assert_allclose(sums[:, 2], 3 * sums[:, 0], rtol=1e-12)
