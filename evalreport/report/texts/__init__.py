"""What the report says, apart from its mark-up: one catalogue, and a translation that overrides it key by key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from evalreport.numbers import WORDS, count
from evalreport.report.brand import TemplateError, toml_of
from evalreport.report.characters import visible

TEXTS_FILE = "texts.toml"
ENGLISH = Path(__file__).with_name("en.toml")
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
TIMES, SPARE = 4, 200
"""How long a text may be: so many times the shipped one, and so many characters more; it is said for every row."""
FORMS = frozenset({"one", "two", "few", "other"})

Entry = str | Mapping[str, str]
"""A text, or its plural forms by name."""
Catalogue = Mapping[str, Entry]
"""Entries by their keys, ``section.name``."""

_spoken: ContextVar[Catalogue | None] = ContextVar("spoken", default=None)


def say(key: str, /, n: float | None = None, **values: object) -> str:
    """Give a text of the catalogue with its placeholders filled in, as plain text: escaped where it is printed.

    Parameters
    ----------
    key
        ``section.name``.
    n
        The number that chooses the plural form; it fills ``{n}``.
    values
        What fills the other placeholders. Braces inside a value stand as they are.

    Raises
    ------
    KeyError
        When there is no such text, or a placeholder is left without its value: a mistake of a template or of ours.

    Examples
    --------
    >>> say("list.more", names="a, b", n=3)
    'a, b and 3 more'
    """
    catalogue = _spoken.get()
    entry = (english() if catalogue is None else catalogue)[key]
    if not isinstance(entry, str):
        entry = entry[_form(n or 0, entry)]
    if "{" not in entry:
        return entry
    if n is not None:
        values = {"n": count(n), **values}
    return PLACEHOLDER.sub(lambda match: str(values[match[1]]), entry)


def named(group: str, name: str, otherwise: str | None = None) -> str:
    """Give the words for a name from the results; for one that this version does not know, the name itself."""
    key = f"{group}.{name}"
    return say(key) if key in english() else name if otherwise is None else otherwise


def has(key: str) -> bool:
    """Say whether there is such a text."""
    return key in english()


def group_of(name: str) -> dict[str, str]:
    """Give all texts of a group as they stand, placeholders unfilled, by their names."""
    catalogue = _spoken.get() or english()
    found = ((key.removeprefix(f"{name}."), entry) for key, entry in catalogue.items())
    return {key: entry for key, entry in found if "." not in key and isinstance(entry, str)}


def in_words(n: int) -> str:
    """Write a small count as a word, as running text does."""
    return say(f"number.{n}") if n < len(WORDS) else count(n)


def _form(n: float, forms: Mapping[str, str]) -> str:
    """Choose a plural form; ``few`` is for languages in which 2 to 4, 22 to 24 and so on have one of their own."""
    if n == 1 and "one" in forms:
        return "one"
    if n == 2 and "two" in forms:
        return "two"
    if "few" in forms and n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14):
        return "few"
    return "other"


@lru_cache(maxsize=1)
def english() -> Catalogue:
    """Read the shipped catalogue."""
    return dict(_flat(tomllib.loads(ENGLISH.read_text(encoding="utf-8"))))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, entry in table.items():
        key = prefix + name
        if isinstance(entry, dict) and not ("other" in entry and entry.keys() <= FORMS):
            yield from _flat(entry, f"{key}.")
        else:
            yield key, entry


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
        given = dict(_flat(found))
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
    known = {name for form in _forms(shipped).values() for name in PLACEHOLDER.findall(form)}
    if not isinstance(entry, (str, dict)) or not all(isinstance(f, str) for f in _forms(entry).values()):
        raise TemplateError(f"{path}: {key} must be a text in quotes, or plural forms of it, not {entry!r}")
    if isinstance(entry, dict) and isinstance(shipped, str):
        raise TemplateError(f"{path}: {key} has no plural forms: one text is enough")
    longest = SPARE + TIMES * max(map(len, _forms(shipped).values()))
    for form in _forms(entry).values():
        if len(form) > longest:
            raise TemplateError(f"{path}: {key} has {len(form):,} characters; at most {longest:,} fit")
        for name in PLACEHOLDER.findall(form):
            if name not in known:
                names = ", ".join(f"{{{n}}}" for n in sorted(known)) or "none"
                raise TemplateError(f"{path}: {key} has no placeholder {{{name}}}; there are: {names}")
    return visible(entry) if isinstance(entry, str) else {name: visible(f) for name, f in entry.items()}


def _forms(entry: Any) -> Mapping[str, Any]:
    return entry if isinstance(entry, dict) else {"other": entry}


@contextmanager
def speaking(catalogue: Catalogue) -> Iterator[None]:
    """Say everything inside by this catalogue."""
    token = _spoken.set(catalogue)
    try:
        yield
    finally:
        _spoken.reset(token)
