"""All sentences of the program: one catalogue, and messages that name an entry of it and give its numbers.

Records hold messages, never sentences: a code and its parameters. They become text at the end, when a report, a
terminal or results.json is written, in the words of the catalogue that is in use there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from evalreport import numbers
from evalreport.numbers import count

ENGLISH = Path(__file__).with_name("en")
"""The folder of the shipped catalogue; its files are one catalogue, divided by who says what."""
PACKAGE = Path(__file__).parents[1]
ROOMS = ("samplings/texts.toml", "questions/*/texts.toml")
"""Texts that stand beside what they are about: parts of the same catalogue."""
PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([a-z_]+))?\}")
"""``{name}`` or ``{name:format}``, a format of ``FORMATS``."""
FORMS = frozenset({"one", "two", "few", "other"})
PLAIN = "list.plain"
"""The code of a message that is no sentence of the catalogue."""

Entry = str | Mapping[str, str]
"""A text, or its plural forms by name."""
Catalogue = Mapping[str, Entry]
"""Entries by their keys, ``section.name``."""

_spoken: ContextVar[Catalogue | None] = ContextVar("spoken", default=None)


Value = object
"""What fills a placeholder: a text, a number, a message, a sequence of texts or messages, or None."""


def _whole(values: Mapping[str, Value], name: str) -> int:
    number = values.get(name, 3)
    return number if isinstance(number, int) else 3


def _interval(limits: Any, values: Mapping[str, Value], **how: Any) -> str:
    low, high = limits
    return numbers.interval(low, high, _whole(values, "decimals"), **how)


def _limits(limits: Any, values: Mapping[str, Value], *, signed: bool = False) -> str:
    half, like = values.get("half"), values.get("value")
    return numbers.amounts(limits, half, like=like, signed=signed)  # type: ignore[arg-type]


def _signed_by_minus(text: str) -> str:
    """Write the sign of a negative number as a minus, as everywhere, and not as a hyphen."""
    return numbers.MINUS + text[1:] if text.startswith("-") else text


FORMATS: Mapping[str, Callable[[Any, Mapping[str, Value]], str]] = {
    "count": lambda value, _: count(value),
    "rough_count": lambda value, _: count(float(f"{value:.2g}")),
    "whole": lambda value, _: str(value),
    "words": lambda value, _: in_words(value),
    "percent": lambda value, _: numbers.percent(value),
    "share": lambda value, _: numbers.percent(round(value, 3)),
    "level": lambda value, _: numbers.level(value),
    "rate": lambda value, _: numbers.rate(value),
    "one": lambda value, _: numbers.number(value, 1),
    "two": lambda value, _: numbers.number(value, 2 if abs(value) < 100 else 0),
    "short_percent": lambda value, _: _signed_by_minus(f"{100 * value:.4g} %"),
    "number": lambda value, values: numbers.number(value, _whole(values, "decimals")),
    "signed": lambda value, values: numbers.number(value, _whole(values, "decimals"), signed=True),
    "digits": lambda value, values: numbers.to_digits(value, _whole(values, "digits")),
    "plain": lambda value, _: numbers.plain(value),
    "short": lambda value, _: _signed_by_minus(f"{value:.4g}"),
    "rough": lambda value, _: _signed_by_minus(f"{value:.2g}"),
    "p": lambda value, _: numbers.p_phrase(value),
    "interval": lambda value, values: _interval(value, values),
    "signed_interval": lambda value, values: _interval(value, values, signed=True),
    "amount": lambda value, values: numbers.amount(value, values.get("half"), finer="finer" in values),  # type: ignore[arg-type]
    "change": lambda value, values: numbers.amount(value, values.get("half"), signed=True),  # type: ignore[arg-type]
    "figure": lambda value, values: numbers.amount(value, values.get("half"), beside_others=True),  # type: ignore[arg-type]
    "amounts": lambda value, values: _limits(value, values),
    "changes": lambda value, values: _limits(value, values, signed=True),
    "sentences": lambda value, _: " ".join(map(str, value)),
    "parts": lambda value, _: "; ".join(map(str, value)),
    "commas": lambda value, _: ", ".join(map(str, value)),
    "quoted": lambda value, _: ", ".join(
        map(quoted, value if isinstance(value, (tuple, list)) else (value,))
    ),
}
"""How a value is written. ``number``, ``signed`` and the intervals have the decimals of the value ``decimals``, and
``digits`` the significant digits of the value ``digits``; of neither they have three.
"""


def quoted(value: object) -> str:
    """Write a text from outside in quotes, or another value as it is, cut to 60 characters.

    Examples
    --------
    >>> quoted("a"), quoted(3)
    ("'a'", '3')
    """
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _no_text(key: str) -> KeyError:
    group, _, name = key.rpartition(".")
    return KeyError(f"there is no text {key}: write {name} under [{group}] in a texts.toml or in texts/en")


class Message:
    """A sentence that is not yet written: the code of a text in the catalogue, and what fills its placeholders.

    Its text is written in the catalogue in use (``speaking``), by default in English. It compares with a string, and
    is searched, as its English text.

    Attributes
    ----------
    code
        The key in the catalogue.
    params
        By the names of the placeholders: numbers as they are, not rounded; texts, messages, or sequences of them.

    Raises
    ------
    KeyError
        There is no such text.

    Examples
    --------
    >>> few = Message("list.more", names="a, b", n=3)
    >>> few.code, few.params["n"], str(few)
    ('list.more', 3, 'a, b and 3 more')
    """

    __slots__ = ("_params", "code")
    code: str
    _params: tuple[tuple[str, Value], ...]

    def __init__(self, code: str, /, **params: Value) -> None:
        if code not in english():
            raise _no_text(code)
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "_params", tuple(params.items()))

    @property
    def params(self) -> dict[str, Value]:
        """The values by the names of their placeholders, in a mapping of the caller's own."""
        return dict(self._params)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a message does not change: {name}")

    def __bool__(self) -> bool:
        """Whether it says anything: a plain text may be empty."""
        return self.code != PLAIN or bool(str(self))

    def __str__(self) -> str:
        return say(self.code, **self.params)

    def __repr__(self) -> str:
        inside = "".join(f", {name}={value!r}" for name, value in self._params)
        return f"Message({self.code!r}{inside})"

    def _english(self) -> str:
        with speaking(english()):
            return str(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Message):
            return (self.code, self._params) == (other.code, other._params)
        return self._english() == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._english())

    def __contains__(self, part: str | Message) -> bool:
        return (part._english() if isinstance(part, Message) else part) in self._english()

    def __reduce__(self) -> tuple[object, ...]:
        return _message, (self.code, self.params)


