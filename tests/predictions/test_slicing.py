"""Which slice an example is in: values, bins, most frequent values, two columns, missing cells, hostile names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalreport
from evalreport.errors import UsageError
from evalreport.predictions.possible_analyses import survey
from evalreport.predictions.slicing import (
    MOST_VALUES,
    Part,
    _divided,
    bin_codes,
    bin_names,
    divide,
    divisions,
    quantile_edges,
    read_slicing,
)
from evalreport.predictions.table import Column
from tests.samples.slices import answers, run, values_of, within


def loaded(*slices, n=8, **columns):
    """Read one model with these metadata columns."""
    n = len(next(iter(columns.values()))) if columns else n
    return evalreport.load({"a": {"outcome": [0, 1] * (n // 2) + [1] * (n % 2), **columns}}, slices=slices)


def counted(division):
    """Return how many rows each slice holds."""
    return dict(zip(division.values, np.bincount(division.codes).tolist(), strict=True))


def test_values_are_slices_in_order_and_empty_cells_one_of_their_own():
    """Text by code point, the missing ones last."""
    division = divide(loaded("sex", sex=["m", "f", None, "m", "f", ""]), "sex")
    assert counted(division) == {"f": 2, "m": 2, "(missing)": 2}


@pytest.mark.parametrize("missing", [None, "", "nan", "NaN"])
def test_every_spelling_of_an_empty_cell_is_one_slice(missing, tmp_path):
    """An empty cell, None and the nan that programs write for one are all (missing), in columns and in files."""
    cells = ["m", "f", missing, "nan", "f", None]
    assert counted(divide(loaded("sex", sex=cells), "sex")) == {"f": 2, "m": 1, "(missing)": 3}
    rows = "".join(f"{i},1,{cell or ''}\n" for i, cell in enumerate(cells))
    (tmp_path / "a.csv").write_text("id,outcome,sex\n" + rows)
    of_file = divide(evalreport.load(tmp_path / "a.csv", slices=["sex"]), "sex")
    assert counted(of_file) == {"f": 2, "m": 1, "(missing)": 3}


def test_numbers_with_nan_among_them_stay_numbers():
    """The nan of a column of numbers is (missing), and the others are binned as numbers."""
    for cells in (np.array([*range(20), np.nan]), [*map(str, range(20)), "nan"]):
        division = divide(loaded("age:2", age=cells), "age:2")
        assert counted(division) == {"under 10": 10, "10 or over": 10, "(missing)": 1}


def test_few_numbers_stay_apart_in_the_order_of_their_values():
    """Up to ten distinct numbers are slices; 10 comes after 9."""
    division = divide(loaded("k", k=[10, 9, 10, 9, 1, 1]), "k")
    assert division.values == ("1", "9", "10")


def test_more_numbers_are_binned_into_quarters_at_round_edges():
    """0 to 99: by hand the quarters begin at 25, 50 and 75; the edges are said."""
    division = divide(loaded("age", age=list(range(100))), "age")
    assert counted(division) == {"under 25": 25, "25 to 49": 25, "50 to 74": 25, "75 or over": 25}
    assert division.how == "4 bins of about equal size, edges 25, 50, 75"


def test_numbers_that_are_missing_are_not_in_a_bin():
    """An empty cell of a numeric column is the slice (missing)."""
    division = divide(loaded("age:2", age=[*range(20), None, None]), "age:2")
    assert counted(division) == {"under 10": 10, "10 or over": 10, "(missing)": 2}


def test_edges_of_the_user_are_kept():
    """age:18,40,65 makes four bins, each from its edge up to the next, not included; empty ones are left out."""
    division = divide(loaded("age:18,40,65", age=[17, 18, 39, 40, 64]), "age:18,40,65")
    assert counted(division) == {"under 18": 1, "18 to 39": 2, "40 to 64": 2}
    one = divide(loaded("age:40,", age=[39, 40]), "age:40,")
    assert one.values == ("under 40", "40 or over")


def test_codes_with_leading_zeros_are_no_quantities():
    """Postal codes are not put into bins."""
    codes = [f"{i:05d}" for i in range(12)]
    assert divide(loaded("zip", zip=codes), "zip").values == tuple(codes)


def test_most_frequent_values_and_the_rest():
    """city:2 of a column of text keeps two values, in order, and puts the others together."""
    division = divide(loaded("city:2", city=["c", "c", "c", "b", "a", "a"]), "city:2")
    assert counted(division) == {"a": 2, "c": 3, "(other)": 1}


def test_made_up_names_never_meet_real_ones():
    """A value that is called (missing) or (other) in the files keeps its name."""
    division = divide(loaded("v", v=["(missing)", None]), "v")
    assert division.values == ("(missing)", "((missing))")
    division = divide(loaded("v:1", v=["(other)", "(other)", "x", "y"]), "v:1")
    assert division.values == ("(other)", "((other))")


def test_two_columns_at_once():
    """Every pair of values that occurs; bins go with values."""
    columns = {"sex": ["f", "f", "m", "m"], "age": [10, 50, 50, 60]}
    division = divide(loaded("sex*age:40,", **columns), "sex*age:40,")
    assert division.column == "sex*age"
    assert counted(division) == {"f * under 40": 1, "f * 40 or over": 1, "m * 40 or over": 2}
    assert division.parts[0] == ("f", "under 40")


def test_pairs_that_would_read_alike_are_quoted():
    """("a * b", "c") and ("a", "b * c") are two slices."""
    columns = {"x": ["a * b", "a"], "y": ["c", "b * c"]}
    division = divide(loaded("x*y", **columns), "x*y")
    assert division.values == ('"a" * "b * c"', '"a * b" * "c"')


def test_a_column_that_is_called_so_wins():
    """Columns named sex*region and age:4 are columns."""
    columns = {
        "sex*region": ["p", "q"],
        "age:4": ["u", "u"],
        "sex": ["f", "m"],
        "region": ["n", "n"],
        "age": [1, 2],
    }
    assert divide(loaded("sex*region", "age:4", **columns), "sex*region").values == ("p", "q")
    assert divide(loaded("sex*region", "age:4", **columns), "age:4").values == ("u",)


@pytest.mark.parametrize(
    "text, message",
    [
        ("sxe", "--slice: unknown column 'sxe'; did you mean sex?"),
        ("sex*rgeion", "unknown column 'rgeion'; did you mean region?"),
        ("sex*sex", "both columns are 'sex'"),
        ("sex*region*age", "at most two columns"),
        ("age:x", "after age: stands a number of bins"),
        ("age:0", "after age: stands a number of bins"),
        ("age:40,18", "edges in ascending order"),
        ("sex:18,40", "holds text, which has no edges"),
    ],
)
def test_what_cannot_be_sliced_by_is_refused_with_the_reason(text, message):
    """Unknown columns with the closest name, wrong cuts with the right spelling."""
    with pytest.raises(UsageError, match="--slice") as error:
        divide(loaded(sex=["f", "m"], region=["n", "s"], age=[1, 2]), text)
    assert message in str(error.value)


def test_too_many_values_are_refused_with_a_way_out():
    """51 cities: name the most frequent ones; 60 bins: ask for fewer; 10 x 6 pairs: put values together."""
    many = [f"c{i:02}" for i in range(MOST_VALUES + 1)]
    with pytest.raises(UsageError, match="51 slices.*city:10 keeps the ten most frequent"):
        divide(loaded("city", city=many), "city")
    with pytest.raises(UsageError, match="60 slices.*fewer bins, for example k:4"):
        divide(loaded("k:60", k=list(range(600))), "k:60")
    with pytest.raises(UsageError, match="60 slices.*x:5\\*y:5"):
        divide(loaded("x*y", x=[f"x{i // 6}" for i in range(60)], y=[f"y{i % 6}" for i in range(60)]), "x*y")


def test_one_column_is_divided_in_one_way():
    """Two cuts of one column would be two slices of one name."""
    table = loaded("age:2", "age:3", age=list(range(20)))
    with pytest.raises(UsageError, match="--slice age:2 divides 'age' already"):
        divisions(table, ["age:2", "age:3"])


def test_a_column_that_differs_between_models_is_refused_with_the_reason():
    """A latency is no property of the example: its slices would hold other examples for each model."""
    source = {
        "a": {"id": ["1", "2"], "outcome": [0, 1], "latency": [5, 6]},
        "b": {"id": ["1", "2"], "outcome": [1, 1], "latency": [7, 8]},
    }
    with pytest.raises(UsageError, match="--slice latency: the models have different values of 'latency'"):
        run(source, slices=["latency"])


def test_check_says_what_can_be_sliced_by_and_how_many_values_it_has():
    """Few values, numbers that are binned, too many values, missing cells, and columns that models differ in."""
    n = 60
    facts = {
        "sex": ["f", "m", None] * 20, "age": list(range(n)), "city": [f"c{i}" for i in range(n)],
    }  # fmt: skip
    source = {
        name: {"outcome": [0, 1] * 30, "pages": [k * n + i for i in range(n)], **facts}
        for k, name in enumerate("ab")
    }
    (row,) = [row for row in survey(evalreport.load(source)) if row.analysis == "slices"]
    assert row.possible
    assert str(row.reason) == (
        "--slice can name age (60 values, numbers: 4 bins, or name them as age:5); city (60 values, too many to show"
        " apart: city:10 keeps the ten most frequent); sex (2 values, some missing); not pages: the models differ in"
        " it"
    )


HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(st.lists(st.one_of(st.none(), HOSTILE), min_size=2, max_size=30))
def test_every_row_is_in_exactly_one_slice_whatever_the_values(values):
    """No value is lost or joined with another: as many slices as distinct cells, and all rows counted."""
    division = divide(loaded("v", v=values), "v")
    assert len(division.codes) == len(values)
    assert np.bincount(division.codes).min() >= 1
    assert len(set(division.values)) == len(division.values)


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=80), st.integers(1, 10))
def test_bins_cover_all_numbers_and_keep_equal_ones_together(numbers, n_bins):
    """At most as many bins as asked for, none empty, ascending, and names that differ."""
    values = np.array(numbers)
    edges = quantile_edges(values, n_bins)
    codes = bin_codes(values, edges)
    assert len(edges) < max(n_bins, 2)
    assert sorted(set(codes.tolist())) == list(range(len(edges) + 1))
    order = np.argsort(values, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    names = bin_names(edges, whole=False)
    assert len(set(names)) == len(names) == len(edges) + 1


@given(
    st.lists(
        st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-9),
        min_size=2,
        max_size=80,
    ),
    st.integers(2, 6),
    st.sampled_from([1e-12, 1e-3, 0.3048, 2.54, 1e6, 1e12]),
)
def test_bins_are_the_same_in_any_unit(numbers, n_bins, unit):
    """In metres or feet the same examples are in the same bins, and the edges are written with few digits."""
    values = np.array(numbers)
    own = bin_codes(values, quantile_edges(values, n_bins))
    other = bin_codes(unit * values, quantile_edges(unit * values, n_bins))
    # Of numbers that only rounding tells apart either bin is right.
    if len(np.unique(unit * values)) == len(np.unique(values)):
        assert own.tolist() == other.tolist()


def test_edges_are_written_with_few_digits():
    """300 incomes: three digits are enough to tell the bins apart."""
    values = np.random.default_rng(3).gamma(2, 1000, 300)
    assert quantile_edges(values, 4) == pytest.approx([1200, 1900, 2910])
    assert all(len(f"{edge:g}".strip("0")) <= 3 for edge in quantile_edges(values, 4))


@given(st.lists(st.integers(0, 10**6), min_size=40, max_size=200, unique=True), st.integers(2, 6))
def test_bins_of_distinct_numbers_have_about_one_size(numbers, n_bins):
    """Whole numbers without ties: sizes differ by one at most."""
    values = np.array(numbers, dtype=float)
    sizes = np.bincount(bin_codes(values, quantile_edges(values, n_bins)))
    assert len(sizes) == n_bins
    assert sizes.max() - sizes.min() <= 1


def test_read_slicing_prefers_the_longest_column():
    """Names with stars and colons inside are found on both sides."""
    known = {"a*b", "c", "a", "b*c"}
    assert [p.column for p in read_slicing("a*b*c", known)] in (["a", "b*c"], ["a*b", "c"])


def test_hostile_values_stand_in_the_results_as_they_are():
    """Markup, line breaks and quotes are values like any other."""
    values = ['<script>alert("x")</script>', "a\nb", "=1+1", "\u202egnp.exe"] * 10
    results = run(answers({"a": [1, 0] * 20}, v=values), slices=["v"])
    assert set(values_of(results, "v")) == set(values)
    assert within(results, "v", "=1+1")[0].n == 10


def test_neither_the_order_of_rows_nor_of_models_changes_a_figure():
    """The same slices, in the same order, from shuffled rows."""
    random = np.random.default_rng(0)
    ids = [f"{i:03}" for i in range(90)]
    columns = {
        "id": ids,
        "g": random.choice(list("uvw"), 90).tolist(),
        "outcome": random.integers(0, 2, 90).tolist(),
    }
    shuffled = random.permutation(90)
    other = {name: [column[i] for i in shuffled] for name, column in columns.items()}
    second = {**columns, "outcome": random.integers(0, 2, 90).tolist()}
    one = run({"a": columns, "b": second}, slices=["g"])
    two = run({"b": second, "a": other}, slices=["g"])
    assert one.metrics == two.metrics
    assert one.disparities == two.disparities
    assert one.comparisons == two.comparisons


@pytest.mark.parametrize(
    "cut, names",
    [
        ("day", ["2025-12-29", "2026-01-04", "2026-03-31"]),
        ("week", ["2026-W01", "2026-W14"]),
        ("month", ["2025-12", "2026-01", "2026-03"]),
        ("quarter", ["2025-Q4", "2026-Q1"]),
        ("year", ["2025", "2026"]),
    ],
)
def test_dates_are_cut_into_periods(cut: str, names: list[str]) -> None:
    """ISO weeks begin on Monday and belong to the year of their Thursday: 29 December 2025 is in 2026-W01."""
    dates = Column(np.array([2, 0, 1], dtype=np.int32), ("2025-12-29", "2026-01-04", "2026-03-31T10:00:00"))
    division = _divided(dates, Part("date", cut), f"date:{cut}", None)
    assert [*division.values] == names
    assert division.values[division.codes[0]] == names[-1]


def test_what_is_no_date_has_no_periods() -> None:
    """The message names the value and how dates are written."""
    column = Column(np.array([0], dtype=np.int32), ("soon",))
    with pytest.raises(UsageError, match="holds 'soon', which is no date: dates are written 2026-03-31"):
        _divided(column, Part("date", "month"), "date:month", None)


def test_dates_are_offered_by_their_periods():
    """Sixty days: weeks and months, not the ten most frequent of them."""
    days = [f"2026-{1 + k // 28:02d}-{1 + k % 28:02d}T08:00:00" for k in range(60)]
    source = {name: {"outcome": [0, 1] * 30, "event_time": days} for name in "ab"}
    (row,) = [row for row in survey(evalreport.load(source)) if row.analysis == "slices"]
    assert "event_time (60 values, dates: event_time:week or event_time:month takes periods)" in str(
        row.reason
    )
