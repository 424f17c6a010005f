"""The kept records of all situations whose truth is known: the rules make a true sentence of each.

The runs themselves are made by ``make test-headline``, which writes the records anew.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evalreport.headline.rules import headline
from evalreport.schema.recorded import parsed, results_of
from tests.headline import check

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
NAMES = sorted(name for name in EXPECTED if not name.startswith("cmp_"))
"""All but the comparisons of two runs, whose sentence is made from both."""


@cache
def stored() -> dict[str, Any]:
    """Return the kept records of each situation."""
    found: dict[str, Any] = json.loads(lzma.decompress((HERE / "records.json.xz").read_bytes()))
    return found


def test_nearly_all_situations_are_kept() -> None:
    """No other is kept, and none is missing."""
    assert sorted(stored()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_sentence_of_the_records_is_true(name: str) -> None:
    """It holds what it must and nothing that it must not, in the right tone."""
    results = results_of(parsed(json.dumps(stored()[name]).encode(), name))
    assert results.headline is not None
    found = headline(results, first_of_series=results.headline.code == "first_run")
    expected = {key: EXPECTED[name][key] for key in ("must", "must_not", "tone") if key in EXPECTED[name]}
    seen = {
        "headline": check.plain(str(found.text)), "about": "", "titles": [], "tone": check.TONES[found.tone],
        "settle": "", "oneline": "", "exit": None, "json": None, "h1": "",
    }  # fmt: skip
    assert check.faults(expected, seen) == []


@pytest.mark.parametrize("p, named", [(0.024, True), (0.03, False)])
def test_a_second_metric_is_exploratory_and_one_of_those_that_are_looked_at(p: float, named: bool) -> None:
    """Of two metrics named with -m the second decides at 0.05 / 2, and its clause says that it is exploratory."""
    results = results_of(parsed(json.dumps(stored()["own_asked_second_metric"]).encode(), "one"))
    second = results.options["metrics"][1]
    rows = tuple(replace(row, p_value=p) if row.metric in second else row for row in results.comparisons)
    text = check.plain(str(headline(replace(results, comparisons=rows)).text))
    assert ("; on precision" in text) == named
    assert text.endswith("(exploratory).") == named
