"""The README and its companions: what they show is run, what they name exists."""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from scipy.stats import binomtest

from evalreport.cli import main, program
from research.studies.__main__ import STUDIES

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PYTHON = ROOT / "docs" / "reference" / "python.md"
DOCUMENTS = sorted(
    path.relative_to(ROOT)
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the file whose name stands in the line before it."""

    language: str
    text: str
    file: str | None


def blocks_of(document: Path) -> list[Block]:
    """Return the fenced blocks of a Markdown document in reading order."""
    text = document.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()].rstrip().rsplit("\n", 1)[-1]
        named = re.fullmatch(r"`([\w./-]+)`", before)
        found.append(Block(match[1], match[2], named[1] if named else None))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the files which the README shows."""
    for block in blocks_of(README):
        if block.file is not None:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    return tmp_path


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the README where its files are."""
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_the_console_blocks_run_on_the_files_that_the_readme_shows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Each `$ evalreport ...` ends with exit code 0, and the report is where the README says."""
    text = "".join(block.text for block in blocks_of(README) if block.language == "console")
    commands = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
    assert len(commands) >= 2
    monkeypatch.chdir(folder)
    for command in commands:
        name, *words = shlex.split(command)
        assert name == "evalreport"
        assert main(words) == 0, f"{command}\n{capsys.readouterr().err}"
    for name in ("report.html", "results.json", "summary.md"):
        assert (folder / "report" / name).stat().st_size > 0


@pytest.mark.slow
def test_the_python_blocks_run_one_after_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """As one script with the page's, on the files that the README shows; what it prints is the table and the frame."""
    both = [*blocks_of(README), *blocks_of(PYTHON)]
    script = "\n".join(block.text for block in both if block.language == "python")
    end = (
        "\naccuracy = metrics[metrics.metric == 'accuracy']\nprint(dict(zip(accuracy.model, accuracy.value)))"
    )
    end += "\nfrom matplotlib.text import Text\nprint([text.get_text() for text in axes.findobj(Text)])"
    monkeypatch.chdir(folder)
    exec(script + end, {"__name__": "__main__"})  # noqa: S102 - the pages' own lines
    *shown, values, texts = capsys.readouterr().out.splitlines()
    assert shown[0] == "Results of 2 models on 8 examples (task binary, design test-set)"
    assert any("interval_method" in line for line in shown)
    # Counted by hand in the two files: forest is right on 7 of 8, logreg on 4 of 8. In the script's arrays forest ranks
    # all 16 pairs of a positive and a negative rightly, logreg 10 of them.
    assert values == "{'forest': 0.875, 'logreg': 0.5}"
    assert "'forest (AUC 1.000)'" in texts
    assert "'logreg (AUC 0.625)'" in texts


@pytest.mark.slow
def test_the_lines_for_what_is_in_memory_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each line comes in at the first try: models of scikit-learn on a frame, gaps, a search, a cross-validation."""
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    use = """
import evalreport as er
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_validate, train_test_split
from sklearn.tree import DecisionTreeClassifier

X, y = load_iris(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
models = {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0).fit(X_train, y_train) for d in (1, 3)}
forest = models["depth 3"]
search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=3).fit(X, y)
seen, evaluate = [], er.evaluate
er.evaluate = lambda *source, **options: seen.append(evaluate(*source, resamples=100, **options))
"""
    (block,) = [block.text for block in blocks_of(PYTHON) if block.language == "py"]
    found: dict[str, Any] = {}
    try:
        exec(use + block, found)  # noqa: S102 - the page's own lines
    finally:
        found["er"].evaluate = found["evaluate"]
    said = [(results.task, results.design, len(results.models)) for results in found["seen"]]
    assert said == [("multiclass", "test-set", 2)] * 5 + [("scores", "cross-validation", 2)] * 2
    accuracy = {m.model: m.value for m in found["seen"][0].metrics if m.metric == "accuracy"}
    assert accuracy["depth 3"] == found["forest"].score(found["X_test"], found["y_test"])


@pytest.mark.slow
def test_the_examples_of_contributing_work_as_they_stand(tmp_path: Path):
    """A metric, an interval, a test, a sampling and a file format: registered, they serve like any other."""
    examples = [block.text for block in blocks_of(ROOT / "CONTRIBUTING.md") if block.language == "python"]
    assert len(examples) == 5
    use = """
import evalreport as er

