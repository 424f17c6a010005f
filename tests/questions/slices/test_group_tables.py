"""Groups in the section of slices: selection rates, ratios, recall, gaps by chance, and periods in their order."""

from __future__ import annotations

import numpy as np
from scipy import stats

import evalreport
from evalreport.questions.slices import section as slices
from evalreport.questions.slices.group_ratios import ratio_records
from evalreport.questions.slices.group_spread import Shares, spread_records
from evalreport.questions.slices.group_tables import groups_of
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def applicants(**options: object) -> Results:
    """Return a run on 1,200 applicants: 20 % of women and 40 % of men are selected; the file begins in September."""
    random = np.random.default_rng(5)
    n = 1200
    sex = np.where(np.arange(n) % 3 == 0, "f", "m")
    selected = random.random(n) < np.where(sex == "f", 0.2, 0.4)
    rows = {
        "id": [str(i) for i in range(n)],
        "y_true": (random.random(n) < 0.4).astype(int).tolist(),
        "y_pred": selected.astype(int).tolist(),
        "sex": sex.tolist(),
        "date": [f"2026-{9 - i * 9 // n:02d}-15" for i in range(n)],
    }
    return evalreport.evaluate({"m": rows}, resamples=50, **options)


def test_the_heading_names_the_ratio_with_its_reference():
    """Women against men, the largest group, with the interval and both recalls; the gap stands above its table."""
    content = slices.describe(view_of(applicants(slices=["sex", "date:month"])))
    assert content.heading.startswith("Slices: m selects sex = f 0.")
    assert "times as often as m (0." in content.heading
    assert "; recall 0." in content.heading
    by_sex, by_month = content.columns
    (gap,) = by_sex.findings
    assert gap.startswith("m differs between groups of sex by more than chance gives: ")
    assert "selection rate by up to 0.2" in gap
    assert by_month.findings == ()
    assert by_month.table.note.endswith("No gap between groups is shown to be larger than chance gives (m).")


def test_one_table_has_values_gap_share_and_recall():
    """The share selected with its ratio to the largest group, recall with its counts, against the rows themselves."""
    results = applicants(slices=["sex"])
    (column,) = slices.describe(view_of(results)).columns
    assert [c.head if isinstance(c.head, str) else c.head.name for c in column.table.columns] == [
        "n", "m", "m, gap to the rest", "Difference", "Selected", "Recall",
    ]  # fmt: skip
    by_name = {row.label.value: row for row in column.table.rows}
    random = np.random.default_rng(5)
    women = np.arange(1200) % 3 == 0
    selected = random.random(1200) < np.where(women, 0.2, 0.4)
    positive = random.random(1200) < 0.4
    for name, group in (("f", women), ("m", ~women)):
        share, recall = by_name[name].cells[-2:]
        assert share.value == f"{100 * selected[group].mean():.1f} %"
        assert recall.beside == f"{(selected & positive & group).sum()} of {(positive & group).sum()}"
    ratio = selected[women].mean() / selected[~women].mean()
    assert by_name["f"].cells[-2].beside.startswith(f"× {ratio:.2f} [")
    assert by_name["m"].cells[-2].beside == "reference"


def test_share_and_recall_are_shown_where_they_are_asked_for_or_differ():
    """Of groups that are alike they stand below, among the details; -m recall shows recall; a gate on the rate both."""
    rows = {"y_true": [0, 1] * 200, "y_pred": [0, 1, 1, 0] * 100, "group": ["a"] * 200 + ["b"] * 200}

    def heads(**options: object) -> tuple[list[object], list[str]]:
        (column,) = slices.describe(
            view_of(evalreport.evaluate({"m": rows}, slices=["group"], resamples=50, **options))
        ).columns
        return [c.head for c in column.table.columns[4:]], [t.title for t in column.details[1:3]]

    of_groups = ["Decisions of m by group", "Gaps between groups of group, and by chance alone"]
    assert heads() == ([], of_groups)
    assert heads(metrics=["accuracy", "recall"])[0] == ["Recall"]
    assert heads(metrics=["accuracy", "precision"])[0] == []
    gate = "selection_rate[group=b] / selection_rate[group=a] >= 0.8"
    assert heads(gates=[gate]) == (["Selected"], of_groups)


