"""The version of a build: that of the tag on this very commit, else the development version of the tree.

pyproject.toml asks for it. Distances from a tag and commit hashes are no part of it: a clone without tags, a shallow
one and a copied folder of the same tree build the same thing. An sdist holds its version already and asks nobody.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version(root: Path = ROOT) -> str:
    """Return the version that a build of the tree at ``root`` has.

    Raises
    ------
    SystemExit
        The tag names another version than the one that the tree says it is the development of.
    """
    text = (root / "evalreport" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'^DEVELOPMENT = "((.+)\.dev0)"$', text, re.MULTILINE)
    assert found is not None
    development, release = found.groups()
    # A copied folder may lie within a repository of somebody else, whose tags are not ours; and what is tagged and then
    # edited is no release.
    if not (root / ".git").exists() or _git(root, "status", "--porcelain", "--untracked-files=no"):
        return development
    tags = _git(root, "tag", "--points-at", "HEAD", "v[0-9]*").split()
    if not tags:
        return development
    # Candidates may come before the release itself: v0.2.0rc1, v0.2.0.
    wrong = [tag for tag in tags if not re.fullmatch(rf"v{re.escape(release)}(rc\d+)?", tag)]
    if wrong:
        raise SystemExit(
            f"the tag {wrong[0]} is on a tree in development of {release}: set DEVELOPMENT in"
            f" evalreport/version.py to the tag's version with .dev0, commit, and tag that commit"
        )
    return min(tags, key=len).removeprefix("v")


def _git(root: Path, *words: str) -> str:
    """Return what git says of the tree; nothing where there is no git, or it refuses."""
    try:
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    print(version())
