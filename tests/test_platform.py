"""Calls to the system: on this one, and with the names taken away that only some systems have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalreport import platform
from tests.samples.labels import FOREST, LOGREG, TRUTH

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = "import tests.portable.without_posix, sys; from evalreport.cli import process; process()"


def test_a_lock_keeps_others_out_until_its_file_is_closed(tmp_path: Path) -> None:
    """Of two descriptors of one file the second gets no lock; after the first is closed it does."""
    pytest.importorskip("fcntl")
    place = tmp_path / "lock"
    first, second = platform.open_to_lock(place), platform.open_to_lock(place)
    assert platform.lock(first)
    assert not platform.lock(second)
    platform.remove_and_close(place, first)
    assert platform.lock(second)
    os.close(second)
    assert not place.exists()


def test_without_locks_every_lock_is_got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no module for them: nothing keeps processes apart, and nothing fails."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    descriptor = platform.open_to_lock(tmp_path / "lock")
    assert platform.lock(descriptor)
    platform.overwrite(descriptor, b"who")
    assert platform.read_at_start(descriptor, 10) == b"who"
    os.close(descriptor)


def test_memory_is_assumed_where_the_system_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a plain number; else it is that of the machine."""
    assert platform.memory() > 2**28
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert platform.memory() == platform.ASSUMED_MEMORY


def test_a_file_without_links_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second name has the same content."""

    def no_link(*_arguments: object, **_options: object) -> None:
        raise NotImplementedError

    (tmp_path / "a").write_bytes(b"content")
    monkeypatch.setattr(os, "link", no_link)
    platform.link(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"content"
    assert (tmp_path / "a").stat().st_nlink == 1


@pytest.mark.slow
def test_a_run_needs_no_name_that_only_some_systems_have(tmp_path: Path) -> None:
    """With a pattern that no shell has expanded, templates, a console of cp1252 and every text file's encoding named.

    The run replaces another report, of the JSON alone, and what the system lacks is said once.
    """
    models, templates = tmp_path / "models", tmp_path / "templates"
    models.mkdir()
    templates.mkdir()
    (templates / "texts.toml").write_text('[heading]\ncautions = "Käse ⚠"\n', encoding="utf-8")
    for name, labels in (("forest", FOREST), ("wałd", LOGREG)):
        rows = "".join(f"{i},{t},{p}\n" for i, (t, p) in enumerate(zip(TRUTH, labels, strict=True)))
        (models / f"{name}.csv").write_text(f"id,y_true,y_pred\n{rows}", encoding="utf-8")
    words = [
        sys.executable,
        "-X",
        "warn_default_encoding",
        "-W",
        "error::EncodingWarning:evalreport",
        "-c",
        WITHOUT,
    ]
    words += ["run", f"{models}/*.csv", "-m", "accuracy", "--resamples", "20", "-o", str(tmp_path / "out")]
    surroundings = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "0"}
    for more in (["-f", "json"], ["-f", "html,json,md", "--templates", str(templates)]):
        done = subprocess.run(
            [*words, *more], capture_output=True, check=False, env=surroundings, timeout=120
        )
        said = done.stderr.decode("cp1252")
        assert done.returncode == 0, said
        assert said.count("cannot exchange folders in one step") == 1
        assert said.count("limits neither the memory nor the processor time") == int("--templates" in more)
        assert "forest" in done.stdout.decode("cp1252")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html",
        "results.json",
        "summary.md",
    }
    assert "Käse" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"models", "templates", "out"}
