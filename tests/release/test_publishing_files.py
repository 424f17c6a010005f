"""What publishes the program: pinned, with no more rights than it needs, and only where version and changelog agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.release_notes import notes

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_pinned_and_may_do_little(path: Path):
    """Actions by the hash of a commit, read-only rights but where a job states its own, no expression in a script."""
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert flow["permissions"] == {"contents": "read"}
    for name, job in flow["jobs"].items():
        assert "write" not in str(job.get("permissions", "")) or len(job["steps"]) <= 3, name
        for step in job["steps"]:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40)), step
            assert "${{" not in step.get("run", ""), step


def test_what_the_workflows_and_the_action_run_is_there():
    """Targets of make, and files of the checkout."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= targets
    for name in re.findall(r"(?:bash|python|run:) ((?:\.ci|scripts)/[\w./-]+)", text):
        assert (ROOT / name).is_file(), name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that is ready to be released as 1.2.0."""
    (tmp_path / "evalreport").mkdir()
    (tmp_path / "evalreport/version.py").write_text('DEVELOPMENT = "1.2.0.dev0"\n')
    for name in ("pyproject.toml", "CITATION.cff"):
        (tmp_path / name).write_text("https://github.com/somebody/evalreport\n")
    text = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2027-01-02\n\n- new\n\n## [1.1.0]\n\n- old\n"
    (tmp_path / "CHANGELOG.md").write_text(text)
    return tmp_path


def test_the_notes_of_a_release_are_its_section(tree: Path):
    """Of a candidate as well; nothing of the release before."""
    assert notes("v1.2.0", tree) == notes("v1.2.0rc1", tree) == "- new\n"


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("evalreport/version.py", 'DEVELOPMENT = "1.3.0.dev0"\n', "does not say DEVELOPMENT = 1.2.0"),
        ("pyproject.toml", "https://github.com/OWNER/evalreport\n", "replace OWNER"),
        ("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n- new\n", "has no section '## \\[1.2.0\\]"),
    ],
)
def test_a_release_that_is_not_ready_is_not_published(tree: Path, name: str, text: str, said: str):
    """Another version, addresses that nobody filled in, a changelog without the release."""
    (tree / name).write_text(text)
    with pytest.raises(SystemExit, match=said):
        notes("v1.2.0", tree)


def test_the_citation_is_readable():
    """As CFF 1.2 asks: title, authors and message, and the licence of the project."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == "Apache-2.0"
