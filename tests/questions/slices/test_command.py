"""Slices on the command line: from files to exit code, results and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalreport.cli import main


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models of 120 examples; b is right less often where sex is f."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name in "ab":
        rows = ["id,y_true,y_pred,sex,age"]
        for i in range(120):
            truth, sex = i % 2, "f" if i % 3 else "m"
            wrong = i % 10 == 0 or (name == "b" and sex == "f" and i % 4 == 1)
            rows.append(f"{i:03},{truth},{1 - truth if wrong else truth},{sex},{20 + i % 50}")
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    return folder


def call(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Run the program in this process."""
    code = main([*map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_repeated_option_gates_and_exit_codes(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three slicings, a gate that passes and one that fails: exit 1, and every slice in results.json."""
    words = [
        "--slice",
        "sex",
        "--slice",
        "age:2",
        "--slice",
        "sex*age:2",
        "-m",
        "accuracy",
        "-m",
        "recall",
        "-f",
        "json",
    ]
    gates = ["--gate", "a.accuracy[sex=f] >= 0.5", "--gate", "b.accuracy[sex=f] >= 0.95"]
    code, _, _ = call(capsys, "run", models, "-q", "--resamples", "50", *words, *gates)
    assert code == 1
    found = json.loads(Path("evalreport-out/results.json").read_text())
    assert [gate["outcome"] for gate in found["gates"]] == ["pass", "fail"]
    slices = [row["slice"] for row in found["metrics"] if row["slice"]]
    assert {s["column"] for s in slices} == {"sex", "age", "sex*age"}
    # By hand: the ages 20 to 39 stand there three times each, 40 to 69 twice, so 60 of 120 are under 40.
    assert {s["value"] for s in slices if s["column"] == "age"} == {"under 40", "40 or over"}
    assert found["options"]["slices"] == ["sex", "age:2", "sex*age:2"]
    assert {row["reference"] for row in found["disparities"]} == {"rest"}


def test_check_names_the_columns_and_their_values(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What --slice can name stands in the output of check."""
    code, out, _ = call(capsys, "check", models)
    assert code == 0
    assert "--slice can name age (50 values, numbers: 4 bins, or name them as age:5); sex (2 values)" in out


def test_check_offers_no_column_of_one_value_as_clusters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All examples in one cluster leave nothing that varies, so an interval would be missing."""
    rows = ["id,task,passage,outcome", "a,sums,p,1", "b,sums,q,0"]
    for name, kept in (("large", rows), ("small", [*rows[:2], "b,sums,q,1"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(kept) + "\n")
    code, out, _ = call(capsys, "check", tmp_path)
    assert code == 0
    assert "--cluster can name passage\n" in out


@pytest.mark.parametrize(
    "words, message",
    [
        (["--slice", "sxe"], "--slice: unknown column 'sxe'; did you mean sex?"),
        (["--slice", "sex", "--weight", "sex"], "sex"),
        (["--slice", "age:2", "--slice", "age:3"], "--slice age:2 divides 'age' already"),
        (["--gate", "a.accuracy[sxe=f] > 0"], "gate 'a.accuracy[sxe=f] > 0': --slice: unknown column 'sxe'"),
    ],
)
def test_bad_usage_ends_with_one_message(
    models: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """Exit code 2, one line (of several files one each, and how many they are), nothing written."""
    code, _, err = call(capsys, "run", models, "-q", *words)
    assert code == 2
    assert message in err
    first, *others = err.strip().splitlines()
    assert first.endswith(f"{len(others)} errors in the input:") or not others
    assert not Path("evalreport-out").exists()


@pytest.mark.slow
def test_the_same_bytes_twice(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Slices have no figure that depends on anything but inputs and options."""
    words = ["run", models, "-q", "--resamples", "50", "--slice", "sex", "--slice", "age", "-f", "json", "-o"]
    for folder in ("one", "two"):
        assert call(capsys, *words, folder)[0] == 0
    assert Path("one/results.json").read_bytes() == Path("two/results.json").read_bytes()
