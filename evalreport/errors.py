"""Errors that a person can act on; only the command line catches them, prints them and exits.

Also what is an address, and what of it no message shows.
"""

from __future__ import annotations

import dataclasses
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote

from evalreport.texts import Message, Value, has, say

T = TypeVar("T")

HIDDEN = "***"
ALONE = 12
"""A shorter secret is hidden where it stands as a word: inside longer words it would be there by chance."""
TELLING = 8
"""A shorter one is left in records: a class or an id may well be called so."""
_SECRET_NAME = re.compile("pass|pwd|secret|token|key|credential|signature|^sig$|^auth", re.IGNORECASE)
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*)://([^\s'\"<>]+)", re.IGNORECASE)
_MISSPELT = re.compile("^[^@]*?[a-z]:?/{1,2}", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&;])([^=&;#\s]+)=([^&#\s'\"<>]*)")
_KNOWN: set[str] = set()

SCHEMES = ("s3", "gs", "https", "http")
"""The addresses that are read."""
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):/{1,2}", re.IGNORECASE)


def remember(*secrets: str) -> None:
    """Hide these texts from here on: as an address spells them, in another case, turned round, in base64 and in hex."""
    for secret in secrets:
        if secret.strip():
            _KNOWN.update((secret, unquote(secret), quote(secret, safe=""), quote_plus(secret)))
        if len(secret) >= TELLING:
            _KNOWN.update(_copies(secret))
    _pattern.cache_clear()


def _copies(secret: str) -> Iterator[str]:
    """Yield a secret as another program may send it back."""
    content = secret.encode("utf-8", "surrogatepass")
    yield secret[::-1]
    yield content.hex()
    for place in range(3):
        # Within other bytes three different texts of base64; the characters at the ends hold bits of others, too.
        encoded = b64encode(bytes(place) + content).decode().rstrip("=")
        inner = encoded[(0, 2, 3)[place] : len(encoded) - bool((place + len(content)) % 3)]
        if len(inner) >= TELLING:
            yield inner
            yield inner.translate(str.maketrans("+/", "-_"))


def forget() -> None:
    """Forget every secret, as at the start of a process."""
    _KNOWN.clear()
    _pattern.cache_clear()


def remember_address(text: str) -> None:
    """Hide the secrets of an address, also of one that is misspelt: its password, its parameters such as a token.

    Examples
    --------
    >>> remember_address("postgresql://me:open sesame@host/db?sslpassword=swordfish")
    >>> redacted("no entry for swordfish; tried 'open sesame'")
    "no entry for ***; tried '***'"
    """
    scheme, mark, rest = text.partition("://")
    # A scheme that is misspelt (postgresql:/me:...) is neither user nor password.
    users = {rest} if mark else {text, _MISSPELT.sub("", text)}
    for user in users:
        # Where an @ was not escaped, any of them may end the password.
        for end in (match.start() for match in re.finditer("@", user)):
            name, colon, password = user[:end].partition(":")
            # Hosts of code take a token as the user.
            remember(password if colon else name if scheme.lower().startswith("http") else "")
    before, _, query = text.partition("?")
    remember(*(value for name, value in parse_qsl(query) if _SECRET_NAME.search(name)))
    if scheme.lower() in ("http", "https"):
        pairs = (part.partition("=") for part in re.findall(r";([^/;#]*)", before))
        remember(*(value for name, _, value in pairs if _SECRET_NAME.search(name)))


def redacted(text: str) -> str:
    """Return a text without the secrets that are known, and without those in the addresses that it holds.

    Examples
    --------
    >>> redacted("postgresql://me:secret@host/db?sslmode=require&password=x failed")
    'postgresql://me:***@host/db?sslmode=require&password=*** failed'
    >>> redacted("GET https://token@api.example.org/a")
    'GET https://***@api.example.org/a'
    """
    return _ADDRESS.sub(_without_secrets, _without_known(text, 1))


def cleared(record: T) -> T:
    """Return a record, or a collection of records, in whose texts no known secret stands."""
    return _cleared(record) if any(len(secret) >= TELLING for secret in _KNOWN) else record


def _cleared(value: object) -> Any:
    if isinstance(value, str):
        return _without_known(value, TELLING)
    if isinstance(value, Message):
        return Message(value.code, **{name: _cleared(part) for name, part in value.params.items()})
    if isinstance(value, (list, tuple)):
        return type(value)(_cleared(part) for part in value)
    if isinstance(value, Mapping):
        return {_cleared(key): _cleared(part) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        changed = {name: new for name, old in fields.items() if (new := _cleared(old)) != old}
        return dataclasses.replace(value, **changed) if changed else value
    return value


def _without_known(text: str, shortest: int) -> str:
    pattern = _pattern(shortest)
    return text if pattern is None else pattern.sub(HIDDEN, text)


@cache
def _pattern(shortest: int) -> re.Pattern[str] | None:
    """Return what finds the known secrets, the longest first; None where there are none."""
    known: Iterable[str] = sorted((s for s in _KNOWN if len(s) >= shortest), key=len, reverse=True)
    parts = [
        (f"(?i:{re.escape(s)})" if len(s) >= ALONE else rf"(?<!\w)(?i:{re.escape(s)})(?!\w)")
        if len(s) >= TELLING
        else rf"(?<!\w){re.escape(s)}(?!\w)"
        for s in known
    ]
    return re.compile("|".join(parts)) if parts else None


def _without_secrets(address: re.Match[str]) -> str:
    """Hide what an address says of user and password, and its secret parameters."""
    scheme, rest = address[1], address[2]
    end = next((place for place, mark in enumerate(rest) if mark in "/?#"), len(rest))
    user, at, host = rest[:end].rpartition("@")
    if at:
        name, colon, _ = user.partition(":")
        web = scheme.lower() in ("http", "https")
        user = HIDDEN if web else f"{name}:{HIDDEN}" if colon else name
    path, mark, query = rest[end:].partition("?")
    rest = rest[:end] + without_parameters(scheme, path, HIDDEN) + mark + query
    parameters = _PARAMETER.sub(
        lambda m: f"{m[1]}{m[2]}={HIDDEN}" if _SECRET_NAME.search(unquote(m[2])) else m[0], rest[end:]
    )
    return f"{scheme}://{user}{at}{host}{parameters}"


def is_address(text: object) -> bool:
    """Say whether a text is an address rather than a path.

    Examples
    --------
    >>> [is_address(text) for text in ("s3://bucket/a.csv", "models/a.csv", "hdfs://host/a", "C:/a.csv")]
    [True, False, True, False]
    """
    match = _SCHEME.match(str(text))
    return match is not None and len(match[1]) > 1 and (match[1].lower() in SCHEMES or "://" in match[0])


def without_login(text: str) -> str:
    """Return a path, or an address without user, password and parameters."""
    scheme, mark, rest = text.partition("://")
    if not mark or not is_address(text):
        return text
    place, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{without_parameters(scheme, path)}"


def without_parameters(scheme: str, path: str, instead: str = "") -> str:
    """Return the path of a web address without what stands after a ; in a part of it.

    Examples
    --------
    >>> without_parameters("https", "/models;key=open-sesame/a.csv;v=2")
    '/models/a.csv'
    """
    if scheme.lower() not in ("http", "https"):
        return path
    return re.sub(r";[^/#]*", f";{instead}" if instead else "", path)


class EvalreportError(Exception):
    """Base of every error that evalreport raises on purpose; carries the exit code of the contract."""

    exit_code = 2

    def __str__(self) -> str:
        """Say what is wrong, without any password or token."""
        return redacted(super().__str__())

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, one text a line of a terminal: what comes from outside may itself hold an end of line."""
        return (str(self),)


class UsageError(EvalreportError):
    """An option, a configuration key or a name that evalreport does not know or cannot combine."""


class KeywordError(UsageError, TypeError):
    """A keyword that a function of the package does not take."""


class InputError(EvalreportError):
    """Bad input: one message that says where it is, its value, the expected one and the remedy.

    Parameters
    ----------
    problem
        What came, in one clause ("probability 1.2 is outside [0, 1]").
    file, line, column
        Where: the path as the user gave it, the line counted from 1 (a header is line 1), the column's name.
    expected
        What was expected instead.
    remedy
        What to do about it.

    Examples
    --------
    >>> print(InputError("probability 1.2", file="a.csv", line=3, column="p_1",
    ...                  expected="a number in [0, 1]", remedy="check the file"))
    a.csv, line 3, column 'p_1': probability 1.2; expected a number in [0, 1]. Fix: check the file.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.column = problem, file, line, column
        self.expected, self.remedy = expected, remedy
        super().__init__(self._message())

    @classmethod
    def of(
        cls,
        code: str,
        /,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        **values: Value,
    ) -> Self:
        """Return the error of one kind, in the words of the catalogue.

        Parameters
        ----------
        code
            The kind: its texts are ``input.<code>.problem``, ``.expected`` and ``.remedy``.
        values
            What fills their placeholders.

        Examples
        --------
        >>> print(InputError.of("ragged_row", file="a.csv", line=3, cells=2, headers=3, or_comma="").problem)
        the row has 2 cells
        """
        problem, expected, remedy = input_texts(code, **values)
        return cls(problem, file=file, line=line, column=column, expected=expected, remedy=remedy)

    def _message(self) -> str:
        place = [self.file] if self.file is not None else []
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.column is not None:
            place.append(f"column {self.column!r}")
        text = f"{', '.join(place)}: {self.problem}" if place else self.problem
        if self.expected:
            text += f"; expected {self.expected}"
        text = text.rstrip(".") + "."
        if self.remedy:
            text += f" Fix: {self.remedy.rstrip('.')}."
        return text


def input_texts(code: str, /, **values: Value) -> tuple[str, str | None, str | None]:
    """Return the problem of one kind of error, what was expected and the remedy, in the words of the catalogue."""
    problem, *others = (f"input.{code}.{part}" for part in ("problem", "expected", "remedy"))
    expected, remedy = (say(key, **values) if has(key) else None for key in others)
    return say(problem, **values), expected, remedy


MOST_TOGETHER = 10
"""Errors of the input, reported together."""


class InputErrors(InputError):  # noqa: N818 - it holds several
    """Several faults of the input, found together: ``errors`` holds each with its place and remedy."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple(errors)
        first = errors[0]
        parts = ("problem", "file", "line", "column", "expected", "remedy")
        super().__init__(**{part: getattr(first, part) for part in parts})

    @property
    def lines(self) -> tuple[str, ...]:
        """How many there are, and one line each."""
        shown = self.errors[:MOST_TOGETHER]
        left = f", the first {MOST_TOGETHER} of them" if len(shown) < len(self.errors) else ""
        numbered = (f"{number}. {error}" for number, error in enumerate(shown, start=1))
        return (f"{len(self.errors)} errors in the input{left}:", *numbered)

    def _message(self) -> str:
        return "\n".join(self.lines)


@contextmanager
def together(errors: list[InputError]) -> Iterator[None]:
    """Keep the errors of the input that are raised within, so that they can be said with others of their kind."""
    try:
        yield
    except InputErrors as several:
        errors.extend(several.errors)
    except InputError as error:
        errors.append(error)


def refuse_all(errors: Sequence[InputError]) -> None:
    """Raise the errors that were kept, each once.

    Raises
    ------
    InputError
        If there is any error; several make one message, a line each.
    """
    distinct = list({str(error): error for error in errors}.values())
    if distinct:
        raise distinct[0] if len(distinct) == 1 else InputErrors(distinct)


def no_weight(column: str, whose: str, *, file: str | None = None) -> InputError:
    """Return the error of an example whose weight is not known."""
    return InputError.of("no_weight", file=file, column=column, whose=whose)


class OutputError(EvalreportError):
    """An output that was asked for could not be made; the others were."""

    exit_code = 4


class HistoryError(EvalreportError):
    """The history of audits cannot be reached, read or written; it is as it was."""
