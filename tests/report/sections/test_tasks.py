"""What the report says of a suite: what the mean is over, which tasks decide, and nothing about other tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.questions.slices import section as slices
from evalreport.report.sections import tasks
from evalreport.report.sections.decision import describe as decision
from evalreport.report.sections.methods import describe as methods
from evalreport.report.view import view_of
from tests.samples.suites import TASKS, outcomes


def test_headline_and_paragraph_name_the_population(suite: evalreport.Results) -> None:
    """Headline, board and methods say mean over four tasks, and that nothing is said of others."""
    view = view_of(suite)
    said = decision(view)
    assert " is best on outcome over four tasks (" in said.headline
    assert "mean over four tasks" in said.about
    assert said.board is not None
    assert said.board.title.endswith("mean over four tasks")
    text = methods(view).text
    assert "these four tasks, each counting the same" in text
    assert "nothing about other tasks" in text
    assert "a family of its own" in text
    micro = evalreport.evaluate(outcomes(), average="examples", resamples=20)
    assert decision(view_of(micro)).about.count("all examples of four tasks") == 1
    assert "a large task counts for more" in methods(view_of(micro)).text


def test_the_map_is_headed_by_the_tasks_that_decide(suite: evalreport.Results) -> None:
    """What separates the models most stands first; cells that the family does not tell apart are dimmed."""
    found = tasks.describe(view_of(suite))
    assert found is not None
    decided = {v.task for v in suite.task_verdicts if v.verdict in ("better", "worse")}
    assert "gsm8k" in decided != set(TASKS)
    (table,) = found.tables
    first = table.rows[0].label
    assert first in decided
    assert first in found.heading
    assert [row.label in decided for row in table.rows] == sorted(
        (row.label in decided for row in table.rows), reverse=True
    )
    models = [column.model.id for column in table.columns[1:]]
    by_name = {row.label: dict(zip(models, row.cells[1:], strict=True)) for row in table.rows}
    told = {(v.task, frozenset(v.about)): v.verdict in ("better", "worse") for v in suite.task_verdicts}
    for task, cells in by_name.items():
        best = next(name for name, cell in cells.items() if "(" not in cell.value)
        for name, cell in cells.items():
            if name != best:
                assert cell.look.startswith("miss-") == told[task, frozenset((name, best))]
                assert cell.look == "muted" or int(cell.look.removeprefix("miss-")) > 0


def test_no_task_separates_the_models(suite: evalreport.Results) -> None:
    """Without a decided pair the heading says so, and every difference is dimmed."""
    undecided = tuple(replace(v, verdict="undecided") for v in suite.task_verdicts)
    found = tasks.describe(view_of(replace(suite, task_verdicts=undecided)))
    assert found is not None
    assert found.heading == "No task separates the models"
    cells = [cell for table in found.tables for row in table.rows for cell in row.cells]
    assert {cell.look for cell in cells} <= {"muted", "miss-0"}


def test_one_model_has_its_weakest_task() -> None:
    """Of one model the section shows the values, headed by the lowest; its tasks are no slices beside it."""
    results = evalreport.evaluate({"a": outcomes()["a"]}, resamples=20)
    view = view_of(results)
    found = tasks.describe(view)
    assert found is not None
    assert found.heading.startswith("code is the weakest task of a: outcome 0.")
    assert found.tables[0].note == ""
    assert slices.describe(view) is None


def test_tasks_that_turn_the_order_round_are_named(suite: evalreport.Results) -> None:
    """Where each of two models is ahead in some task, the mean hides it: a sentence names both tasks."""
    turned = []
    for v in suite.task_verdicts:
        ahead: Any = {"gsm8k": "worse", "arc": "better"}.get(v.task, "undecided")
        turned.append(replace(v, verdict=ahead if v.about == ("a", "b") else "undecided"))
    found = tasks.describe(view_of(replace(suite, task_verdicts=tuple(turned))))
    assert found is not None
    assert found.text in (
        "b is ahead of a on gsm8k, a ahead of b on arc.", "a is ahead of b on arc, b ahead of a on gsm8k.",
    )  # fmt: skip


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["report.html", "summary.md"])
def test_hostile_names_of_tasks_are_text(tmp_path: Path, name: str) -> None:
    """A task called like a tag is shown as text, in the page and in the summary."""
    models = outcomes()
    for columns in models.values():
        columns["task"] = ["<script>alert(1)</script>" if t == "arc" else t for t in columns["task"]]
    results = evalreport.evaluate(models, resamples=20)
    evalreport.render(results, tmp_path, formats=[name.split(".")[1]])
    assert "<script>alert" not in (tmp_path / name).read_text(encoding="utf-8")


def test_the_summary_says_which_tasks_decide(suite: evalreport.Results) -> None:
    """One line of summary.md holds the section's heading."""
    found = tasks.describe(view_of(suite))
    assert found is not None
    assert f"By task: {found.heading}." in suite.summary()


@pytest.mark.usefixtures("undrawn")
def test_the_page_shows_the_map(tmp_path: Path, suite: evalreport.Results) -> None:
    """The section stands in the page with its values as text."""
    evalreport.render(suite, tmp_path, formats=["html"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="tasks-title"' in page
    found = tasks.describe(view_of(suite))
    assert found is not None
    assert all(cell.value in page for row in found.tables[0].rows for cell in row.cells)
