"""The promised rates are what the confirmations measured, judged strictly; what does not hold is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport import Results, evaluate
from evalreport.predictions.table import Predictions
from evalreport.texts import Message
from evalreport.warnings import all_checks
from research.studies import coverage, promises, rows, seeds, tables, time_order
from research.studies.judgement import Rate, at_least, at_most, never, read, written
from research.studies.known_limits import LIMITS, MEASURED_AGAIN
from research.studies.populations import population
from research.studies.promises import PROMISES
from research.studies.tally import LEADING

RECORDS = tables.read(tables.DOCS / "promises.csv")


def test_confirmation_is_whole_and_of_other_seeds() -> None:
    """Every heading stands there, and no line was measured with the seed of the study of tests."""
    assert {row["heading"] for row in RECORDS} == set(PROMISES)
    seeds = {row["seed"] for row in tables.read(tables.DOCS / "tests.csv")}
    assert seeds.isdisjoint(row["seed"] for row in RECORDS)


def test_verdicts_follow_from_the_counts() -> None:
    """Each committed verdict is what the counts give; none was written by hand."""
    for row in RECORDS:
        assert written(row["heading"], read(row), int(row["seed"])) == row


def test_what_misses_its_limit_is_a_known_limit_with_a_reason() -> None:
    """A rate beyond its limit has its reason on the page, and no reason stands there for a promise that holds."""
    assert {row["promise"] for row in RECORDS if row["verdict"] == "no"} == set(LIMITS)
    assert promises.finish(tables.DOCS) == []


CODES = {code for check in all_checks() for code in check.codes}


def test_every_missed_promise_and_known_limit_names_what_a_run_says() -> None:
    """The code of a warning, or of the sentence of an audit, which are tried below and there."""
    for promise, limit in LIMITS.items():
        assert limit.said in {*CODES, "alarm.promise"}, promise
    for line in coverage.known_limits():
        assert any(f"`{code}`" in line["a run says"] for code in CODES), line


def test_cells_that_missed_by_chance_hold_by_a_larger_measurement() -> None:
    """Another seed, at least four times the data sets, and the strict limit of docs/promises.csv."""
    measured = {row["promise"]: row for row in RECORDS}
    by_key = {row.key: row for row in rows.read(tables.DOCS / "coverage.csv") if row.method == LEADING}
    for key, promise in MEASURED_AGAIN.items():
        assert measured[promise]["verdict"] == "yes"
        assert int(measured[promise]["data_sets"]) >= 4 * by_key[key].sets


def of_a_run(promise: str, number: int) -> Results:
    """Run one data set of the population of a missed promise, as its study draws it."""
    where, _, what = promise.rpartition(": ")
    metric = what.removeprefix("difference of ").removesuffix(" of b")
    generator = np.random.default_rng([number, 77])
    if where.startswith("AR("):
        cell = next(cell for cell in time_order.CELLS if cell.name == where)
        drawn = time_order.draw(generator, cell.correlation, cell.n)
        predictions = next(table for table, quantity in drawn if quantity.metric == metric)
        return evaluate(
            source_of(predictions, time=range(cell.n)), order="time", metrics=[metric], resamples=2
        )
    if "seeds named" in where:
        trained = next(cell for cell in seeds.CELLS if cell.name.startswith(where))
        return evaluate(seeds.draw(generator, trained), task="outcome", resamples=50)
    design, _, n = where.rpartition(", n = ")
    predictions, _ = population(design).draw(generator, int(n))
    return evaluate(source_of(predictions), metrics=[metric], resamples=2)


def source_of(predictions: Predictions, **columns: Any) -> dict[str, dict[str, Any]]:
    """Return predictions as a user would give them."""
    ids = {
        "id": [f"{place:05d}" for place in range(predictions.n)],
        **{k: list(v) for k, v in columns.items()},
    }
    if predictions.y_true is not None:
        ids["y_true"] = predictions.y_true.tolist()
    source = {}
    for model in predictions.models:
        given = {"outcome": model.outcome, "y_pred": model.y_pred, "score": model.score}
        source[model.name] = ids | {
            name: values.tolist() for name, values in given.items() if values is not None
        }
    return source


@pytest.mark.slow
@pytest.mark.parametrize("promise", [name for name, limit in LIMITS.items() if limit.said in CODES])
def test_a_run_says_so_where_a_promise_is_missed(promise: str) -> None:
    """On data sets as the study drew them: the warning that the limit names, about the metric, in 9 of 10."""
    what = promise.rpartition(": ")[2].removeprefix("difference of ").removesuffix(" of b")
    said = 0
    for number in range(10):
        warnings = [w for w in of_a_run(promise, number).warnings if w.code == LIMITS[promise].said]
        said += any(what in w.about or what == "decided" or "time" in w.about for w in warnings)
    assert said >= 9


def test_a_run_quotes_the_worst_rate_of_alarms_under_heavy_tails() -> None:
    """The sentence of the promise names the largest measured rate, in percent."""
    worst = max(int(r["count"]) / int(r["data_sets"]) for r in RECORDS if "heavy tails" in r["promise"])
    text = str(Message("alarm.promise", alpha=0.05, horizon=365, between=0.02))
    assert f"a false alarm in up to {100 * worst:.0f} % of" in text


def test_page_counts_what_does_not_hold() -> None:
    """What is not shown by enough data sets counts as not held."""
    total = promises.by_heading()[-1]
    assert int(total["number"]) == len(RECORDS)
    assert int(total["hold"]) == sum(row["verdict"] == "yes" for row in RECORDS)
    counts = [int(total[name]) for name in ("hold", "beyond their limit", "not shown")]
    assert sum(counts) == len(RECORDS)


@pytest.mark.parametrize(("count", "verdict"), [(83, "yes"), (84, "not shown"), (101, "no")])
def test_a_rate_holds_where_its_confidence_limit_does(count: int, verdict: str) -> None:
    """Of 2,000 data sets 83 (4.2 %) show a rate below 0.05: the one-sided exact limit, as scipy's binomtest has it."""
    line = at_most("rate", count / 2000, 0.05, 2000)
    exact = stats.binomtest(count, 2000, alternative="less").proportion_ci(0.95, "exact")
    assert line.bound == pytest.approx(exact.high, rel=1e-9)
    assert line.verdict == verdict


