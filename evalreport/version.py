"""The version of this program."""

from __future__ import annotations

from pathlib import Path

DEVELOPMENT = "0.1.0.dev0"
"""Of every tree that is no release: the next release, in development.

It is kept in the tree, not in git's history, so that equal trees write equal results wherever they came from: a full
clone, one without tags, an archive, a copied folder.
"""


def _installed() -> str:
    """Return the version that the build wrote into the package, or DEVELOPMENT in a checkout."""
    # A wheel holds the templates inside the package; in a checkout they are next to it.
    if not (Path(__file__).parent / "templates").is_dir():
        return DEVELOPMENT
    from importlib import metadata

    try:
        return metadata.version("evalreport")
    except metadata.PackageNotFoundError:
        return DEVELOPMENT


__version__ = _installed()
