"""`evalreport check`: what was found, and which analyses are possible."""

from __future__ import annotations

from pathlib import Path

import pytest

FOREST = "id,y_true,y_pred,site\n" + "".join(f"{i},{i % 2},{(i // 3) % 2},{'ab'[i % 2]}\n" for i in range(40))
LOGREG = "id,y_true,y_pred\n" + "".join(f"{i},{i % 2},{(i // 5) % 2}\n" for i in range(40))


@pytest.fixture
def models() -> Path:
    """Two models on 40 examples, in the current folder."""
    folder = Path("models")
    folder.mkdir()
    (folder / "forest.csv").write_text(FOREST)
    (folder / "logreg.csv").write_text(LOGREG)
    return folder


def test_it_prints_files_models_task_and_design(run, models):
    """On standard output, one fact a line, before any analysis."""
    outcome = run("check", models)
    assert outcome.code == 0, outcome.err
    for fact in (
        "file: forest.csv (40 rows, model forest)", "rows: 40", "metadata columns: site",
        "models: forest, logreg", "task: binary", "design: test-set", "positive class: 1",
    ):  # fmt: skip
        # A fact with a reason goes on with it in brackets.
        assert sum(line == fact or line.startswith(f"{fact} (") for line in outcome.out.splitlines()) == 1, (
            fact
        )


def test_questions_are_not_called_rows(run):
    """Three rows in a file are two questions: the count of rows that is printed is the file's."""
    Path("answers.csv").write_text("id,attempt,outcome\na,1,1\na,2,0\nb,1,1\n")
    lines = run("check", "answers.csv").out.splitlines()
    assert "file: answers.csv (3 rows, model answers)" in lines
    assert "examples: 2" in lines
    assert not [line for line in lines if line.startswith("rows: ")]


def test_it_says_which_analyses_are_possible_and_why_others_are_not(run, models):
    """Labels alone allow no ROC curve; each impossible analysis has a reason."""
    lines = [line.split("\t") for line in run("check", models).out.splitlines() if "possible: " in line]
    assert any(line[0].startswith("possible: ") for line in lines)
    refused = [line for line in lines if line[0].startswith("not possible: ")]
    assert refused
    assert all(len(line) > 1 and line[1] for line in refused)


def test_bad_input_ends_as_it_would_in_a_run(run, models):
    """File, line and column, exit code 2."""
    (models / "logreg.csv").write_text(LOGREG.replace("\n7,", "\n6,"))
    outcome = run("check", models)
    assert outcome.code == 2
    assert outcome.err.startswith("evalreport: ")
    assert "logreg.csv" in outcome.err
    assert "Traceback" not in outcome.err


def test_it_takes_the_options_that_loading_depends_on(run, models):
    """--positive decides the positive class; options of the analysis are unknown to it."""
    assert "positive class: 0" in run("check", models, "--positive", "0").out
    assert run("check", models, "--resamples", "10").code == 2