def test_a_coverage_is_judged_on_the_other_side() -> None:
    """The misses of an interval have the mirrored limit."""
    covered, missed = at_least("held", 0.95, 0.93, 400), at_most("missed", 0.05, 0.07, 400)
    assert covered.bound == pytest.approx(1 - missed.bound, rel=1e-12)
    assert covered.verdict == missed.verdict == "not shown"


@pytest.mark.parametrize(
    ("line", "bound"), [(at_most("all", 1.0, 0.5, 10), 1.0), (at_least("none", 0.0, 0.5, 10), 0.0)]
)
def test_limits_at_the_ends_are_the_ends(line: Rate, bound: float) -> None:
    """Where every data set counts, or none, the limit towards that end is 1, or 0."""
    assert line.bound == bound


def test_one_counterexample_breaks_a_promise_of_every_data_set() -> None:
    """What never happens may not happen once."""
    assert never("gate against verdict", 0.0, 400).holds
    assert not never("gate against verdict", 1 / 400, 400).holds


def test_fresh_lines_take_the_place_of_old_ones() -> None:
    """A part that is measured anew replaces its own lines, by promise and side, and keeps the others."""
    old = [written("Ties", at_most(name, 0.01, 0.05, 100), 1) for name in ("first", "second")]
    fresh, new = (written("Ties", at_most(name, 0.02, 0.05, 2000), 2) for name in ("first", "third"))
    other = written("Slices", at_most("first", 0.01, 0.05, 100), 1)
    key = ("heading", "promise", "side")
    assert tables.merged([*old, other], [fresh, new], key) == [fresh, old[1], new, other]
