"""Tests of all models at once, in the report."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure as Canvas

import evalreport as er
from evalreport.plots.pictures import drawn
from evalreport.questions.ranks import omnibus_section as omnibus
from evalreport.questions.ranks.records import AverageRankRecord, OmnibusRecord
from evalreport.report.sections.pairs import describe as describe_pairs
from evalreport.report.view import view_of
from evalreport.schema.comparisons import RankingRecord
from evalreport.schema.results import Results


def ranked(results: Results, letters: dict[str, str]) -> Results:
    """Give results average ranks 1, 2, 3 ... by name and these letters."""
    return dataclasses.replace(
        results,
        average_ranks=tuple(
            AverageRankRecord(metric="accuracy", model=m, average_rank=float(i + 1), by="datasets",
                blocks=14, critical_difference=1.25, level=0.95)
            for i, m in enumerate(results.models)
        ),
        ranking=tuple(
            RankingRecord(model=m, metric="accuracy", value=1 - i / 10, rank=i + 1,
                letters=letters[m]) for i, m in enumerate(results.models)
        ),
        omnibus=(OmnibusRecord(metric="accuracy", test="iman_davenport", statistic=4.59, df=3.0,
            p_value=0.008, models=results.models, df2=39.0, by="datasets", blocks=14),),
    )  # fmt: skip


def test_the_bars_of_the_diagram_are_the_letters(simulate: Callable[..., Results]) -> None:
    """Models that share a letter are joined, whatever Nemenyi's distance says: one table decides everything."""
    results = ranked(simulate({"a": 1.9, "b": 1.5, "c": 0.6}), {"a": "a", "b": "ab", "c": "b"})
    found = omnibus.describe(view_of(results))
    assert found is not None
    (figure,), (table,) = found.figures, found.tables
    axes = Canvas().subplots()
    figure.draw[0](axes)
    bars = [line.get_xdata() for line in axes.get_lines() if line.get_linewidth() == 2.6]
    assert [list(map(float, bar)) for bar in bars] == [[1.0, 2.0], [2.0, 3.0]]
    assert table.rows[0].cells[2] == "4.59 (df 3, 39)"
    assert table.rows[0].cells[1] == "14 data sets"
    assert drawn(figure) == drawn(figure), "the same bytes twice"


def test_the_column_of_the_user_names_the_metric() -> None:
    """Values of a column auc are not called mean values, in the table and in the line below the pairs."""
    random = np.random.default_rng(2)
    values = {
        m: (0.8 + off + 0.05 * random.normal(size=12)).tolist()
        for m, off in zip("abc", (0, 0.02, 0.08), strict=True)
    }
    rows = {m: {"dataset": [f"d{k}" for k in range(12)], "auc": own} for m, own in values.items()}
    view = view_of(er.evaluate(rows, value="auc", resamples=20))
    found = omnibus.describe(view)
    assert found is not None
    assert {row.cells[0] for row in found.tables[0].rows} == {"auc"}
    pairs = describe_pairs(view)
    assert pairs is not None
    (line,) = (note for note in pairs.notes if note.startswith("All three models at once"))
    assert re.fullmatch(r".*: Friedman’s test, p [=<] [\d.]+; the Iman-Davenport test, p [=<] [\d.]+\.", line)
