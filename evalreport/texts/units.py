"""Sentences about documents, images or patients in place of examples, where these are the units of sums."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from evalreport.texts import Catalogue, Entry, english, speaking, spoken_catalogue

PLAIN_UNIT = "unit"
"""The word where no column gives one."""
_EXAMPLE = re.compile(r"\{[^}]*\}|\bfor example\b|\b(an |An )?([Ee])xample(s?)\b")


def unit_of(header: str) -> str | None:
    """Return the name of the unit that a column of ids is named by; None: the name says none.

    Examples
    --------
    >>> unit_of("Document_ID"), unit_of("image"), unit_of("id")
    ('document', 'image', None)
    """
    name = re.sub(r"[ _-]?id$", "", header.strip().lower())
    return name if f"unit.{name}" in english() else None


def in_units(unit: str | None, catalogue: Catalogue) -> Catalogue:
    """Return a catalogue that speaks of this unit wherever it speaks of examples.

    Parameters
    ----------
    unit
        A name that ``unit_of`` returns; None, or a name of another version: the catalogue as it is.

    Examples
    --------
    >>> in_units("image", english())["decision.same_examples"]
    'the same images for every model'
    """
    if f"unit.{unit}" not in english():
        return catalogue
    if catalogue is english():
        return _english_in(str(unit))
    return _turned(catalogue, catalogue[f"unit.{unit}"])


@contextmanager
def speaking_of(unit: str | None) -> Iterator[None]:
    """Say everything inside of this unit, in the catalogue in use."""
    with speaking(in_units(unit, spoken_catalogue())):
        yield


@lru_cache(maxsize=8)
def _english_in(unit: str) -> Catalogue:
    return _turned(english(), english()[f"unit.{unit}"])


def _turned(catalogue: Catalogue, words: Entry) -> Catalogue:
    if not isinstance(words, Mapping) or "one" not in words:
        return catalogue
    one, several = words["one"], words["other"]

    def turned(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0]  # a placeholder, or "for example"
        article, alone = one.split(" ", 1)
        word = several if match[3] else f"{article} {alone}" if match[1] else alone
        return word.capitalize() if (match[1] or match[2])[0].isupper() else word

    def text(entry: str) -> str:
        return _EXAMPLE.sub(turned, entry)

    return {
        key: text(entry) if isinstance(entry, str) else {form: text(inner) for form, inner in entry.items()}
        for key, entry in catalogue.items()
    }
