"""A user's texts.toml: the catalogue with the texts that it overrides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalreport.report.brand import TemplateError, toml_of
from evalreport.report.naming import registered_texts
from evalreport.texts import FORMATS, PLACEHOLDER, Catalogue, Entry, english, flat
from evalreport.texts.visible import visible

TEXTS_FILE = "texts.toml"
TIMES, SPARE = 4, 200
"""A text has at most this many times the characters of the shipped one, and this many more: tables repeat it."""


def catalogue_of(templates: Path | None) -> Catalogue:
    """Return the catalogue with the texts that the user's folder of templates overrides.

    Parameters
    ----------
    templates
        The folder that may hold ``texts.toml``: any of the shipped keys, each with a text of its own.

    Raises
    ------
    TemplateError
        When texts.toml cannot be read, or has a key or a placeholder that the shipped catalogue has not.
    """
    path, texts = toml_of(templates, TEXTS_FILE)
    if path is None:
        return english()
    shipped = shipped_texts()
    try:
        given = dict(flat(texts))
    except RecursionError as error:
        raise TemplateError(f"{path}: tables are nested too deeply") from error
    return {**english(), **{key: _checked(path, key, entry, shipped) for key, entry in given.items()}}


def shipped_texts() -> Catalogue:
    """Return all texts that a translation may override: the catalogue, and what the registries say of their entries."""
    return {**english(), **registered_texts()}


def shipped_as_toml() -> bytes:
    """Write them as one TOML file, a table for each group."""
    groups: dict[str, list[str]] = {}
    for key, entry in shipped_texts().items():
        group, name = key.split(".", 1)
        forms = (f"{form} = {json.dumps(text, ensure_ascii=False)}" for form, text in _forms(entry).items())
        text = (
            json.dumps(entry, ensure_ascii=False)
            if isinstance(entry, str)
            else "{ " + ", ".join(forms) + " }"
        )
        groups.setdefault(group, []).append(f"{name} = {text}")
    head = "# Every text. Copy those that you change into texts.toml; keep the keys and the {placeholders}.\n"
    parts = (f"\n[{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items())
    return (head + "".join(parts)).encode()


def _checked(path: Path, key: str, entry: object, shipped: Catalogue) -> Entry:
    """Return a user's text as it can be printed; a plural form may leave placeholders out, none may bring its own."""
    if key not in shipped:
        raise TemplateError(
            f"{path}: unknown key {key!r}; `evalreport templates copy` writes all that there are into texts.en.toml"
        )
    ours = shipped[key]
    known = {name for form in _forms(ours).values() for name, _ in PLACEHOLDER.findall(form)}
    if not isinstance(entry, (str, dict)) or not all(isinstance(f, str) for f in _forms(entry).values()):
        raise TemplateError(f"{path}: {key} must be a text in quotes, or plural forms of it, not {entry!r}")
    if isinstance(entry, dict) and isinstance(ours, str):
        raise TemplateError(f"{path}: {key} has no plural forms: one text is enough")
    longest = SPARE + TIMES * max(map(len, _forms(ours).values()))
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
