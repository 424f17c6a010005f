"""Gold that is visibly no random part of the answers withholds the verdict, unless declared fair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.samples.judges import answers, favoured, hidden, run, warned


def test_random_gold_is_not_blamed() -> None:
    """A random part shows nothing, and every test stands in the results; Fisher's p-value is scipy's."""
    results = favoured()
    assert warned(results) == []
    assert [(t.about, t.model) for t in results.gold_sampling] == [
        ("outcome", "liked"),
        ("outcome", "plain"),
        ("outcome", "weak"),
        ("model", None),
    ]
    columns = answers()["liked"]
    given = ~np.isnan(columns["gold"])
    table = [[(columns["outcome"][side] == v).sum() for v in (0, 1)] for side in (given, ~given)]
    assert results.gold_sampling[0].p_value == pytest.approx(stats.fisher_exact(table).pvalue)


def test_gold_that_depends_on_the_model_is_blocked() -> None:
    """People judged 150 answers of one model and 50 of the others."""
    source = answers()
    known = np.flatnonzero(~np.isnan(source["liked"]["gold"]))
    few = np.isin(np.arange(1200), known[:50])
    results = run(hidden(source, {"liked": np.ones(1200, dtype=bool), "plain": few, "weak": few}))
    ((level, text),) = warned(results)
    assert level == "blocker"
    assert text.startswith("People judged 12.5 % of the answers of liked, but 4.2 % of those of plain")


def test_gold_that_depends_on_the_task_is_blocked() -> None:
    """A column task of six parts, of which people judged three: named with the test, by random tables where small."""
    source = answers(n=600, gold=600)
    task = np.arange(600) % 6
    keep = (task < 3) & (np.arange(600) < 60)
    chosen = hidden(source, dict.fromkeys(source, keep))
    parts = {name: {**columns, "task": [f"part-{t}" for t in task]} for name, columns in chosen.items()}
    results = run(parts)
    assert [(t.about, t.test) for t in results.gold_sampling][-1] == ("task", "chi_squared")
    assert [level for level, _ in warned(results)] == ["blocker"]
    fewer = hidden(parts, dict.fromkeys(parts, np.arange(600) < 30))
    found = next(t for t in run(fewer).gold_sampling if t.about == "task")
    assert found.test == "random_tables"
    # Against the chi-squared tail, which is rough with 2.5 expected rows but near enough to tell a mistake.
    expected = stats.chi2_contingency([[5, 5, 5, 0, 0, 0], [95, 95, 95, 100, 100, 100]])[1]
    assert found.p_value == pytest.approx(expected, rel=0.5)


def test_whole_clusters_that_people_judged_are_no_choice() -> None:
    """Two of twenty clusters whose answers are alike: as rows they look chosen, as clusters they do not."""
    n, site = 600, np.arange(600) // 30
    random = np.random.default_rng(4)
    level = random.random(20)
    judge = (random.random(n) < level[site]).astype(float)
    easiest = np.argsort(level)[-2:]
    gold = np.where(np.isin(site, easiest), judge, np.nan)
    source = {"a": {"outcome": judge, "gold": gold, "site": [f"s{s}" for s in site]}}
    (as_rows,) = run(source).gold_sampling
    clustered = run(source, cluster="site")
    (as_clusters,) = clustered.gold_sampling
    assert as_rows.p_value < 0.001 < as_clusters.p_value
    assert as_clusters.test == "cluster_t"
    (warned,) = [w for w in clustered.warnings if w.code == "few_gold"]
    assert "lie in 2 clusters only" in warned.text


def test_graded_outcomes_are_compared_by_ranks() -> None:
    """Outcomes of any number: Mann and Whitney's test, as scipy has it."""
    random = np.random.default_rng(2)
    judge = random.normal(size=300)
    gold = np.where(np.arange(300) < 60, judge + random.normal(size=300), np.nan)
    (found,) = run({"a": {"outcome": judge, "gold": gold}}).gold_sampling
    expected = stats.mannwhitneyu(judge[:60], judge[60:], method="asymptotic").pvalue
    assert (found.test, found.p_value) == ("mann_whitney", pytest.approx(expected))