truth = [1] * 100 + [0] * 100
a = [1] * 90 + [0] * 10 + [0] * 85 + [1] * 15
b = [1] * 75 + [0] * 21 + [1] * 4 + [0] * 75 + [1] * 23 + [0] * 2
results = er.evaluate(
    {"a": {"y_pred": a}, "b": {"y_pred": b}}, truth=truth, metrics=["fowlkes_mallows", "accuracy"],
    intervals=["arcsine"], tests=["loss_sign"], resamples=200,
)
value = {(row.model, row.metric): row for row in results.metrics}
print(round(value["a", "fowlkes_mallows"].value, 9), value["a", "fowlkes_mallows"].standard_error > 0)
print(sum(i.low is not None for i in value["a", "accuracy"].intervals if i.method == "arcsine"))
print([row.p_value for row in results.comparisons if row.test == "loss_sign" and row.metric == "accuracy"])
from pathlib import Path
import pyarrow as pa
from pyarrow import orc
from evalreport.sources.files import find_files
from evalreport.errors import InputError
orc.write_table(pa.table({"id": ["a", "b"], "y_true": [1, 0], "y_pred": [1, 1]}), "m.orc")
print(er.load("m.orc").models[0].y_pred.tolist())
Path("m.orc").write_bytes(Path("m.orc").read_bytes()[:100])
Path("m.txt").write_text("")
for path in ("m.orc", "m.txt"):
    try:
        er.load(path)
    except InputError as error:
        print("cannot be read as orc" in error.problem, ".orc" in error.expected)
import numpy as np
from evalreport.samplings.linear import error_of_mean
mean, student = error_of_mean(np.array([1.0, 3.0, 2.0, 6.0]), Pairs(4, np.array([0, 0, 1, 1])))
print(mean, round(student.error, 9), student.df)
"""
    done = run([sys.executable, "-c", "\n".join([*examples, use])], tmp_path)
    assert done.returncode == 0, done.stderr
    value, interval, p_values, read, cut, listed, pairs = done.stdout.splitlines()
    # By hand: a has TP 90, FP 15, FN 10.
    assert value == f"{math.sqrt(90 / 105 * 90 / 100):.9f} True"
    assert interval == "1"
    # By hand: a alone is right on 15 and 10 examples, b alone on 4 and 2: 200 examples, 8 distinct ones.
    assert float(p_values.strip("[]")) == pytest.approx(binomtest(25, 31).pvalue, rel=1e-12)
    assert (read, cut, listed) == ("[1, 1]", "True False", "False True")
    # By hand: the pairs' sums differ from 2 x 3 by -2 and 2, so the variance is 2 / (2 - 1) x (2^2 + 2^2) / 4^2.
    assert pairs == "3.0 1.0 1"


def test_the_first_command_is_one_that_the_wheel_check_tries():
    """From a clone with uv, without a file of one's own; `make demo` is the same without uv."""
    first, second, *_ = next(block.text for block in blocks_of(README) if block.language == "sh").splitlines()
    assert first.split("#")[0].strip() == "uv tool run --from . evalreport demo"
    assert second.split("#")[0].strip() == "make demo"
    script = (ROOT / "scripts" / "check-wheel.sh").read_text(encoding="utf-8")
    assert '"$uv" tool run --quiet --from "$checkout" evalreport' in script


def targets_of_make() -> set[str]:
    """Return the targets of the Makefile, with those of its pattern study-%."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\nstudy-%: env" in makefile
    return {*re.findall(r"^([a-z-]+):", makefile, re.MULTILINE), *(f"study-{name}" for name in STUDIES)}


def test_the_targets_of_make_that_are_named_exist():
    """`make demo` and the others, in any document."""
    targets = targets_of_make()
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
        assert named <= targets, document
    assert {"demo", "test", "test-system", "check", "wheel-check", "lock", "docs"} <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_local_links_lead_somewhere(document: Path):
    """Every relative link of a document is a file or folder of the checkout."""
    text = FENCE.sub("", (ROOT / document).read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)", text):
        if "://" not in target:
            assert (ROOT / document.parent / target).exists(), target


def flags_of(context: click.Context, command: click.Command) -> set[str]:
    """Return the flags of a command and of every command below it."""
    found = {flag for option in command.params for flag in option.opts}
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            found |= flags_of(context, below)
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_option_that_is_named_exists(document: Path):
    """No document names a flag that the program does not have."""
    known = {"--help", *flags_of(click.Context(program), program)}
    text = (ROOT / document).read_text(encoding="utf-8")
    # Flags of other programs stand in blocks that show those programs, never beside ours.
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", FENCE.sub("", text)))
    assert named <= known, named - known
