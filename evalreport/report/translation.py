"""The texts of a report in the user's words: ``texts.toml`` in the folder of templates overrides them key by key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalreport.report.brand import TemplateError, toml_of
from evalreport.report.characters import visible
from evalreport.texts import FORMATS, PLACEHOLDER, Catalogue, Entry, english, flat

TEXTS_FILE = "texts.toml"
TIMES, SPARE = 4, 200
"""How long a text may be: so many times the shipped one, and so many characters more; it is said for every row."""


def catalogue_of(templates: Path | None) -> Catalogue:
    """Give the catalogue with the texts that the user's folder of templates overrides.

    Parameters
    ----------
    templates
        The folder that may hold ``texts.toml``: any of the shipped keys, each with a text of its own.

    Raises
    ------
    TemplateError
        When texts.toml cannot be read, or has a key or a placeholder that the shipped catalogue has not.
    """
    path, found = toml_of(templates, TEXTS_FILE)
    if path is None:
        return english()
    try:
        given = dict(flat(found))
    except RecursionError as error:
        raise TemplateError(f"{path}: tables inside tables without end") from error
    return {**english(), **{key: _checked(path, key, entry) for key, entry in given.items()}}


def _checked(path: Path, key: str, entry: Any) -> Entry:
    """Give a user's text as it can be printed; a plural form may leave placeholders out, none may bring its own."""
    if key not in english():
        raise TemplateError(
            f"{path}: unknown key {key!r}; `evalreport templates copy` writes all that there are into texts.en.toml"
        )
    shipped = english()[key]
    known = {name for form in _forms(shipped).values() for name, _ in PLACEHOLDER.findall(form)}
    if not isinstance(entry, (str, dict)) or not all(isinstance(f, str) for f in _forms(entry).values()):
        raise TemplateError(f"{path}: {key} must be a text in quotes, or plural forms of it, not {entry!r}")
    if isinstance(entry, dict) and isinstance(shipped, str):
        raise TemplateError(f"{path}: {key} has no plural forms: one text is enough")
    longest = SPARE + TIMES * max(map(len, _forms(shipped).values()))
    for form in _forms(entry).values():
        if len(form) > longest:
            raise TemplateError(f"{path}: {key} has {len(form):,} characters; at most {longest:,} fit")
        for name, how in PLACEHOLDER.findall(form):
            if how and how not in FORMATS:
                raise TemplateError(f"{path}: {key} has no format {how!r}; there are: {', '.join(FORMATS)}")
            if name not in known:
                names = ", ".join(f"{{{n}}}" for n in sorted(known)) or "none"
                raise TemplateError(f"{path}: {key} has no placeholder {{{name}}}; there are: {names}")
    return visible(entry) if isinstance(entry, str) else {name: visible(f) for name, f in entry.items()}


def _forms(entry: Any) -> Mapping[str, Any]:
    return entry if isinstance(entry, dict) else {"other": entry}