def _message(code: str, params: Mapping[str, Value]) -> Message:
    return Message(code, **params)


Text = Message
"""A sentence that records hold: always a message, never a string."""


def plain(text: str) -> Message:
    """Return a message that says a text as it is: a name from the user's files, or a sentence of another version.

    results.json has no code for it.

    Examples
    --------
    >>> str(plain("resnet-50"))
    'resnet-50'
    """
    return Message(PLAIN, text=text)


def sentences(*messages: str | Message) -> Message:
    """Join messages into a paragraph."""
    return Message("list.sentences", parts=messages)


def parts(*messages: str | Message) -> Message:
    """Join messages into one sentence, with semicolons."""
    return Message("list.parts", parts=messages)


def shortened(names: Sequence[str], most: int) -> Value:
    """Return names to be joined: all of them, or the first ones and how many more there are."""
    more = len(names) - most
    return Message("list.more", names=", ".join(names[:most]), n=more) if more > 0 else tuple(names)


def joined(text: str | Message) -> tuple[str | Message, ...]:
    """Return the messages that ``sentences`` or ``parts`` joined; of any other text the text alone.

    Examples
    --------
    >>> joined(parts("first", "second")), joined("first; second")
    (('first', 'second'), ('first; second',))
    """
    if isinstance(text, Message) and text.code in ("list.sentences", "list.parts"):
        members: tuple[Message, ...] = text.params["parts"]  # type: ignore[assignment]
        return members
    return (text,)


