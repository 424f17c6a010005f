"""``evalreport demo``: an example and its report from the package alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalreport as er
from evalreport.cli.demo import TASKS, unpack


@pytest.mark.slow
def test_the_demo_makes_models_and_a_report_and_says_so_in_three_lines(run):
    """In a folder of its own, without a file of the user; an evalreport.toml of the current folder is not read."""
    Path("evalreport.toml").write_text('[evalreport]\ntitle = "mine"\nmargin = 0.5\n')
    outcome = run("demo")
    assert outcome.code == 0, outcome.err
    made, report, following = outcome.out.splitlines()
    assert made == f"{Path('evalreport-demo/models')}: the predictions of 3 models, one file each"
    assert report == f"report: {Path('evalreport-demo/report/report.html')}"
    assert following.startswith(
        f"next: look at a file, then try evalreport check {Path('evalreport-demo/models')};"
    )
    results = json.loads(Path("evalreport-demo/report/results.json").read_text(encoding="utf-8"))
    assert (results["models"], results["n"]) == (["knn15", "logreg", "random_forest"], 1000)
    assert results["options"]["margin"] == 0.01
    assert "BSD 3-Clause" in Path("evalreport-demo/DATA-LICENSE.txt").read_text(encoding="utf-8")
    assert Path("evalreport-demo/report/report.html").is_file()


@pytest.mark.parametrize("existing", ["folder", "file", "full"])
def test_a_folder_that_exists_is_left_as_it_is(run, existing):
    """One line, exit code 2, nothing written."""
    place = Path("mine")
    if existing == "file":
        place.write_text("x")
    else:
        place.mkdir()
        if existing == "full":
            (place / "x").write_text("x")
    before = sorted(Path().rglob("*"))
    outcome = run("demo", "-o", "mine")
    assert outcome.code == 2
    assert (
        outcome.err == "evalreport: mine: already exists and was left as it is; name a new folder with -o\n"
    )
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("task", TASKS)
def test_each_example_loads_as_its_task(tmp_path, task):
    """By `check`, with the settings beside it; the archive says where its data come from."""
    models = unpack(task, tmp_path / "new" / "demo")
    read = er.load(models)
    expected = {
        "binary": ("binary", 3, 1000),
        "regression": ("regression", 3, 221),
        "multiclass": ("multiclass", 3, 600),
        "language-models": ("outcome", 4, 564),
    }
    assert (read.task, len(read.models), read.n) == expected[task]
    about = (models.parent / "ABOUT.txt").read_text(encoding="utf-8")
    assert {"binary": "DATA-LICENSE.txt", "regression": "Efron", "multiclass": "CC BY 4.0",
            "language-models": "made up"}[task] in about  # fmt: skip


def test_the_credit_example_holds_the_rows_of_the_full_one(tmp_path):
    """The same clients and truths as examples/credit-default, probabilities to four decimals."""
    full = {}
    for line in (
        Path(__file__)
        .parents[2]
        .joinpath("examples/credit-default/models/logreg.csv")
        .read_text()
        .splitlines()[1:]
    ):
        name, truth, _, _, p = line.split(",")
        full[name] = (truth, float(p))
    lines = (unpack("binary", tmp_path / "demo") / "logreg.csv").read_text().splitlines()[1:]
    assert len(lines) == 1000
    for line in lines:
        name, truth, p = line.split(",")
        assert full[name][0] == truth
        assert abs(full[name][1] - float(p)) <= 0.5e-4 + 1e-12
