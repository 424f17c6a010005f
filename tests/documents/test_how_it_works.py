"""The toy of docs/how-it-works.md gives what evalreport gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.schema.lookups import values_of
from evalreport.schema.results import Results

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-it-works.md"


@pytest.fixture(scope="module")
def toy() -> dict[str, Any]:
    """The names that its blocks set, one after the other."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)  # noqa: S102 - the page is ours
    return names


def test_it_has_no_more_than_thirty_lines():
    """Of code, without blank lines."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert sum(bool(line.strip()) for block in blocks for line in block.splitlines()) <= 30


def evaluated(toy: dict[str, Any], **options: Any) -> Results:
    """Return what evalreport makes of the toy's models."""
    models = {
        name: {"y_pred": predicted, "sender": toy["sender"]} for name, predicted in toy["models"].items()
    }
    return er.evaluate(models, truth=toy["truth"], metrics=["f1"], positive="1", seed=1, **options)


def test_values_and_standard_errors_are_those_of_a_run(toy: dict[str, Any]):
    """To rounding: both are the same formula."""
    rows = values_of(evaluated(toy), "f1")
    for name in ("a", "b"):
        assert rows[name].value == pytest.approx(toy["value"][name], rel=1e-12)
        assert rows[name].standard_error == pytest.approx(toy["error"][name], rel=1e-9)


def test_intervals_and_the_pair_are_those_of_a_bootstrap(toy: dict[str, Any]):
    """Limits of 2,000 draws each are uncertain by 0.06 standard errors; two such sets may differ by 0.3."""
    results = evaluated(toy, intervals=["bootstrap_percentile"], tests=["bootstrap_difference"])
    for name, row in values_of(results, "f1").items():
        (limits,) = [one for one in row.intervals if one.method == "bootstrap_percentile"]
        assert (limits.low, limits.high) == pytest.approx(
            tuple(toy["interval"][name]), abs=0.3 * toy["error"][name]
        )
    (row,) = [row for row in results.comparisons if row.test == "bootstrap_difference"]
    assert row.difference == pytest.approx(toy["difference"], rel=1e-12)
    assert (row.low, row.high) == pytest.approx(
        (toy["low"], toy["high"]), abs=0.3 * toy["error_of_difference"]
    )


def test_clusters_are_drawn_and_added_up_whole(toy: dict[str, Any]):
    """The toy's error is CR0; the run's interval by cluster draws agrees with the toy's."""
    results = evaluated(toy, cluster="sender", intervals=["bootstrap_percentile"])
    row = values_of(results, "f1")["a"]
    (limits,) = [one for one in row.intervals if one.method == "bootstrap_percentile"]
    spread = toy["error_by_sender"]
    assert (limits.low, limits.high) == pytest.approx(tuple(toy["clustered"]), abs=0.3 * spread)
    assert row.standard_error == pytest.approx(spread, rel=0.1)