def test_periods_stand_in_their_order():
    """Months by date, where other columns have the worst first."""
    view = view_of(applicants(slices=["date:month"]))
    months = [f"2026-{k:02d}" for k in range(1, 10)]
    (column,) = slices.describe(view).columns
    assert [row.label.value for row in column.table.rows] == months
    assert column.figure.title.endswith(" over date")
    assert [row.label for row in column.details[1].rows] == months


def test_without_slices_there_is_no_section():
    """Nothing to compare."""
    assert groups_of(view_of(applicants())) is None


def shares(successes: list[int], trials: list[int], metric: str = "selection_rate") -> Shares:
    """Return groups of one column."""
    names = tuple(f"g{k}" for k in range(len(trials)))
    return Shares("m", metric, "group", names, np.array(successes, float), np.array(trials, float))


def test_a_group_is_named_by_limits_that_hold_for_all_groups_and_metrics():
    """Newcombe's limits of the difference at 1 - 0.05 / 8 leave 0 out just where those of the ratio leave 1 out."""
    found = [shares([18, 18, 18, 18, 30], [60] * 5), shares([12] * 5, [20] * 5, "recall")]
    records = {r.value: r for r in ratio_records(found, 0.95) if r.metric == "selection_rate"}
    assert {r.comparisons for r in records.values()} == {8}
    assert {r.reference for r in records.values()} == {"g0"}
    assert [r.value for r in records.values() if r.differs] == []
    plain = records["g4"]
    assert plain.low > 1  # each by itself the interval leaves 1 out: in a heading it would be one of eight
    z = stats.norm.ppf(1 - 0.05 / 16)
    (low, high), (low0, high0) = (wilson(x, 60, z) for x in (30, 18))
    difference = 12 / 60
    assert (difference - np.hypot(30 / 60 - low, high0 - 18 / 60) > 0) == (plain.simultaneous_low > 1)
    assert high > low
    assert low0 < high0
    odd = {r.value: r for r in ratio_records([shares([18, 18, 18, 18, 40], [60] * 5)], 0.95)}
    assert [name for name, r in odd.items() if r.differs] == ["g4"]


def wilson(x: int, n: int, z: float) -> tuple[float, float]:
    """Return Wilson's limits by his formula."""
    p, d = x / n, 1 + z * z / n
    middle, half = (p + z * z / (2 * n)) / d, z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
    return middle - half, middle + half


def test_a_group_of_nine_is_neither_judged_nor_named():
    """Nine of nine against 50 of 1,000 is no heading; ten of ten is."""
    nine, ten = (ratio_records([shares([50, n], [1000, n])], 0.95)[0] for n in (9, 10))
    assert (nine.differs, nine.simultaneous_low, nine.comparisons) == (False, None, None)
    assert (ten.differs, ten.comparisons) == (True, 1)


def test_equal_groups_have_a_heading_that_names_none():
    """Thirty groups of sixty that are selected alike: no group in 20 data sets."""
    random = np.random.default_rng(8)
    for _ in range(20):
        found = [shares(random.binomial(60, 0.3, 30).tolist(), [60] * 30)]
        assert not any(r.differs for r in ratio_records(found, 0.95))


def test_a_gap_that_noise_gives_exactly_is_not_beyond_it():
    """Shares are quotients: a tie within 1e-9 is no larger gap; nor is one of groups with fewer than ten examples."""
    for trials in ([20, 20, 20], [12, 30, 30]):
        found = shares([0] * 3, trials)
        for top in range(trials[0] + 1):
            record = spread_records([replace_first(found, top)], 0.95, 1)[0]
            larger = record.largest_gap - record.gap_by_noise_all
            assert record.beyond == (larger > 1e-9)
    small = spread_records([shares([0, 9, 5], [9, 9, 9])], 0.95, 1)[0]
    assert small.largest_gap > small.gap_by_noise_all
    assert not small.beyond


def replace_first(found: Shares, successes: int) -> Shares:
    """Return groups of which the first has so many successes."""
    return shares([successes, *found.successes[1:].astype(int).tolist()], found.trials.astype(int).tolist())