def coded(text: str | Message) -> tuple[str, dict[str, Value]]:
    """Return the code and the parameters of a message; of a plain text no code."""
    return (text.code, text.params) if isinstance(text, Message) and text.code != PLAIN else ("", {})


def say(key: str, /, **values: Value) -> str:
    """Return a text of the catalogue with its placeholders filled in, as plain text: escaped where it is printed.

    Parameters
    ----------
    key
        ``section.name``.
    values
        What fills the placeholders; braces inside a value are left alone. A value that the text names without a
        format is a text, a message, or a whole number, which is written as a count. ``n`` chooses the plural form.

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
    entry = (english() if catalogue is None else catalogue).get(key)
    if entry is None:
        raise _no_text(key)
    if not isinstance(entry, str):
        n = values.get("n")
        entry = entry[_form(n if isinstance(n, (int, float)) else 0, entry)]
    if "{" not in entry:
        return entry
    return PLACEHOLDER.sub(lambda match: _written(match[2], values[match[1]], values), entry)


def _written(form: str | None, value: Value, values: Mapping[str, Value]) -> str:
    if form is not None:
        return FORMATS[form](value, values)
    if isinstance(value, (tuple, list)):
        return listed(value)
    return count(value) if isinstance(value, (int, float)) else str(value)


def listed(names: Sequence[Value]) -> str:
    """Join names as running text does: ``a, b and c``."""
    *first, last = map(str, names)
    return say("list.and", names=", ".join(first), last=last) if first else last


def named(group: str, name: str, otherwise: str | None = None) -> str:
    """Return the words for a name from the results; for one that this version does not know, the name itself."""
    key = f"{group}.{name}"
    return say(key) if key in english() else name if otherwise is None else otherwise


def spoken(key: str, otherwise: str) -> str:
    """Return a text of the catalogue in use that the shipped one may lack, without placeholders."""
    catalogue = _spoken.get()
    entry = None if catalogue is None else catalogue.get(key)
    return entry if isinstance(entry, str) else otherwise


def spoken_catalogue() -> Catalogue:
    """Return the catalogue in use."""
    return _spoken.get() or english()


def has(key: str) -> bool:
    """Return whether there is such a text."""
    return key in english()


def group_of(name: str) -> dict[str, str]:
    """Return all texts of a group by their names, placeholders unfilled."""
    catalogue = _spoken.get() or english()
    entries = ((key.removeprefix(f"{name}."), entry) for key, entry in catalogue.items())
    return {key: entry for key, entry in entries if "." not in key and isinstance(entry, str)}


def in_words(n: int) -> str:
    """Write a small count as a word, as running text does."""
    return say(f"number.{n}") if n < 10 else count(n)


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
    """Read the shipped catalogue.

    Raises
    ------
    ValueError
        When two of its files have the same key.
    """
    found: dict[str, Entry] = {}
    for path in (
        *sorted(ENGLISH.glob("*.toml")),
        *(path for room in ROOMS for path in sorted(PACKAGE.glob(room))),
    ):
        entries = dict(flat(tomllib.loads(path.read_text(encoding="utf-8"))))
        if twice := found.keys() & entries.keys():
            raise ValueError(f"{path}: {min(twice)} is also in another file")
        found |= entries
    return found


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return the entries of a TOML file by their keys, ``section.name``."""
    for name, entry in table.items():
        key = prefix + name
        if isinstance(entry, dict) and not ("other" in entry and entry.keys() <= FORMS):
            yield from flat(entry, f"{key}.")
        else:
            yield key, entry


@contextmanager
def speaking(catalogue: Catalogue) -> Iterator[None]:
    """Say everything inside by this catalogue."""
    token = _spoken.set(catalogue)
    try:
        yield
    finally:
        _spoken.reset(token)
