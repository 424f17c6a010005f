"""``evalreport render``: saved results drawn again, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.cli import main
from tests.samples.labels import FOREST, LOGREG, TRUTH


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run with every format that needs no system library."""
    folder = tmp_path_factory.mktemp("render")
    models = folder / "models"
    models.mkdir()
    for name, labels in (("forest", FOREST), ("logreg", LOGREG)):
        rows = "".join(
            f"{i},{t},{p},{0.3 + 0.5 * p}\n" for i, (t, p) in enumerate(zip(TRUTH, labels, strict=True))
        )
        (models / f"{name}.csv").write_text(f"id,y_true,y_pred,p_1\n{rows}")
    words = ["--title", "My title", "--time", "2026-01-02", "--figures", "svg", "--resamples", "50", "-q"]
    given = ["-f", "html,json,md,csv,tex,card", *words, "-o", str(folder / "out")]
    assert main(["run", str(models), *given]) == 0
    return folder / "out"


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_same_options_give_the_same_bytes(run, done: Path, tmp_path: Path) -> None:
    """From results.json under any name, without the inputs."""
    saved = tmp_path / "kept as.txt"
    saved.write_bytes((done / "results.json").read_bytes())
    words = ("--title", "My title", "--time", "2026-01-02", "--figures", "svg")
    found = run("render", saved, "-f", "html,json,md,csv,tex,card", *words, "-o", tmp_path / "again")
    assert found.code == 0, found.err
    assert _content(tmp_path / "again") == _content(done)


@pytest.mark.slow
def test_other_options_draw_another_report(run, done: Path, tmp_path: Path) -> None:
    """Charts as PNG alone, or the JSON on standard output."""
    assert run("render", done, "-f", "md", "--figures", "png", "-o", tmp_path / "b").code == 0
    charts = [name for name in _content(tmp_path / "b") if name != "summary.md"]
    assert charts
    assert all(name.startswith("figures/") and name.endswith(".png") for name in charts)
    assert all((tmp_path / "b" / name).read_bytes().startswith(b"\x89PNG") for name in charts)
    assert run("render", done, "-f", "json", "-o", "-").out.encode() == (done / "results.json").read_bytes()


def test_anything_else_is_refused(run, tmp_path: Path) -> None:
    """With exit code 2: no results, no such file, another kind of figure."""
    other = tmp_path / "other.json"
    other.write_text("{}")
    for words in ([other], [tmp_path / "absent.json"], [other, "--figures", "jpg"]):
        found = run("render", *words, "-o", tmp_path / "c")
        assert found.code == 2
        assert "Traceback" not in found.err
    assert not (tmp_path / "c").exists()


def test_the_schema_is_printed(run) -> None:
    """As JSON on standard output."""
    import json

    assert json.loads(run("schema").out)["$id"] == "evalreport/results/2"
