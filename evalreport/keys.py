"""One option: its flag, its key of evalreport.toml, its field and its kind of value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, get_args, get_origin

from evalreport.texts import say

T = TypeVar("T")

Kind = Literal["text", "number", "integer", "flag", "path", "choice", "list", "formats"]
Group = Literal["Input", "Analysis", "Output", "Gates"]
"""The sections of ``--help``."""


@dataclass(frozen=True, slots=True)
class Key:
    """One option: its key in evalreport.toml, its field, the kind of value and an example."""

    name: str
    field: str
    kind: Kind
    metavar: str
    example: str
    group: Group
    """The section of ``--help``."""
    choices: tuple[str, ...] = ()
    short: str | None = None
    loading: bool = False
    """Whether loading depends on it, so that ``evalreport check`` takes it, too."""

    @property
    def flag(self) -> str:
        """The spelling on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def summary(self) -> str:
        """The help text, from the catalogue."""
        return say(f"option.{self.name}")


def option(
    default: T,
    metavar: str,
    example: str,
    *,
    group: Group,
    name: str | None = None,
    short: str | None = None,
    loading: bool = False,
) -> T:
    """Return a field that declares an option; see ``Key``. Its kind and its choices are those of the field's type."""
    key = Key(name or "", "", "text", metavar, example, group, short=short, loading=loading)
    return field(default=default, metadata={"key": key})


def kind_of(hint: object) -> tuple[Kind, tuple[str, ...]]:
    """Return the kind of an option whose field has a type, and the names to choose from.

    Examples
    --------
    >>> kind_of(float | None), kind_of(Literal["svg", "png"] | None), kind_of(tuple[str, ...])
    (('number', ()), ('choice', ('svg', 'png')), ('list', ()))
    """
    parts = get_args(hint)
    plain = parts[0] if type(None) in parts else hint
    if get_origin(plain) is Literal:
        return "choice", get_args(plain)
    if get_origin(plain) is tuple:
        return ("list" if get_args(plain)[0] is str else "formats"), ()
    return _KINDS[plain], ()


_KINDS: Mapping[object, Kind] = {str: "text", float: "number", int: "integer", bool: "flag", Path: "path"}
