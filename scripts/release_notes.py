"""release_notes.py vX.Y.Z: print the section of CHANGELOG.md about a release, once all that names the version agrees.

A candidate, vX.Y.ZrcN, has the section of its release.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(tag: str, root: Path = ROOT) -> str:
    """Return what changed in the release that a tag names.

    Raises
    ------
    SystemExit
        The tree is in development of another version, the changelog has no such section, or OWNER was not replaced.
    """
    release = re.sub(r"rc\d+$", "", tag.removeprefix("v"))
    if f'DEVELOPMENT = "{release}.dev0"' not in (root / "evalreport/version.py").read_text(encoding="utf-8"):
        raise SystemExit(f"{tag}: evalreport/version.py does not say DEVELOPMENT = {release}.dev0")
    for name in ("pyproject.toml", "CITATION.cff"):
        if "github.com/OWNER/" in (root / name).read_text(encoding="utf-8"):
            raise SystemExit(f"{name}: replace OWNER by the account that hosts this repository")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## \[{re.escape(release)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if found is None or not found[1].strip():
        raise SystemExit(f"CHANGELOG.md: has no section '## [{release}] - YEAR-MONTH-DAY'")
    return found[1].strip() + "\n"


if __name__ == "__main__":
    print(notes(sys.argv[1]), end="")
