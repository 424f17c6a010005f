"""What imports share: names, columns, gaps, and values that no file should hold."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

import pytest

from evalreport.cli import main
from evalreport.errors import InputError, UsageError
from evalreport.imports.answers import MOST_COLUMNS, WRITTEN, Found, Row, as_table, digest, named
from evalreport.loading.load import load
from evalreport.sources.reading import FORMATS, WRITABLE, reads

FOUND = [Found(0, "b", "first", 1, run="r1"), Found(1, "a", "second", 2, run="r2")]


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ([], {"b": 1, "a": 2}),
        (["x", "y"], {"x": 1, "y": 2}),
        (["a"], {"a": 2}),
        (["r1=x"], {"x": 1}),
        (["b=x=1", "a"], {"x=1": 1, "a": 2}),
    ],
)
def test_names_choose_rename_or_follow_the_paths(models, expected):
    """Found names and ids choose; other names, one for each path, go by their order."""
    assert {one.model: one.source for one in named(FOUND, ["first", "second"], models)} == expected


@pytest.mark.parametrize(
    ("paths", "models", "problem"),
    [
        (["first", "second"], ["x"], "given 1 times for 2 paths"),
        (["first", "second"], ["x", "y", "z"], "given 3 times for 2 paths"),
        (["first"], ["x", "y"], "first holds 2 models: a, b"),
        (["first"], ["x"], "first holds 2 models: a, b"),
        (["first", "second"], ["x", " "], "an empty name"),
    ],
)
def test_names_that_fit_nothing_are_refused(paths, models, problem):
    """Two names for one path, too few, too many: what is there is said."""
    found = FOUND if len(paths) == 2 else [FOUND[0], Found(0, "a", "first", 2)]
    with pytest.raises(UsageError, match=problem):
        named(found, paths, models)


def test_metadata_never_take_a_name_that_run_gives_a_meaning(tmp_path):
    """A seed or a fold of the tool would make another design of it; a label another task."""
    taken = ("probability", "label", "seed", "fold", "time", "p_yes", "human", "split", "correct", "topic")
    rows = [Row("m", str(n), {"outcome": float(n % 2)}, dict.fromkeys(taken, n)) for n in range(3)]
    table = as_table(rows, [])
    assert table.columns == ("model", "id", "outcome", *(f"metadata_{name}" for name in taken[:-1]), "topic")
    file = tmp_path / "p.csv"
    lines = [table.columns, *table.rows]
    file.write_text("".join(",".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    predictions = load(file)
    assert (predictions.task, predictions.n_examples) == ("outcome", 3)


def test_attempts_may_be_more_for_one_question_than_for_another():
    """Numbered by the log, else in order."""
    rows = [
        Row("m", "q1", {"outcome": 1.0}),
        Row("m", "q2", {"outcome": 1.0}),
        Row("m", "q2", {"outcome": 0.0}),
    ]
    assert [row[2] for row in as_table(rows, []).rows] == ["1", "1", "2"]
    rows = [Row("m", "q", {"outcome": 1.0}, attempt=text) for text in ("7", "9")]
    assert [row[2] for row in as_table(rows, []).rows] == ["7", "9"]


def test_what_has_no_end_or_no_judgement_is_refused():
    """Thousands of columns, values nested without end, nothing judged."""
    many = {f"c{n}": n for n in range(MOST_COLUMNS + 1)}
    with pytest.raises(InputError, match="different pieces of metadata"):
        as_table([Row("m", "q", {"outcome": 1.0}, many)], [])
    deep: list = []
    for _ in range(100_000):  # from Python 3.12 on the limit of sys does not hold for json
        deep = [deep]
    for call in (partial(digest, deep), lambda: as_table([Row("m", "q", {"outcome": 1.0}, {"a": deep})], [])):
        with pytest.raises(InputError, match="nested too deeply"):
            call()
    with pytest.raises(InputError, match="no answer was judged"):
        as_table([Row("m", "q", {"outcome": None})], [])


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet"])
def test_halves_of_characters_and_commands_to_a_terminal_are_written_plainly(tmp_path, capsys, name):
    """JSON may hold what no encoding has, and names that act on a terminal."""
    sample = {
        "id": "a\ud800",
        "target": "x",
        "metadata": {"t\ud800": "\ud800"},
        "scores": {"s": {"value": "C"}},
    }
    log = {"eval": {"task": "t", "model": "m\x1b[2J"}, "samples": [sample]}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    words = ["import", "inspect", str(tmp_path / "log.json"), "-o", str(tmp_path / name)]
    assert main(words) == 0
    assert "\x1b" not in capsys.readouterr().err
    assert load(tmp_path / name).ids.to_pylist() == ["a\\ud800"]


def test_a_format_is_written_only_where_its_registration_says_so():
    """A reader that is registered later is not taken for one that imports can write."""
    assert set(WRITTEN) == {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet"}
    assert {name.removeprefix(".") for name in WRITTEN} < set(FORMATS)
    with_one_more = dict(FORMATS)
    try:
        reads("made_up")(FORMATS["parquet"])
        assert "made_up" not in WRITABLE
    finally:
        FORMATS.clear()
        FORMATS.update(with_one_more)


@pytest.mark.slow
def test_a_process_that_only_imports_knows_the_formats() -> None:
    """In a process of its own, which loads nothing else: the formats of prediction files are registered."""
    code = "from evalreport.imports.answers import WRITTEN; print(*WRITTEN)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {".csv", ".jsonl", ".parquet"} <= set(done.stdout.split())
