"""The version of a build: equal trees build the same, and a tag makes the release."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evalreport.version import DEVELOPMENT, __version__
from scripts.built_version import version

RELEASE = DEVELOPMENT.removesuffix(".dev0")


def git(folder: Path, *words: str) -> None:
    """Run git as somebody."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A committed tree that holds the version."""
    root = tmp_path / "clone"
    (root / "evalreport").mkdir(parents=True)
    (root / "evalreport/version.py").write_text(f'DEVELOPMENT = "{DEVELOPMENT}"\n')
    git(tmp_path, "init", "-q", "clone")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def test_a_checkout_is_always_the_development_version():
    """Whatever tags there are: what this tree writes does not depend on the history that it came with."""
    assert __version__ == DEVELOPMENT
    assert re.fullmatch(r"\d+\.\d+\.\d+\.dev0", DEVELOPMENT)


def test_without_tags_without_git_and_inside_another_repository_a_tree_builds_the_same(tree, tmp_path):
    """A clone without tags, a copied folder, and a copy within a repository that has a tag of its own."""
    assert version(tree) == DEVELOPMENT
    git(tree, "tag", "v9.9.9-other-people", "HEAD")
    copied = tree / "vendor" / "copy"
    shutil.copytree(tree / "evalreport", copied / "evalreport")
    assert version(copied) == DEVELOPMENT


def test_a_tag_on_the_very_commit_is_the_version_of_the_build(tree):
    """A candidate first, then the release; one commit later it is development again, and so it is once edited."""
    git(tree, "tag", f"v{RELEASE}rc1")
    assert version(tree) == f"{RELEASE}rc1"
    git(tree, "tag", f"v{RELEASE}")
    assert version(tree) == RELEASE
    (tree / "evalreport/version.py").write_text(f'# edited\nDEVELOPMENT = "{DEVELOPMENT}"\n')
    assert version(tree) == DEVELOPMENT
    git(tree, "commit", "-qam", "second")
    assert version(tree) == DEVELOPMENT


def test_a_tag_of_another_version_stops_the_build(tree):
    """Nobody publishes 3.0.0 from a tree whose changelog and version say something else."""
    git(tree, "tag", "v3.0.0")
    with pytest.raises(SystemExit, match=r"the tag v3\.0\.0 is on a tree in development"):
        version(tree)
